//! Programs in a shell of Linux: files that cannot be made, and the processes of a script.

use std::process::{Command, Output};

use clr_profiler_test::Compiled;
use clr_profiler_tests::{Folder, Runtime, runtimes};

use super::truth::{cover, differences, marked, measured};
use crate::command::{clr, clr_on, stderr, stdout, text};
use crate::compiled::compile;

const LINES: &str = include_str!("Lines.cs");

/// Runs the command in a shell, after these commands of it.
fn in_shell(shell: &[&str], script: &str, command: &Command) -> Output {
    let mut all = Command::new(shell[0]);
    all.args(&shell[1..])
        .args(["-c", &format!("{script}; exec \"$@\""), "sh"])
        .arg(command.get_program())
        .args(command.get_args());
    for (name, value) in command.get_envs() {
        match value {
            Some(value) => all.env(name, value),
            None => all.env_remove(name),
        };
    }
    all.output().unwrap()
}

/// The program runs as without the command, and one line says why it is not covered.
fn assert_not_covered(runtime: &Runtime, program: &Compiled, output: &Output, reason: &str) {
    let plain = runtime.launch(program.path(), &[]);
    let plain = plain.command().unwrap().output().unwrap();
    let told = stderr(output);
    assert_eq!(stdout(output), stdout(&plain), "{told}");
    assert_eq!(output.status.code(), plain.status.code(), "{told}");
    // Other assemblies with a PDB may be in the process, for instance the hook that starts the program.
    let lines = told
        .lines()
        .filter(|line| line.contains("Lines.dll` is not covered: "));
    let lines: Vec<&str> = lines.collect();
    assert_eq!(lines.len(), 1, "{told}");
    assert!(lines[0].contains(reason), "{told}");
}

#[test]
fn a_module_whose_file_exceeds_a_limit_is_not_covered() {
    let Some(program) = large() else {
        return;
    };
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        // The library of the command is written without the limit.
        cover(runtime, program.path(), &Folder::new(), &[], &[]);
        let folder = Folder::new();
        let lcov = folder.path("cover.lcov");
        let words = ["cover", "-o", lcov.to_str().unwrap()];
        let mut command = clr_on(runtime, &words, program.path(), &[]);
        // With it the runtime keeps its code in a file of its own.
        command.env("DOTNET_EnableWriteXorExecute", "0");
        let output = in_shell(&["sh"], "ulimit -f 64", &command);
        assert_not_covered(runtime, &program, &output, "File too large");
    }
}

/// A program whose file of hits has more than 100 kB.
fn large() -> Option<Compiled> {
    let statements = "at = 1234567; ".repeat(8_000);
    let class =
        format!("static class Large {{ static int at; static void Fill() {{ {statements} }} }}");
    compile("Lines", &format!("{LINES}\n{class}\n"), &[])
}

/// Covers a program whose results are on a disk of its own, which a script mounts at `$disk`: there the module gets no file.
fn on_a_disk(script: &str, expected: &str) {
    let mounts = Command::new("unshare").args(["-m", "true"]).status();
    if !mounts.is_ok_and(|status| status.success()) {
        println!("skipped: this user cannot mount a disk");
        return;
    }
    let Some(program) = large() else {
        return;
    };
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let disk = folder.path("disk");
        std::fs::create_dir(&disk).unwrap();
        let disk = disk.to_str().unwrap();
        let lcov = format!("{disk}/cover.lcov");
        // The report has to have space, whatever other assemblies with a PDB are in the process.
        let words = ["cover", "--methods", "Lines!**", "-o", &lcov];
        let command = clr_on(runtime, &words, program.path(), &[]);
        let script = format!("disk='{disk}'; {script}");
        let output = in_shell(&["unshare", "-m", "sh"], &script, &command);
        assert_not_covered(runtime, &program, &output, expected);
    }
}

#[test]
fn a_module_without_space_for_its_file_is_not_covered() {
    on_a_disk("mount -t tmpfs -o size=64k none \"$disk\"", "No space left");
}

#[test]
fn a_module_beyond_a_quota_is_not_covered() {
    let has_btrfs = Command::new("mkfs.btrfs").arg("--version").output();
    if !has_btrfs.is_ok_and(|output| output.status.success()) {
        println!("skipped: mkfs.btrfs is missing (btrfs-progs)");
        return;
    }
    on_a_disk(
        "truncate -s 128M \"$disk.image\" && mkfs.btrfs -q \"$disk.image\" >/dev/null && mount -o loop \"$disk.image\" \"$disk\" &&
         btrfs quota enable \"$disk\" && btrfs qgroup limit 96k 0/5 \"$disk\"",
        "quota exceeded",
    );
}

#[test]
fn the_processes_of_a_script_are_covered_together() {
    let source = "\
static class Program
{
    static void Main(string[] words)
    { //+
        if (words[0] == \"first\") //+ 2/2
            System.Console.WriteLine(1); //+
        if (words[0] == \"second\") //+ 2/2
            System.Console.WriteLine(2); //+
        if (words[0] == \"third\") //+ 1/2
            System.Console.WriteLine(3); //-
    } //+
}
";
    let Some(program) = compile("Script", source, &[]) else {
        return;
    };
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let lcov = folder.path("cover.lcov");
        let mut command = clr(&["cover", "-o", lcov.to_str().unwrap(), "--", "sh", "-c"]);
        let mut script = String::new();
        for word in ["first", "second"] {
            let child = runtime.launch(program.path(), &[word]).command().unwrap();
            let variables = child
                .get_envs()
                .filter_map(|(name, value)| Some((name, value?)));
            for (name, value) in variables {
                let (name, value) = (name.to_string_lossy(), value.to_string_lossy());
                // That of the profiler is inherited.
                if !name.starts_with("CORECLR_") {
                    script += &format!("export {name}='{value}'\n");
                }
            }
            script += &format!("'{}'", child.get_program().to_string_lossy());
            for argument in child.get_args() {
                script += &format!(" '{}'", argument.to_string_lossy());
            }
            script.push('\n');
        }
        let output = command.arg(format!("{script}exit 5")).output().unwrap();
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(5), "{told}");
        assert_eq!(stdout(&output), "1\n2\n", "{told}");
        let measured = measured(
            &text(&folder, "cover.lcov"),
            &program.path().with_extension("cs"),
        );
        let differences = differences(source, &marked(source), &measured);
        assert!(differences.is_empty(), "{differences}{told}");
    }
}
