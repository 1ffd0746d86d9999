//! C# in strings, compiled by the fetched Roslyn.

#![cfg(all(
    target_os = "linux",
    target_arch = "x86_64",
    not(target_env = "musl"),
    feature = "fetch"
))]

use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;
use std::{env, fs};

use clr_profiler_test::{AssemblyFile, CSharp, Fetcher, Pinned, Runtime, Scenario};
use tested_profilers::Logs;

/// Has the compiler and a runtime at hand; returns that runtime. Without CI they may be missing.
fn at_hand() -> Option<Runtime> {
    let fetcher = Fetcher::from_env().unwrap();
    let compiler = fetcher.fetch(&Pinned::ROSLYN);
    match (compiler, Runtime::fetched(&Pinned::NET_8)) {
        (Ok(_), Ok(runtime)) => Some(runtime),
        (compiler, runtime) => {
            assert!(env::var_os("CI").is_none(), "{compiler:?}, {runtime:?}");
            eprintln!("SKIPPED, as nothing can be fetched here (an error if CI is set)");
            None
        }
    }
}

const PROGRAM: &str = r#"
using System;
using System.Linq;

Console.WriteLine(string.Join(" ", args.Select(Words.Loud)));
return args.Length;

static class Words
{
    public static string Loud(string word) => word.ToUpperInvariant() + Library.Mark;
}
"#;

#[test]
fn a_string_becomes_a_program() {
    let Some(runtime) = at_hand() else { return };
    let library = CSharp::library(
        "Mark",
        "public static class Library { public static string Mark => \"!\"; }",
    )
    .option("-optimize+")
    .compile()
    .unwrap();
    let program = CSharp::program("Loud", PROGRAM)
        .reference(&library)
        .compile()
        .unwrap();
    let runs = Scenario::new(&program)
        .args(&["one", "two"])
        .profiler::<Logs>()
        .log("TESTED_LOG")
        .runtimes([runtime])
        .same_output();
    assert_eq!(runs[0].plain.stdout, "ONE! TWO!\n");
    assert_eq!(runs[0].plain.status.code(), Some(2));
    assert!(
        runs[0].profiled.logged("Words.Loud(string)"),
        "{}",
        runs[0].profiled.log
    );

    let edited = AssemblyFile::open(&library).unwrap().edit(|_, _| Ok(()));
    assert_eq!(
        edited.method("Library.get_Mark()").name,
        "Library.get_Mark()"
    );

    let folder = library.path().parent().unwrap().to_owned();
    let copy = library.clone();
    drop(library);
    assert!(folder.exists());
    drop(copy);
    assert!(!folder.exists(), "the last clone removes it");
}

/// In a folder as the installer of an SDK makes it, with the compiler of the package: no package index that the tests may
/// use has an SDK for Linux.
#[test]
fn the_compiler_of_an_sdk_is_used() {
    if at_hand().is_none() {
        return;
    }
    let fetcher = Fetcher::from_env().unwrap();
    let runtime = fetcher.fetch(&Pinned::NET_8).unwrap().with_file_name("");
    let roslyn = fetcher.fetch(&Pinned::ROSLYN).unwrap().with_file_name("");
    let folder = env::temp_dir().join(format!("clr-test-{}-sdk", std::process::id()));
    let compiler = folder.join("sdk/8.0.100/Roslyn/bincore");
    let references = folder.join("packs/Microsoft.NETCore.App.Ref/8.0.4/ref");
    fs::create_dir_all(&compiler).unwrap();
    fs::create_dir_all(&references).unwrap();
    fs::copy(runtime.join("dotnet"), folder.join("dotnet")).unwrap();
    for part in ["host", "shared"] {
        symlink(runtime.join(part), folder.join(part)).unwrap();
    }
    let framework = runtime.join("shared/Microsoft.NETCore.App/8.0.4");
    symlink(framework, references.join("net8.0")).unwrap();
    let hook = Path::new(env!("CARGO_MANIFEST_DIR")).join("hook");
    for file in ["dll", "runtimeconfig.json"] {
        let csc = compiler.join("csc").with_extension(file);
        fs::copy(hook.join("Csc").with_extension(file), csc).unwrap();
    }
    let compiles = || {
        let test = Command::new(env::current_exe().unwrap())
            .args(["--exact", "a_string_becomes_a_program"])
            .env("CLR_PROFILER_DOTNET", &folder)
            .env("CLR_PROFILER_ROSLYN", &roslyn)
            .env_remove("CLR_PROFILER_TEST_CSC")
            .env_remove("CLR_PROFILER_TEST_REFERENCES")
            .output()
            .unwrap();
        let told = String::from_utf8_lossy(&test.stdout).into_owned();
        (test.status.success(), told)
    };
    let (succeeds, told) = compiles();
    assert!(succeeds && told.contains("1 passed"), "{told}");
    // It is this compiler: without it, there is none.
    fs::write(compiler.join("csc.dll"), "no compiler").unwrap();
    let (succeeds, told) = compiles();
    assert!(!succeeds && told.contains("cannot be compiled"), "{told}");
    fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn the_messages_of_the_compiler_are_in_the_error() {
    if at_hand().is_none() {
        return;
    }
    let error = CSharp::program("Wrong", "int number = \"text\";")
        .compile()
        .unwrap_err()
        .to_string();
    assert!(error.contains("`Wrong` cannot be compiled"), "{error}");
    assert!(
        error.contains("CS0029") && error.contains("Wrong.cs(1,14)"),
        "{error}"
    );
}
