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

/// The exit code of a program that was killed by [`Process.Kill`] or a test.
pub(crate) const KILLED: i32 = if cfg!(windows) { -1 } else { 128 + 9 };

/// Kills the program that the command has started.
#[cfg(unix)]
pub(crate) fn kill_program(command: u32) {
    let children = format!("/proc/{command}/task/{command}/children");
    let children = std::fs::read_to_string(children).unwrap();
    let kill = Command::new("kill").args(["-9", children.trim()]).status();
    assert!(kill.unwrap().success(), "{children}");
}

/// Kills the program that the command has started.
#[cfg(windows)]
pub(crate) fn kill_program(command: u32) {
    use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
    use windows_sys::Win32::System::Diagnostics::ToolHelp::{
        CreateToolhelp32Snapshot, PROCESSENTRY32W, Process32FirstW, Process32NextW,
        TH32CS_SNAPPROCESS,
    };
    use windows_sys::Win32::System::Threading::{OpenProcess, PROCESS_TERMINATE, TerminateProcess};

    let mut entry = PROCESSENTRY32W {
        dwSize: size_of::<PROCESSENTRY32W>() as u32,
        ..PROCESSENTRY32W::default()
    };
    // SAFETY: handles are open while they are used, and there is room for an entry of the size that it has.
    unsafe {
        let processes = CreateToolhelp32Snapshot(TH32CS_SNAPPROCESS, 0);
        let processes = OwnedHandle::from_raw_handle(processes);
        let mut is_there = Process32FirstW(processes.as_raw_handle(), &mut entry) != 0;
        while is_there && entry.th32ParentProcessID != command {
            is_there = Process32NextW(processes.as_raw_handle(), &mut entry) != 0;
        }
        assert!(is_there, "the command has no child");
        let program = OpenProcess(PROCESS_TERMINATE, 0, entry.th32ProcessID);
        assert!(!program.is_null());
        let program = OwnedHandle::from_raw_handle(program);
        assert_ne!(TerminateProcess(program.as_raw_handle(), KILLED as u32), 0);
    }
}

/// The text of a file in a folder.
pub(crate) fn text(folder: &Folder, name: &str) -> String {
    let path = folder.path(name);
    std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}
