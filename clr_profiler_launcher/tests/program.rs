//! The kind of a program's file, also when the file is damaged or hostile.

#![cfg(target_os = "linux")]

mod common;

use clr_profiler_launcher::{Error, Program, ProgramKind};
use common::*;

#[test]
fn assemblies() {
    let folder = Folder::new();
    folder.file("App.runtimeconfig.json", "{}");
    let (ours, other) = pe_machines();
    const LINUX: u16 = 0x7b79;
    let any = Pe::default();
    for (name, pe) in [
        ("portable", any),
        (
            "prefers 32 bit",
            Pe {
                flags: 0x2_0003,
                ..any
            },
        ),
        (
            "this machine",
            Pe {
                machine: ours,
                is_64: true,
                ..any
            },
        ),
        (
            "precompiled for Linux",
            Pe {
                machine: ours ^ LINUX,
                is_64: true,
                flags: 4,
                ..any
            },
        ),
        (
            "entry point in another file",
            Pe {
                entry_point: 0x2600_0001,
                ..any
            },
        ),
        (
            "native entry point",
            Pe {
                flags: 0x11,
                entry_point: 0,
                ..any
            },
        ),
    ] {
        for file in ["App.dll", "App.exe"] {
            let path = folder.file(file, pe.bytes());
            let program = Program::open(&path).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(program.kind(), ProgramKind::Assembly, "{name}");
            assert_eq!(program.path(), path);
        }
    }
    for (name, pe, found) in [
        ("requires 32 bit", Pe { flags: 3, ..any }, "x86"),
        ("mixed code", Pe { flags: 0, ..any }, "x86"),
        (
            "other machine",
            Pe {
                machine: other,
                is_64: true,
                ..any
            },
            "is for ",
        ),
        (
            "other machine, Linux",
            Pe {
                machine: other ^ LINUX,
                is_64: true,
                ..any
            },
            "is for ",
        ),
    ] {
        let path = folder.file("App.dll", pe.bytes());
        let error = Program::open(&path).unwrap_err();
        assert!(
            matches!(error, Error::WrongArchitecture { .. }),
            "{name}: {error}"
        );
        says(
            &error,
            &[
                "App.dll",
                found,
                std::env::consts::ARCH,
                "same architecture",
            ],
        );
    }
}

#[test]
fn assemblies_that_cannot_start() {
    let folder = Folder::new();
    let library = folder.file(
        "Lib.dll",
        Pe {
            entry_point: 0,
            ..Pe::default()
        }
        .bytes(),
    );
    let error = Program::open(&library).unwrap_err();
    assert!(matches!(error, Error::NoEntryPoint { .. }));
    says(&error, &["Lib.dll", "class library", "OutputType"]);

    let bare = folder.file("Bare.dll", Pe::default().bytes());
    let error = Program::open(&bare).unwrap_err();
    assert!(matches!(error, Error::NoRuntimeConfig { .. }));
    says(
        &error,
        &[
            "Bare.dll",
            "Bare.runtimeconfig.json",
            "dotnet build",
            "copy it",
        ],
    );

    let native = folder.file(
        "Native.exe",
        Pe {
            cli: false,
            ..Pe::default()
        }
        .bytes(),
    );
    says(
        &Program::open(&native).unwrap_err(),
        &["Native.exe", "without managed code"],
    );
    let assembly = folder.app("Native");
    let error = Program::open(&native).unwrap_err();
    says(
        &error,
        &["native Windows program", &assembly.display().to_string()],
    );
}

#[test]
fn what_is_no_program() {
    let folder = Folder::new();
    let missing = folder.path().join("missing/App.dll");
    let error = Program::open(&missing).unwrap_err();
    assert!(matches!(error, Error::NoSuchProgram { .. }));
    says(&error, &[&missing.display().to_string(), "Check the path"]);
    assert!(matches!(
        Program::open("").unwrap_err(),
        Error::NoSuchProgram { .. }
    ));

    let error = Program::open(folder.path()).unwrap_err();
    assert!(matches!(error, Error::ProgramIsFolder { .. }));
    says(
        &error,
        &[&folder.path().display().to_string(), "is a folder", ".dll"],
    );

    for (name, content, parts) in [
        (
            "text.dll",
            &b"hello"[..],
            &["text.dll", "neither an assembly", "damaged"][..],
        ),
        ("empty.dll", b"", &["empty.dll", "neither an assembly"]),
        ("run.sh", b"#!/bin/sh\n", &["run.sh", "script"]),
        ("two", b"#!", &["script"]),
        (
            "mac",
            &[0xcf, 0xfa, 0xed, 0xfe, 7, 0, 0, 1],
            &["another operating system"],
        ),
    ] {
        let error = Program::open(folder.file(name, content)).unwrap_err();
        assert!(matches!(error, Error::NotDotnet { .. }), "{error}");
        says(&error, parts);
    }
    let error = Program::open("/dev/null").unwrap_err();
    says(&error, &["/dev/null", "not a regular file"]);
}

#[test]
fn native_executables() {
    let folder = Folder::new();
    let (ours, other) = elf_machines();
    let program = folder.executable("app", single_file(ours));
    assert_eq!(
        Program::open(program).unwrap().kind(),
        ProgramKind::NativeExecutable
    );

    let error = Program::open(folder.executable("foreign", single_file(other))).unwrap_err();
    assert!(matches!(error, Error::WrongArchitecture { .. }), "{error}");
    says(&error, &["foreign", std::env::consts::ARCH]);

    let error = Program::open(folder.file("closed", single_file(ours))).unwrap_err();
    assert!(matches!(error, Error::NotExecutable { .. }), "{error}");
    says(&error, &["closed", "chmod +x"]);

    let error = Program::open(folder.executable("ls", elf(ours, 500_000))).unwrap_err();
    assert!(matches!(error, Error::NotDotnet { .. }), "{error}");
    says(
        &error,
        &["ls", "without a .NET runtime", "NativeAOT", "PublishAot"],
    );

    let error = Program::open(folder.executable("dotnet", elf(ours, 5000))).unwrap_err();
    says(&error, &["Give the assembly itself"]);

    // A program that contains this crate must not be mistaken for a .NET program.
    let error = Program::open(std::env::current_exe().unwrap()).unwrap_err();
    assert!(matches!(error, Error::NotDotnet { .. }), "{error}");
}

/// A file truncated anywhere gives an answer, never a panic.
#[test]
fn truncated_files() {
    let folder = Folder::new();
    folder.file("App.runtimeconfig.json", "{}");
    let is_64 = Pe {
        machine: pe_machines().0,
        is_64: true,
        ..Pe::default()
    };
    for pe in [Pe::default(), is_64] {
        let file = pe.bytes();
        // The CLI header has 72 bytes.
        let needed = 0x200 + 8 + 72;
        for length in 0..file.len() {
            let path = folder.file("App.dll", &file[..length]);
            match Program::open(&path) {
                Ok(_) => assert!(length >= needed, "{length}"),
                Err(error) => {
                    assert!(length < needed, "{length}: {error}");
                    assert!(
                        matches!(error, Error::NotDotnet { .. }),
                        "{length}: {error}"
                    );
                }
            }
        }
    }
    let elf = elf(elf_machines().0, 64);
    for length in 0..elf.len() {
        let path = folder.executable("app", &elf[..length]);
        let error = Program::open(&path).unwrap_err();
        assert!(
            matches!(error, Error::NotDotnet { .. }),
            "{length}: {error}"
        );
    }
}
