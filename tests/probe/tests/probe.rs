//! A few random groups of safe calls, none of which ends the program.
//!
//! `PROBE_SEED` chooses others. `cargo run -p probe` tries all of them.

#![cfg(target_os = "linux")]

use std::process::Command;

#[test]
fn a_sample_of_safe_calls_ends_no_program() {
    // The same ones each time, so that a failure is one of the change.
    let seed = std::env::var("PROBE_SEED").ok();
    let seed: u64 = seed.and_then(|seed| seed.parse().ok()).unwrap_or(7);
    println!("PROBE_SEED={seed}");
    let output = Command::new(env!("CARGO_BIN_EXE_probe"))
        .args(["--sample", &seed.to_string()])
        .output()
        .expect("the driver can be started");
    let told = String::from_utf8_lossy(&output.stdout);
    let steps = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "PROBE_SEED={seed}\n{told}\n{steps}"
    );
    println!("{steps}");
}
