//! Starts a .NET program under `jit_logger`: `cargo run --example jit_logger -- --help`.

use std::process::ExitCode;

use examples_support::{Example, ExampleOption, Takes};

fn main() -> ExitCode {
    examples_support::run(&Example {
        name: "jit_logger",
        about: "Prints the methods that a .NET program compiles, one a line, as they are compiled.",
        clsid: "DF63A541-5A33-4611-8829-F4E495985EE3",
        options: &[
            ExampleOption {
                name: "--output",
                takes: Takes::Output("FILE"),
                variable: "JIT_LOGGER_OUTPUT",
                help: "write to FILE instead of stderr",
            },
            ExampleOption {
                name: "--filter",
                takes: Takes::Text("TEXT"),
                variable: "JIT_LOGGER_FILTER",
                help: "only methods whose full name contains TEXT",
            },
            ExampleOption {
                name: "--summary",
                takes: Takes::Nothing,
                variable: "JIT_LOGGER_SUMMARY",
                help: "at the end, methods and compile time by assembly",
            },
        ],
    })
}
