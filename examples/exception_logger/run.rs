//! Starts a .NET program under `exception_logger`: `cargo run --example exception_logger -- --help`.

use std::process::ExitCode;

use examples_support::{Example, ExampleOption, Takes};

fn main() -> ExitCode {
    examples_support::run(&Example {
        name: "exception_logger",
        about: "Logs each exception of a .NET program: type, message, stack, and catch block.",
        clsid: "282F8859-F66D-4168-A257-F3B6BF218ABF",
        options: &[
            ExampleOption {
                name: "--output",
                takes: Takes::Results("FILE", "exceptions.txt"),
                variable: "EXCEPTION_LOGGER_OUTPUT",
                help: "write to FILE instead of exceptions.txt; /dev/tty for the terminal",
            },
            ExampleOption {
                name: "--filter",
                takes: Takes::Text("TEXT"),
                variable: "EXCEPTION_LOGGER_FILTER",
                help: "only types whose full name contains TEXT",
            },
            ExampleOption {
                name: "--depth",
                takes: Takes::Text("FRAMES"),
                variable: "EXCEPTION_LOGGER_DEPTH",
                help: "the limit for frames of each stack; 20 without this option",
            },
            ExampleOption {
                name: "--lines",
                takes: Takes::Nothing,
                variable: "EXCEPTION_LOGGER_LINES",
                help: "the file and line of frames whose assemblies have a PDB",
            },
        ],
    })
}
