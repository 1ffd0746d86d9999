//! A program, a profiler, and its runs on runtimes.

use std::any::type_name;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use clr_profiler::__private::ProfilerClass;
use clr_profiler_launcher::{Attach, Clsid, Launch, ProfilerLibrary};

use crate::process::{PATIENCE, has_line};
use crate::scratch::Scratch;
use crate::{Finished, Running, Runtime, build_library};

/// A program to run, without and with a profiler.
///
/// ```no_run
/// # mod my_profiler {
/// #     use clr_profiler::prelude::*;
/// #     pub struct MyProfiler;
/// #     #[profiler(clsid = "7E3D2B60-52C1-4B0E-9C64-0B3A5D1F8E21")]
/// #     impl Profiler for MyProfiler {
/// #         fn initialize(_: &ProfilerInfo, _: &mut Setup) -> Result<Self> { Ok(MyProfiler) }
/// #     }
/// # }
/// use clr_profiler_test::Scenario;
/// use my_profiler::MyProfiler;
///
/// // On all runtimes of this machine:
/// Scenario::new("tests/App.dll")
///     .arg("--fast")
///     .profiler::<MyProfiler>()
///     .same_output();
/// ```
///
/// Its functions panic if a program cannot be run, because they are called by tests.
#[derive(Debug, Clone)]
pub struct Scenario {
    program: PathBuf,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    input: Vec<u8>,
    profiler: Option<Source>,
    notification_profilers: Vec<Source>,
    startup_hooks: Vec<PathBuf>,
    runtimes: Option<Vec<Runtime>>,
    log: Vec<String>,
    own_lines: Vec<String>,
    adjust: Option<fn(&mut Command)>,
    time_limit: Duration,
}

/// Where a profiler comes from.
#[derive(Debug, Clone)]
enum Source {
    /// Cargo builds the library of this crate.
    Crate(String, Clsid),
    /// A file.
    Library(ProfilerLibrary),
}

impl Source {
    /// The crate of this type.
    fn of<P: ProfilerClass>() -> Self {
        let path = type_name::<P>();
        let library = path.split("::").next().unwrap_or(path);
        Self::Crate(library.to_owned(), Clsid::from_u128(P::CLSID.as_u128()))
    }

    fn library(&self) -> ProfilerLibrary {
        match self {
            Self::Crate(name, clsid) => {
                let path = build_library(name).unwrap_or_else(|error| panic!("{error}"));
                ProfilerLibrary::new(path, *clsid).unwrap_or_else(|error| panic!("{error}"))
            }
            Self::Library(library) => library.clone(),
        }
    }
}

/// A run without the profiler, and one with it, on the same runtime.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The runtime.
    pub runtime: Runtime,
    /// The run without the profiler.
    pub plain: Finished,
    /// The run with the profiler.
    pub profiled: Finished,
}

impl Scenario {
    /// The time limit of a run, unless [`time_limit`](Self::time_limit) sets another one.
    pub const TIME_LIMIT: Duration = PATIENCE;

    /// A program: an assembly (`App.dll`, with its `App.runtimeconfig.json`), or a native executable.
    pub fn new(program: impl AsRef<Path>) -> Self {
        Self {
            program: program.as_ref().to_owned(),
            arguments: Vec::new(),
            variables: Vec::new(),
            input: Vec::new(),
            profiler: None,
            notification_profilers: Vec::new(),
            startup_hooks: Vec::new(),
            runtimes: None,
            log: Vec::new(),
            own_lines: Vec::new(),
            adjust: None,
            time_limit: Self::TIME_LIMIT,
        }
    }

    /// An argument of the program.
    #[must_use]
    pub fn arg(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// Arguments of the program.
    #[must_use]
    pub fn args(self, arguments: &[&str]) -> Self {
        arguments
            .iter()
            .fold(self, |this, argument| this.arg(argument))
    }

    /// An environment variable of the program and the profiler, in both runs.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// The program's standard input; it is empty otherwise.
    #[must_use]
    pub fn input(mut self, input: impl AsRef<[u8]>) -> Self {
        self.input = input.as_ref().to_owned();
        self
    }

    /// The profiler: a type of this package or of another one in its workspace, with `crate-type = ["cdylib", "lib"]`.
    ///
    /// Cargo builds the library before the first run; see [`build_library`].
    #[must_use]
    pub fn profiler<P: ProfilerClass>(self) -> Self {
        self.with(Source::of::<P>())
    }

    /// The profiler of a crate whose types a test cannot name, because its `crate-type` is `cdylib` alone: the name of
    /// the library, and the class id.
    ///
    /// Cargo builds the library before the first run; see [`build_library`].
    ///
    /// # Panics
    ///
    /// If this is not a class id.
    #[must_use]
    pub fn profiler_of_crate(self, library: &str, clsid: &str) -> Self {
        let clsid = clsid.parse().unwrap_or_else(|error| panic!("{error}"));
        self.with(Source::Crate(library.to_owned(), clsid))
    }

    /// The profiler in a file, as it is. Nothing is built, and [`same_output`](Self::same_output) does not know
    /// whether it has started.
    #[must_use]
    pub fn profiler_library(self, library: ProfilerLibrary) -> Self {
        self.with(Source::Library(library))
    }

    fn with(mut self, source: Source) -> Self {
        self.profiler = Some(source);
        self
    }

    /// A profiler in a file, as a notification profiler.
    #[must_use]
    pub fn notification_profiler(mut self, library: ProfilerLibrary) -> Self {
        self.notification_profilers.push(Source::Library(library));
        self
    }

    /// An assembly that the runtime runs before the program.
    #[must_use]
    pub fn startup_hook(mut self, assembly: impl AsRef<Path>) -> Self {
        self.startup_hooks.push(assembly.as_ref().to_owned());
        self
    }

    /// The variable by which the profiler gets the path of a file to write to, such as `MY_PROFILER_OUTPUT`; its text
    /// is then [`Finished::log`]. Several variables name the same file.
    #[must_use]
    pub fn log(mut self, variable: &str) -> Self {
        self.log.push(variable.to_owned());
        self
    }

    /// Lines of stdout and stderr that begin with this are the profiler's own, or of code that it has inserted:
    /// [`same_output`](Self::same_output) does not compare them.
    #[must_use]
    pub fn own_lines(mut self, prefix: &str) -> Self {
        self.own_lines.push(prefix.to_owned());
        self
    }

    /// The runtimes, instead of all that are [`available`](Runtime::available).
    #[must_use]
    pub fn runtimes(mut self, runtimes: impl IntoIterator<Item = Runtime>) -> Self {
        self.runtimes = Some(runtimes.into_iter().collect());
        self
    }

    /// Changes the command of each run right before it starts, with and without the profiler: its folder, for example.
    #[must_use]
    pub fn adjust_command(mut self, adjust: fn(&mut Command)) -> Self {
        self.adjust = Some(adjust);
        self
    }

    /// How long a run may take before the program is killed and the test fails; see
    /// [`TIME_LIMIT`](Self::TIME_LIMIT).
    #[must_use]
    pub fn time_limit(mut self, limit: Duration) -> Self {
        self.time_limit = limit;
        self
    }

    /// Runs the program without and with the profiler on each runtime, and compares its standard output, its standard
    /// error and its end.
    ///
    /// Returns the runs, for further assertions.
    ///
    /// # Panics
    ///
    /// If they differ, if the profiler did not start, if no profiler was named, or if no runtime runs the program.
    pub fn same_output(&self) -> Vec<Comparison> {
        let runs = self.on_each_runtime();
        for run in &runs {
            self.check(run);
        }
        runs
    }

    /// Runs the program without and with the profiler on each runtime, and compares nothing. Of each run,
    /// [`Finished::started`](crate::Finished::started) says whether the profiler started.
    ///
    /// # Panics
    ///
    /// If no profiler was named, if no runtime runs the program, or if a run does not end.
    #[must_use]
    pub fn on_each_runtime(&self) -> Vec<Comparison> {
        assert!(
            self.profiler.is_some(),
            "no profiler to run {} with",
            self.program.display()
        );
        let runtimes = match &self.runtimes {
            Some(runtimes) => runtimes.clone(),
            None => Runtime::available().unwrap_or_else(|error| panic!("{error}")),
        };
        let mut runs = Vec::new();
        let mut refusals = String::new();
        for runtime in runtimes {
            if let Some(refusal) = runtime.refusal(&self.program) {
                refusals += &format!("\n  {}: {refusal}", runtime.name);
                continue;
            }
            println!("on {}", runtime.name);
            runs.push(Comparison {
                plain: self.run_plain(&runtime),
                profiled: self.run_on(&runtime),
                runtime,
            });
        }
        let program = self.program.display();
        assert!(!runs.is_empty(), "no runtime runs {program}:{refusals}");
        if !refusals.is_empty() {
            println!("{program} is not run on:{refusals}");
        }
        runs
    }

    fn check(&self, run: &Comparison) {
        let (plain, profiled) = (&run.plain, &run.profiled);
        let program = format!("{} on {}", self.program.display(), run.runtime.name);
        assert!(
            profiled.started,
            "the profiler did not start in {program}: {:?}\n{}stderr:\n{}",
            profiled.status, profiled.diagnostics, profiled.stderr
        );
        if self.shown(plain) == self.shown(profiled) {
            return;
        }
        let again = self.run_plain(&run.runtime);
        assert!(
            self.shown(&again) == self.shown(plain),
            "two runs of {program} differ without a profiler, so that there is nothing to compare:\n{}",
            self.difference(plain, &again)
        );
        panic!(
            "{program} differs under the profiler:\n{}{}",
            self.difference(plain, profiled),
            profiled.diagnostics
        );
    }

    /// The output of the program itself.
    fn shown<'a>(&self, run: &'a Finished) -> (Vec<&'a str>, Vec<&'a str>, String) {
        let is_own = |line: &&str| self.own_lines.iter().any(|prefix| line.starts_with(prefix));
        let lines = |text: &'a str| text.split('\n').filter(|line| !is_own(line)).collect();
        (
            lines(&run.stdout),
            lines(&run.stderr),
            format!("{}", run.status),
        )
    }

    fn difference(&self, plain: &Finished, other: &Finished) -> String {
        let ((plain_out, plain_err, plain_end), (out, err, end)) =
            (self.shown(plain), self.shown(other));
        let mut text = first_difference("stdout", &plain_out, &out);
        text += &first_difference("stderr", &plain_err, &err);
        text += &first_difference("end", &[&plain_end], &[&end]);
        text
    }

    /// Runs the program on this runtime under the profiler, if one was named.
    ///
    /// # Panics
    ///
    /// If it cannot be started, or does not end.
    #[must_use]
    pub fn run_on(&self, runtime: &Runtime) -> Finished {
        self.run(runtime, true)
    }

    /// Runs the program on this runtime without a profiler.
    ///
    /// # Panics
    ///
    /// If it cannot be started, or does not end.
    #[must_use]
    pub fn run_plain(&self, runtime: &Runtime) -> Finished {
        self.run(runtime, false)
    }

    fn run(&self, runtime: &Runtime, is_profiled: bool) -> Finished {
        let files = Files::new();
        let command = self.command(runtime, is_profiled, &files);
        let mut finished = Finished::within(command, &self.input, self.time_limit);
        files.read(&mut finished, self.profiler.as_ref());
        finished
    }

    /// The program on this runtime under the profiler, as a command. There is no log.
    ///
    /// # Panics
    ///
    /// If program, runtime or profiler are refused.
    #[must_use]
    pub fn command_on(&self, runtime: &Runtime) -> Command {
        self.command(runtime, true, &Files::new())
    }

    /// Starts the program on this runtime under the profiler, if one was named.
    ///
    /// # Panics
    ///
    /// If it cannot be started.
    #[must_use]
    pub fn start(&self, runtime: &Runtime) -> Started {
        let files = Files::new();
        Started {
            running: Running::start(self.command(runtime, true, &files)),
            files,
            profiler: self.profiler.clone(),
        }
    }

    fn command(&self, runtime: &Runtime, is_profiled: bool, files: &Files) -> Command {
        let launch = self.launch(runtime, is_profiled, files);
        let mut command = launch.command().unwrap_or_else(|error| panic!("{error}"));
        if let Some(adjust) = self.adjust {
            adjust(&mut command);
        }
        command
    }

    fn launch(&self, runtime: &Runtime, is_profiled: bool, files: &Files) -> Launch {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let program = std::path::absolute(&self.program).unwrap_or_else(|_| self.program.clone());
        let mut launch = runtime.launch(&program, &arguments);
        // Messages about a failed start belong to the test, not to the program's stderr.
        launch.env("CLR_PROFILER_DIAGNOSTICS", files.0.path(Files::DIAGNOSTICS));
        launch.env("CLR_PROFILER_STARTED", files.0.path(Files::STARTED));
        for variable in &self.log {
            launch.env(variable, files.0.path(Files::LOG));
        }
        for (name, value) in &self.variables {
            launch.env(name, value);
        }
        for hook in &self.startup_hooks {
            launch.startup_hook(hook);
        }
        if is_profiled {
            if let Some(source) = &self.profiler {
                launch.profiler(source.library());
            }
            for source in &self.notification_profilers {
                launch.notification_profiler(source.library());
            }
        }
        launch
    }
}

/// The first lines that differ, with their numbers; empty if none does.
fn first_difference(stream: &str, plain: &[&str], other: &[&str]) -> String {
    let length = plain.len().max(other.len());
    let Some(at) = (0..length).find(|at| plain.get(*at) != other.get(*at)) else {
        return String::new();
    };
    let show = |lines: &[&str]| {
        lines
            .get(at)
            .map_or("(no line)".to_owned(), |it| format!("{it:?}"))
    };
    format!(
        "  {stream}, line {}:\n    without: {}\n    with:    {}\n",
        at + 1,
        show(plain),
        show(other)
    )
}

/// The files of one run.
#[derive(Debug)]
struct Files(Scratch);

impl Files {
    const DIAGNOSTICS: &'static str = "diagnostics";
    const LOG: &'static str = "log";
    const STARTED: &'static str = "started";

    fn new() -> Self {
        Self(Scratch::new())
    }

    fn read(&self, finished: &mut Finished, profiler: Option<&Source>) {
        finished.log = self.0.read(Self::LOG);
        finished.diagnostics = self.0.read(Self::DIAGNOSTICS);
        let started = self.0.read(Self::STARTED).to_uppercase();
        finished.started = match profiler {
            Some(Source::Crate(_, clsid)) => has_line(&started, &clsid.to_string()),
            // One that was made with another library says nothing.
            Some(Source::Library(_)) => true,
            None => false,
        };
    }
}

/// A running program, and the files of the profilers that are loaded into it.
#[derive(Debug)]
pub struct Started {
    running: Running,
    files: Files,
    profiler: Option<Source>,
}

impl Started {
    /// The text that profilers have written to the file of [`Scenario::log`] so far.
    #[must_use]
    pub fn log(&self) -> String {
        self.files.0.read(Files::LOG)
    }

    /// Waits until a profiler has written this line.
    ///
    /// # Panics
    ///
    /// If it does not.
    pub fn until_logged(&self, line: &str) {
        self.until(line, |log| has_line(log, line));
    }

    /// Waits until this is true for the text that profilers have written.
    ///
    /// # Panics
    ///
    /// If it does not become true.
    pub fn until(&self, what: &str, is_so: impl Fn(&str) -> bool) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let log = self.log();
            if is_so(&log) {
                return;
            }
            assert!(Instant::now() < deadline, "{what}: not in {log}");
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Attaches a profiler to the program, which was started without one: a type of a library crate of this workspace,
    /// as [`Scenario::profiler`] takes it. `client_data` is for its `initialize_for_attach`.
    ///
    /// # Errors
    ///
    /// Those of [`Attach::send`]; a refusal of the runtime names the reason.
    ///
    /// # Panics
    ///
    /// If the library cannot be built.
    pub fn attach<P: ProfilerClass>(
        &mut self,
        client_data: &[u8],
    ) -> Result<(), clr_profiler_launcher::Error> {
        let source = Source::of::<P>();
        Attach::new(self.id())
            .profiler(source.library())
            .client_data(client_data)
            .send()?;
        self.profiler = Some(source);
        Ok(())
    }

    /// Closes the program's input, and waits for its end; the result includes the log.
    ///
    /// # Panics
    ///
    /// If it does not end.
    #[must_use]
    pub fn finish(self) -> Finished {
        let mut finished = self.running.finish();
        self.files.read(&mut finished, self.profiler.as_ref());
        finished
    }
}

impl Deref for Started {
    type Target = Running;

    fn deref(&self) -> &Running {
        &self.running
    }
}

impl DerefMut for Started {
    fn deref_mut(&mut self) -> &mut Running {
        &mut self.running
    }
}
