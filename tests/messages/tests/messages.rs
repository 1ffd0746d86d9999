//! Mistakes that do not compile, and their messages.

#[path = "../../src/sample.rs"]
pub mod sample;

use std::fs;

use sample::Sample;

#[test]
fn mistakes_get_a_message_that_helps() {
    let programs = trybuild::TestCases::new();
    let sample = Sample::one_of(4);
    if sample.is_whole() {
        programs.compile_fail("ui/fail/*.rs");
        return;
    }
    let entries = fs::read_dir("ui/fail").unwrap();
    let mut paths: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "rs"));
    paths.sort();
    for (number, path) in paths.iter().enumerate() {
        if sample.has(number) {
            programs.compile_fail(path);
        }
    }
}

#[test]
fn the_macro_knows_the_callbacks_of_the_table() {
    // A procedural macro cannot see the table, so it has a list of its own.
    let source = include_str!("../../../clr_profiler_macros/src/callbacks.rs");
    let list = source
        .split_once("CALLBACKS: &[&str] = &[")
        .unwrap()
        .1
        .split_once("];")
        .unwrap()
        .0;
    let mut names: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    let mut table: Vec<&str> = clr_profiler::events::Callback::ALL
        .iter()
        .map(|c| c.name())
        .collect();
    names.sort_unstable();
    table.sort_unstable();
    assert_eq!(names, table);
}
