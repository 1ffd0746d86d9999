//! Several profilers that run as one get their callbacks and edit IL in their order, and do not affect each other.

#[cfg(test)]
mod tests;

use std::env;
use std::thread;
use std::time::Duration;

use clr_profiler::hooks::{CallHooks, HookedFunction};
use clr_profiler::il::fragment::Fragment;
use clr_profiler::prelude::*;
use clr_profiler::rejit::{Rejit, RejitOptions};
use scenario_support::{clsid, log};

// The build script registers these, too.
// register: compose(clsid = scenario_support::clsid("ComposedBoth"), composes::Doubles, composes::Adds)
// register: compose(clsid = scenario_support::clsid("ComposedReversed"), composes::Adds, composes::Doubles)
// register: compose(clsid = scenario_support::clsid("ComposedThree"), composes::Doubles, composes::Failing, composes::Adds)
// register: compose(clsid = scenario_support::clsid("ComposedTwo"), composes::Failing, composes::FailingToo)

/// The name of a method `Work*` of the program.
fn work(info: &ProfilerInfo, function: FunctionId) -> Result<Option<String>> {
    let method = info.method(function)?;
    let name = method.name()?;
    let is_work = method.assembly_name()? == "Waits" && name.len() == 5 && name.starts_with("Work");
    Ok(is_work.then_some(name))
}

/// Changes the result of a method `Work*`.
fn change(
    who: &str,
    info: &ProfilerInfo,
    function: FunctionId,
    change: fn(&mut Fragment),
) -> Result<Option<String>> {
    let name = work(info, function)?;
    if let Some(name) = &name {
        log::line(format_args!("{who} started {name}"));
        info.method(function)?.rewrite(|body, _| {
            let mut code = Fragment::new();
            change(&mut code);
            body.before_ret(&code)?;
            Ok(())
        })?;
    }
    Ok(name)
}

/// A component that changes results.
struct Changes(&'static str, fn(&mut Fragment));

#[component]
impl Component for Changes {
    fn name(&self) -> &str {
        self.0
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        change(self.0, info, function, self.1).map(drop)
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line(format_args!("{} shutdown", self.0));
        Ok(())
    }
}

/// Multiplies the results of `Work*` by 10 in a component, and by 2 itself. Wants threads, and no class.
pub(crate) struct Doubles;

#[profiler(clsid = clsid("Doubles"))]
impl Profiler for Doubles {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(format_args!("doubles: {failure}")));
        setup.remove_events(EventMask::MONITOR_CLASS_LOADS);
        setup.attach(Changes("tens", |code| {
            code.ldc_i4(10).mul();
        }))?;
        if env::var("COMPOSE").is_ok_and(|mode| mode == "hooks") {
            setup.hooks(Nothing, |_, _| Ok(None))?;
        }
        if env::var("COMPOSE").is_ok_and(|mode| mode == "rejit") {
            setup.attach(Rejit::new(RejitOptions::default(), |_, _, _, _| Ok(())))?;
        }
        Ok(Self)
    }

    fn initialize_for_attach(info: &ProfilerInfo, setup: &mut Setup, data: &[u8]) -> Result<Self> {
        let this = Self::initialize(info, setup)?;
        log::line(format_args!("doubles got {}", data.escape_ascii()));
        if data == b"hooks" {
            setup.hooks(Nothing, |_, _| Ok(None))?;
        }
        Ok(this)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        change("doubles", info, function, |code| {
            code.ldc_i4(2).mul();
        })
        .map(drop)
    }

    fn jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        if let Some(name) = work(info, function)? {
            log::line(format_args!("doubles finished {name}"));
        }
        Ok(())
    }

    fn class_load_finished(&self, _: &ProfilerInfo, _: ClassId, _: Hresult) -> Result<()> {
        log::line("doubles has a class");
        Ok(())
    }

    fn thread_created(&self, _info: &ProfilerInfo, _thread: ThreadId) -> Result<()> {
        log::line("doubles has a thread");
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line("doubles shutdown");
        Ok(())
    }
}

/// Adds 1 to the results of `Work*` in a component, and multiplies them by 3 on a thread of its own. Wants classes, until
/// `Work2` is compiled.
pub(crate) struct Adds;

#[profiler(clsid = clsid("Adds"))]
impl Profiler for Adds {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(format_args!("adds: {failure}")));
        setup.attach(Changes("ones", |code| {
            code.ldc_i4(1).add();
        }))?;
        Ok(Self)
    }

    fn initialize_for_attach(info: &ProfilerInfo, setup: &mut Setup, data: &[u8]) -> Result<Self> {
        log::line(format_args!("adds got {}", data.escape_ascii()));
        Self::initialize(info, setup)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        if work(info, function)?.is_none() {
            return Ok(());
        }
        let edit = || {
            change("adds", info, function, |code| {
                code.ldc_i4(3).mul();
            })
        };
        let name = thread::scope(|scope| scope.spawn(edit).join());
        let name = name.map_err(|_| Error::other("the thread panicked"))??;
        if name.as_deref() == Some("Work2") {
            info.set_event_mask2(EventMask::MONITOR_JIT_COMPILATION)?;
            log::line(format_args!("adds has set {:?}", info.event_mask2()?));
        }
        Ok(())
    }

    fn jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        if let Some(name) = work(info, function)? {
            log::line(format_args!("adds finished {name}"));
        }
        Ok(())
    }

    fn class_load_finished(&self, _: &ProfilerInfo, _: ClassId, _: Hresult) -> Result<()> {
        log::line("adds has a class");
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line("adds shutdown");
        Ok(())
    }
}

struct Nothing;

// SAFETY: the hooks do nothing.
unsafe impl CallHooks for Nothing {
    type Function = ();

    fn enter(&self, _function: &'static HookedFunction<()>) {}
}

/// Cannot start.
struct Unready;

#[component]
impl Component for Unready {
    fn start(&self, _info: &ProfilerInfo) -> Result<()> {
        Err(Error::other("not today"))
    }

    fn jit_compilation_started(&self, _: &ProfilerInfo, _: FunctionId, _: bool) -> Result<()> {
        log::line("unready has a callback");
        Ok(())
    }
}

/// Fails in the way that `COMPOSE` names.
fn fail(info: &ProfilerInfo, setup: &mut Setup) -> Result<()> {
    setup.on_failure(|failure| {
        let whose = failure.profiler().unwrap_or("?");
        log::line(format_args!("fails: {failure} [{whose}]"));
    });
    match env::var("COMPOSE").unwrap_or_default().as_str() {
        "error" => return Err(Error::other("no")),
        "cancel" => return Err(Error::cancel_activation()),
        "panic" => panic!("never"),
        "panics" => drop(setup.panic_limit(2)),
        "start" => drop(setup.attach(Unready)?),
        "events" => drop(setup.add_events(EventMask::HIGH_MONITOR_EVENT_PIPE)),
        "hooks" => drop(setup.hooks(Nothing, |_, _| Ok(None))?),
        "rejit" => {
            setup.attach(Rejit::new(RejitOptions::default(), |_, _, _, _| Ok(())))?;
        }
        _ => {}
    }
    let _ = info;
    Ok(())
}

/// Fails, and its component continues.
pub(crate) struct Failing;

#[profiler(clsid = clsid("Failing"))]
impl Profiler for Failing {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        fail(info, setup)?;
        setup.attach(Changes("of fails", |_| ()))?;
        Ok(Self)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let Some(name) = work(info, function)? else {
            return Ok(());
        };
        match env::var("COMPOSE").unwrap_or_default().as_str() {
            "panics" => panic!("at {name}"),
            "errors" => Err(Error::other(format!("at {name}"))),
            "detach" => info.request_profiler_detach(Duration::ZERO),
            _ => Ok(()),
        }
    }
}

/// Fails, too.
pub(crate) struct FailingToo;

#[profiler(clsid = clsid("FailingToo"))]
impl Profiler for FailingToo {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        fail(info, setup)?;
        Ok(Self)
    }
}
