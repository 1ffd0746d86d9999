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
                name: "--methods",
                takes: Takes::Text("PATTERNS"),
                variable: "JIT_LOGGER_METHODS",
                help: "only methods that match, such as `Shop!Shop.**; -**.ToString`; @FILE reads them",
            },
            ExampleOption {
                name: "--lines",
                takes: Takes::Nothing,
                variable: "JIT_LOGGER_LINES",
                help: "the file and line of methods whose assemblies have a PDB",
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
