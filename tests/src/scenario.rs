//! A scenario: a program, a profiler, and what is asserted of them on each runtime.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

use clr_profiler_launcher::{ProfilerLibrary, find_library_beside};

use crate::{Finished, Runtime, runtimes};

/// The path of a profiled program, `profilees/NAME.dll`.
///
/// `SCENARIO_PROFILEES` names another folder: CI runs the scenarios on programs that it has built
/// again.
pub fn profilee(name: &str) -> PathBuf {
    let folder = match env::var_os("SCENARIO_PROFILEES") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("profilees"),
    };
    folder.join(format!("{name}.dll"))
}

/// A program to run, without or with a profiler.
#[derive(Debug, Clone)]
pub struct Scenario {
    program: PathBuf,
    arguments: Vec<String>,
    variables: Vec<(String, String)>,
    library: String,
    clsid: Option<String>,
}

impl Scenario {
    /// The program `profilees/NAME.dll`.
    pub fn new(profilee_name: &str) -> Self {
        Self {
            program: profilee(profilee_name),
            arguments: Vec::new(),
            variables: Vec::new(),
            library: "scenario_profilers".to_owned(),
            clsid: None,
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

    /// The profiler with this class id.
    #[must_use]
    pub fn profiler(mut self, clsid: &str) -> Self {
        self.clsid = Some(clsid.to_owned());
        self
    }

    /// A library that is not that of the scenarios, such as an example's.
    #[must_use]
    pub fn library(mut self, name: &str) -> Self {
        self.library = name.to_owned();
        self
    }

    /// Runs the program on each runtime under the profiler.
    pub fn on_each_runtime(&self, assert: impl Fn(&Runtime, &Finished)) {
        for runtime in runtimes() {
            println!("on {}", runtime.name);
            assert(runtime, &self.run(runtime, self.clsid.as_deref()));
        }
    }

    /// Runs the program on each runtime twice, without and with the profiler.
    pub fn compare(&self, assert: impl Fn(&Finished, &Finished)) {
        self.on_each_runtime(|runtime, profiled| assert(&self.run(runtime, None), profiled));
    }

    fn run(&self, runtime: &Runtime, clsid: Option<&str>) -> Finished {
        let log = Scratch::file("log");
        let arguments: Vec<&str> = self.arguments.iter().map(String::as_str).collect();
        let mut launch = runtime.launch(&self.program, &arguments);
        launch.env("SCENARIO_LOG", &log.0);
        // What a profiler says of a failed start belongs to the test, not to the program's stderr.
        launch.env("CLR_PROFILER_DIAGNOSTICS", &log.0);
        for (name, value) in &self.variables {
            launch.env(name, value);
        }
        if let Some(clsid) = clsid {
            launch.profiler(self.profiler_library(clsid));
        }
        let command = launch.command().unwrap_or_else(|error| panic!("{error}"));
        let mut finished = Finished::of(command);
        finished.log = fs::read_to_string(&log.0).unwrap_or_default();
        finished
    }

    fn profiler_library(&self, clsid: &str) -> ProfilerLibrary {
        let test = env::current_exe().expect("a test has a path");
        find_library_beside(test, &self.library)
            .and_then(|path| ProfilerLibrary::new(path, clsid))
            .unwrap_or_else(|error| panic!("{error}"))
    }
}

/// A file of this test alone, removed in the end.
struct Scratch(PathBuf);

impl Scratch {
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
