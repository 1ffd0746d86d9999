//! Starts a .NET program under `return_inspector`:
//! `cargo run --example return_inspector -- --help`.

use std::process::ExitCode;

use examples_support::{Example, ExampleOption, Takes};

fn main() -> ExitCode {
    examples_support::run(&Example {
        name: "return_inspector",
        about: "Shows the results of the methods of a .NET program.",
        clsid: "A8656E35-9A04-449E-B8EA-C9B8FBA40D52",
        options: &[
            ExampleOption {
                name: "--methods",
                takes: Takes::Text("PATTERNS"),
                variable: "RETURN_INSPECTOR_METHODS",
                help: "only methods that match, such as `Shop!Shop.**; -**.ToString`; @FILE reads them",
            },
            ExampleOption {
                name: "--output",
                takes: Takes::Results("FILE", "returns.txt"),
                variable: "RETURN_INSPECTOR_OUTPUT",
                help: "write to FILE instead of returns.txt",
            },
            ExampleOption {
                name: "--native",
                takes: Takes::Nothing,
                variable: "RETURN_INSPECTOR_NATIVE",
                help: "without a helper assembly: only primitives and strings, shown by Rust code",
            },
            ExampleOption {
                name: "--framework",
                takes: Takes::Nothing,
                variable: "RETURN_INSPECTOR_FRAMEWORK",
                help: "methods of the framework, too, those of its core library among them; \
                       with --native",
            },
        ],
    })
}
