//! Programs that are compiled here.

use clr_profiler_test::{CSharp, Compiled, Pinned};
use clr_profiler_tests::fetched;

/// Compiles a program, or says why this machine cannot.
pub(crate) fn compile(name: &str, source: &str, options: &[&str]) -> Option<Compiled> {
    // A compiler that is named needs no package.
    if std::env::var_os("CLR_PROFILER_TEST_CSC").is_none() {
        for pinned in [Pinned::ROSLYN, Pinned::NET_8] {
            fetched(&pinned)?;
        }
    }
    let mut program = CSharp::program(name, source);
    for option in options {
        program = program.option(option);
    }
    match program.compile() {
        Ok(compiled) => Some(compiled),
        Err(error) => {
            println!("skipped: {error}");
            assert!(std::env::var_os("CI").is_none(), "{error}");
            None
        }
    }
}
