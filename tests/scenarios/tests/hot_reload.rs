//! Programs that edit their assemblies while they run, and the profiler's view of it.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use clr_profiler::il::fragment::Fragment;
use clr_profiler::prelude::*;
use clr_profiler::rejit::{Rejit, RejitOptions};
use clr_profiler::rewrite::NativeCall;
use scenario_support::{clsid, log};

/// The calls of rewritten methods.
static CALLS: AtomicUsize = AtomicUsize::new(0);

/// Logs the methods of the class `Edited` before and after each edit. `HOT` says which are rewritten: `rewrite`,
/// as they are compiled, or `rejit`, after each edit; otherwise none.
pub(crate) struct HotReload {
    mode: String,
    count: NativeCall,
    rejit: Arc<Rejit>,
}

#[profiler(clsid = clsid("HotReload"))]
impl Profiler for HotReload {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let count = NativeCall::new(|| {
            CALLS.fetch_add(1, Ordering::Relaxed);
        });
        let mode = std::env::var("HOT").unwrap_or_default();
        let code = count.clone();
        let rejit = Rejit::new(
            RejitOptions::default(),
            move |info, module, method, control| {
                let rewritten = control.rewrite(info, module, method, |body, cx| {
                    let count = cx.call_native(&code)?;
                    body.prologue(&count)?;
                    Ok(())
                });
                log::line(format_args!("rejitted {:?}", outcome(&rewritten)));
                rewritten.map(drop)
            },
        );
        let rejit = setup.attach(rejit)?;
        Ok(Self { mode, count, rejit })
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.assembly_name()? != "Edited" {
            return Ok(());
        }
        let length = method.il_body()?.len();
        log::line(format_args!("compiled {} {length}", method.name()?));
        if self.mode == "rewrite" {
            let rewritten = method.rewrite(|body, cx| {
                let count: Fragment = cx.call_native(&self.count)?;
                body.prologue(&count)?;
                Ok(())
            });
            log::line(format_args!(
                "rewritten {} {:?}",
                method.name()?,
                outcome(&rewritten)
            ));
        }
        Ok(())
    }

    fn thread_name_changed(&self, info: &ProfilerInfo, _: ThreadId, name: &str) -> Result<()> {
        let calls = CALLS.load(Ordering::Relaxed);
        log::line(format_args!("at {name}, calls {calls}"));
        let modules = info.modules()?.collect::<Result<Vec<_>>>()?;
        for module in modules {
            if !info.module_info(module)?.name.ends_with("Edited.dll") {
                continue;
            }
            let is_on = info.is_hot_reload_enabled(module)?;
            log::line(format_args!("hot reload {is_on}"));
            let metadata = info.module_metadata(module)?;
            let class = metadata.find_type_def_by_name("Edited", None)?;
            let mut wanted = Vec::new();
            for method in metadata.methods(class) {
                let method = method?;
                let name = metadata.method_props(method)?.name;
                let body = info.il_function_body(module, method);
                let body = body
                    .map(|body| body.len())
                    .map_err(|error| error.to_string());
                log::line(format_args!("method {name} {body:?}"));
                if name == "Answer" {
                    wanted.push((module, method));
                }
            }
            if self.mode == "rewrite" && is_on {
                let writer = info.module_metadata_for_writing(module);
                log::line(format_args!("writable {}", writer.is_ok()));
            }
            let types = metadata.type_defs().count();
            log::line(format_args!("types {types}"));
            if self.mode == "rejit" && name.starts_with("before") {
                self.rejit.request(wanted);
                log::line(format_args!(
                    "requested {}",
                    self.rejit.wait(Duration::from_secs(10))
                ));
            }
        }
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line(format_args!("calls {}", CALLS.load(Ordering::Relaxed)));
        for outcome in self.rejit.outcomes() {
            log::line(format_args!("{outcome:?}"));
        }
        Ok(())
    }
}

fn outcome<T>(result: &Result<T>) -> String {
    match result {
        Ok(_) => "ok".to_owned(),
        Err(error) => error.to_string().replace('\n', " "),
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::{Finished, Runtime, Scenario, runtimes_where};

    use super::HotReload;

    const EDITED: &str = "supported True\n\
        0 one same\n0 one same\n\
        1 two! same\n1 two! same\n\
        2 three!? same\n2 three!? same\n";

    /// Runs the program on a runtime that can edit it: from .NET 8, for which the program is built.
    fn on_each_runtime(mode: &str, edits: bool, assert: impl Fn(&Runtime, &Finished)) {
        for runtime in runtimes_where(|runtime| runtime.major >= 8) {
            let mut scenario = Scenario::new("HotReload")
                .profiled_by::<HotReload>()
                .env("HOT", mode);
            if edits {
                scenario = scenario.env("DOTNET_MODIFIABLE_ASSEMBLIES", "debug");
            }
            let plain = scenario.run_plain(runtime);
            let profiled = scenario.run_on(runtime);
            let log = &profiled.log;
            assert_eq!(profiled.output(), plain.output(), "{}\n{log}", runtime.name);
            assert_eq!(profiled.status.code(), Some(3), "{}\n{log}", runtime.name);
            assert_eq!(plain.stdout == EDITED, edits, "{} {plain:?}", runtime.name);
            println!("{}\n{log}", runtime.name);
            assert(runtime, &profiled);
        }
    }

    /// The lines that follow this one, up to the next of its kind.
    fn section<'a>(log: &'a str, from: &str) -> Vec<&'a str> {
        let lines = log.lines().skip_while(|line| !line.starts_with(from));
        lines
            .skip(1)
            .take_while(|line| !line.starts_with("at "))
            .collect()
    }

    #[test]
    fn metadata_and_il_are_those_after_the_last_edit() {
        on_each_runtime("observe", true, |runtime, profiled| {
            let log = &profiled.log;
            let name = &runtime.name;
            assert_eq!(
                section(log, "at before 0"),
                [
                    "hot reload true",
                    "method Answer Ok(23)",
                    "method Same Ok(23)",
                    "types 1",
                    "compiled Answer 23",
                    "compiled Same 23",
                ],
                "{name}"
            );
            assert_eq!(
                section(log, "at before 1"),
                [
                    "hot reload true",
                    "method Answer Ok(28)",
                    "method Same Ok(23)",
                    "method Added Ok(29)",
                    "types 1",
                    "compiled Answer 28",
                    "compiled Added 29",
                ],
                "{name}"
            );
            assert_eq!(
                section(log, "at before 2"),
                [
                    "hot reload true",
                    "method Answer Ok(43)",
                    "method Same Ok(23)",
                    "method Added Ok(29)",
                    "types 2",
                    "compiled Answer 43",
                    "compiled .ctor 20",
                ],
                "{name}"
            );
        });
    }

    /// Without the refusal, .NET 8 ends with SIGSEGV at the first edit.
    #[test]
    fn methods_that_may_be_edited_are_not_rewritten() {
        on_each_runtime("rewrite", true, |runtime, profiled| {
            let log = &profiled.log;
            let refused = log
                .lines()
                .filter(|line| line.contains("(hot reload)"))
                .count();
            // Two methods, two edits of one of them, and two methods that edits have added.
            assert_eq!(refused, 6, "{}\n{log}", runtime.name);
            assert!(profiled.logged("calls 0"), "{}\n{log}", runtime.name);
            assert!(profiled.logged("writable false"), "{}\n{log}", runtime.name);
        });
    }

    /// Without the refusal, runtimes accept the requests and ignore them.
    #[test]
    fn methods_that_may_be_edited_are_not_rejitted() {
        on_each_runtime("rejit", true, |runtime, profiled| {
            let log = &profiled.log;
            assert!(log.contains("state: Failed("), "{}\n{log}", runtime.name);
            assert!(profiled.logged("calls 0"), "{}\n{log}", runtime.name);
        });
    }

    #[test]
    fn without_hot_reload_the_same_module_is_rewritten() {
        for mode in ["rewrite", "rejit"] {
            on_each_runtime(mode, false, |runtime, profiled| {
                let log = &profiled.log;
                assert!(
                    profiled.logged("hot reload false"),
                    "{}\n{log}",
                    runtime.name
                );
                let calls = log.lines().rev().find(|line| line.starts_with("calls "));
                let calls = calls.and_then(|line| line.rsplit(' ').next()?.parse::<u32>().ok());
                assert!(
                    calls.is_some_and(|calls| calls > 3),
                    "{}\n{log}",
                    runtime.name
                );
            });
        }
    }
}
