//! Two profilers of one library: the id of a target that goes is valid in the callbacks of both, and refused afterwards.
//!
//! The runtime calls one profiler after the other.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, PoisonError};

use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// The answers about ids in the callbacks in which their targets go, and about the same ids later.
#[derive(Default)]
struct Answers {
    answered: AtomicU32,
    refused: AtomicU32,
    kept: Mutex<(Vec<ModuleId>, Vec<ThreadId>)>,
}

impl Answers {
    fn count(&self, about: &str, asked: Result<()>) {
        match asked {
            Ok(()) => self.answered.fetch_add(1, Ordering::Relaxed),
            Err(error) => {
                log::line(format_args!("{about}: {error}"));
                self.refused.fetch_add(1, Ordering::Relaxed)
            }
        };
    }

    fn module(&self, info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        let kept = &mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        // By the time of the next unload nothing of the earlier ones is valid.
        for earlier in kept.0.drain(..) {
            if info.module_info(earlier).is_ok() {
                log::line("an unloaded module was found");
            }
        }
        self.count("module", info.module_info(module).map(drop));
        let types = info.module_metadata(module).and_then(|metadata| {
            metadata
                .type_defs()
                .try_for_each(|type_def| type_def.map(drop))
        });
        self.count("metadata", types);
        kept.0.push(module);
        Ok(())
    }

    fn thread(&self, info: &ProfilerInfo, thread: ThreadId) -> Result<()> {
        let kept = &mut *self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        for earlier in kept.1.drain(..) {
            if info.thread_info(earlier).is_ok() {
                log::line("a thread was found after its end");
            }
        }
        self.count("thread", info.thread_info(thread).map(drop));
        kept.1.push(thread);
        Ok(())
    }

    fn say(&self, who: &str) -> Result<()> {
        let answered = self.answered.load(Ordering::Relaxed);
        let refused = self.refused.load(Ordering::Relaxed);
        log::line(format_args!("{who} {answered} answered, {refused} refused"));
        Ok(())
    }
}

macro_rules! told {
    ($(#[$attribute:meta])* impl Profiler for $profiler:ident, $who:literal) => {
        #[derive(Default)]
        #[allow(dead_code, reason = "the tests refer to the second one by its name")]
        pub(crate) struct $profiler(Answers);

        $(#[$attribute])*
        impl Profiler for $profiler {
            fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
                setup.on_failure(|failure| log::line(failure));
                Ok(Self::default())
            }

            fn load_as_notification_only() -> bool {
                $who != "first"
            }

            fn module_unload_started(&self, info: &ProfilerInfo, module: ModuleId) -> Result<()> {
                self.0.module(info, module)
            }

            fn thread_destroyed(&self, info: &ProfilerInfo, thread: ThreadId) -> Result<()> {
                self.0.thread(info, thread)
            }

            fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
                self.0.say($who)
            }
        }
    };
}

told! {
    #[profiler(clsid = clsid("ToldFirst"))]
    impl Profiler for ToldFirst, "first"
}

told! {
    #[profiler(clsid = clsid("ToldNext"))]
    impl Profiler for ToldNext, "second"
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::ToldFirst;

    #[test]
    fn ids_are_valid_until_the_last_profiler_was_told() {
        let scenario = Scenario::new("KeptIds")
            .args(&["20"])
            .profiled_by::<ToldFirst>()
            .notification_profiler("ToldNext");
        scenario.on_each_runtime(|runtime, profiled| {
            let plain = scenario.run_plain(runtime);
            assert_eq!(profiled.output(), plain.output(), "{}", profiled.log);
            let mut lines: Vec<&str> = profiled.log.lines().collect();
            lines.sort_unstable();
            let answered = |line: &str, who| {
                let rest = line.strip_prefix(who)?;
                let count = rest.strip_suffix(" answered, 0 refused")?;
                count.parse::<u32>().ok()
            };
            // Two for each of the 20 modules, and one for each thread.
            match (runtime.major, &lines[..]) {
                // .NET Core 3.1 has one profiler alone.
                (3, [first]) => assert!(answered(first, "first ") > Some(40)),
                (5.., [first, second]) => {
                    assert!(answered(first, "first ") > Some(40), "{first}");
                    assert_eq!(answered(first, "first "), answered(second, "second "));
                }
                _ => panic!("{}", profiled.log),
            }
        });
    }
}
