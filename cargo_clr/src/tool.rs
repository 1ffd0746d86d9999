//! Runs a program, or attaches, with a profiler of the command.

use std::ffi::OsString;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant, SystemTime};

use clap::Args;
use clr_profiler_launcher::{Launch, Program};
use serde_json::json;

use crate::cli::{Profile, Subject};
use crate::library::{self, Reader};
use crate::outcome::{self, Failure, Result};
use crate::{child, next_to, print, process};

/// A profiler of the library, and its settings.
pub(crate) struct Tool {
    verb: &'static str,
    clsid: &'static str,
    /// The class id as a notification profiler, if it only watches.
    next_to: Option<&'static str>,
    /// The setting with the file of the results, and that file without an option.
    output: (&'static str, &'static str),
    settings: Vec<(&'static str, OsString)>,
    /// Whether it also profiles the .NET programs that another program starts.
    pub(crate) follows_children: bool,
    /// Why it cannot be attached.
    pub(crate) refuses_attach: Option<&'static str>,
    /// How the results are opened, by the ending of the file: the first one that fits.
    pub(crate) viewers: &'static [(&'static str, &'static str)],
    /// Variables of a program that is started, unless the user has set them.
    pub(crate) environment: &'static [(&'static str, &'static str)],
    /// The ending of the chosen format, whatever the ending of the file is.
    pub(crate) ending: Option<&'static str>,
}

/// The options of a verb that profiles.
pub(crate) trait Profiles {
    /// The profiler with these options.
    fn tool(&self, subject: &Subject) -> Result<Tool>;
}

impl Tool {
    pub(crate) fn new(
        verb: &'static str,
        clsid: &'static str,
        output: (&'static str, &'static str),
    ) -> Self {
        Self {
            verb,
            clsid,
            next_to: None,
            output,
            settings: Vec::new(),
            follows_children: false,
            refuses_attach: None,
            viewers: &[],
            environment: &[],
            ending: None,
        }
    }

    /// It can be loaded next to another profiler, by this class id.
    pub(crate) fn next_to(mut self, clsid: &'static str) -> Self {
        self.next_to = Some(clsid);
        self
    }

    pub(crate) fn set(mut self, name: &'static str, value: Option<impl Into<OsString>>) -> Self {
        self.settings
            .extend(value.map(|value| (name, value.into())));
        self
    }

    pub(crate) fn flag(self, name: &'static str, is_set: bool) -> Self {
        self.set(name, is_set.then_some("1"))
    }
}

/// Profiles a program.
pub(crate) fn run<Options: Args + Profiles>(profile: &Profile<Options>) -> Result<i32> {
    let subject = &profile.subject;
    let tool = profile.options.tool(subject)?;
    let output = match (&subject.output, tool.ending) {
        (Some(output), _) => output.clone(),
        (None, None) => PathBuf::from(tool.output.1),
        (None, Some(ending)) => Path::new(tool.output.1).with_extension(ending),
    };
    let output = result_file(&output, subject)?;
    match subject.target.process {
        Some(process) => attach(&tool, subject, process, &output),
        None => start(&tool, subject, &output),
    }
}

/// The absolute path of a file of results, if it can be written there: before anything is started.
pub(crate) fn result_file(output: &Path, subject: &Subject) -> Result<PathBuf> {
    let output = std::path::absolute(output).map_err(outcome::io("find", output))?;
    if output.is_dir() {
        return Err(Failure::usage(format!(
            "`{}` is a folder. Give a file for the results.",
            output.display()
        )));
    }
    match output.parent() {
        Some(folder) if !folder.is_dir() => Err(Failure::usage(format!(
            "There is no folder `{}` for the results.",
            folder.display()
        ))),
        // A process of another user has rights of its own.
        _ if subject
            .target
            .process
            .is_some_and(|process| !is_ours(process)) =>
        {
            Ok(output)
        }
        _ => match try_to_write(&output) {
            Ok(()) => Ok(output),
            Err(error) => Err(Failure::usage(format!(
                "The results cannot be written to `{}`: {error}.",
                output.display()
            ))),
        },
    }
}

/// A file of results is replaced by another one, which takes the rights to its folder. Pipes and terminals are left alone.
fn try_to_write(output: &Path) -> io::Result<()> {
    if fs::metadata(output).is_ok_and(|about| !about.is_file()) {
        return Ok(());
    }
    let mut name = OsString::from(".");
    name.push(output.file_name().unwrap_or_default());
    name.push(format!(".{}.try", std::process::id()));
    let part = output.with_file_name(name);
    fs::File::create_new(&part)?;
    fs::remove_file(&part)
}

/// Whether this user owns a process, as far as the system says so.
pub(crate) fn is_ours(process: u32) -> bool {
    process::user(process).is_none_or(|owner| owner == library::user())
}

/// The results of an earlier run would be mistaken for those of this one. Pipes and terminals are left alone.
fn clear(output: &Path) -> Result<()> {
    match fs::metadata(output) {
        Ok(about) if about.is_file() => {
            fs::remove_file(output).map_err(outcome::io("replace", output))
        }
        _ => Ok(()),
    }
}

fn settings(
    tool: &Tool,
    subject: &Subject,
    output: &Path,
    status: &Path,
) -> Vec<(&'static str, OsString)> {
    let mut settings = vec![
        (tool.output.0, output.as_os_str().to_owned()),
        ("CLR_TOOL_STATUS", status.as_os_str().to_owned()),
    ];
    settings.extend(tool.settings.iter().cloned());
    let duration = match (subject.duration, subject.target.process) {
        (None, Some(_)) => Some(DURATION),
        (duration, _) => duration,
    };
    settings
        .extend(duration.map(|time| ("CLR_TOOL_DURATION", time.as_millis().to_string().into())));
    settings
}

/// Whether a program is one of .NET, or to be refused: other programs are found by their names, as by a shell, or are files of other kinds.
fn is_dotnet(program: &Path) -> bool {
    let has_folder = program.components().count() > 1;
    match Program::open(program) {
        Err(clr_profiler_launcher::Error::NotDotnet { .. }) => false,
        Err(clr_profiler_launcher::Error::NoSuchProgram { .. }) => {
            has_folder || program.extension().is_some_and(|ending| ending == "dll")
        }
        _ => true,
    }
}

/// How long a program is profiled to which the tool is attached.
const DURATION: Duration = Duration::from_secs(10);

fn start(tool: &Tool, subject: &Subject, output: &Path) -> Result<i32> {
    start_with(tool, subject, output, |status, code| {
        tell(tool, subject, output, status, code)?;
        Ok(code)
    })
}

/// Starts the program, passes the state of the tool and the program's exit code to `tell` when it has ended, and returns the exit
/// code of that.
pub(crate) fn start_with(
    tool: &Tool,
    subject: &Subject,
    output: &Path,
    tell: impl FnOnce(&Status, i32) -> Result<i32>,
) -> Result<i32> {
    let Some((program, arguments)) = subject.target.program.program.split_first() else {
        return Err(Failure::usage("There is no program to start."));
    };
    let library = library::extract(tool.clsid, Reader::ThisUser)?;
    let status = Status::new(library.path(), 0o600)?;
    let mut launch = Launch::new(program);
    launch.args(arguments).profiler(library);
    for (name, value) in settings(tool, subject, output, &status.path) {
        launch.env(name, value);
    }
    for (name, value) in tool.environment {
        if std::env::var_os(name).is_none() {
            launch.env(name, value);
        }
    }
    let command = match tool.follows_children && !is_dotnet(Path::new(program)) {
        true => launch.any_command(),
        false => launch.command(),
    }?;
    clear(output)?;
    let code = while_told(tool, &status, || child::run(command))?;
    let code = tell(&status, code)?;
    Ok(match (code, status.error()) {
        // The program has run, but not under the tool.
        (0, Some(_)) => i32::from(Failure::FAILED),
        _ => code,
    })
}

fn attach(tool: &Tool, subject: &Subject, process: u32, output: &Path) -> Result<i32> {
    attach_with(tool, subject, process, output, |status| {
        tell(tool, subject, output, status, 0)?;
        Ok(0)
    })
}

/// Attaches, and passes the state of the tool to `tell` when the results are complete.
pub(crate) fn attach_with(
    tool: &Tool,
    subject: &Subject,
    process: u32,
    output: &Path,
    tell: impl FnOnce(&Status) -> Result<i32>,
) -> Result<i32> {
    if let Some(reason) = tool.refuses_attach {
        return Err(Failure::usage(reason));
    }
    let is_ours = is_ours(process);
    let reader = if is_ours {
        Reader::ThisUser
    } else {
        Reader::Anyone
    };
    let library = library::extract(tool.clsid, reader)?;
    let status = Status::new(library.path(), if is_ours { 0o600 } else { 0o666 })?;
    clear(output)?;
    let mut data = OsString::new();
    for (name, value) in settings(tool, subject, output, &status.path) {
        data.push(name);
        data.push("=");
        data.push(value);
        data.push("\0");
    }
    let data = data.into_string();
    let data = data.map_err(|_| Failure::usage("The path of the results is not UTF-8."))?;
    if let Err(error) = next_to::send(tool.verb, process, library, tool.next_to, &data) {
        return Err(match status.error() {
            Some(reason) => Failure::new(format!(
                "The tool could not start in the process {process}: {reason}."
            )),
            None => error,
        });
    }
    let duration = subject.duration.unwrap_or(DURATION);
    let begun = Instant::now();
    let interrupted = child::interrupts()?;
    while !status.has_ended() {
        if interrupted.is_requested() {
            status.request_end();
        }
        if !process::is_alive(process) {
            break;
        }
        if begun.elapsed() > duration + GRACE {
            return Err(Failure::new(format!(
                "The process {process} did not write its results within {} s after the end. It may be suspended; the \
                 results may follow.",
                GRACE.as_secs()
            )));
        }
        progress(tool, begun.elapsed(), duration);
        std::thread::sleep(Duration::from_millis(50));
    }
    tell(&status)
}

/// How long the results may take after the time that was asked for.
pub(crate) const GRACE: Duration = Duration::from_secs(60);

/// How often the line of a tool is looked for.
const LOOK: Duration = Duration::from_millis(250);

/// Shows what the tool does now while the program runs: on a terminal, one line that changes.
fn while_told<R>(tool: &Tool, status: &Status, run: impl FnOnce() -> R) -> R {
    if !io::stderr().is_terminal() {
        return run();
    }
    std::thread::scope(|scope| {
        let (running, ended) = mpsc::channel::<()>();
        scope.spawn(move || {
            let mut shown = String::new();
            while ended.recv_timeout(LOOK) == Err(RecvTimeoutError::Timeout) {
                match status.now() {
                    Some(now) if now != shown => {
                        let _ = match &*now {
                            "" => write!(io::stderr(), "\r{:60}\r", ""),
                            now => write!(io::stderr(), "\r{}: {now:40} ", tool.verb),
                        };
                        shown = now;
                    }
                    _ => {}
                }
            }
        });
        let outcome = run();
        drop(running);
        outcome
    })
}

/// On a terminal, one line that changes.
fn progress(tool: &Tool, elapsed: Duration, duration: Duration) {
    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        let (elapsed, duration) = (elapsed.min(duration).as_secs_f32(), duration.as_secs_f32());
        let _ = write!(
            stderr,
            "\r{}: {elapsed:.0} s of {duration:.0} s ",
            tool.verb
        );
    }
}

/// Says where the results are, and how to open them.
fn tell(tool: &Tool, subject: &Subject, output: &Path, status: &Status, code: i32) -> Result<()> {
    let written = fs::metadata(output).ok().filter(|about| about.is_file());
    let is_stream = fs::metadata(output).is_ok_and(|about| !about.is_file());
    let error = status.error();
    if subject.json.json {
        let outcome = json!({
            "verb": tool.verb,
            "output": output.to_string_lossy(),
            "bytes": written.as_ref().map(fs::Metadata::len),
            "started": status.has_started(),
            "complete": status.has_ended(),
            "error": error,
            "said": status.said(),
            "stays_loaded": status.stays_loaded_because(),
            "exit_code": code,
        });
        print(format!("{outcome}\n"))?;
        return Ok(());
    }
    let name = match tool.ending {
        Some(ending) => format!(".{ending}"),
        None => output.to_string_lossy().into_owned(),
    };
    let is_of = |ending: &str| {
        let stem = name.strip_suffix(ending);
        stem.is_some_and(|stem| stem.ends_with('.'))
    };
    let viewer = tool.viewers.iter().find(|(ending, _)| is_of(ending));
    let mut line = match (&written, &error) {
        (_, Some(error)) => format!("{}: the tool could not start: {error}", tool.verb),
        (Some(about), None) => {
            let how = match (about.len(), viewer) {
                (0, _) => "; it is empty, because there was nothing to see".to_owned(),
                (_, viewer) => viewer.map_or_else(String::new, |(_, how)| format!("; {how}")),
            };
            format!(
                "{}: wrote `{}` ({}){how}",
                tool.verb,
                output.display(),
                size(about.len())
            )
        }
        (None, None) if is_stream => return Ok(()),
        (None, None) if !status.has_started() => format!(
            "{}: nothing was written, because the runtime did not load the tool; `cargo clr doctor -p PID` says why while the program runs",
            tool.verb
        ),
        (None, None) => format!(
            "{}: nothing was written: there was nothing to see",
            tool.verb
        ),
    };
    for said in status.said() {
        line += &format!("\n{}: {said}", tool.verb);
    }
    if written.is_some() && error.is_none() && !status.has_ended() {
        line += "\nThe program ended without notice: the results are those of the last write.";
    }
    if let Some(reason) = status.stays_loaded() {
        line += &format!("\nThe tool stays loaded in the process{reason}.");
    }
    if io::stderr().is_terminal() {
        line.insert(0, '\r');
    }
    // If stderr is closed, the file is there all the same.
    let _ = writeln!(io::stderr(), "{line}");
    Ok(())
}

/// A size for people.
pub(crate) fn size(bytes: u64) -> String {
    match bytes {
        0..1000 => format!("{bytes} bytes"),
        1000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// The file in which the tool says how it is.
pub(crate) struct Status {
    pub(crate) path: PathBuf,
}

impl Status {
    /// In the folder of the library, which the program can read.
    pub(crate) fn new(library: &Path, mode: u32) -> Result<Self> {
        let folder = library.parent().unwrap_or(Path::new("/"));
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.unwrap_or_default().as_nanos();
        let path = folder.join(format!("status-{}-{now}", std::process::id()));
        let mut options = fs::OpenOptions::new();
        options.write(true).create_new(true);
        let file = options.open(&path).map_err(outcome::io("write", &path))?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let _ = file.set_permissions(fs::Permissions::from_mode(mode));
        }
        #[cfg(not(unix))]
        let _ = (file, mode);
        Ok(Self { path })
    }

    fn lines(&self) -> Vec<String> {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub(crate) fn has_started(&self) -> bool {
        self.lines().iter().any(|line| line == "started")
    }

    pub(crate) fn has_ended(&self) -> bool {
        self.lines().iter().any(|line| line.starts_with("ended"))
    }

    /// The runtime's error, if the tool has ended and was not detached.
    fn stays_loaded_because(&self) -> Option<String> {
        let lines = self.lines();
        let error = lines
            .iter()
            .find_map(|line| line.strip_prefix("ended, stays loaded: "));
        error.map(str::to_owned)
    }

    /// Why the tool stays loaded after its end: the rest of a sentence that says so.
    pub(crate) fn stays_loaded(&self) -> Option<String> {
        let error = self.stays_loaded_because()?;
        Some(match &error {
            error if error.contains("CORPROF_E_IRREVERSIBLE_INSTRUMENTATION_PRESENT") => {
                ", without effect: no runtime lets go of a profiler that has changed methods or hooks calls".to_owned()
            }
            error if error.contains("CORPROF_E_IMMUTABLE_FLAGS_SET") => {
                ", and writes nothing more: the runtime does not take back events that it grants at the start alone".to_owned()
            }
            error => format!(": {error}"),
        })
    }

    pub(crate) fn error(&self) -> Option<String> {
        let lines = self.lines();
        let error = lines.iter().find_map(|line| line.strip_prefix("error: "));
        error.map(str::to_owned)
    }

    /// The work of the tool now, if it tells that.
    fn now(&self) -> Option<String> {
        let lines = self.lines();
        let now = lines
            .iter()
            .rev()
            .find_map(|line| line.strip_prefix("now: "));
        now.map(str::to_owned)
    }

    /// The lines of the tool for its user.
    pub(crate) fn said(&self) -> Vec<String> {
        let lines = self.lines();
        let said = lines.iter().filter_map(|line| line.strip_prefix("said: "));
        let mut so_far = lines.iter().rev();
        let so_far = so_far.find_map(|line| line.strip_prefix("so far: "));
        said.chain(so_far).map(str::to_owned).collect()
    }

    fn stop_file(&self) -> PathBuf {
        self.path.with_extension("stop")
    }

    /// Has the tool end before its time.
    pub(crate) fn request_end(&self) {
        let _ = fs::write(self.stop_file(), b"");
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(self.stop_file());
    }
}
