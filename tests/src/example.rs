//! An example's executable, and folders for it to work in.

use std::ffi::OsStr;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

use crate::Runtime;

/// An example of the workspace, started as its user starts it.
#[derive(Debug, Clone, Copy)]
pub struct Example(pub &'static str);

/// All of them.
const EXAMPLES: [&str; 11] = [
    "alloc_profiler",
    "call_counter",
    "cpu_sampler",
    "exception_logger",
    "gc_monitor",
    "heap_snapshot",
    "hot_patch",
    "jit_logger",
    "method_logger",
    "method_tracer",
    "return_inspector",
];

/// Builds all examples that are not up to date, by one call of cargo, and returns their folder.
///
/// The whole workspace is selected, as for the test itself: with fewer packages, their dependencies would have fewer
/// features, and the two would build the same files for each other again and again.
fn build() -> PathBuf {
    // The tests' own folder: `target/debug/deps/NAME`.
    let test = env::current_exe().expect("a test knows its path");
    let folder = test
        .parent()
        .and_then(Path::parent)
        .expect("a test is in `target/PROFILE/deps`");
    let profile = if cfg!(debug_assertions) {
        "dev"
    } else {
        "release"
    };
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
    cargo
        .args(["build", "--workspace", "--profile", profile, "--target-dir"])
        .arg(folder.parent().expect("`target` is above `target/PROFILE`"))
        .args(EXAMPLES.iter().flat_map(|name| ["--example", name]))
        .current_dir(env!("CARGO_MANIFEST_DIR"));
    let built = cargo.output().expect("cargo starts");
    let words = String::from_utf8_lossy(&built.stderr);
    assert!(built.status.success(), "{words}");
    folder.join("examples")
}

/// The folder of the examples, which are built at the first call.
fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(build)
}

/// Waits until the library of an example is complete: another test of this program may be building it.
pub(crate) fn settle(library: &str) {
    if EXAMPLES.contains(&library) {
        built();
    }
}

impl Example {
    /// The executable and, as a side effect, its library: built now, unless they are up to date.
    ///
    /// # Panics
    ///
    /// If the examples cannot be built.
    pub fn executable(self) -> PathBuf {
        built().join(format!("{}{}", self.0, env::consts::EXE_SUFFIX))
    }

    /// The example on a runtime: first its own options, then a program with its arguments.
    ///
    /// # Panics
    ///
    /// If the program cannot be started there.
    pub fn command(
        self,
        runtime: &Runtime,
        options: &[&str],
        program: &Path,
        arguments: &[&str],
    ) -> Command {
        let plain = self.plain(runtime, program, arguments);
        let mut command = Command::new(self.executable());
        for (name, value) in plain.get_envs() {
            match value {
                Some(value) => command.env(name, value),
                None => command.env_remove(name),
            };
        }
        command.args(options).arg("--");
        let mut words = plain.get_args();
        // A host is called with `exec`; a program that brings its runtime is called by its name.
        if words.next() == Some(OsStr::new("exec")) {
            command.env("CLR_PROFILER_DOTNET", plain.get_program());
            command.args(words);
        } else {
            command.arg(plain.get_program()).args(plain.get_args());
        }
        command
    }

    /// The example's and the program's lines of stderr.
    pub fn split(self, stderr: &str) -> (Vec<&str>, Vec<&str>) {
        let prefixes = [format!("{}: ", self.0), "clr_profiler: ".to_owned()];
        let is_own = |line: &&str| prefixes.iter().any(|prefix| line.starts_with(prefix));
        stderr.lines().partition(is_own)
    }

    /// The same program without a profiler, and without the example's variables.
    ///
    /// # Panics
    ///
    /// If the program cannot be started there.
    pub fn plain(self, runtime: &Runtime, program: &Path, arguments: &[&str]) -> Command {
        let launch = runtime.launch(program, arguments);
        let mut command = launch.command().unwrap_or_else(|error| panic!("{error}"));
        let prefix = format!("{}_", self.0.to_uppercase());
        for (name, _) in env::vars_os() {
            if name.to_string_lossy().starts_with(&prefix) {
                command.env_remove(name);
            }
        }
        command
    }
}

/// An empty folder of one test, removed at the end. Its name has a space and non-ASCII characters.
#[derive(Debug)]
pub struct Folder(PathBuf);

impl Folder {
    /// A folder with a unique name.
    ///
    /// # Panics
    ///
    /// If it cannot be created.
    #[expect(clippy::new_without_default, reason = "it makes a folder on the disk")]
    pub fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        loop {
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let folder = env::temp_dir().join(format!("clr_profiler-{} ä{number}", process::id()));
            match fs::create_dir(&folder) {
                Ok(()) => return Self(folder.canonicalize().expect("it was made")),
                // Of an earlier process with this id, which could not remove it.
                Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
                Err(error) => panic!("{} cannot be made: {error}", folder.display()),
            }
        }
    }

    /// A path in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// All files in it, with sizes.
    ///
    /// # Panics
    ///
    /// If it cannot be read.
    pub fn listing(&self) -> Vec<(PathBuf, u64)> {
        let mut found = Vec::new();
        let mut folders = vec![self.0.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("the folder is there") {
                let path = entry.expect("the folder can be read").path();
                let about = fs::symlink_metadata(&path).expect("the file is there");
                if about.is_dir() {
                    folders.push(path.clone());
                }
                found.push((path, if about.is_dir() { 0 } else { about.len() }));
            }
        }
        found.sort();
        found
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}
