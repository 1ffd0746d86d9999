//! The truth in the comments of a program, and the coverage that the command measures.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Output;

use clr_profiler_tests::{Folder, Runtime, runtimes};

use crate::command::{clr_on, stderr, stdout, text};
use crate::compiled::compile;

/// The hits of a line, and its covered outcomes with all of them.
pub(super) type Line = (bool, Option<(usize, usize)>);

/// Compiles a program, runs it under the command, and compares lines and outcomes with the marks of its source. `more` examines
/// the part of the tracefile for this source.
pub(super) fn is_measured_as_marked(name: &str, code: &str, more: impl Fn(&str)) {
    let Some(program) = compile(name, code, &[]) else {
        return;
    };
    let source = program.path().with_extension("cs");
    for runtime in runtimes() {
        for variables in WAYS {
            println!("on {} with {variables:?}", runtime.name);
            let folder = Folder::new();
            let covered = cover_with(variables, runtime, program.path(), &folder, (&[], &[]));
            let tracefile = text(&folder, "cover.lcov");
            let differences = differences(code, &marked(code), &measured(&tracefile, &source));
            assert!(differences.is_empty(), "{differences}{}", stderr(&covered));
            more(section(&tracefile, &source).unwrap_or_default());
        }
    }
}

/// The variables under which a program is measured: methods get their probes at their first use, also where all code is optimised, and
/// inlines.
pub(super) const WAYS: [&[(&str, &str)]; 2] = [&[], &[("COMPlus_TieredCompilation", "0")]];

/// The lines that a source marks: `//+` runs, `//-` does not, `1/2` are the outcomes of its branches.
pub(super) fn marked(source: &str) -> BTreeMap<u32, Line> {
    let mut lines = BTreeMap::new();
    for (number, line) in (1..).zip(source.lines()) {
        let Some((_, mark)) = line
            .rsplit_once("//")
            .filter(|(code, _)| !code.contains("//"))
        else {
            continue;
        };
        let is_hit = match mark.chars().next() {
            Some('+') => true,
            Some('-') => false,
            _ => continue,
        };
        let outcomes = mark[1..].split_whitespace().next();
        let outcomes = outcomes.and_then(|text| {
            let (covered, all) = text.split_once('/')?;
            Some((covered.parse().ok()?, all.parse().ok()?))
        });
        lines.insert(number, (is_hit, outcomes));
    }
    lines
}

/// The part of a tracefile for one source. The program may be started by an application that has PDBs of its own.
fn section<'a>(tracefile: &'a str, source: &Path) -> Option<&'a str> {
    let begin = format!("SF:{}\n", source.display());
    let (_, section) = tracefile.split_once(&begin)?;
    section.split("end_of_record").next()
}

/// The lines of a tracefile for one source.
pub(super) fn measured(tracefile: &str, source: &Path) -> BTreeMap<u32, Line> {
    let mut lines: BTreeMap<u32, Line> = BTreeMap::new();
    let Some(section) = section(tracefile, source) else {
        return lines;
    };
    for line in section.lines() {
        let numbers = |text: &str| -> Vec<String> { text.split(',').map(str::to_owned).collect() };
        if let Some(text) = line.strip_prefix("DA:") {
            let numbers = numbers(text);
            lines.entry(numbers[0].parse().unwrap()).or_default().0 = numbers[1] != "0";
        } else if let Some(text) = line.strip_prefix("BRDA:") {
            let numbers = numbers(text);
            let line = lines.entry(numbers[0].parse().unwrap()).or_default();
            let outcomes = line.1.get_or_insert((0, 0));
            outcomes.1 += 1;
            outcomes.0 += usize::from(!matches!(&*numbers[3], "0" | "-"));
        }
    }
    lines
}

/// The lines of which the truth and the measurement differ, for a message.
pub(super) fn differences(
    source: &str,
    truth: &BTreeMap<u32, Line>,
    measured: &BTreeMap<u32, Line>,
) -> String {
    let mut text = String::new();
    for (number, line) in (1..).zip(source.lines()) {
        let (expected, found) = (truth.get(&number), measured.get(&number));
        if expected != found {
            text += &format!("{number}: {line}\n    expected {expected:?}, measured {found:?}\n");
        }
    }
    text
}

/// Runs the command with a program, which has the same output as without it and changes no file.
pub(super) fn cover(
    runtime: &Runtime,
    program: &Path,
    folder: &Folder,
    words: &[&str],
    arguments: &[&str],
) -> Output {
    cover_with(&[], runtime, program, folder, (words, arguments))
}

/// The same, with variables.
pub(super) fn cover_with(
    variables: &[(&str, &str)],
    runtime: &Runtime,
    program: &Path,
    folder: &Folder,
    (words, arguments): (&[&str], &[&str]),
) -> Output {
    let files = |path: &Path| {
        let bytes = ["dll", "cs", "pdb"].map(|ending| fs::read(path.with_extension(ending)).ok());
        bytes.map(|bytes| bytes.map(|bytes| bytes.len()))
    };
    let before = files(program);
    let plain = runtime.launch(program, arguments);
    let plain = plain.command().unwrap().output().unwrap();
    let lcov = folder.path("cover.lcov");
    let words = [&["cover", "-o", lcov.to_str().unwrap()], words].concat();
    let mut command = clr_on(runtime, &words, program, arguments);
    command.envs(variables.iter().copied());
    let covered = command.output().unwrap();
    let told = stderr(&covered);
    assert_eq!(stdout(&covered), stdout(&plain), "{told}");
    assert_eq!(covered.status.code(), plain.status.code(), "{told}");
    assert_eq!(files(program), before);
    let entries = fs::read_dir(folder.path(".")).unwrap();
    let left = entries.filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        name.to_string_lossy().starts_with(".cover")
    });
    assert_eq!(left.count(), 0, "the files of hits are removed: {told}");
    covered
}
