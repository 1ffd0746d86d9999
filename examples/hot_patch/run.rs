//! Starts a .NET program under `hot_patch`, or attaches it to a running one:
//! `cargo run --example hot_patch -- --help`.

mod attach;

use std::process::ExitCode;

use examples_support::{Example, ExampleOption, Takes};

const CLSID: &str = "7A4E2B9C-61D0-4F0B-9C83-2E5B7C1D9A46";

fn main() -> ExitCode {
    if std::env::args_os()
        .nth(1)
        .is_some_and(|word| word == "--attach")
    {
        return attach::run(std::env::args().skip(2));
    }
    examples_support::run(&Example {
        name: "hot_patch",
        about: "Counts and times the calls of methods by a patch, switched on and off while the program runs.\n\
                `--attach PROCESS [--methods PATTERNS] [--control FILE] [--output FILE]` does so in a program that runs.",
        clsid: CLSID,
        options: &[
            ExampleOption {
                name: "--methods",
                takes: Takes::Text("PATTERNS"),
                variable: "HOT_PATCH_METHODS",
                help: "only methods that match, such as `Shop!Shop.**; -**.ToString`; @FILE reads them",
            },
            ExampleOption {
                name: "--control",
                takes: Takes::Path("FILE"),
                variable: "HOT_PATCH_CONTROL",
                help: "follow the lines that are added to FILE (or written into a pipe): `on` \
                       or `off`; hot_patch.control without this option",
            },
            ExampleOption {
                name: "--output",
                takes: Takes::Results("FILE", "hot_patch.txt"),
                variable: "HOT_PATCH_OUTPUT",
                help: "write to FILE instead of hot_patch.txt",
            },
        ],
    })
}
