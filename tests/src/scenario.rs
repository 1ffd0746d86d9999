//! A scenario: a program, a profiler, and the assertions about them on each runtime.

use std::any::type_name;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::{Duration, Instant};
use std::{env, fs, process, thread};

use clr_profiler::__private::ProfilerClass;
use clr_profiler_launcher::{Clsid, ProfilerLibrary, find_library_beside};

use crate::process::{PATIENCE, has_line};
use crate::{Finished, Running, Runtime, recorder, runtimes_where};

/// The path of a profiled program, `profilees/NAME.dll`.
///
/// `SCENARIO_PROFILEES` names another folder: CI runs the scenarios on programs that it has
/// rebuilt.
pub fn profilee(name: &str) -> PathBuf {
    let folder = match env::var_os("SCENARIO_PROFILEES") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("profilees"),
    };
    folder.join(format!("{name}.dll"))
}

/// The class id of a profiler: of a scenario's by the name of its type, of others by their text.
pub fn clsid(profiler: &str) -> Clsid {
    let by_name = || Clsid::from_u128(scenario_support::clsid(profiler).as_u128());
    profiler.parse().unwrap_or_else(|_| by_name())
}

/// The name of a scenario's profiler: that of its type.
pub fn name_of<P: ProfilerClass>() -> &'static str {
    let path = type_name::<P>();
    path.rsplit("::").next().unwrap_or(path)
}

/// A program to run, without or with a profiler.
#[derive(Debug, Clone)]
pub struct Scenario {
    program: PathBuf,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    library: String,
    profiler: Option<String>,
    notification_profilers: Vec<String>,
    startup_hooks: Vec<PathBuf>,
    is_recorded: bool,
}

impl Scenario {
    /// The program `profilees/NAME.dll`.
    pub fn new(profilee_name: &str) -> Self {
        Self::at(profilee(profilee_name))
    }

    /// A program at another path.
    pub fn at(program: PathBuf) -> Self {
        Self {
            program,
            arguments: Vec::new(),
            variables: Vec::new(),
            library: "scenarios".to_owned(),
            profiler: None,
            notification_profilers: Vec::new(),
            startup_hooks: Vec::new(),
            is_recorded: false,
        }
    }

    /// An argument of the program.
    #[must_use]
    pub fn arg(mut self, argument: &str) -> Self {
        self.arguments.push(argument.to_owned());
        self
    }

    /// An environment variable of the program.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// A profiler of this scenario.
    #[must_use]
    pub fn profiled_by<P: ProfilerClass>(self) -> Self {
        self.profiler(name_of::<P>())
    }

    /// A profiler: one of any scenario by the name of its type, another by its class id.
    #[must_use]
    pub fn profiler(mut self, name: &str) -> Self {
        self.profiler = Some(name.to_owned());
        self
    }

    /// Such a profiler, as a notification profiler.
    #[must_use]
    pub fn notification_profiler(mut self, name: &str) -> Self {
        self.notification_profilers.push(name.to_owned());
        self
    }

    /// An assembly that the runtime runs before the program.
    #[must_use]
    pub fn startup_hook(mut self, assembly: PathBuf) -> Self {
        self.startup_hooks.push(assembly);
        self
    }

    /// A library other than that of the scenarios, such as an example's.
    #[must_use]
    pub fn library(mut self, name: &str) -> Self {
        self.library = name.to_owned();
        self
    }

    /// Makes calls of the profiler to the runtime fail, in the notation of the recorder: every `period`th of
    /// this method.
    #[must_use]
    pub fn fault(mut self, method: &str, fault: &str, period: u32) -> Self {
        self.is_recorded = true;
        self.env("CLR_PROFILER_FAULTS", &format!("{method}={fault}@{period}"))
    }

    /// Counts the calls of the profiler to the runtime, in files in this folder.
    #[must_use]
    pub fn recorded_in(mut self, folder: &Path) -> Self {
        self.is_recorded = true;
        self.env("CLR_PROFILER_RECORD_FOLDER", &folder.to_string_lossy())
            .env("CLR_PROFILER_RECORD_RUNTIME", "any")
            .env("CLR_PROFILER_RECORD_SCENARIO", "any")
    }

    /// Runs the program on this runtime under the profiler, if one was named.
    pub fn run_on(&self, runtime: &Runtime) -> Finished {
        self.run(runtime, self.profiler.as_deref())
    }

    /// Runs the program on this runtime without a profiler.
    pub fn run_plain(&self, runtime: &Runtime) -> Finished {
        self.run(runtime, None)
    }

    /// Runs the program under the profiler on each of the [`runtimes`](crate::runtimes) of this test.
    pub fn on_each_runtime(&self, assert: impl Fn(&Runtime, &Finished)) {
        self.on_each_runtime_where(|_| true, assert);
    }

    /// Runs the program under the profiler on each runtime of which this is true.
    pub fn on_each_runtime_where(
        &self,
        is_wanted: impl Fn(&Runtime) -> bool,
        assert: impl Fn(&Runtime, &Finished),
    ) {
        for runtime in runtimes_where(is_wanted) {
            println!("on {}", runtime.name);
            assert(runtime, &self.run(runtime, self.profiler.as_deref()));
        }
    }

    /// Runs the program on each runtime twice, without and with the profiler.
    pub fn compare(&self, assert: impl Fn(&Finished, &Finished)) {
        self.on_each_runtime(|runtime, profiled| assert(&self.run(runtime, None), profiled));
    }

    /// Starts the program on this runtime under the profiler, if one was named.
    pub fn start(&self, runtime: &Runtime) -> Started {
        let log = Scratch::file("log");
        let command = self.command(
            runtime,
            self.profiler.as_deref(),
            &self.notification_profilers,
            &log,
        );
        Started {
            running: Running::start(command),
            log,
        }
    }

    fn run(&self, runtime: &Runtime, profiler: Option<&str>) -> Finished {
        let log = Scratch::file("log");
        let mut finished = Finished::of(self.command(runtime, profiler, &[], &log));
        finished.log = log.read();
        finished
    }

    fn command(
        &self,
        runtime: &Runtime,
        profiler: Option<&str>,
        notification_profilers: &[String],
        log: &Scratch,
    ) -> Command {
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let mut launch = runtime.launch(&self.program, &arguments);
        launch.env("SCENARIO_LOG", &log.0);
        // Messages about a failed start belong to the test, not to the program's stderr.
        launch.env("CLR_PROFILER_DIAGNOSTICS", &log.0);
        for (name, value) in recorder::names(runtime) {
            launch.env(name, value);
        }
        for (name, value) in &self.variables {
            launch.env(name, value);
        }
        for hook in &self.startup_hooks {
            launch.startup_hook(hook);
        }
        if let Some(name) = profiler {
            launch.profiler(self.profiler_library(name));
        }
        for name in notification_profilers {
            launch.notification_profiler(self.profiler_library(name));
        }
        let mut command = launch.command().unwrap_or_else(|error| panic!("{error}"));
        if self.is_recorded {
            command.env("CLR_PROFILER_RECORDED_LIBRARY", self.library_path());
            command.env("CORECLR_PROFILER_PATH", beside_test("recorder"));
        }
        command
    }

    /// The library of the scenarios' profilers, with the profiler that [`profiler`](Self::profiler) calls by this name.
    ///
    /// # Panics
    ///
    /// If it was not built.
    pub fn profiler_library(&self, name: &str) -> ProfilerLibrary {
        let path = recorder::instead_of(self.library_path());
        ProfilerLibrary::new(path, clsid(name)).unwrap_or_else(|error| panic!("{error}"))
    }

    fn library_path(&self) -> PathBuf {
        beside_test(&self.library)
    }
}

/// A library that was built with the tests.
pub(crate) fn beside_test(library: &str) -> PathBuf {
    let test = env::current_exe().expect("a test has a path");
    find_library_beside(&test, library).unwrap_or_else(|error| panic!("{error}"))
}

/// A running program, and the log of the profilers that are loaded into it.
#[derive(Debug)]
pub struct Started {
    running: Running,
    log: Scratch,
}

impl Started {
    /// The text that profilers have written so far.
    pub fn log(&self) -> String {
        self.log.read()
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

    /// Lets the program end; the result includes the log.
    ///
    /// # Panics
    ///
    /// If it does not end.
    pub fn finish(self) -> Finished {
        let mut finished = self.running.finish();
        finished.log = self.log.read();
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

/// A file of this test only, removed at the end.
#[derive(Debug)]
struct Scratch(PathBuf);

impl Scratch {
    fn read(&self) -> String {
        fs::read_to_string(&self.0).unwrap_or_default()
    }

    fn file(kind: &str) -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        Self(env::temp_dir().join(format!("clr_profiler-{kind}-{}-{number}", process::id())))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}
