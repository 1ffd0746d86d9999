//! The samples next to a trace, of processor time or of all time, each with the span in which it was taken.

use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use clr_profiler::prelude::*;

use crate::otlp::TraceContexts;
use crate::profilers::cpu::options::Options;
use crate::profilers::cpu::profile::{Profile, Spanned};
use crate::profilers::cpu::sampling::Sampling;
use crate::report::{Moment, Output, Pace, Session, Settings, lock};
use crate::stacks::{Form, Label};

/// A sampler and its file.
pub(super) struct Samples {
    info: ProfilerInfo,
    settings: Settings,
    output: Output,
    by_wall: bool,
    form: Form,
    sampler: Sampling,
    profile: Arc<Mutex<Profile>>,
    pace: Mutex<Pace>,
}

impl Samples {
    /// Samples threads from now on, also those that wait if `by_wall`.
    ///
    /// # Errors
    ///
    /// The file cannot be written, or threads cannot be sampled so on this system.
    pub(super) fn start(
        info: &ProfilerInfo,
        setup: &mut Setup,
        settings: &Settings,
        (output, by_wall): (PathBuf, bool),
        spanned: Spanned,
    ) -> Result<Self> {
        let output = Output::whole(output)?;
        let form = Form::of(output.path());
        let options = Options::of_file(output, form, by_wall);
        let mut profile = Profile::new(&options);
        profile.label_by(spanned);
        let profile = Arc::new(Mutex::new(profile));
        let sampler = Sampling::attach_labelled(setup, &profile, by_wall).map_err(|error| {
            let (profile, _) = words(by_wall);
            Error::other(format!("there is no {profile} next to the trace: {error}"))
        })?;
        Ok(Self {
            info: info.clone(),
            settings: settings.clone(),
            output: options.output,
            by_wall,
            form,
            sampler,
            profile,
            pace: Mutex::new(Pace::start()),
        })
    }

    /// The functions of a module are gone, and the samples with them are delivered.
    pub(super) fn forget(&self, module: ModuleId) -> Result<()> {
        let waited = self.sampler.wait_for_delivery();
        lock(&self.profile).forget(module);
        waited
    }

    /// Ends the sampler.
    pub(super) fn stop(&self) -> Result<()> {
        let stopped = self.sampler.stop();
        if let Err(error) = &stopped {
            lock(&self.profile).fail(error);
        }
        stopped
    }

    /// Writes the file, if it is time to.
    pub(super) fn write(&self, moment: Moment) -> io::Result<()> {
        let written = lock(&self.pace).replace(&self.output, moment, |file| {
            // A copy: writing takes longer than the sampling interval.
            let profile = lock(&self.profile).clone();
            profile.write(
                self.form,
                &self.sampler.totals(),
                self.info.overhead(),
                file,
            )
        });
        if moment == Moment::End {
            let profile = lock(&self.profile).clone();
            let (all, in_spans) = (
                profile.total().as_secs_f64(),
                profile.in_spans().as_secs_f64(),
            );
            let share = if all > 0.0 {
                in_spans / all * 100.0
            } else {
                0.0
            };
            let (which, time) = words(self.by_wall);
            Session::say(
                &self.settings,
                format_args!("the {which} has {all:.3} s of {time}, {share:.1} % of it in spans"),
            );
            for words in profile.remarks(&self.sampler.totals()) {
                Session::say(&self.settings, words);
            }
        }
        written
    }
}

/// The words for a profile, and for its time.
fn words(by_wall: bool) -> (&'static str, &'static str) {
    match by_wall {
        true => ("profile of all time", "processor time and waiting"),
        false => ("CPU profile", "processor time"),
    }
}

/// The ids of a span outside of the process: those by which a collector knows it, or else the numbers in the trace.
pub(super) fn spanned(contexts: Option<Arc<TraceContexts>>) -> Spanned {
    Arc::new(move |[span, trace]| match &contexts {
        Some(contexts) => {
            let (trace, span) = contexts.ids(span, trace);
            Label {
                trace: trace.bytes(),
                span: span.bytes(),
            }
        }
        None => Label {
            trace: u128::from(trace).to_be_bytes(),
            span: span.to_be_bytes(),
        },
    })
}
