//! `top` on a terminal.

use crate::command::{clr, stderr};

// Tmux is the terminal.
#[cfg(target_os = "linux")]
mod on_tmux;

#[test]
fn without_a_terminal_it_says_so() {
    let output = clr(&["top", "1"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(
        stderr(&output).contains("needs a terminal"),
        "{}",
        stderr(&output)
    );
}
