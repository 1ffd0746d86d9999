//! Shows where a .NET program spends processor time.

mod functions;
mod options;
mod profile;

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::report::{Moment, Pace, Report, Session, Settings, Tool, When, failures, lock};
use clr_profiler::prelude::*;
use clr_profiler::sampling::{Sampler, SamplerOptions};

use options::Options;
use profile::Profile;

/// How often progress is reported.
const PROGRESS: Duration = Duration::from_secs(1);

/// The profiler.
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct CpuSampler {
    sampler: Arc<Sampler>,
    profile: Arc<Mutex<Profile>>,
    report: Arc<Report>,
    session: Session,
}

#[profiler(clsid = "B859E288-AEB7-4E25-98DD-4D6A1B242B70")]
impl Profiler for CpuSampler {
    crate::start_as_tool!();

    // The samples that are delivered now may contain functions of the module, which are then forgotten.
    fn module_unload_started(&self, _info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        self.sampler.wait_for_delivery();
        lock(&self.profile).forget(module);
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        let stopped = self.sampler.stop();
        self.report.finish();
        self.session.end();
        stopped
    }
}

/// The progress, in words.
struct Progress<'a>(&'a Sampler);

impl std::fmt::Display for Progress<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let totals = self.0.totals();
        write!(f, "{} samples in {} stops", totals.samples, totals.stops)
    }
}

impl Tool for CpuSampler {
    fn build(info: &ProfilerInfo, setup: &mut Setup, settings: &Settings) -> Result<Self> {
        failures::watch("cpu_sampler", setup);
        let options = Options::read(settings)?;
        let profile = Arc::new(Mutex::new(Profile::new(&options)));
        let mut how = SamplerOptions::default();
        how.interval = options.interval;
        how.idle_threads = options.by_wall;
        let sampler = setup.attach(Sampler::new(how, {
            let profile = Arc::clone(&profile);
            move |info, sample| lock(&profile).add(info, sample)
        }))?;
        let report = Arc::new(Report::start(When::every(Pace::LOOK), {
            let (profile, sampler) = (Arc::clone(&profile), Arc::clone(&sampler));
            let (info, settings) = (info.clone(), settings.clone());
            let (mut pace, mut told) = (Pace::start(), Instant::now());
            move |moment| {
                if options.progress && (told.elapsed() >= PROGRESS || moment != Moment::Meanwhile) {
                    told = Instant::now();
                    // If stderr is closed, the message is lost.
                    let _ = writeln!(std::io::stderr(), "cpu_sampler: {}", Progress(&sampler));
                }
                let is_due = pace.is_due() && options.output.is_replaceable();
                if moment == Moment::Meanwhile && !is_due {
                    return Ok(());
                }
                let began = Instant::now();
                // A copy: writing takes longer than the sampling interval.
                let profile = lock(&profile).clone();
                let (totals, overhead) = (sampler.totals(), info.overhead());
                let written = options
                    .output
                    .replace(|file| profile.write(options.form, totals, overhead, file));
                pace.written(began);
                if moment == Moment::End
                    && let Some(words) = profile.low_rate(totals.samples)
                {
                    Session::say(&settings, words);
                }
                written
            }
        })?);
        let session = Session::start(settings, info, {
            let (report, sampler) = (Arc::clone(&report), Arc::clone(&sampler));
            move || {
                if let Err(error) = sampler.stop() {
                    failures::add("failed", error);
                }
                report.finish();
            }
        })?;
        Ok(Self {
            sampler,
            profile,
            report,
            session,
        })
    }
}
