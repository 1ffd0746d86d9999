//! Hits of programs that end without notice.

use clr_profiler_tests::{Folder, runtimes};

use super::truth::{differences, marked, measured};
use crate::command::{self, clr_on, stderr, stdout, text};
use crate::compiled::compile;

const KILLED: &str = include_str!("Killed.cs");

#[test]
fn hits_survive_kill_9() {
    let Some(program) = compile("Killed", KILLED, &[]) else {
        return;
    };
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let lcov = folder.path("cover.lcov");
        let words = ["cover", "-o", lcov.to_str().unwrap()];
        let output = clr_on(runtime, &words, program.path(), &[]).output();
        let output = output.unwrap();
        assert_eq!(
            output.status.code(),
            Some(command::KILLED),
            "{}",
            stderr(&output)
        );
        assert_eq!(stdout(&output).lines().collect::<Vec<_>>(), ["half"]);
        let measured = measured(
            &text(&folder, "cover.lcov"),
            &program.path().with_extension("cs"),
        );
        let differences = differences(KILLED, &marked(KILLED), &measured);
        assert!(differences.is_empty(), "{differences}{}", stderr(&output));
    }
}
