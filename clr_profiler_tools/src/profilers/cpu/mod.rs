//! Shows where a .NET program spends processor time.

pub(crate) mod functions;
pub(crate) mod options;
pub(crate) mod profile;
pub(crate) mod sampling;

use std::io::Write;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::report::{Moment, Pace, Report, Session, Settings, Tool, When, failures, lock};
use clr_profiler::prelude::*;

use options::Options;
use profile::Profile;
use sampling::Sampling;

/// How often progress is reported.
const PROGRESS: Duration = Duration::from_secs(1);

/// The profiler.
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct CpuSampler {
    sampler: Arc<Sampling>,
    profile: Arc<Mutex<Profile>>,
    report: Arc<Report>,
    session: Session,
}

#[profiler(clsid = "B859E288-AEB7-4E25-98DD-4D6A1B242B70")]
impl Profiler for CpuSampler {
    crate::start_as_tool!();

    // The samples that are delivered now may contain functions of the module, which are then forgotten.
    fn module_unload_started(&self, _info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        let waited = self.sampler.wait_for_delivery();
        lock(&self.profile).forget(module);
        waited
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        let stopped = stop(&self.sampler, &self.profile);
        self.report.finish();
        self.session.end();
        stopped
    }
}

impl Tool for CpuSampler {
    fn build(info: &ProfilerInfo, setup: &mut Setup, settings: &Settings) -> Result<Self> {
        failures::watch("cpu_sampler", setup);
        let options = Options::read(settings)?;
        let profile = Arc::new(Mutex::new(Profile::new(&options)));
        let sampler = Arc::new(Sampling::attach(setup, &options, &profile)?);
        let report = Arc::new(Report::start(When::every(Pace::LOOK), {
            let (profile, sampler) = (Arc::clone(&profile), Arc::clone(&sampler));
            let (info, settings) = (info.clone(), settings.clone());
            let (mut pace, mut told) = (Pace::start(), Instant::now());
            move |moment| {
                if options.progress && (told.elapsed() >= PROGRESS || moment != Moment::Meanwhile) {
                    told = Instant::now();
                    // If stderr is closed, the message is lost.
                    let _ = writeln!(std::io::stderr(), "cpu_sampler: {}", sampler.progress());
                }
                let written = pace.replace(&options.output, moment, |file| {
                    // A copy: writing takes longer than the sampling interval.
                    let profile = lock(&profile).clone();
                    profile.write(options.form, &sampler.totals(), info.overhead(), file)
                });
                if moment == Moment::End {
                    let remarks = lock(&profile).remarks(&sampler.totals());
                    for words in remarks {
                        Session::say(&settings, words);
                    }
                }
                written
            }
        })?);
        let session = Session::start(settings, info, setup, {
            let (report, sampler) = (Arc::clone(&report), Arc::clone(&sampler));
            let profile = Arc::clone(&profile);
            move || {
                if let Err(error) = stop(&sampler, &profile) {
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

/// Ends the sampler. An error of it is for the results, too.
fn stop(sampler: &Sampling, profile: &Mutex<Profile>) -> Result<()> {
    let stopped = sampler.stop();
    if let Err(error) = &stopped {
        lock(profile).fail(error);
    }
    stopped
}
