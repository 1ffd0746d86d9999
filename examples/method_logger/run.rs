//! Starts a .NET program under `method_logger`: `cargo run --example method_logger -- --help`.

use std::process::ExitCode;

use examples_support::{Example, ExampleOption, Takes};

fn main() -> ExitCode {
    examples_support::run(&Example {
        name: "method_logger",
        about: "Has the methods of a .NET program call a logger, which is written in C#.",
        clsid: "35E0EACF-08F5-44B3-95BA-8B9FC4E5F2FF",
        options: &[
            ExampleOption {
                name: "--methods",
                takes: Takes::Text("PATTERNS"),
                variable: "METHOD_LOGGER_METHODS",
                help: "only methods that match, such as `Shop!Shop.**; -**.ToString`; @FILE reads them",
            },
            ExampleOption {
                name: "--output",
                takes: Takes::Results("FILE", "calls.txt"),
                variable: "METHOD_LOGGER_OUTPUT",
                help: "the calls go to FILE instead of calls.txt",
            },
            ExampleOption {
                name: "--il",
                takes: Takes::Output("FILE"),
                variable: "METHOD_LOGGER_IL",
                help: "write the IL of each method before and after, and the refusals, to FILE",
            },
            ExampleOption {
                name: "--time",
                takes: Takes::Nothing,
                variable: "METHOD_LOGGER_TIME",
                help: "add a local to each method and time its calls",
            },
            ExampleOption {
                name: "--count",
                takes: Takes::Nothing,
                variable: "METHOD_LOGGER_COUNT",
                help: "add a type to each module and count its calls there",
            },
            ExampleOption {
                name: "--swallow",
                takes: Takes::Nothing,
                variable: "METHOD_LOGGER_SWALLOW",
                help: "catch the methods' exceptions, and return zero instead",
            },
        ],
    })
}
