//! The started program's arguments, environment, and process.

#![cfg(target_os = "linux")]

mod common;

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::ExitStatusExt;
use std::process::Command;

use clr_profiler_launcher::{DotnetHost, Error, Launch, ProfilerLibrary};
use common::*;

const CLSID: &str = "DF63A541-5A33-4611-8829-F4E495985EE3";

/// A host that prints its arguments, each in a line, and its environment.
fn host(folder: &Folder) -> DotnetHost {
    let script = "#!/bin/sh\nfor a; do printf '<%s>\\n' \"$a\"; done\nenv\nexit 42\n";
    DotnetHost::at(folder.executable("dotnet", script)).unwrap()
}

/// A library that answers every CLSID.
fn library(folder: &Folder) -> ProfilerLibrary {
    const SOURCE: &str = r#"
        #![allow(dead_code)]
        #[repr(C)]
        struct Table([*const (); 2], extern "system" fn() -> u32);
        unsafe impl Sync for Table {}
        static TABLE: Table = Table([std::ptr::null(); 2], release);
        static FACTORY: &&Table = &&TABLE;
        extern "system" fn release() -> u32 { 0 }
        #[unsafe(no_mangle)]
        extern "system" fn DllGetClassObject(_: usize, _: usize, out: &mut &&Table) -> i32 {
            *out = FACTORY;
            0
        }
    "#;
    let source = folder.file("any.rs", SOURCE);
    let path = folder.path().join("libany.so");
    let status = Command::new(std::env::var_os("RUSTC").unwrap_or("rustc".into()))
        .args(["--edition=2024", "--crate-type=cdylib", "-o"])
        .args([&path, &source])
        .status()
        .unwrap();
    assert!(status.success());
    ProfilerLibrary::new(path, CLSID).unwrap()
}

#[test]
fn arguments_pass_unchanged() {
    let folder = Folder::new();
    let app = folder.app("App");
    let odd = OsStr::from_bytes(b"not utf-8 \xff");
    let mut launch = Launch::new(&app);
    launch
        .dotnet(host(&folder))
        .args(["", "two words", "größe", "--", "-x", "exec", "$HOME *"]);
    let output = launch.arg(odd).command().unwrap().output().unwrap();
    assert_eq!(output.status.code(), Some(42));
    let mut expected = format!(
        "<exec>\n<{}>\n<>\n<two words>\n<größe>\n<-->\n<-x>\n<exec>\n<$HOME *>\n",
        app.display()
    )
    .into_bytes();
    expected.extend(b"<not utf-8 \xff>\n");
    assert_eq!(&output.stdout[..expected.len()], expected);
}

#[test]
fn a_native_program_is_started_itself_and_finds_the_runtime() {
    let folder = Folder::new();
    std::fs::create_dir(folder.path().join("shared")).unwrap();
    let app = folder.executable("app", single_file(elf_machines().0));
    let mut launch = Launch::new(&app);
    launch.dotnet(host(&folder)).arg("a b");
    let command = launch.command().unwrap();
    assert_eq!(command.get_program(), app);
    assert_eq!(command.get_args().collect::<Vec<_>>(), ["a b"]);
    let root = |command: &Command| {
        let mut all = command
            .get_envs()
            .filter(|(name, _)| *name == "DOTNET_ROOT");
        all.next().and_then(|(_, value)| value.map(OsStr::to_owned))
    };
    assert_eq!(root(&command).unwrap(), folder.path());
    let command = launch.env("DOTNET_ROOT", "/elsewhere").command().unwrap();
    assert_eq!(root(&command).unwrap(), "/elsewhere");
}

/// The variables of a run of the script under this outer environment.
fn run(launch: &Launch, outer: &[(&str, &str)]) -> Vec<String> {
    let mut command = launch.command().unwrap();
    // The changes of the launch are in the command; the rest would be inherited.
    for (name, value) in outer {
        if command.get_envs().all(|(known, _)| known != *name) {
            command.env(name, value);
        }
    }
    let output = String::from_utf8(command.output().unwrap().stdout).unwrap();
    let names = ["CORECLR_", "DOTNET_", "CLR_PROFILER_DIAG", "COR_", "MINE"];
    let mut lines: Vec<_> = output
        .lines()
        .filter(|line| names.iter().any(|name| line.starts_with(name)))
        .map(str::to_owned)
        .collect();
    lines.sort();
    lines
}

#[test]
fn environment() {
    let outer = [
        ("CORECLR_ENABLE_PROFILING", "0"),
        ("CORECLR_PROFILER", "{00000000-0000-0000-0000-000000000001}"),
        ("CORECLR_PROFILER_PATH", "/old"),
        ("CORECLR_PROFILER_PATH_32", "/old"),
        ("CORECLR_PROFILER_PATH_64", "/old"),
        ("CORECLR_PROFILER_PATH_ARM32", "/old"),
        ("CORECLR_PROFILER_PATH_ARM64", "/old"),
        ("CORECLR_ENABLE_NOTIFICATION_PROFILERS", "1"),
        ("CORECLR_NOTIFICATION_PROFILERS", "/old"),
        ("CORECLR_NOTIFICATION_PROFILERS_32", "/old"),
        ("CORECLR_NOTIFICATION_PROFILERS_64", "/old"),
        ("CORECLR_NOTIFICATION_PROFILERS_ARM32", "/old"),
        ("CORECLR_NOTIFICATION_PROFILERS_ARM64", "/old"),
        ("DOTNET_NOTIFICATION_PROFILERS", "/old"),
        ("DOTNET_ENABLE_PROFILING", "0"),
        ("DOTNET_PROFILER", "{00000000-0000-0000-0000-000000000001}"),
        ("DOTNET_PROFILER_PATH", "/old"),
        ("DOTNET_PROFILER_PATH_64", "/old"),
        ("MINE", "inherited"),
    ];
    let folder = Folder::new();
    let mut launch = Launch::new(folder.app("App"));
    launch.dotnet(host(&folder));
    // Without a profiler the program runs unprofiled, whatever was inherited.
    assert_eq!(run(&launch, &outer), ["MINE=inherited"]);

    let library = library(&folder);
    launch
        .profiler(library.clone())
        .env("MINE", "own")
        .env("DOTNET_PROFILER_PATH", "/mine");
    let path = format!("CORECLR_PROFILER_PATH={}", library.path().display());
    let mut expected = vec![
        "CLR_PROFILER_DIAGNOSTICS=stderr",
        "CORECLR_ENABLE_PROFILING=1",
        "CORECLR_PROFILER={DF63A541-5A33-4611-8829-F4E495985EE3}",
        &path,
        "MINE=own",
    ];
    assert_eq!(run(&launch, &outer), expected);

    launch
        .env("CLR_PROFILER_DIAGNOSTICS", "off")
        .env_remove("MINE");
    expected[0] = "CLR_PROFILER_DIAGNOSTICS=off";
    expected.pop();
    assert_eq!(run(&launch, &outer), expected);
}

#[test]
fn notification_profilers_are_listed() {
    let folder = Folder::new();
    let library = library(&folder);
    let mut launch = Launch::new(folder.app("App"));
    launch.dotnet(host(&folder));
    launch.notification_profiler(library.clone());
    let entry = format!("{}={{{CLSID}}};", library.path().display());
    let outer = [("CORECLR_NOTIFICATION_PROFILERS_64", "/old")];
    let mut expected = vec![
        "CLR_PROFILER_DIAGNOSTICS=stderr".to_owned(),
        "CORECLR_ENABLE_NOTIFICATION_PROFILERS=1".to_owned(),
        format!("CORECLR_NOTIFICATION_PROFILERS={entry}"),
    ];
    assert_eq!(run(&launch, &outer), expected);

    launch
        .profiler(library.clone())
        .notification_profiler(library.clone());
    let variables = run(&launch, &outer);
    expected[2] = format!("CORECLR_NOTIFICATION_PROFILERS={entry}{entry}");
    assert!(
        expected.iter().all(|line| variables.contains(line)),
        "{variables:?}"
    );
    assert!(variables.contains(&format!("CORECLR_PROFILER={{{CLSID}}}")));

    for _ in 2..32 {
        launch.notification_profiler(library.clone());
    }
    assert!(launch.command().is_ok());
    launch.notification_profiler(library.clone());
    let error = launch.command().unwrap_err();
    assert!(
        matches!(
            error,
            Error::TooManyNotificationProfilers {
                count: 33,
                limit: 32
            }
        ),
        "{error:?}"
    );
}

#[test]
fn paths_that_end_early_in_a_list_are_refused() {
    let folder = Folder::new();
    let library = library(&folder);
    for (name, wrong) in [("a;b.so", ';'), ("a=b.so", '=')] {
        let path = folder.path().join(name);
        std::fs::copy(library.path(), &path).unwrap();
        let library = ProfilerLibrary::new(&path, CLSID).unwrap();
        let mut launch = Launch::new(folder.app("App"));
        launch.dotnet(host(&folder)).profiler(library.clone());
        // As the main profiler it may have this name.
        assert!(launch.command().is_ok());
        let error = launch.notification_profiler(library).command().unwrap_err();
        assert!(
            matches!(&error, Error::PathNotListable { character, .. } if *character == wrong),
            "{error:?}"
        );
        assert!(
            error.to_string().contains(&format!("has a `{wrong}`")),
            "{error}"
        );
    }
}

#[test]
fn switched_off_diagnostics_are_refused() {
    let folder = Folder::new();
    let library = library(&folder);
    for name in [
        "DOTNET_EnableDiagnostics",
        "DOTNET_EnableDiagnostics_Profiler",
        "COMPlus_EnableDiagnostics",
        "COMPlus_EnableDiagnostics_Profiler",
    ] {
        for (value, is_off) in [("0", true), ("0x00", true), ("1", false), ("", false)] {
            let mut launch = Launch::new(folder.app("App"));
            launch.dotnet(host(&folder)).env(name, value);
            assert!(
                launch.command().is_ok(),
                "without a profiler it does not matter"
            );
            let result = launch.profiler(library.clone()).command();
            assert_eq!(result.is_err(), is_off, "{name}={value}");
            if let Err(error) = result {
                assert!(matches!(error, Error::DiagnosticsDisabled { .. }));
                says(&error, &[&format!("{name}={value}"), "Unset it"]);
            }
            assert!(launch.env_remove(name).command().is_ok());
        }
    }
}

#[test]
fn mistakes_are_found_before_the_start() {
    let folder = Folder::new();
    let error = Launch::new(folder.path().join("No.dll")).exec();
    assert!(matches!(error, Error::NoSuchProgram { .. }));

    let missing = ProfilerLibrary::new(folder.path().join("libno.so"), CLSID).unwrap();
    let mut launch = Launch::new(folder.app("App"));
    let error = launch.dotnet(host(&folder)).profiler(missing).exec();
    assert!(matches!(error, Error::NoSuchLibrary { .. }));

    says(
        &Error::NoRuntime,
        &["CLR_PROFILER_DOTNET", "DOTNET_ROOT", "PATH", "pip"],
    );
}

/// Not a test by itself: `exec_becomes_the_program` runs it in its own process.
#[test]
#[ignore = "run by exec_becomes_the_program"]
fn exec_child() {
    if let (Some(app), Some(host)) = (std::env::var_os("APP"), std::env::var_os("HOST")) {
        let error = Launch::new(app)
            .dotnet(DotnetHost::at(host).unwrap())
            .exec();
        panic!("{error}");
    }
}

#[test]
fn exec_becomes_the_program() {
    let folder = Folder::new();
    let app = folder.app("App");
    for (end, code, signal) in [
        ("exit 42", Some(42), None),
        ("kill -TERM $$", None, Some(15)),
    ] {
        let script = format!("#!/bin/sh\necho \"pid $$\"\nread line\necho \"$line\" >&2\n{end}\n");
        let host = folder.executable("dotnet", script);
        let input = folder.file("input", "from stdin\n");
        let child = Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "exec_child",
                "--ignored",
                "--nocapture",
                "--test-threads=1",
            ])
            .env("APP", &app)
            .env("HOST", &host)
            .stdin(std::fs::File::open(input).unwrap())
            .stdout(std::process::Stdio::piped())
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap();
        let id = child.id();
        let output = child.wait_with_output().unwrap();
        let out = String::from_utf8(output.stdout).unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!(
            (output.status.code(), output.status.signal()),
            (code, signal),
            "{out}{err}"
        );
        assert!(
            out.contains(&format!("pid {id}\n")),
            "the process id is not {id}: {out}"
        );
        assert!(err.ends_with("from stdin\n"), "{err}");
    }
}

#[test]
fn startup_hooks_come_before_those_that_are_there() {
    let folder = Folder::new();
    let mut launch = Launch::new(folder.app("App"));
    launch.dotnet(host(&folder));
    let one = folder.app("One");
    let other = folder.app("Other");
    launch.startup_hook(&one).startup_hook(&other);
    let expected = format!("DOTNET_STARTUP_HOOKS={}:{}", one.display(), other.display());
    let hooks = |launch: &Launch| {
        let output = launch.command().unwrap().output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let mut lines = text.lines().map(ToOwned::to_owned);
        lines.find(|line| line.starts_with("DOTNET_STARTUP_HOOKS="))
    };
    assert_eq!(hooks(&launch), Some(expected.clone()));
    launch.env("DOTNET_STARTUP_HOOKS", "/there/before.dll");
    assert_eq!(
        hooks(&launch),
        Some(format!("{expected}:/there/before.dll"))
    );

    for bad in [
        folder.file("text.dll", "no assembly"),
        folder.path().join("missing.dll"),
        folder.app("with:colon"),
    ] {
        let mut launch = Launch::new(folder.app("App"));
        launch.dotnet(host(&folder)).startup_hook(&bad);
        let error = launch.command().unwrap_err();
        assert!(matches!(error, Error::BadStartupHook { .. }), "{error}");
        assert!(
            error.to_string().contains(&*bad.to_string_lossy()),
            "{error}"
        );
    }
}
