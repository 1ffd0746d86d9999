//! Starts a .NET program under `gc_monitor`: `cargo run --example gc_monitor -- --help`.

use std::process::ExitCode;

use examples_support::{Example, ExampleOption, Takes};

fn main() -> ExitCode {
    examples_support::run(&Example {
        name: "gc_monitor",
        about: "Writes a line for each garbage collection of a .NET program, and a summary.",
        clsid: "0FC6B97D-3335-4EF1-B21E-308F717146F4",
        options: &[
            ExampleOption {
                name: "--output",
                takes: Takes::Results("FILE", "gc_monitor.txt"),
                variable: "GC_MONITOR_OUTPUT",
                help: "write to FILE instead of gc_monitor.txt; /dev/tty for the terminal",
            },
            ExampleOption {
                name: "--json",
                takes: Takes::Nothing,
                variable: "GC_MONITOR_JSON",
                help: "write JSON, an object a line",
            },
            ExampleOption {
                name: "--triggers",
                takes: Takes::Nothing,
                variable: "GC_MONITOR_TRIGGERS",
                help: "the code that triggers each collection; .NET 5 or newer",
            },
            ExampleOption {
                name: "--survivors",
                takes: Takes::Nothing,
                variable: "GC_MONITOR_SURVIVORS",
                help: "measure the survivors; switches concurrent collection off",
            },
        ],
    })
}
