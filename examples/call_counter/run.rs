//! Starts a .NET program under `call_counter`: `cargo run --example call_counter -- --help`.

use std::process::ExitCode;

use examples_support::{Example, ExampleOption, Takes};

fn main() -> ExitCode {
    examples_support::run(&Example {
        name: "call_counter",
        about: "Counts the calls of each method of a .NET program, and their time.",
        clsid: "5C0B3F6E-7F0D-4C38-9E0A-6D2F4B8A1E57",
        options: &[
            ExampleOption {
                name: "--output",
                takes: Takes::Results("FILE", "calls.txt"),
                variable: "CALL_COUNTER_OUTPUT",
                help: "write to FILE instead of calls.txt, a table; .svg is a flame graph, .json is \
                       for speedscope, .folded is folded text",
            },
            ExampleOption {
                name: "--methods",
                takes: Takes::Text("PATTERNS"),
                variable: "CALL_COUNTER_METHODS",
                help: "only methods that match, such as `Shop!Shop.**; -**.ToString`; @FILE reads them, those of the framework as well",
            },
            ExampleOption {
                name: "--sort",
                takes: Takes::Text("COLUMN"),
                variable: "CALL_COUNTER_SORT",
                help: "order the table by `own`, `total` or `calls`; `own` without this option",
            },
            ExampleOption {
                name: "--inline",
                takes: Takes::Nothing,
                variable: "CALL_COUNTER_INLINE",
                help: "let the compiler inline: inlined calls are not counted, and cost nothing",
            },
            ExampleOption {
                name: "--no-times",
                takes: Takes::Nothing,
                variable: "CALL_COUNTER_NO_TIMES",
                help: "count only, without reading the clock",
            },
        ],
    })
}
