//! Starts a .NET program under `cpu_sampler`: `cargo run --example cpu_sampler -- --help`.

use std::process::ExitCode;

use examples_support::{Example, ExampleOption, Takes};

fn main() -> ExitCode {
    examples_support::run(&Example {
        name: "cpu_sampler",
        about: "Shows where a .NET program spends processor time: a flame graph and a table.",
        clsid: "B859E288-AEB7-4E25-98DD-4D6A1B242B70",
        options: &[
            ExampleOption {
                name: "--output",
                takes: Takes::Results("FILE", "cpu.svg"),
                variable: "CPU_SAMPLER_OUTPUT",
                help: "write to FILE instead of cpu.svg; .json is for speedscope, .folded is folded \
                       text, anything else a table",
            },
            ExampleOption {
                name: "--interval",
                takes: Takes::Text("MICROSECONDS"),
                variable: "CPU_SAMPLER_INTERVAL",
                help: "the time between two samples; 4000 without this option, 1000 with --suspend",
            },
            ExampleOption {
                name: "--suspend",
                takes: Takes::Nothing,
                variable: "CPU_SAMPLER_SUSPEND",
                help: "suspend the program for each sample, as on other platforms than Linux x64",
            },
            ExampleOption {
                name: "--wall",
                takes: Takes::Nothing,
                variable: "CPU_SAMPLER_WALL",
                help: "count wall-clock time: threads that wait, too",
            },
            ExampleOption {
                name: "--progress",
                takes: Takes::Nothing,
                variable: "CPU_SAMPLER_PROGRESS",
                help: "write the number of samples to stderr every second",
            },
            ExampleOption {
                name: "--lines",
                takes: Takes::Nothing,
                variable: "CPU_SAMPLER_LINES",
                help: "a frame for each line of methods whose assemblies have a PDB",
            },
        ],
    })
}
