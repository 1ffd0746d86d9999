//! Counts the calls of each method of a .NET program, and their time.

mod clock;
mod local;
mod options;
mod profile;
mod thread;

use std::sync::{Arc, Mutex};
use std::time::{Instant, SystemTime};

use crate::report::{
    Pace, Report, Session, Settings, Tool, When, failures, is_framework, limit, lock,
};
use crate::spans::ticks;
use crate::stacks::{Form, Live, Names, Stacks};
use clr_profiler::hooks::{CallHooks, Unwinding};
use clr_profiler::prelude::*;

use clock::Clock;
use options::Options;
use profile::Profile;
use thread::{ByMethod, ByStack};

/// The limit for different stacks, for the running threads and for the ended ones: 24 MB each.
const STACKS: usize = 300_000;
/// The limit for methods with a row of their own.
const METHODS: usize = 100_000;

/// The profiler.
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct CallCounter {
    report: Arc<Report>,
    session: Session,
}

#[profiler(clsid = "5C0B3F6E-7F0D-4C38-9E0A-6D2F4B8A1E57")]
impl Profiler for CallCounter {
    crate::start_as_tool!();

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.report.finish();
        self.session.end();
        Ok(())
    }
}

impl Tool for CallCounter {
    fn build(info: &ProfilerInfo, setup: &mut Setup, settings: &Settings) -> Result<Self> {
        failures::watch("call_counter", setup);
        let options = Options::read(settings)?;
        if !options.inline {
            setup.add_events(EventMask::DISABLE_INLINING);
        }
        let names = Arc::new(Mutex::new(Names::with_limit(limit(
            "CALL_COUNTER_LIMIT_METHODS",
            METHODS,
        ))));
        let live = Live::with_limit(limit("CALL_COUNTER_LIMIT_STACKS", STACKS));
        let clock = options.times.then(Clock::start);
        match (options.times, options.form) {
            (true, _) => {
                setup.attach(Unwinding::new(ByStack::<true>::unwind))?;
                hook(setup, ByStack::<true>(live.clone()), &options, &names)?;
            }
            (false, Form::Table) => hook(setup, ByMethod(live.clone()), &options, &names)?,
            (false, _) => {
                setup.attach(Unwinding::new(ByStack::<false>::unwind))?;
                hook(setup, ByStack::<false>(live.clone()), &options, &names)?;
            }
        }
        let mut pace = Pace::start();
        let first = (SystemTime::now(), Instant::now());
        let counted = info.clone();
        let report = Arc::new(Report::start(When::every(Pace::LOOK), move |moment| {
            pace.replace(&options.output, moment, |file| {
                let profile = Profile {
                    stacks: stacks(&live, clock),
                    names: lock(&names).clone(),
                    threads: live.threads(),
                    overhead: counted.overhead(),
                    options: &options,
                    began: first,
                };
                profile.write(file)
            })
        })?);
        let session = Session::start(settings, info, setup, {
            let report = Arc::clone(&report);
            move || report.finish()
        })?;
        Ok(Self { report, session })
    }
}

/// Sets hooks for the methods that are wanted.
fn hook(
    setup: &mut Setup,
    hooks: impl CallHooks<Function = u64>,
    options: &Options,
    names: &Arc<Mutex<Names>>,
) -> Result<()> {
    let (names, methods) = (Arc::clone(names), options.methods.clone());
    setup.hooks(hooks, move |info, function| {
        // Methods without metadata, those of `DynamicMethod`, are attributed to their callers.
        let Ok(method) = info.method(function) else {
            return Ok(None);
        };
        let is_wanted = match &methods {
            Some(patterns) => patterns.matches(&method)?,
            None => !is_framework(&method.assembly_name()?),
        };
        if !is_wanted {
            return Ok(None);
        }
        let name = method.full_name()?;
        Ok(Some(lock(&names).number(&name)))
    })?;
    Ok(())
}

/// A copy of the stacks, with nanoseconds.
fn stacks(live: &Live, clock: Option<Clock>) -> Stacks {
    match clock {
        Some(clock) => {
            let mut stacks = live.stacks(ticks());
            stacks.scale(clock.nanoseconds());
            stacks
        }
        None => live.stacks(0),
    }
}
