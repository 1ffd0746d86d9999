//! What does not compile, and the message that says why.

#[test]
fn mistakes_get_a_message_that_helps() {
    let programs = trybuild::TestCases::new();
    programs.compile_fail("ui/fail/*.rs");
}

#[test]
fn the_macro_knows_the_callbacks_of_the_table() {
    // A procedural macro cannot see the table, so it has a list of its own.
    let source = include_str!("../../clr_profiler_macros/src/callbacks.rs");
    let list = source
        .split_once("CALLBACKS: &[&str] = &[")
        .unwrap()
        .1
        .split_once("];")
        .unwrap()
        .0;
    let mut names: Vec<&str> = list.split('"').skip(1).step_by(2).collect();
    let mut table: Vec<&str> = clr_profiler::Callback::ALL
        .iter()
        .map(|c| c.name())
        .collect();
    names.sort_unstable();
    table.sort_unstable();
    assert_eq!(names, table);
}

#[test]
fn a_library_that_aborts_on_panic_is_refused() {
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .unwrap();
    let output = std::process::Command::new(env!("CARGO"))
        .current_dir(root)
        .args([
            "rustc",
            "-q",
            "-p",
            "jit_logger",
            "--lib",
            "--",
            "-Cpanic=abort",
        ])
        .output()
        .unwrap();
    let message = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success());
    assert!(
        message.contains("a profiler must be built with `panic = \"unwind\"`"),
        "{message}"
    );
    assert!(
        message.contains("remove `panic = \"abort\"` from the Cargo profile"),
        "{message}"
    );
}
