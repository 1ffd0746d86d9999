//! Switches methods on and off while they run.

use std::env;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clr_profiler::il::fragment::Fragment;
use clr_profiler::prelude::*;
use clr_profiler::{Inliners, MethodName, Precompiled, Rejit, RejitOptions};

use crate::log;

/// Methods of `Switched`, and what is added to their results.
const METHODS: [(&str, i32); 5] = [
    ("[Switched]Switched.Program.Own()", 1000),
    ("[Switched]Switched.Program.Small", 1000),
    ("[Switched]Switched.Holder<T>.Get", 1000),
    ("[System.Private.CoreLib]System.Version.GetHashCode()", 1000),
    // Of the four parts of a version, one is not written any more.
    ("System.Version.get_DefaultFormatFieldCount", -1),
];

/// The one in a module that is loaded late.
const LATE: &str = "[Rejit]Rejit.Program.Constant";

/// How often methods are switched under load.
const TIMES: u32 = 50;

const PATIENCE: Duration = Duration::from_secs(30);

/// Switches when a thread of the program gets the name of a step. `SWITCHES` names options.
pub(crate) struct Switches {
    rejit: Arc<Rejit>,
}

fn names() -> Result<Vec<MethodName>> {
    METHODS.iter().map(|(name, _)| name.parse()).collect()
}

/// What is added to the result of a method.
fn change(name: &str) -> i32 {
    match name.contains("get_DefaultFormatFieldCount") {
        true => -1,
        false => 1000,
    }
}

#[profiler(clsid = crate::clsid("Switches"))]
impl Profiler for Switches {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let mut options = RejitOptions::default();
        match env::var("SWITCHES").as_deref() {
            Ok("keep") => options.inliners = Inliners::Keep,
            Ok("refuse") => options.precompiled = Precompiled::Refuse,
            Ok("images") => options.precompiled = Precompiled::DisableImages,
            _ => {}
        }
        // Two of the methods cannot be given their IL.
        let fails = env::var("SWITCHES").is_ok_and(|how| how == "fails");
        let rejit = setup.attach(Rejit::new(options, move |info, module, method, control| {
            control.rewrite(info, module, method, |body, cx| {
                let add = change(cx.full_name());
                let mut code = Fragment::new();
                match cx.props().name.as_str() {
                    "Own" if fails => return Err(Error::other("not this one")),
                    // Takes more from the stack than there is.
                    "Small" if fails => code.add(),
                    _ => code.ldc_i4(add).add(),
                };
                body.before_ret(&code)?;
                Ok(())
            })?;
            Ok(())
        }))?;
        rejit.request_name(&LATE.parse()?);
        Ok(Self { rejit })
    }

    fn thread_name_changed(&self, info: &ProfilerInfo, _: ThreadId, name: &str) -> Result<()> {
        let (rejit, info, name) = (Arc::clone(&self.rejit), info.clone(), name.to_owned());
        // The thread that was named waits here for what is done.
        let step = thread::spawn(move || step(&rejit, &info, &name));
        step.join().map_err(|_| Error::other("a step panicked"))?
    }

    fn rejit_error(
        &self,
        _info: &ProfilerInfo,
        _module: ModuleId,
        method: MethodDef,
        _function: Option<FunctionId>,
        status: Hresult,
    ) -> Result<()> {
        log::line(format_args!("error {method} {status}"));
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line(format_args!("stopped {:?}", self.rejit.stop()));
        Ok(())
    }
}

fn settled(rejit: &Rejit, step: &str) {
    if !rejit.wait(PATIENCE) {
        log::line(format_args!("{step}: the runtime was not told"));
    }
}

fn step(rejit: &Rejit, info: &ProfilerInfo, step: &str) -> Result<()> {
    let names = names()?;
    if step == "off" {
        tell(rejit, info, "before")?;
    }
    match step {
        "on" => names.iter().for_each(|name| rejit.request_name(name)),
        "some on" => names[1..].iter().for_each(|name| rejit.request_name(name)),
        "off" => names.iter().for_each(|name| rejit.revert_name(name)),
        "toggle" => {
            for _ in 0..TIMES {
                names.iter().for_each(|name| rejit.request_name(name));
                settled(rejit, step);
                thread::sleep(Duration::from_millis(4));
                names.iter().for_each(|name| rejit.revert_name(name));
                settled(rejit, step);
                thread::sleep(Duration::from_millis(4));
            }
        }
        "loaded" => {}
        "end" => rejit.revert_all(),
        _ => return Ok(()),
    }
    settled(rejit, step);
    tell(rejit, info, step)
}

fn tell(rejit: &Rejit, info: &ProfilerInfo, step: &str) -> Result<()> {
    info.initialize_current_thread()?;
    for outcome in rejit.outcomes() {
        let name = info
            .module_metadata(outcome.module)?
            .method_props(outcome.method)?
            .name;
        let (state, requests) = (outcome.state, outcome.requests);
        if let Some(problem) = outcome.problem {
            log::line(format_args!("{step}: {name} {state:?} {problem}"));
            continue;
        }
        let is_compiled = outcome.compilations > 0;
        log::line(format_args!(
            "{step}: {name} {state:?} requests {requests} compiled {is_compiled}"
        ));
    }
    for (module, method) in rejit.inliners() {
        let name = info.module_metadata(module)?.method_props(method)?.name;
        log::line(format_args!("{step}: inliner {name}"));
    }
    for named in rejit.names() {
        if let Some(problem) = named.problem {
            log::line(format_args!("{}: {problem}", named.name));
        }
    }
    Ok(())
}
