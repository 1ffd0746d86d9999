//! `new`, and the profiler that it makes.

use std::fs;
use std::path::Path;
use std::process::Command;

use clr_profiler_tests::{Folder, runtimes};

use crate::command::{clr, stderr, stdout};

/// The package has a copy, because it may not refer to files outside of it.
#[test]
fn the_sample_is_that_of_the_examples() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    for name in ["Sample.dll", "Sample.runtimeconfig.json"] {
        let own = fs::read(package.join("template").join(name)).unwrap();
        let samples = package.join("../examples/support/samples");
        assert!(
            own == fs::read(samples.join(name)).unwrap(),
            "{name} differs"
        );
    }
}

/// From nothing to the first output: `new`, `run`.
#[test]
#[cfg_attr(
    windows,
    ignore = "under Wine cargo is that of Linux, which does not find the paths of Windows"
)]
fn a_new_profiler_builds_and_runs() {
    let folder = Folder::new();
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let path = folder.path("first-profiler");
    let words = [
        "new",
        path.to_str().unwrap(),
        "--checkout",
        checkout.to_str().unwrap(),
    ];
    let output = clr(&words).output().unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    for file in [
        "Cargo.toml",
        "src/lib.rs",
        "tests/program.rs",
        "README.md",
        ".github/workflows/ci.yml",
    ] {
        let text = fs::read_to_string(path.join(file)).unwrap();
        assert!(!text.contains("{{"), "{file}: {text}");
    }
    // The versions that this workspace has.
    fs::copy(checkout.join("Cargo.lock"), path.join("Cargo.lock")).unwrap();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("new");
    for runtime in runtimes() {
        let mut command = clr(&["run", "--", "tests/Sample.dll"]);
        command.current_dir(&path).env("CARGO_TARGET_DIR", &target);
        let launch = runtime.launch(&path.join("tests/Sample.dll"), &[]);
        let plain = launch.command().unwrap();
        if runtime.application().is_some() {
            continue;
        }
        for (name, value) in plain.get_envs() {
            if let Some(value) = value {
                command.env(name, value);
            }
        }
        command.env("CLR_PROFILER_DOTNET", plain.get_program());
        let output = command.output().unwrap();
        let told = stderr(&output);
        assert!(output.status.success(), "{told}");
        assert!(told.contains("first-profiler: loaded "), "{told}");
        assert!(told.contains("methods were compiled"), "{told}");
        assert!(
            stdout(&output).contains("The shop closes."),
            "{}",
            stdout(&output)
        );
    }
    // Its own test, with the library that was built above.
    let mut cargo = Command::new(env!("CARGO"));
    cargo.args(["test", "--test", "program"]).current_dir(&path);
    cargo.env("CARGO_TARGET_DIR", &target);
    let output = cargo.output().unwrap();
    assert!(
        output.status.success(),
        "{}{}",
        stdout(&output),
        stderr(&output)
    );
    assert!(stdout(&output).contains("1 passed"), "{}", stdout(&output));
}

#[test]
fn names_that_cannot_be() {
    let folder = Folder::new();
    fs::create_dir(folder.path("there")).unwrap();
    for (name, part) in [
        ("1st", "name of a crate"),
        ("a b", "name of a crate"),
        ("there", "exists already"),
        ("try", "has the name for itself"),
        ("proc-macro", "has the name for itself"),
    ] {
        let path = folder.path(name);
        let output = clr(&["new", path.to_str().unwrap()]).output().unwrap();
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains(part), "{}", stderr(&output));
    }
}

/// Every method of the sample and of an assembly of a runtime, without running them.
#[test]
fn methods_are_verified_offline() {
    let sample = crate::command::sample();
    let output = clr(&["verify", sample.to_str().unwrap()]).output().unwrap();
    let told = stdout(&output);
    assert!(
        told.ends_with("methods in 1 assemblies can be wrapped.\n"),
        "{told}"
    );
    for runtime in runtimes() {
        let Some(framework) = runtime.framework() else {
            continue;
        };
        let library = framework.join("System.Linq.dll");
        let output = clr(&["verify", "--json", library.to_str().unwrap()])
            .output()
            .unwrap();
        let told = stdout(&output);
        assert!(
            told.contains("\"assemblies\":1") && told.contains("\"broken\":[]"),
            "{told}"
        );
        let methods = |name: &str| -> usize {
            let rest = told.split_once(&format!("\"{name}\":")).unwrap().1;
            rest.split(|end: char| !end.is_ascii_digit())
                .next()
                .unwrap()
                .parse()
                .unwrap()
        };
        assert!(
            methods("methods") > 500 && methods("wrapped") > 500,
            "{told}"
        );
    }
    let output = clr(&["verify", "/no/such/folder"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}
