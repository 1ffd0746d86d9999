//! A tool that ends before its program.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use clr_profiler::prelude::*;

use super::failures::Running;
use super::{Settings, failures, lock, masks, private};

/// How long the threads of the program take to leave the profiler, as far as the runtime is told. It looks after this time and after
/// twice of it, then after ten minutes; below 300 milliseconds only once before that.
const LEAVING: Duration = Duration::from_millis(400);

/// How often the command's request to end is looked for.
const LOOK: Duration = Duration::from_millis(100);

/// How long a command may be silent that says that it is there.
const ALONE: Duration = Duration::from_secs(15);

/// Ends a tool after the time that was asked for, and tells the tool's command about it.
///
/// Two settings control it. `CLR_TOOL_DURATION` is a number of milliseconds, after which the results are written and
/// the profiler detaches, if it can. `CLR_TOOL_STATUS` is an existing file to which lines are appended: `started`, `error: ...`
/// if the tool could not start, `said: ...`, `so far: ...` and `now: ...` for its user, and `ended` when the results are complete. A file of the same name
/// with the ending `.stop` ends the tool before its time. `CLR_TOOL_ALIVE` is a file that the command writes to again and again: when it
/// has not for 15 seconds, the tool ends, because its command was killed.
pub struct Session {
    status: Status,
    /// Dropped when the tool ends.
    running: Mutex<Option<Sender<()>>>,
    /// Until the results are written.
    active: Arc<Mutex<Option<Running>>>,
}

/// The file for the command.
#[derive(Debug, Clone)]
struct Status(Option<PathBuf>);

impl Status {
    fn of(settings: &Settings) -> Self {
        Self(settings.get("CLR_TOOL_STATUS").map(PathBuf::from))
    }

    fn is_end_requested(&self) -> bool {
        let stop = self.0.as_ref().map(|path| path.with_extension("stop"));
        stop.is_some_and(|stop| stop.exists())
    }

    fn line(&self, line: &str) {
        // The command has made the file, and removes it when it needs it no more.
        let Some(path) = self.0.as_ref().filter(|path| path.exists()) else {
            return;
        };
        let line = format!("{}\n", line.replace('\n', " "));
        let written = masks::without_sigxfsz(|| private::append(path)?.write_all(line.as_bytes()));
        if let Err(error) = written {
            failures::add("not written", error);
        }
    }
}

impl Session {
    /// Calls `end`, which writes the results, when the time is over, if there is a limit. The time begins when the runtime
    /// has started the profiler: in a busy program that takes seconds for one with a session of the runtime's tracing.
    ///
    /// # Errors
    ///
    /// The number cannot be read, or the system refuses a thread.
    pub fn start(
        settings: &Settings,
        info: &ProfilerInfo,
        setup: &mut Setup,
        end: impl FnOnce() + Send + 'static,
    ) -> Result<Self> {
        let status = Status::of(settings);
        let alive = settings.get("CLR_TOOL_ALIVE").map(PathBuf::from);
        let active = Arc::new(Mutex::new(Some(Running::begin())));
        let running = match milliseconds(settings)? {
            Some(duration) => {
                let (status, active) = (status.clone(), Arc::clone(&active));
                let end = move || {
                    end();
                    drop(lock(&active).take());
                };
                let is_started = Arc::new(AtomicBool::new(!settings.is_attached()));
                setup.attach(Start(Arc::clone(&is_started)))?;
                let watch = Watch {
                    duration,
                    is_started,
                    status,
                    alive,
                };
                Some(wait(watch, info, Box::new(end))?)
            }
            None => None,
        };
        let running = Mutex::new(running);
        Ok(Self {
            status,
            running,
            active,
        })
    }

    /// Passes a line to the user of the command, who sees it after the run. Without a command it is a no-op.
    pub fn say(settings: &Settings, words: impl fmt::Display) {
        Status::of(settings).line(&format!("said: {words}"));
    }

    /// As [`say`](Self::say), in place of an earlier line: the last one is shown, also if the program ends without notice.
    pub fn say_so_far(settings: &Settings, words: impl fmt::Display) {
        Status::of(settings).line(&format!("so far: {words}"));
    }

    /// Whether the tool has a command, whose user can be told something.
    #[cfg_attr(
        not(feature = "profilers"),
        allow(dead_code, reason = "profilers use it")
    )]
    pub(crate) fn is_watched(settings: &Settings) -> bool {
        Status::of(settings).0.is_some_and(|path| path.exists())
    }

    /// Passes a line about what the tool does now to the user of the command, who sees it on a terminal until
    /// the next one; an empty one clears it.
    #[cfg_attr(
        not(feature = "profilers"),
        allow(dead_code, reason = "profilers use it")
    )]
    pub(crate) fn say_now(settings: &Settings, words: impl fmt::Display) {
        Status::of(settings).line(&format!("now: {words}"));
    }

    /// The program ends, and the results are written.
    pub fn end(&self) {
        drop(lock(&self.running).take());
        drop(lock(&self.active).take());
        self.status.line("ended");
    }
}

/// The start of a profiler that is a [`Tool`], with its program and by attach, in its `impl Profiler`.
///
/// ```
/// use clr_profiler::prelude::*;
/// use clr_profiler_tools::report::{Settings, Tool};
///
/// struct Nothing;
///
/// #[profiler(clsid = "B5C6B2F0-5C0E-4B0B-9C5E-0B8A8E0C7A11")]
/// impl Profiler for Nothing {
///     clr_profiler_tools::start_as_tool!();
/// }
///
/// impl Tool for Nothing {
///     fn build(_: &ProfilerInfo, _: &mut Setup, _: &Settings) -> Result<Self> {
///         Ok(Self)
///     }
/// }
/// # fn main() {}
/// ```
#[macro_export]
macro_rules! start_as_tool {
    () => {
        fn initialize(
            info: &$crate::__clr_profiler::ProfilerInfo,
            setup: &mut $crate::__clr_profiler::Setup,
        ) -> $crate::__clr_profiler::Result<Self> {
            $crate::report::Tool::with_program(info, setup)
        }

        fn initialize_for_attach(
            info: &$crate::__clr_profiler::ProfilerInfo,
            setup: &mut $crate::__clr_profiler::Setup,
            client_data: &[u8],
        ) -> $crate::__clr_profiler::Result<Self> {
            $crate::report::Tool::attached(info, setup, client_data)
        }
    };
}

/// A profiler that is a tool: started with its program or attached to it, with the same settings.
///
/// [`start_as_tool!`](crate::start_as_tool) writes both ways to start.
pub trait Tool: Sized {
    /// Makes the profiler; one of its parts is a [`Session`].
    ///
    /// # Errors
    ///
    /// It cannot start, with the reason for its user.
    fn build(info: &ProfilerInfo, setup: &mut Setup, settings: &Settings) -> Result<Self>;

    /// Starts with the program, for [`Profiler::initialize`].
    ///
    /// # Errors
    ///
    /// As of [`build`](Self::build).
    fn with_program(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        Self::told(info, setup, &Settings::from_environment())
    }

    /// Starts in a running program, for [`Profiler::initialize_for_attach`].
    ///
    /// # Errors
    ///
    /// As of [`build`](Self::build), or the client data are not [`Settings`].
    fn attached(info: &ProfilerInfo, setup: &mut Setup, client_data: &[u8]) -> Result<Self> {
        let settings = Settings::from_client_data(client_data)?;
        // The library stays loaded, with the counts of an earlier attach.
        if !failures::is_shared() {
            failures::forget();
        }
        // The program's stderr is not that of the command.
        if settings.is_set("CLR_TOOL_STATUS") {
            let settings = settings.clone();
            failures::tell_to(move |line| Session::say(&settings, line.trim_end()));
        }
        Self::told(info, setup, &settings)
    }

    /// As [`build`](Self::build), and tells the command about it.
    ///
    /// # Errors
    ///
    /// As of [`build`](Self::build).
    fn told(info: &ProfilerInfo, setup: &mut Setup, settings: &Settings) -> Result<Self> {
        let built = Self::build(info, setup, settings);
        Status::of(settings).line(&match &built {
            Ok(_) => "started".to_owned(),
            Err(error) => format!("error: {error}"),
        });
        built
    }
}

impl fmt::Debug for Session {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Session").finish_non_exhaustive()
    }
}

fn milliseconds(settings: &Settings) -> Result<Option<Duration>> {
    let Some(text) = settings.text("CLR_TOOL_DURATION")? else {
        return Ok(None);
    };
    match text.parse() {
        Ok(milliseconds) => Ok(Some(Duration::from_millis(milliseconds))),
        Err(_) => Err(Error::other(format!(
            "`{text}` is not a number of milliseconds"
        ))),
    }
}

/// Notes that the runtime has started an attached profiler.
struct Start(Arc<AtomicBool>);

#[component]
impl Component for Start {
    fn profiler_attach_complete(&self, _info: &ProfilerInfo) -> Result<()> {
        self.0.store(true, Ordering::Release);
        Ok(())
    }
}

/// The conditions that end a tool.
struct Watch {
    duration: Duration,
    is_started: Arc<AtomicBool>,
    status: Status,
    alive: Option<PathBuf>,
}

fn wait(
    watch: Watch,
    info: &ProfilerInfo,
    end: Box<dyn FnOnce() + Send>,
) -> io::Result<Sender<()>> {
    let Watch {
        duration,
        is_started,
        status,
        alive,
    } = watch;
    let (running, ended) = mpsc::channel();
    let info = info.clone();
    let run = move || {
        private::wait_for_descriptors();
        let mut begun = None;
        // By the clock of this process, whatever that of files does.
        let mut seen = (None, Instant::now());
        let mut is_alone = || {
            let Some(alive) = &alive else {
                return false;
            };
            let written = std::fs::metadata(alive)
                .and_then(|about| about.modified())
                .ok();
            if written.is_some() && written != seen.0 {
                seen = (written, Instant::now());
            }
            seen.1.elapsed() > ALONE
        };
        loop {
            if is_started.load(Ordering::Acquire) {
                begun.get_or_insert_with(Instant::now);
            }
            let left = begun.map_or(duration, |begun| duration.saturating_sub(begun.elapsed()));
            if left.is_zero() || status.is_end_requested() || is_alone() {
                break;
            }
            if ended.recv_timeout(left.min(LOOK)) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
        end();
        if let Some(answer) = detach(&info, &ended) {
            status.line(&match answer {
                Ok(()) => "ended, detaches".to_owned(),
                Err(error) => format!("ended, stays loaded: {error}"),
            });
        }
    };
    masks::spawning(|| thread::Builder::new().name("session".to_owned()).spawn(run))?;
    Ok(running)
}

/// Requests the detach, again until the runtime has started the profiler: before, it refuses. `None` if the program ends first.
fn detach(info: &ProfilerInfo, ended: &Receiver<()>) -> Option<Result<()>> {
    loop {
        match info.request_profiler_detach(LEAVING) {
            Err(error) if is_early(&error) => {
                if ended.recv_timeout(LOOK) != Err(RecvTimeoutError::Timeout) {
                    return None;
                }
            }
            answer => return Some(answer),
        }
    }
}

fn is_early(error: &Error) -> bool {
    matches!(
        error.hresult(),
        Hresult::CORPROF_E_PROFILER_NOT_YET_INITIALIZED | Hresult::CORPROF_E_RUNTIME_UNINITIALIZED
    )
}
