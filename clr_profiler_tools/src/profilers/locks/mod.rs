//! Shows where a .NET program waits for locks, for how long, and for which threads.

mod profile;
mod table;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use crate::profilers::form;
use crate::profilers::names::{Names, own_stack};
use crate::report::{Moment, Output, Pace, Report, Session, Settings, Tool, When, failures, lock};
use crate::stacks::Frame;
use clr_profiler::contention::{ContentionEvent, ContentionEvents};
use clr_profiler::prelude::*;

use profile::{Profile, Waiter};

/// How many frames of a stack are recorded, from the innermost.
const DEPTH: usize = 256;

/// The profiler.
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct LockMonitor {
    names: Arc<Names>,
    profile: Arc<Mutex<Profile>>,
    report: Arc<Report>,
    session: Session,
}

#[profiler(clsid = "7E2C4D58-90B3-4A6F-8C1D-5B0E6F3A9274")]
impl Profiler for LockMonitor {
    crate::start_as_tool!();

    fn module_unload_started(&self, _info: &ProfilerInfo, _module: ModuleId) -> Result<()> {
        self.names.forget();
        Ok(())
    }

    // Holders are known by their threads' ids, which the operating system uses again.
    fn thread_assigned_to_os_thread(
        &self,
        _info: &ProfilerInfo,
        _thread: ThreadId,
        os_thread: u32,
    ) -> Result<()> {
        lock(&self.profile).thread_begins(u64::from(os_thread));
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.report.finish();
        self.session.end();
        Ok(())
    }
}

/// Takes the events of all threads.
struct Watch {
    names: Arc<Names>,
    lines: bool,
    profile: Arc<Mutex<Profile>>,
}

impl Watch {
    fn event(&self, info: &ProfilerInfo, event: ContentionEvent) {
        let Some(waiter) = this_thread() else {
            return;
        };
        match event {
            ContentionEvent::Begins(contention) => {
                // Before the stack is recorded, during which the thread waits, too.
                let since = Instant::now();
                let stack = self.stack(info);
                let holder = contention.holder.map(|thread| {
                    // Named while it runs, and before the profile is locked.
                    let is_known = lock(&self.profile).knows(thread);
                    (thread, (!is_known).then(|| thread_name(thread)).flatten())
                });
                lock(&self.profile).begins(waiter, since, &stack, holder);
            }
            ContentionEvent::Ends { waited } => {
                // Before the profile is locked: a wait for its own lock is none of the program's.
                let now = Instant::now();
                let ended = lock(&self.profile).ends(waiter, waited, now);
                // The wait had begun before the profiler came. The stack is still that of the wait.
                if !ended {
                    let stack = self.stack(info);
                    let mut profile = lock(&self.profile);
                    profile.begins(waiter, now, &stack, None);
                    profile.ends(waiter, waited, now);
                }
            }
            _ => {}
        }
    }

    /// The frames of this thread, innermost first. None if the runtime cannot walk it now.
    fn stack(&self, info: &ProfilerInfo) -> Vec<Frame> {
        let places = own_stack(info, DEPTH).unwrap_or_default();
        let places = places.into_iter();
        places
            .map(|place| self.names.frame(info, place, self.lines))
            .collect()
    }
}

/// The key of this thread, which no other one gets. `None` if the thread is about to end.
fn this_thread() -> Option<Waiter> {
    static LAST: AtomicU64 = AtomicU64::new(0);
    thread_local! {
        static KEY: Waiter = Waiter(LAST.fetch_add(1, Ordering::Relaxed));
    }
    KEY.try_with(|key| *key).ok()
}

/// The name of a running thread, as the operating system knows it.
fn thread_name(os_thread: u64) -> Option<String> {
    super::cpu::functions::thread_name(u32::try_from(os_thread).ok()?)
}

impl Tool for LockMonitor {
    fn build(info: &ProfilerInfo, setup: &mut Setup, settings: &Settings) -> Result<Self> {
        failures::watch("lock_monitor", setup);
        if info.version() < crate::profilers::TRACING {
            let problem = "waits for locks are told by the runtime's own tracing, which profilers get from .NET 5 on, and this \
                           runtime is older";
            return Err(failures::refuse("lock_monitor", problem));
        }
        setup.add_events(EventMask::ENABLE_STACK_SNAPSHOT);
        let output = Output::whole(settings.path("LOCK_MONITOR_OUTPUT", "locks.txt"))?;
        let form = form(settings, "LOCK_MONITOR_FORMAT", output.path())?;
        let names = Arc::new(Names::default());
        let profile = Arc::new(Mutex::new(Profile::new()));
        let watch = Watch {
            names: Arc::clone(&names),
            lines: settings.is_set("LOCK_MONITOR_LINES"),
            profile: Arc::clone(&profile),
        };
        setup.attach(ContentionEvents::new(move |info, event| {
            watch.event(info, event);
            Ok(())
        }))?;
        let report = Arc::new(Report::start(When::every(Pace::LOOK), {
            let (info, settings) = (info.clone(), settings.clone());
            let profile = Arc::clone(&profile);
            let mut pace = Pace::start();
            move |moment| {
                // A copy: the program does not wait for a disk.
                let copy = || lock(&profile).until_now();
                let written = pace.replace(&output, moment, |file| {
                    copy().write(form, info.overhead(), file)
                });
                if moment == Moment::End {
                    for words in copy().remarks() {
                        Session::say(&settings, words);
                    }
                }
                written
            }
        })?);
        let session = Session::start(settings, info, setup, {
            let report = Arc::clone(&report);
            move || report.finish()
        })?;
        Ok(Self {
            names,
            profile,
            report,
            session,
        })
    }
}
