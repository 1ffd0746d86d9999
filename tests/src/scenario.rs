//! The scenarios of this workspace: those of `clr_profiler_test`, with profilers by name and libraries that were built
//! with the tests.

use std::any::type_name;
use std::env;
use std::ops::{Deref, DerefMut};
use std::path::{Path, PathBuf};
use std::process::Command;

use clr_profiler::__private::ProfilerClass;
use clr_profiler_launcher::{Clsid, ProfilerLibrary, find_library_next_to};

use crate::example::settle;
use crate::{Finished, Runtime, recorder, runtimes_where};

/// The path of a profiled program, `profilees/NAME.dll`.
///
/// `SCENARIO_PROFILEES` names another folder: CI runs the scenarios on programs that it has
/// rebuilt.
pub fn profilee(name: &str) -> PathBuf {
    let folder = match env::var_os("SCENARIO_PROFILEES") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("profilees"),
    };
    let path = folder.join(format!("{name}.dll"));
    // With its drive, on Windows: profilers hand it to the runtime, which asks for that.
    std::path::absolute(&path).unwrap_or(path)
}

/// A path from the root, as messages of the framework have it: on Windows with its drive.
pub fn full_path(path: &str) -> String {
    let full = std::path::absolute(path).expect("a path that is not empty");
    full.to_string_lossy().into_owned()
}

/// Whether a log has this line.
pub fn has_line(log: &str, line: &str) -> bool {
    log.lines().any(|logged| logged == line)
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
    /// The program alone: its profilers are added to each run.
    program: clr_profiler_test::Scenario,
    library: String,
    profiler: Option<String>,
    notification_profilers: Vec<String>,
    is_recorded: bool,
    /// How the runtime compiles, if that was chosen.
    mode: Option<&'static str>,
}

impl Scenario {
    /// The program `profilees/NAME.dll`.
    pub fn new(profilee_name: &str) -> Self {
        Self::at(profilee(profilee_name))
    }

    /// A program at another path.
    pub fn at(program: PathBuf) -> Self {
        Self {
            // A failed start is in the log, too.
            program: clr_profiler_test::Scenario::new(program)
                .log("SCENARIO_LOG")
                .log("CLR_PROFILER_DIAGNOSTICS"),
            library: "scenarios".to_owned(),
            profiler: None,
            notification_profilers: Vec::new(),
            is_recorded: false,
            mode: None,
        }
    }

    /// Names the mode of compilation in the output of the test.
    #[must_use]
    pub(crate) fn mode(mut self, name: &'static str) -> Self {
        self.mode = Some(name);
        self
    }

    /// An argument of the program.
    #[must_use]
    pub fn arg(mut self, argument: &str) -> Self {
        self.program = self.program.arg(argument);
        self
    }

    /// Arguments of the program.
    #[must_use]
    pub fn args(mut self, arguments: &[&str]) -> Self {
        self.program = self.program.args(arguments);
        self
    }

    /// An environment variable of the program.
    #[must_use]
    pub fn env(mut self, name: &str, value: &str) -> Self {
        self.program = self.program.env(name, value);
        self
    }

    /// An assembly that the runtime runs before the program.
    #[must_use]
    pub fn startup_hook(mut self, assembly: PathBuf) -> Self {
        self.program = self.program.startup_hook(assembly);
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
        self.env(recorder::FOLDER, &folder.to_string_lossy())
    }

    /// Runs the program on this runtime under the profiler, if one was named.
    pub fn run_on(&self, runtime: &Runtime) -> Finished {
        with_plain_line_ends(self.profiled(runtime).run_on(runtime))
    }

    /// Runs the program on this runtime without a profiler.
    pub fn run_plain(&self, runtime: &Runtime) -> Finished {
        with_plain_line_ends(self.program.run_plain(runtime))
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
            println!("on {}, {}", runtime.name, self.mode.unwrap_or("as usual"));
            assert(runtime, &self.run_on(runtime));
        }
    }

    /// Runs the program on each runtime twice, without and with the profiler.
    pub fn compare(&self, assert: impl Fn(&Finished, &Finished)) {
        self.on_each_runtime(|runtime, profiled| assert(&self.run_plain(runtime), profiled));
    }

    /// The program on this runtime under the profiler, as a command. There is no log.
    pub fn command_on(&self, runtime: &Runtime) -> Command {
        self.profiled(runtime).command_on(runtime)
    }

    /// Starts the program on this runtime under the profiler, if one was named.
    pub fn start(&self, runtime: &Runtime) -> Started {
        Started(self.profiled(runtime).start(runtime))
    }

    /// The program with its profilers.
    fn profiled(&self, runtime: &Runtime) -> clr_profiler_test::Scenario {
        let mut program = self.program.clone();
        if self.is_recorded {
            program = program.adjust_command(recorder::interpose);
        }
        if self.is_recorded || recorder::is_wanted() {
            for (name, value) in recorder::names(runtime) {
                program = program.env(name, &value);
            }
        }
        if let Some(name) = &self.profiler {
            program = program.profiler_library(self.profiler_library(name));
        }
        for name in &self.notification_profilers {
            program = program.notification_profiler(self.profiler_library(name));
        }
        program
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

    /// The path of the library.
    ///
    /// # Panics
    ///
    /// If it was not built.
    pub fn library_path(&self) -> PathBuf {
        settle(&self.library);
        built_library(&self.library)
    }
}

/// The output of the program with the line ends that tests expect, those of [`Started`]. On Windows a program ends a line
/// with `\r\n`.
fn with_plain_line_ends(mut finished: Finished) -> Finished {
    if cfg!(windows) {
        for text in [&mut finished.stdout, &mut finished.stderr] {
            *text = text.replace("\r\n", "\n");
        }
    }
    finished
}

/// A library that was built with the tests.
pub(crate) fn built_library(library: &str) -> PathBuf {
    let test = env::current_exe().expect("a test has a path");
    find_library_next_to(&test, library).unwrap_or_else(|error| panic!("{error}"))
}

/// A running program, and the log of the profilers that are loaded into it.
#[derive(Debug)]
pub struct Started(clr_profiler_test::Started);

impl Started {
    /// Lets the program end; the result includes the log.
    ///
    /// # Panics
    ///
    /// If it does not end.
    pub fn finish(self) -> Finished {
        self.0.finish()
    }
}

impl Deref for Started {
    type Target = clr_profiler_test::Started;

    fn deref(&self) -> &Self::Target {
        &self.0
    }
}

impl DerefMut for Started {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.0
    }
}
