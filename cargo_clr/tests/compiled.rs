//! Programs that are compiled here.

use clr_profiler_test::{CSharp, Compiled};

/// Compiles a program, or says why this machine cannot.
pub(crate) fn compile(name: &str, source: &str, options: &[&str]) -> Option<Compiled> {
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
