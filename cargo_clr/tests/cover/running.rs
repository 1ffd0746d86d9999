//! Programs that run already, and assemblies without lines.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use clr_profiler_tests::{Folder, Running, runtimes};
use serde_json::Value;

use super::truth::{cover, differences, marked, measured};
use crate::command::{clr, clr_on, stderr, stdout, text};
use crate::compiled::compile;

const SERVES: &str = "\
using System;

static class Program
{
    static int calls;

    static string Answer(string question)
    { //+
        calls++; //+
        if (calls == 1) //+ 1/2
            return \"ran first\"; //-
        return \"ran \" + question; //+
    } //+

    static void Never()
    { //-
        Console.WriteLine(\"never\"); //-
    } //-

    static void Main()
    { //-
        Console.WriteLine(\"ready\"); //-
        string line; //
        while ((line = Console.ReadLine()) != null) //- 0/2
        { //-
            Console.WriteLine(Answer(line)); //-
        } //-
    } //-
}
";

#[test]
fn what_a_running_program_enters_is_covered() {
    let Some(program) = compile("Serves", SERVES, &[]) else {
        return;
    };
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let launch = runtime.launch(program.path(), &[]);
        let mut serves = Running::start(launch.command().unwrap());
        assert_eq!(serves.line(), "ready");
        assert_eq!(serves.ask("run"), "ran first");
        let process = serves.id().to_string();
        let lcov = folder.path("cover.lcov");
        let words = ["cover", "-p", &process, "--duration", "1", "-o"];
        let mut command = clr(&[&words[..], &[lcov.to_str().unwrap()]].concat());
        let child = command
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn();
        let child = child.unwrap();
        let child = std::thread::spawn(move || child.wait_with_output().unwrap());
        let begun = Instant::now();
        while !child.is_finished() {
            assert!(
                begun.elapsed() < Duration::from_secs(120),
                "it does not end"
            );
            assert_eq!(serves.ask("run"), "ran run");
        }
        let output = child.join().unwrap();
        let told = stderr(&output);
        assert_eq!(output.status.code(), Some(0), "{told}");
        assert_eq!(serves.ask("more"), "ran more");
        drop(serves);
        let source = program.path().with_extension("cs");
        let measured = measured(&text(&folder, "cover.lcov"), &source);
        let differences = differences(SERVES, &marked(SERVES), &measured);
        assert!(differences.is_empty(), "{differences}{told}");
    }
}

const BLOCKS: &str = "\
static class Program
{
    static void Never()
    {
    }

    static int Choose(int number)
    {
        return number > 0 ? 1 : 2;
    }

    static int Sum(int count)
    {
        int sum = 0;
        for (int i = 0; i < count; i++)
            sum += i;
        return sum;
    }

    static void Main()
    {
        System.Func<int, int> twice = number => number * 2;
        System.Console.WriteLine(Choose(3) + Sum(4) + twice(5));
    }
}
";

/// Removes the mark of the PDB in an assembly.
fn take_pdb_out(assembly: &Path) {
    let mut bytes = std::fs::read(assembly).unwrap();
    let mark = bytes.windows(4).position(|bytes| bytes == b"MPDB").unwrap();
    bytes[mark] = b'X';
    std::fs::write(assembly, bytes).unwrap();
}

#[test]
fn without_a_pdb_methods_are_covered_by_blocks() {
    let Some(program) = compile("Blocks", BLOCKS, &["-optimize+"]) else {
        return;
    };
    take_pdb_out(program.path());
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let json = folder.path("blocks.json");
        let words = ["--methods", "Blocks!**", "--also", json.to_str().unwrap()];
        let covered = cover(runtime, program.path(), &folder, &words, &[]);
        let told = stderr(&covered);
        let line = "is covered by IL blocks instead of lines";
        assert!(told.contains(line), "{told}");
        let value: Value = serde_json::from_str(&text(&folder, "blocks.json")).unwrap();
        let blocks = |method: &str| {
            let methods = value["without_lines"].as_array().unwrap();
            let found = methods.iter().find(|of| of["name"] == method);
            let blocks = found.unwrap()["blocks"].as_array().unwrap().clone();
            let hits = blocks.iter().map(|hits| hits.as_u64().unwrap());
            hits.collect::<Vec<_>>()
        };
        assert_eq!(blocks("Never"), [0]);
        assert_eq!(blocks("Sum"), [1; 4]);
        assert_eq!(blocks("Choose"), [1, 0, 1]);
        // A lambda is a method of its own there.
        // The compiler adds attributes.
        let methods = value["without_lines"].as_array().unwrap().iter();
        let own = methods.filter(|of| of["class"].as_str().unwrap().starts_with("Program"));
        assert_eq!(own.count(), 5, "{value}");

        // Without patterns nothing of it is measured, nor with one for everything. The programs of some runtimes have other
        // assemblies, with PDBs.
        let nothing = "Nothing!**; -Other!**";
        for words in [&[][..], &["--methods", "**"], &["--methods", nothing]] {
            let covered = cover(runtime, program.path(), &folder, words, &[]);
            assert!(!text(&folder, "cover.lcov").contains("Blocks"));
            let told = stderr(&covered);
            assert!(!told.contains("is covered by IL blocks"), "{told}");
            // A process of which nothing is measured may be another one than the patterns are for.
            assert!(!told.contains("has matched no method"), "{told}");
        }

        // A pattern is named that has matched nothing, and no line is no share of lines.
        let lcov = folder.path("cover.lcov");
        let words = ["cover", "--methods", "Blocks!**; -Other!**"];
        let threshold = ["--threshold", "1", "-o", lcov.to_str().unwrap()];
        let words = [&words[..], &threshold].concat();
        let covered = clr_on(runtime, &words, program.path(), &[])
            .output()
            .unwrap();
        let told = stderr(&covered);
        assert_eq!(covered.status.code(), Some(3), "{told}");
        for line in [
            "the pattern `-Other!**` has matched no method",
            "no line was measured, so that the threshold of 1 % of lines is missed",
            "it has no lines",
        ] {
            assert_eq!(told.matches(line).count(), 1, "{line}: {told}");
        }
    }
}

const OFFSETS: &str = "\
static class Program
{
    static void Main()
    {
        var frame = new System.Diagnostics.StackTrace(true).GetFrame(0);
        System.Console.WriteLine(frame.GetFileLineNumber() + \" \" + frame.GetILOffset());
    }
}
";

#[test]
fn offsets_of_frames_are_those_of_the_file_where_a_pdb_has_lines_for_them() {
    let Some(program) = compile("Offsets", OFFSETS, &[]) else {
        return;
    };
    let folder = Folder::new();
    let json = folder.path("cover.json");
    let words = ["cover", "--methods", "Offsets!**", "-o"];
    let words = [&words[..], &[json.to_str().unwrap()]].concat();
    let printed = |runtime, is_covered: bool| {
        let mut command = match is_covered {
            true => clr_on(runtime, &words, program.path(), &[]),
            false => runtime.launch(program.path(), &[]).command().unwrap(),
        };
        let output = command.output().unwrap();
        assert!(output.status.success(), "{}", stderr(&output));
        let printed = stdout(&output);
        let numbers = printed.split_whitespace();
        numbers
            .map(|number| number.parse::<u32>().unwrap())
            .collect::<Vec<_>>()
    };
    let mut plain = Vec::new();
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        plain.push(printed(runtime, false));
        assert_eq!(Some(&printed(runtime, true)), plain.last());
        assert_eq!(plain.last().map(|numbers| numbers[0]), Some(5));
    }
    take_pdb_out(program.path());
    for (runtime, plain) in runtimes().into_iter().zip(plain) {
        println!("on {} without lines", runtime.name);
        assert!(printed(runtime, true)[1] > plain[1]);
    }
}

#[test]
fn counts_are_those_of_the_loop() {
    let source = "\
static class Program
{
    static int Next(int number)
    {
        return number + 1;
    }

    static void Main()
    {
        int sum = 0;
        for (int i = 0; i < 1000; i++)
        {
            sum = Next(sum);
        }

        System.Console.WriteLine(sum);
    }
}
";
    let Some(program) = compile("Counts", source, &["-optimize+"]) else {
        return;
    };
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let covered = cover(runtime, program.path(), &folder, &["--counts"], &[]);
        let tracefile = text(&folder, "cover.lcov");
        for line in ["DA:5,1000", "DA:10,1", "DA:13,1000", "DA:16,1"] {
            let found = tracefile.lines().any(|of| of == line);
            assert!(found, "{line}: {tracefile}{}", stderr(&covered));
        }
        // The end of the loop, once, and a thousand rounds.
        let outcomes = tracefile
            .lines()
            .filter(|line| line.starts_with("BRDA:11,"));
        let outcomes: Vec<&str> = outcomes.collect();
        assert_eq!(outcomes, ["BRDA:11,0,0,1000", "BRDA:11,0,1,1"]);
    }
}
