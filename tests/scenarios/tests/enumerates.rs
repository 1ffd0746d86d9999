//! Loaded things can be enumerated, as by an attached profiler.

use std::sync::Once;

use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Enumerates when the first thread gets its name.
pub(crate) struct Enumerates {
    once: Once,
}

#[profiler(clsid = clsid("Enumerates"))]
impl Profiler for Enumerates {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self { once: Once::new() })
    }

    fn thread_name_changed(&self, info: &ProfilerInfo, thread: ThreadId, name: &str) -> Result<()> {
        let mut outcome = Ok(());
        self.once
            .call_once(|| outcome = enumerate(info, thread, name));
        outcome
    }
}

fn enumerate(info: &ProfilerInfo, thread: ThreadId, name: &str) -> Result<()> {
    for module in info.modules()? {
        let module = info.module_info(module?)?;
        let Some(assembly) = module.assembly else {
            continue;
        };
        let assembly = info.assembly_info(assembly)?;
        let domain = match assembly.app_domain {
            Some(domain) => info.app_domain_info(domain)?.process_id == std::process::id() as usize,
            None => false,
        };
        log::line(format_args!(
            "module of {}, in this process {domain}",
            assembly.name
        ));
    }
    let threads: Vec<ThreadId> = info.threads()?.collect::<Result<_>>()?;
    log::line(format_args!(
        "{name} runs already {}, this thread does {}",
        threads.contains(&thread),
        threads.contains(&info.current_thread_id()?)
    ));
    for function in info.jitted_functions2()? {
        let (function, rejit) = function?;
        if rejit == RejitId::ORIGINAL && !info.is_function_dynamic(function)? {
            log::line(format_args!(
                "function {}",
                info.method(function)?.full_name()?
            ));
        }
    }
    // Ending an enumeration early is fine.
    let first = info.jitted_functions2()?.next().is_some();
    log::line(format_args!("some function {first}"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::Enumerates;

    #[test]
    fn what_is_there_can_be_enumerated() {
        let scenario = Scenario::new("Basics").profiled_by::<Enumerates>();
        scenario.compare(|plain, profiled| {
            assert_eq!(profiled.output(), plain.output());
            for line in [
                "module of Basics, in this process true",
                "module of System.Private.CoreLib, in this process true",
                "worker 1 runs already false, this thread does true",
                "function Basics.Program.Main(string[])",
                "function Basics.Program.Catch(int)",
                "some function true",
            ] {
                assert!(profiled.logged(line), "{line} not in {}", profiled.log);
            }
        });
    }
}
