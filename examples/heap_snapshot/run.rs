//! Starts a .NET program under `heap_snapshot`: `cargo run --example heap_snapshot -- --help`.

use std::process::ExitCode;

use examples_support::{Example, ExampleOption, Takes};

fn main() -> ExitCode {
    examples_support::run(&Example {
        name: "heap_snapshot",
        about: "Shows the objects on the heap of a .NET program, and why they are alive.",
        clsid: "4B0B7D1B-6F0E-4E0C-9E5B-6E9C6A9A1D42",
        options: &[
            ExampleOption {
                name: "--output",
                takes: Takes::Results("FILE", "heap.heapsnapshot"),
                variable: "HEAP_SNAPSHOT_OUTPUT",
                help: "write to FILE instead of heap.heapsnapshot, which the memory panel of \
                       Chrome's developer tools loads; with another ending, a table of types",
            },
            ExampleOption {
                name: "--path",
                takes: Takes::Text("TYPE"),
                variable: "HEAP_SNAPSHOT_PATH",
                help: "show in the table why an object of this type is alive",
            },
            ExampleOption {
                name: "--strings",
                takes: Takes::Text("LENGTH"),
                variable: "HEAP_SNAPSHOT_STRINGS",
                help: "record the texts of strings as well, up to this length",
            },
            ExampleOption {
                name: "--after",
                takes: Takes::Text("SECONDS"),
                variable: "HEAP_SNAPSHOT_AFTER",
                help: "record the heap this long after the start, not at the end",
            },
            ExampleOption {
                name: "--every",
                takes: Takes::Text("SECONDS"),
                variable: "HEAP_SNAPSHOT_EVERY",
                help: "record the heap again and again; the file is replaced each time",
            },
            ExampleOption {
                name: "--signal",
                takes: Takes::Nothing,
                variable: "HEAP_SNAPSHOT_SIGNAL",
                help: "record the heap at each SIGUSR1, which the program then does not get",
            },
        ],
    })
}
