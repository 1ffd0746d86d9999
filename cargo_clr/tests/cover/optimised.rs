//! The same programs as release builds, in which the compiler leaves out statements that need no code.

use clr_profiler_tests::{Folder, runtimes};

use super::truth::{WAYS, cover_with, differences, marked, measured};
use crate::command::text;
use crate::compiled::compile;

/// Compiles a program with optimisation. Lines in it are as counted by hand, outcomes included, but for those without code of
/// their own: `absent` says which those are, apart from braces. Lines in `continued` are a part of the statement around them, with its hits.
fn is_measured_as_marked(name: &str, code: &str, absent: &[&str], continued: &[(u32, bool)]) {
    let Some(program) = compile(name, code, &["-optimize+"]) else {
        return;
    };
    let source = program.path().with_extension("cs");
    let statement = |number: &u32| {
        let line = code.lines().nth(*number as usize - 1).unwrap_or_default();
        line.rsplit_once("//").map_or("", |(code, _)| code.trim())
    };
    for runtime in runtimes() {
        let measure = |variables| {
            println!("on {} with {variables:?}", runtime.name);
            let folder = Folder::new();
            cover_with(variables, runtime, program.path(), &folder, (&[], &[]));
            measured(&text(&folder, "cover.lcov"), &source)
        };
        let [measured, others @ ..] = WAYS.map(measure);
        for other in others {
            assert_eq!(other, measured);
        }
        let mut truth = marked(code);
        let gone: Vec<u32> = truth
            .keys()
            .filter(|number| !measured.contains_key(number))
            .copied()
            .collect();
        for number in gone {
            let statement = statement(&number);
            assert!(
                matches!(statement, "{" | "}") || absent.contains(&statement),
                "{number}: {statement}"
            );
            truth.remove(&number);
        }
        for &(number, is_hit) in continued {
            let line = truth.get_mut(&number).unwrap();
            assert_ne!(line.0, is_hit, "{number}: it is no exception");
            line.0 = is_hit;
        }
        let differences = differences(code, &truth, &measured);
        assert!(differences.is_empty(), "{differences}");
    }
}

#[test]
fn lines_of_a_release_build_are_as_counted_by_hand() {
    let absent = ["switch (number)", "switch (length)"];
    is_measured_as_marked("Lines", include_str!("Lines.cs"), &absent, &[]);
}

#[test]
fn generated_code_of_a_release_build_counts_for_its_source() {
    let absent = ["switch (day)", "break;"];
    // The braces of the lambda that never runs belong to the statement that makes it.
    let lambda = "Func<int, int> never = number =>";
    let code = include_str!("Constructs.cs");
    let first = (1..)
        .zip(code.lines())
        .find(|(_, line)| line.contains(lambda));
    let first = first.unwrap().0;
    let continued = [(first + 1, true), (first + 3, true)];
    is_measured_as_marked("Constructs", code, &absent, &continued);
}
