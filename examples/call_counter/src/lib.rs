//! Counts the calls of each method of a .NET program, and their time.

mod clock;
mod options;
mod profile;
mod thread;

use std::sync::{Arc, Mutex};
use std::time::Instant;

use clr_profiler::hooks::Unwinding;
use clr_profiler::prelude::*;
use report::{Moment, Pace, Report, When, failures, is_framework, limit, lock};
use stacks::{Live, Names};

use options::Options;
use profile::Profile;
use thread::Counter;

/// The limit for different stacks, for the running threads and for the ended ones: 24 MB each.
const STACKS: usize = 300_000;
/// The limit for methods with a row of their own.
const METHODS: usize = 100_000;

/// The profiler.
struct CallCounter {
    report: Report,
}

#[profiler(clsid = "5C0B3F6E-7F0D-4C38-9E0A-6D2F4B8A1E57")]
impl Profiler for CallCounter {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        failures::watch("call_counter", setup);
        let options = Options::from_environment()?;
        setup.attach(Unwinding::new(thread::unwind))?;
        if !options.inline {
            setup.add_events(EventMask::DISABLE_INLINING);
        }
        let names = Arc::new(Mutex::new(Names::with_limit(limit(
            "CALL_COUNTER_LIMIT_METHODS",
            METHODS,
        ))));
        let counter = Counter::new(
            Live::with_limit(limit("CALL_COUNTER_LIMIT_STACKS", STACKS)),
            options.times,
        );
        setup.hooks(counter.clone(), {
            let (names, filter) = (Arc::clone(&names), options.filter.clone());
            move |info, function| {
                // Methods without metadata, those of `DynamicMethod`, are attributed to their callers.
                let Ok(method) = info.method(function) else {
                    return Ok(None);
                };
                let name = method.full_name()?;
                let is_wanted = match &filter {
                    Some(part) => name.contains(part.as_str()),
                    None => !is_framework(&method.assembly_name()?),
                };
                Ok(is_wanted.then(|| lock(&names).number(&name)))
            }
        })?;
        let mut pace = Pace::start();
        let report = Report::start(When::every(Pace::LOOK), move |moment| {
            let is_due = pace.is_due() && options.output.is_replaceable();
            if moment == Moment::Meanwhile && !is_due {
                return Ok(());
            }
            let began = Instant::now();
            let profile = Profile {
                stacks: counter.stacks(),
                names: lock(&names).clone(),
                threads: counter.threads(),
                options: &options,
            };
            let written = options.output.replace(|file| profile.write(file));
            pace.written(began);
            written
        })?;
        Ok(Self { report })
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.report.finish();
        Ok(())
    }
}

register!(CallCounter);
