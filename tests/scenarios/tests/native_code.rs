//! Native code is found by its function, and vice versa.
//!
//! The profiler queries the addresses of native code and their functions, and collects garbage.

use std::sync::Once;

use clr_profiler::info::IlOrigin;
use clr_profiler::prelude::*;
use scenario_support::threads::os_thread;
use scenario_support::{clsid, log};

/// Makes the calls when the first thread gets its name.
pub(crate) struct NativeCode {
    once: Once,
}

#[profiler(clsid = clsid("NativeCode"))]
impl Profiler for NativeCode {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self { once: Once::new() })
    }

    fn thread_name_changed(&self, info: &ProfilerInfo, _: ThreadId, _: &str) -> Result<()> {
        let mut outcome = Ok(());
        self.once.call_once(|| outcome = ask(info));
        outcome
    }

    fn garbage_collection_started(
        &self,
        _gc: &GcScope,
        _generations: GenerationSet,
        reason: GcReason,
    ) -> Result<()> {
        log::line(format_args!("collection {reason:?}"));
        Ok(())
    }
}

fn ask(info: &ProfilerInfo) -> Result<()> {
    for function in info.jitted_functions2()? {
        let (function, rejit) = function?;
        if info.is_function_dynamic(function)? {
            continue;
        }
        let method = info.method(function)?;
        if method.full_name()? != "Basics.Program.Main(string[])" {
            continue;
        }
        let (module, token) = (method.module(), method.token());
        let class = method.props()?.class;
        let loaded = info.class_from_token(module, class)?;
        log::line(format_args!(
            "class {}",
            info.class_id_info2(loaded)?.token == class
        ));
        let again = info.function_from_token(module, token)?;
        let by_class = info.function_from_token_and_type_args(module, token, loaded, &[])?;
        log::line(format_args!(
            "same {} {}",
            again == function,
            by_class == function
        ));
        for start in info.native_code_start_addresses(function, rejit)? {
            let ranges = info.code_info4(start)?;
            let inside = ranges.iter().any(|range| range.contains(start));
            let known = info.code_info3(function, rejit)?;
            log::line(format_args!("code {inside} {}", known == ranges));
            let (owner, _) = info.function_from_ip3(start + 1)?;
            log::line(format_args!("owner {}", owner == function));
            let mapping = info.il_to_native_mapping3(start)?;
            let begins = mapping.iter().any(|entry| entry.il == IlOrigin::Prolog);
            let maps = mapping
                .iter()
                .any(|entry| matches!(entry.il, IlOrigin::Offset(_)));
            log::line(format_args!("mapping {begins} {maps}"));
        }
    }
    let thread = info.current_thread_id()?;
    let is_known = os_thread() == Some(info.thread_info(thread)?);
    log::line(format_args!("thread {is_known}"));
    // It is refused in a callback.
    match info.force_gc() {
        Ok(()) => log::line("collected in a callback"),
        Err(error) => log::line(error),
    }
    let info = info.clone();
    let collected = std::thread::spawn(move || info.force_gc());
    log::line(format_args!(
        "collected {:?}",
        collected.join().map_err(|_| ())
    ));
    Ok(())
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::NativeCode;

    #[test]
    fn native_code_is_known_by_its_function_and_the_other_way_round() {
        let scenario = Scenario::new("Basics").profiled_by::<NativeCode>();
        scenario.compare(|plain, profiled| {
            assert_eq!(profiled.output(), plain.output());
            for line in [
                "class true",
                "same true true",
                "code true true",
                "owner true",
                "mapping true true",
                "thread true",
                "collected Ok(Ok(()))",
            ] {
                assert!(profiled.logged(line), "{line} not in {}", profiled.log);
            }
            // Refused in a callback, and the error says so; on a thread of its own it succeeds.
            let refused =
                "ICorProfilerInfo::ForceGC failed with CORPROF_E_UNSUPPORTED_CALL_SEQUENCE";
            assert!(profiled.log.contains(refused), "{}", profiled.log);
            let collections = profiled
                .log
                .lines()
                .filter(|line| *line == "collection Induced");
            assert_eq!(collections.count(), 3, "{}", profiled.log);
            assert!(!profiled.log.contains(" false"), "{}", profiled.log);
        });
    }
}
