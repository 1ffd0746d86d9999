//! Nested callbacks, and callbacks at the end of the process.

use std::cell::Cell;
use std::sync::atomic::{AtomicBool, Ordering};

use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

thread_local! {
    /// Whether this thread is in `jit_compilation_started` of a method of interest.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

/// Makes the runtime load a type from within a callback.
pub(crate) struct Nests;

#[profiler(clsid = clsid("Nests"))]
impl Profiler for Nests {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.full_name()? == "Basics.Program.Catch(int)" {
            let metadata = method.metadata()?;
            let class = metadata.method_props(method.token())?.class;
            let program = info.class_from_token_and_type_args(method.module(), class, &[])?;
            let boxed = metadata.find_type_def_by_name("Basics.Box`1", None)?;
            INSIDE.set(true);
            let loaded = info.class_from_token_and_type_args(method.module(), boxed, &[program]);
            INSIDE.set(false);
            log::line(format_args!("loaded {}", loaded.is_ok()));
        }
        Ok(())
    }

    fn class_load_finished(
        &self,
        info: &ProfilerInfo,
        class: ClassId,
        status: Hresult,
    ) -> Result<()> {
        if INSIDE.get() {
            let arguments = info.class_id_info2(class)?.type_arguments.len();
            log::line(format_args!("nested: {status}, {arguments} argument"));
        }
        Ok(())
    }
}

/// Logs the callbacks after `shutdown`.
pub(crate) struct SaysLate {
    ended: AtomicBool,
}

impl SaysLate {
    fn called(&self, callback: &str) -> Result<()> {
        if self.ended.load(Ordering::SeqCst) {
            log::line(format_args!("late {callback}"));
        }
        Ok(())
    }
}

#[profiler(clsid = clsid("SaysLate"))]
impl Profiler for SaysLate {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup
            .on_failure(|failure| log::line(failure))
            .add_events(EventMask::MONITOR_EXCEPTIONS);
        Ok(Self {
            ended: AtomicBool::new(false),
        })
    }

    fn exception_thrown(&self, _info: &ProfilerInfo, _thrown: ObjectId<'_>) -> Result<()> {
        self.called("exception_thrown")
    }

    fn dynamic_method_jit_compilation_started(
        &self,
        _info: &ProfilerInfo,
        _function: FunctionId,
        _is_safe_to_block: bool,
        _il: &[u8],
    ) -> Result<()> {
        self.called("dynamic_method_jit_compilation_started")
    }

    fn object_allocated(
        &self,
        _info: &ProfilerInfo,
        _object: ObjectId<'_>,
        _class: ClassId,
    ) -> Result<()> {
        self.called("object_allocated")
    }

    fn shutdown(&self, info: &ProfilerInfo) -> Result<()> {
        // On a thread of its own, which continues after the end: the runtime must not be called.
        let info = info.clone();
        let (ask, asked) = std::sync::mpsc::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let _ = asked.recv();
            let _ = tell.send(info.runtime_information().is_ok());
        });
        let _ = ask.send(());
        log::line(format_args!("asked during shutdown: {:?}", told.recv()));
        self.ended.store(true, Ordering::SeqCst);
        // Other callbacks continue meanwhile; those that have begun already may finish.
        std::thread::sleep(std::time::Duration::from_millis(50));
        log::line("ended");
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::{Nests, SaysLate};

    #[test]
    fn callbacks_come_within_callbacks() {
        let scenario = Scenario::new("Basics").profiled_by::<Nests>();
        scenario.compare(|plain, profiled| {
            assert_eq!(profiled.output(), plain.output());
            let nested = "nested: S_OK (0x00000000), 1 argument";
            assert!(
                profiled.log.starts_with(&format!("{nested}\n")),
                "{}",
                profiled.log
            );
            assert!(profiled.log.ends_with("loaded true\n"), "{}", profiled.log);
        });
    }

    #[test]
    fn nothing_reaches_the_profiler_after_its_shutdown() {
        let scenario = Scenario::new("Exits").profiled_by::<SaysLate>();
        // Each run ends at a different moment.
        for _ in 0..5 {
            scenario.compare(|plain, profiled| {
                assert_eq!(profiled.output(), plain.output());
                assert_eq!(profiled.output(), (Some(3), "leaving\n", ""));
                let late = profiled
                    .log
                    .lines()
                    .filter(|line| line.starts_with("late"))
                    .count();
                // At most one on each of the four threads: those in a callback at that moment.
                assert!(late <= 4, "{}", profiled.log);
                assert!(
                    profiled
                        .log
                        .starts_with("asked during shutdown: Ok(true)\n")
                );
                assert!(
                    profiled.log.lines().any(|line| line == "ended"),
                    "{}",
                    profiled.log
                );
            });
        }
    }
}
