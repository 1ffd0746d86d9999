//! Runs a program, or attaches, with a profiler of the command.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant, SystemTime};

use clap::Args;
use clr_profiler_launcher::{Attach, Launch};
use serde_json::json;

use crate::cli::{Profile, Subject};
use crate::library::{self, Reader};
use crate::outcome::{self, Failure, Result};
use crate::{child, print, process};

/// A profiler of the library, and its settings.
pub(crate) struct Tool {
    verb: &'static str,
    clsid: &'static str,
    /// The setting with the file of the results, and that file without an option.
    output: (&'static str, &'static str),
    settings: Vec<(&'static str, OsString)>,
    /// Why it cannot be attached.
    pub(crate) refuses_attach: Option<&'static str>,
    /// How the results are opened.
    pub(crate) viewers: &'static [(&'static str, &'static str)],
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
            output,
            settings: Vec::new(),
            refuses_attach: None,
            viewers: &[],
        }
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
pub(crate) fn run<Options: Args + Profiles>(profile: &Profile<Options>) -> Result<ExitCode> {
    let subject = &profile.subject;
    let tool = profile.options.tool(subject)?;
    let output = subject.output.as_deref();
    let output = result_file(output.unwrap_or(Path::new(tool.output.1)), subject)?;
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
fn is_ours(process: u32) -> bool {
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

/// How long a program is profiled to which the tool is attached.
const DURATION: Duration = Duration::from_secs(10);

fn start(tool: &Tool, subject: &Subject, output: &Path) -> Result<ExitCode> {
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
    let command = launch.command()?;
    clear(output)?;
    let code = child::run(command)?;
    tell(tool, subject, output, &status, code)?;
    Ok(ExitCode::from(match (code, status.error()) {
        // The program has run, but not under the tool.
        (0, Some(_)) => Failure::FAILED,
        _ => code,
    }))
}

fn attach(tool: &Tool, subject: &Subject, process: u32, output: &Path) -> Result<ExitCode> {
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
    let sent = Attach::new(process)
        .profiler(library)
        .client_data(data)
        .send();
    if let Err(error) = sent {
        return Err(Failure::new(match status.error() {
            Some(reason) => format!("The tool could not start in the process {process}: {reason}."),
            None => error.to_string(),
        }));
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
    tell(tool, subject, output, &status, 0)?;
    Ok(ExitCode::SUCCESS)
}

/// How long the results may take after the time that was asked for.
const GRACE: Duration = Duration::from_secs(60);

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
fn tell(tool: &Tool, subject: &Subject, output: &Path, status: &Status, code: u8) -> Result<()> {
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
            "exit_code": code,
        });
        print(format!("{outcome}\n"))?;
        return Ok(());
    }
    let ending = output
        .extension()
        .and_then(OsStr::to_str)
        .unwrap_or_default();
    let viewer = tool.viewers.iter().find(|(of, _)| *of == ending);
    let mut line = match (&written, &error) {
        (_, Some(error)) => format!("{}: the tool could not start: {error}", tool.verb),
        (Some(about), None) => {
            let how = viewer
                .map(|(_, how)| format!("; {how}"))
                .unwrap_or_default();
            format!(
                "{}: wrote `{}` ({}){how}",
                tool.verb,
                output.display(),
                size(about.len())
            )
        }
        (None, None) if is_stream => return Ok(()),
        (None, None) if !status.has_started() => format!(
            "{}: nothing was written, because the runtime did not load the tool; `cargo clr doctor` says why",
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
    if status.stays_loaded() {
        line += "\nThe tool stays loaded in the process, without effect: the runtime does not let go of one of its features.";
    }
    if io::stderr().is_terminal() {
        line.insert(0, '\r');
    }
    // If stderr is closed, the file is there all the same.
    let _ = writeln!(io::stderr(), "{line}");
    Ok(())
}

fn size(bytes: u64) -> String {
    match bytes {
        0..1000 => format!("{bytes} bytes"),
        1000..1_000_000 => format!("{:.1} kB", bytes as f64 / 1e3),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

/// The file in which the tool says how it is.
struct Status {
    path: PathBuf,
}

impl Status {
    /// In the folder of the library, which the program can read.
    fn new(library: &Path, mode: u32) -> Result<Self> {
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

    fn has_started(&self) -> bool {
        self.lines().iter().any(|line| line == "started")
    }

    fn has_ended(&self) -> bool {
        self.lines().iter().any(|line| line.starts_with("ended"))
    }

    fn stays_loaded(&self) -> bool {
        let lines = self.lines();
        lines.iter().any(|line| line == "ended, stays loaded")
    }

    fn error(&self) -> Option<String> {
        let lines = self.lines();
        let error = lines.iter().find_map(|line| line.strip_prefix("error: "));
        error.map(str::to_owned)
    }

    /// The lines of the tool for its user.
    fn said(&self) -> Vec<String> {
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
    fn request_end(&self) {
        let _ = fs::write(self.stop_file(), b"");
    }
}

impl Drop for Status {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        let _ = fs::remove_file(self.stop_file());
    }
}
