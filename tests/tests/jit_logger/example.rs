//! The example's executable, and folders for it to work in.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::{env, fs, process};

use clr_profiler_tests::{Finished, Runtime, profilee};

/// The executable and, by the way, its library: built now, unless they are as new as the source.
pub(crate) fn executable() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let (profile, folder) = if cfg!(debug_assertions) {
            ("dev", "debug")
        } else {
            ("release", "release")
        };
        let mut cargo = Command::new(env::var_os("CARGO").unwrap_or("cargo".into()));
        cargo
            .args(["build", "-p", "jit_logger", "--example", "jit_logger"])
            .args(["--profile", profile, "--target-dir"])
            .arg(target)
            .current_dir(env!("CARGO_MANIFEST_DIR"));
        let built = cargo.output().unwrap();
        let words = String::from_utf8_lossy(&built.stderr);
        assert!(built.status.success(), "{words}");
        let file = format!("jit_logger{}", env::consts::EXE_SUFFIX);
        target.join(folder).join("examples").join(file)
    })
}

/// The example on a runtime: first its own options, then a program with its arguments.
pub(crate) fn command(
    runtime: &Runtime,
    options: &[&str],
    program: &Path,
    arguments: &[&str],
) -> Command {
    let plain = plain(runtime, program, arguments);
    let mut command = Command::new(executable());
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

/// The same program without a profiler.
pub(crate) fn plain(runtime: &Runtime, program: &Path, arguments: &[&str]) -> Command {
    let launch = runtime.launch(program, arguments);
    let mut command = launch.command().unwrap_or_else(|error| panic!("{error}"));
    for name in ["OUTPUT", "FILTER", "SUMMARY"] {
        command.env_remove(format!("JIT_LOGGER_{name}"));
    }
    command
}

/// `profilees/Behaviours.dll` to its end, the log in a file and with a summary.
pub(crate) fn behaviour(runtime: &Runtime, arguments: &[&str]) -> Finished {
    let folder = Folder::new();
    let file = folder.path("log");
    let options = ["--summary", "--output", file.to_str().unwrap()];
    let program = profilee("Behaviours");
    let mut finished = Finished::of(command(runtime, &options, &program, arguments));
    finished.log = fs::read_to_string(file).unwrap();
    finished
}

/// What stands before the summaries' tables: `[kind] name`.
pub(crate) fn lines(log: &str) -> Vec<&str> {
    log.lines().filter(|line| line.starts_with('[')).collect()
}

/// An empty folder of one test, removed in the end. Its name has a space and more than ASCII.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let folder = env::temp_dir().join(format!("jit_logger-{} ä{number}", process::id()));
        fs::create_dir(&folder).unwrap();
        Self(folder.canonicalize().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Everything in it, with sizes.
    pub(crate) fn listing(&self) -> Vec<(PathBuf, u64)> {
        let mut found = Vec::new();
        let mut folders = vec![self.0.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                let about = fs::symlink_metadata(&path).unwrap();
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
