//! The output of the command for people and their shells.

use std::fs;
use std::process::Command;

use clr_profiler_tests::Folder;
#[cfg(target_os = "linux")]
use clr_profiler_tests::{Running, profilee, runtimes};

#[cfg(target_os = "linux")]
use crate::command::library_folder;
use crate::command::{clr, sample, stderr, stdout};

#[cfg(target_os = "linux")]
const COMMAND: &str = env!("CARGO_BIN_EXE_cargo-clr");

/// The text that the command writes to a terminal, which `script` is.
#[cfg(target_os = "linux")]
fn on_terminal(words: &str, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new("script");
    command.args(["-qec", &format!("'{COMMAND}' {words}"), "/dev/null"]);
    command.env("TERM", "xterm").env_remove("NO_COLOR");
    command.env_remove("CLICOLOR_FORCE").env_remove("CI");
    command.envs(variables.iter().copied());
    stdout(&command.output().expect("every Linux has `script`"))
}

/// The messages of the command, and those of clap.
#[cfg(target_os = "linux")]
#[test]
fn colours_are_for_a_terminal_alone() {
    for words in ["verify /no/folder", "frobnicate", "--help"] {
        let coloured = on_terminal(words, &[]);
        assert!(coloured.contains("\x1b["), "{words}: {coloured:?}");
        for variables in [&[("NO_COLOR", "1")][..], &[("TERM", "dumb")]] {
            let plain = on_terminal(words, variables);
            assert!(!plain.contains('\x1b'), "{words}: {plain:?}");
            assert!(plain.contains("error: ") || words == "--help", "{plain:?}");
        }
        let words: Vec<&str> = words.split(' ').collect();
        let output = clr(&words).output().unwrap();
        let piped = stdout(&output) + &stderr(&output);
        assert!(!piped.contains('\x1b'), "{piped:?}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn long_work_shows_its_progress_on_a_terminal() {
    let words = format!("verify '{}'", sample().display());
    let told = on_terminal(&words, &[]);
    assert!(told.contains("\rverify: 1 of 1 files"), "{told:?}");
    let output = clr(&["verify", sample().to_str().unwrap()]).output();
    assert_eq!(stderr(&output.unwrap()), "");

    for runtime in runtimes() {
        let folder = Folder::new();
        let launch = runtime.launch(&profilee("Hot"), &[]);
        let mut program = Running::start(launch.command().unwrap());
        assert_eq!(program.line(), "ready");
        let (process, file) = (program.id(), folder.path("gc.txt"));
        let words = format!("gc -p {process} --duration 1 -o '{}'", file.display());
        let library = library_folder();
        let variables = [("CARGO_CLR_LIBRARY_FOLDER", library.to_str().unwrap())];
        let told = on_terminal(&words, &variables);
        assert!(told.contains("\rgc: 0 s of 1 s "), "{told:?}");
        assert!(told.contains("\rgc: wrote `"), "{told:?}");
    }
}

/// As a shell does after the key: it calls the function with the words so far.
#[test]
fn a_shell_completes_verbs_and_options() {
    let folder = Folder::new();
    let script = folder.path("completions");
    fs::write(
        &script,
        stdout(&clr(&["completions", "bash"]).output().unwrap()),
    )
    .unwrap();
    let has_bash = Command::new("bash").arg("--version").output().is_ok();
    assert!(has_bash || cfg!(windows));
    for (words, expected) in [
        (&["cargo-clr", "ex"][..], &["exceptions"][..]),
        (&["cargo-clr", "cpu", "--sus"], &["--suspend"]),
        (
            &["cargo-clr", "calls", "--sort", ""],
            &["own", "total", "calls"],
        ),
        // Not for users.
        (&["cargo-clr", "__"], &[]),
    ] {
        if !has_bash {
            continue;
        }
        let mut bash = Command::new("bash");
        bash.args([
            "-c",
            r#"
            source "$1"; shift
            all=$(complete -p cargo-clr); name=${all##*-F }; name=${name%% *}
            COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1))
            "$name" cargo-clr "${COMP_WORDS[-1]}" "${COMP_WORDS[-2]}"
            printf '%s\n' "${COMPREPLY[@]}"
            "#,
            "bash",
        ]);
        let output = bash.arg(&script).args(words).output().unwrap();
        let told = stdout(&output);
        let found: Vec<&str> = told.split_whitespace().collect();
        assert_eq!(found, expected, "{words:?}: {}", stderr(&output));
    }
    for shell in ["zsh", "fish", "powershell", "elvish"] {
        let text = stdout(&clr(&["completions", shell]).output().unwrap());
        assert!(text.contains("exceptions"), "{shell}");
    }
}

#[test]
fn each_verb_has_a_page_in_the_manual() {
    let page = stdout(&clr(&["man"]).output().unwrap());
    assert!(page.contains(".TH cargo"), "{page}");
    assert!(page.contains("Exit codes"), "{page}");
    let folder = Folder::new();
    let pages = folder.path("");
    let output = clr(&["man", "--folder", pages.to_str().unwrap()])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", stderr(&output));
    for verb in ["cpu", "gc", "patch", "doctor", "verify", "new"] {
        let page = fs::read_to_string(folder.path(&format!("cargo-clr-{verb}.1"))).unwrap();
        assert!(page.contains("Example"), "{page}");
    }
    assert!(!folder.path("cargo-clr-__load.1").exists());
    let output = clr(&["man", "--folder", "/no/folder"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", stderr(&output));
}

/// For each verb that does not run a program.
#[test]
fn outcomes_as_json() {
    let folder = Folder::new();
    let made = folder.path("mine");
    let sample = sample();
    for words in [
        &["ps"][..],
        &["doctor"],
        &["verify", sample.to_str().unwrap()],
        &["new", made.to_str().unwrap()],
    ] {
        let output = clr(&[words, &["--json"]].concat()).output().unwrap();
        let told = stdout(&output);
        let parsed: Result<serde_json::Value, _> = serde_json::from_str(&told);
        assert!(parsed.is_ok(), "{words:?}: {told}{}", stderr(&output));
    }
}
