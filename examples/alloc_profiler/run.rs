//! Starts a .NET program under `alloc_profiler`: `cargo run --example alloc_profiler -- --help`.

use std::process::ExitCode;

use examples_support::{Example, ExampleOption, Takes};

fn main() -> ExitCode {
    examples_support::run(&Example {
        name: "alloc_profiler",
        about: "Shows which types a .NET program allocates, where, and how much of it survives.",
        clsid: "E1A9C1D4-52F3-4B0B-A0C6-3B1F7C9D2E68",
        options: &[
            ExampleOption {
                name: "--output",
                takes: Takes::Results("FILE", "allocations.txt"),
                variable: "ALLOC_PROFILER_OUTPUT",
                help: "write to FILE instead of allocations.txt, a table; .svg is a flame graph, \
                       .json is for speedscope, .folded is folded text: those have whole stacks",
            },
            ExampleOption {
                name: "--sampled",
                takes: Takes::Nothing,
                variable: "ALLOC_PROFILER_SAMPLED",
                help: "sample every 100 kilobytes only: next to no cost; .NET 5 and newer",
            },
            ExampleOption {
                name: "--survival",
                takes: Takes::Nothing,
                variable: "ALLOC_PROFILER_SURVIVAL",
                help: "measure the survivors of collections; they take longer, and none is concurrent",
            },
        ],
    })
}
