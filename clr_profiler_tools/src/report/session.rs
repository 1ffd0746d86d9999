//! A tool that ends before its program.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::mpsc::{self, RecvTimeoutError, Sender};
use std::thread;
use std::time::{Duration, Instant};

use clr_profiler::prelude::*;

use super::{Settings, failures, lock, masks, private};

/// How long the threads of the program take to leave the profiler, as far as the runtime is told.
const LEAVING: Duration = Duration::from_millis(100);

/// How often the command's request to end is looked for.
const LOOK: Duration = Duration::from_millis(100);

/// Ends a tool after the time that was asked for, and tells the tool's command about it.
///
/// Two settings control it. `CLR_TOOL_DURATION` is a number of milliseconds, after which the results are written and
/// the profiler detaches, if it can. `CLR_TOOL_STATUS` is an existing file to which lines are appended: `started`, `error: ...`
/// if the tool could not start, `said: ...` and `so far: ...` for its user, and `ended` when the results are complete. A file of the same name
/// with the ending `.stop` ends the tool before its time.
pub struct Session {
    status: Status,
    /// Dropped when the tool ends.
    running: Mutex<Option<Sender<()>>>,
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
    /// Calls `end`, which writes the results, when the time is over, if there is a limit.
    ///
    /// # Errors
    ///
    /// The number cannot be read, or the system refuses a thread.
    pub fn start(
        settings: &Settings,
        info: &ProfilerInfo,
        end: impl FnOnce() + Send + 'static,
    ) -> Result<Self> {
        let status = Status::of(settings);
        let running = match milliseconds(settings)? {
            Some(duration) => Some(wait(duration, info, Box::new(end), status.clone())?),
            None => None,
        };
        let running = Mutex::new(running);
        Ok(Self { status, running })
    }

    /// Passes a line to the user of the command, who sees it after the run. Without a command it is a no-op.
    pub fn say(settings: &Settings, words: impl fmt::Display) {
        Status::of(settings).line(&format!("said: {words}"));
    }

    /// As [`say`](Self::say), in place of an earlier line: the last one is shown, also if the program ends without notice.
    pub fn say_so_far(settings: &Settings, words: impl fmt::Display) {
        Status::of(settings).line(&format!("so far: {words}"));
    }

    /// The program ends, and the results are written.
    pub fn end(&self) {
        drop(lock(&self.running).take());
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
        // The library stays loaded, with the counts of an earlier attach.
        failures::forget();
        let settings = Settings::from_client_data(client_data)?;
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

fn wait(
    duration: Duration,
    info: &ProfilerInfo,
    end: Box<dyn FnOnce() + Send>,
    status: Status,
) -> io::Result<Sender<()>> {
    let (running, ended) = mpsc::channel();
    let info = info.clone();
    let run = move || {
        private::wait_for_descriptors();
        let begun = Instant::now();
        loop {
            let left = duration.saturating_sub(begun.elapsed());
            if left.is_zero() || status.is_end_requested() {
                break;
            }
            if ended.recv_timeout(left.min(LOOK)) != Err(RecvTimeoutError::Timeout) {
                return;
            }
        }
        end();
        // Refused for features that cannot be given back: the profiler then stays, and does nothing.
        let detached = info.request_profiler_detach(LEAVING);
        status.line(match detached {
            Ok(()) => "ended, detaches",
            Err(_) => "ended, stays loaded",
        });
    };
    masks::spawning(|| thread::Builder::new().name("session".to_owned()).spawn(run))?;
    Ok(running)
}
