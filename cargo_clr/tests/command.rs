//! The command, and the files that it leaves.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use clr_profiler_tests::{Folder, Runtime};

/// The command, with a folder for its library that all tests share.
pub(crate) fn clr(words: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-clr"));
    command.arg("clr").args(words);
    command.env("CARGO_CLR_LIBRARY_FOLDER", library_folder());
    for (name, _) in std::env::vars_os() {
        let name = name.to_string_lossy().into_owned();
        if name.starts_with("CORECLR_") || name.starts_with("COR_") {
            command.env_remove(name);
        }
    }
    command
}

pub(crate) fn library_folder() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("library")
}

/// The command with a program on a runtime.
pub(crate) fn clr_on(
    runtime: &Runtime,
    words: &[&str],
    program: &Path,
    arguments: &[&str],
) -> Command {
    let launch = runtime.launch(program, arguments);
    let plain = launch.command().unwrap();
    let mut command = clr(words);
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.arg("--");
    let mut rest = plain.get_args();
    // A host is called with `exec`; a program that brings its runtime is called by its name.
    if rest.next() == Some(OsStr::new("exec")) {
        command.env("CLR_PROFILER_DOTNET", plain.get_program());
        command.args(rest);
    } else {
        command.arg(plain.get_program()).args(plain.get_args());
    }
    command
}

/// The sample program of the examples.
pub(crate) fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("template/Sample.dll")
}

pub(crate) fn stdout(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

pub(crate) fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The text of a file in a folder.
pub(crate) fn text(folder: &Folder, name: &str) -> String {
    let path = folder.path(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
