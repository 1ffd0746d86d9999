//! docs/runtime-tests.md is made from the rows.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::path::Path;
use std::{env, fs};

use super::cases::{CASES, Case, MAJORS, On};

const HEAD: &str = "\
# The runtime's own profiler tests, done again

dotnet/runtime tests its profiling interface by 31 tests with 36 cases. Each is done again here with `clr_profiler`: with
programs and profilers of our own (`tests/profilees/RuntimeTests`, `tests/runtime_tests/src`), which assert the same, and
without `unsafe` in the profilers (`#![forbid(unsafe_code)]`). `tests/runtime_tests/tests/runtime/cases.rs` has a row for
each case: the row is the test, and this file is made from the rows (`RUNTIME_TESTS=write cargo test -p runtime_tests`).
`.ci/full runtime` runs each on all runtimes that its row names.

- **passed**: everything that the runtime's test asserts.
- **passed** with a number: everything except for the part that the note names, which this runtime does not have.
- a number alone: impossible on this runtime, for the reason in the note. *Shown* means that the test runs there, too,
  and asserts the behaviour of the runtime.

All runs are on Linux x64.

Three differences of form: profilers without `unsafe` export no function, so the program calls them by a method whose body
they replace (`NativeCall`), or waits for a line of the test, where the runtime's test calls a function pointer of the program
(`multiple`). A call that fails returns no values that could be compared with zero (`gc/nongcheap`). Objects of handles
are read at the next allocation, not at the end of a collection (`handles`).

Three guards of the library were taken out, to see the tests of their cases fail: without the refusal of statics of modules
that can be unloaded, `addresses_of_statics` (the program dies); without the rules of event flags,
`optimisation_switched`; without the refusal of the IDs of loading modules, `scopes_of_files`. Without the other guards of
the library that could be taken out apart (unloads, ends of threads, hooks at the shutdown, exceptions that .NET 9 and 10
lose), no test here fails: storms and other scenarios try these.
";

fn line(case: &Case, notes: &mut Vec<&'static str>) -> String {
    let mut number = |note: &'static str| {
        let known = notes.iter().position(|known| *known == note);
        let index = known.unwrap_or_else(|| {
            notes.push(note);
            notes.len() - 1
        });
        index + 1
    };
    let mut line = format!("| {} | `{}`", case.of, case.name);
    for on in case.on {
        match on {
            On::Passes => line += " | passed",
            On::Without(part) => write!(line, " | passed [{}]", number(part)).unwrap(),
            On::Shown(why) => write!(line, " | [{}], shown", number(why)).unwrap(),
            On::Cannot(why) => write!(line, " | [{}]", number(why)).unwrap(),
        }
    }
    write!(line, " | {} |", case.asserts).unwrap();
    line
}

fn table() -> String {
    let mut text = HEAD.to_owned();
    let mut notes = Vec::new();
    let of_all = CASES.len();
    let mut counts = String::new();
    for (column, major) in MAJORS.iter().enumerate() {
        let passed = |case: &&Case| matches!(case.on[column], On::Passes | On::Without(_));
        let passed = CASES.iter().filter(passed).count();
        write!(
            counts,
            "{}{passed} on {}",
            if column == 0 { "" } else { ", " },
            if *major == 3 {
                "3.1".to_owned()
            } else {
                major.to_string()
            }
        )
        .unwrap();
    }
    write!(text, "\nOf {of_all} cases pass: {counts}.\n").unwrap();
    text += "\n| test of the runtime | test here | 3.1 | 8 | 9 | 10 | assertions |\n|---|---|---|---|---|---|---|\n";
    for case in CASES {
        text += &line(case, &mut notes);
        text.push('\n');
    }
    text += "\nNotes:\n\n";
    for (number, note) in notes.iter().enumerate() {
        writeln!(text, "{}. {note}", number + 1).unwrap();
    }
    text
}

#[test]
fn the_table_says_what_runs() {
    let names: BTreeSet<_> = CASES.iter().map(|case| case.name).collect();
    assert_eq!((names.len(), CASES.len()), (36, 36));
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/runtime-tests.md");
    let text = table();
    if env::var_os("RUNTIME_TESTS").is_some_and(|mode| mode == "write") {
        fs::write(&file, &text).unwrap();
    }
    let written = fs::read_to_string(&file).unwrap();
    assert!(
        written == text,
        "docs/runtime-tests.md differs from the rows: RUNTIME_TESTS=write writes it"
    );
}
