//! Components attached to a profiler get their callbacks, in their order, and do not affect each other.

mod conflicts;
mod pairs;
#[cfg(test)]
mod tests;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use clr_profiler::il::fragment::Fragment;
use clr_profiler::prelude::*;
use clr_profiler::rejit::{Rejit, RejitOptions};
use scenario_support::{clsid, log};

pub(crate) use conflicts::{Conflicts, OwnsRejit};
pub(crate) use pairs::Pairs;

/// How a part changes the result of a method.
type Change = fn(&mut Fragment);

/// A component that logs its callbacks, and edits the methods `Work*`.
struct Part {
    name: &'static str,
    order: i32,
    change: Change,
}

#[component]
impl Component for Part {
    fn name(&self) -> &str {
        self.name
    }

    fn order(&self) -> i32 {
        self.order
    }

    fn start(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line(format_args!("{} start", self.name));
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line(format_args!("{} shutdown", self.name));
        Ok(())
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        started(self.name, info, function, self.change)
    }

    fn jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        finished(self.name, info, function)
    }
}

/// The name of a method `Work*` of the program.
fn work(info: &ProfilerInfo, function: FunctionId) -> Result<Option<String>> {
    let method = info.method(function)?;
    let name = method.name()?;
    let is_work = method.assembly_name()? == "Waits" && name.len() == 5 && name.starts_with("Work");
    Ok(is_work.then_some(name))
}

fn started(who: &str, info: &ProfilerInfo, function: FunctionId, change: Change) -> Result<()> {
    let Some(name) = work(info, function)? else {
        return Ok(());
    };
    log::line(format_args!("{who} started {name}"));
    info.method(function)?.rewrite(|body, _| {
        let mut code = Fragment::new();
        change(&mut code);
        body.before_ret(&code)?;
        Ok(())
    })?;
    Ok(())
}

fn finished(who: &str, info: &ProfilerInfo, function: FunctionId) -> Result<()> {
    if let Some(name) = work(info, function)? {
        log::line(format_args!("{who} finished {name}"));
    }
    Ok(())
}

/// Panics whenever a method `Work*` is compiled.
struct Panics;

#[component]
impl Component for Panics {
    fn panic_limit(&self) -> u32 {
        2
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        match work(info, function)? {
            Some(name) => panic!("no {name}"),
            None => Ok(()),
        }
    }
}

/// Refuses the inlining of `Kept`, and one precompiled function.
#[derive(Default)]
struct Refuses(AtomicUsize);

#[component]
impl Component for Refuses {
    fn jit_inlining(&self, info: &ProfilerInfo, _: FunctionId, callee: FunctionId) -> Result<bool> {
        Ok(info.method(callee)?.name()? != "Kept")
    }

    fn jit_cached_function_search_started(
        &self,
        _info: &ProfilerInfo,
        function: FunctionId,
    ) -> Result<bool> {
        let first = self
            .0
            .compare_exchange(0, function.raw(), Ordering::AcqRel, Ordering::Acquire);
        Ok(first.is_err())
    }
}

/// Has components that edit the methods `Work*`, each once, and `Work2` by ReJIT after its compilation.
pub(crate) struct Composed {
    rejit: Arc<Rejit>,
    refuses: Arc<Refuses>,
}

#[profiler(clsid = clsid("Composed"))]
impl Profiler for Composed {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let second = Part {
            name: "second",
            order: 0,
            change: |code| {
                code.ldc_i4(3).add();
            },
        };
        setup.attach(second)?;
        setup.attach(Panics)?;
        // Its log line says that it is the first.
        let first = Part {
            name: "first",
            order: -1,
            change: |code| {
                code.ldc_i4(10).mul();
            },
        };
        setup.attach(first)?;
        let rejit = Rejit::new(RejitOptions::default(), |info, module, method, control| {
            control.rewrite(info, module, method, |body, _| {
                body.before_ret(Fragment::new().ldc_i4(100).add())?;
                Ok(())
            })?;
            Ok(())
        });
        Ok(Self {
            rejit: setup.attach(rejit)?,
            refuses: setup.attach(Refuses::default())?,
        })
    }

    // The others are called as well: each may refuse.
    fn jit_inlining(&self, _: &ProfilerInfo, _: FunctionId, _: FunctionId) -> Result<bool> {
        Ok(true)
    }

    fn jit_cached_function_search_started(&self, _: &ProfilerInfo, _: FunctionId) -> Result<bool> {
        Ok(true)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        if self.refuses.0.load(Ordering::Acquire) == function.raw() {
            log::line("compiled a refused function");
        }
        started("profiler", info, function, |code| {
            code.ldc_i4(2).mul();
        })
    }

    fn jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        if work(info, function)?.as_deref() == Some("Work2") {
            let method = info.method(function)?;
            self.rejit.request([(method.module(), method.token())]);
        }
        finished("profiler", info, function)
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line("profiler shutdown");
        Ok(())
    }
}
