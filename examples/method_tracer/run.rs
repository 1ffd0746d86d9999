//! Starts a .NET program under `method_tracer`: `cargo run --example method_tracer -- --help`.

use std::process::ExitCode;

use examples_support::{Example, ExampleOption, Takes};

fn main() -> ExitCode {
    examples_support::run(&Example {
        name: "method_tracer",
        about: "Traces the calls of methods, asynchronous ones to the completion of their tasks.",
        clsid: "C2B8E5F1-7D34-4A96-8E07-51F3A9D26B48",
        options: &[
            ExampleOption {
                name: "--methods",
                takes: Takes::Text("PATTERNS"),
                variable: "METHOD_TRACER_METHODS",
                help: "which methods, such as `Shop!Shop.**; -**.ToString`; @FILE reads them; without it, \
                       all of the program",
            },
            ExampleOption {
                name: "--output",
                takes: Takes::Results("FILE", "trace.json"),
                variable: "METHOD_TRACER_OUTPUT",
                help: "the trace goes to FILE instead of trace.json; Perfetto and Chrome open it",
            },
            ExampleOption {
                name: "--limit",
                takes: Takes::Text("MEGABYTES"),
                variable: "METHOD_TRACER_LIMIT",
                help: "the trace takes no more calls beyond this size; 64 without this option",
            },
            ExampleOption {
                name: "--summary",
                takes: Takes::Output("FILE"),
                variable: "METHOD_TRACER_SUMMARY",
                help: "a table of calls and times by method, and the refusals, go to FILE",
            },
            ExampleOption {
                name: "--arguments",
                takes: Takes::Nothing,
                variable: "METHOD_TRACER_ARGUMENTS",
                help: "record `this` and the arguments of each call",
            },
            ExampleOption {
                name: "--otlp",
                takes: Takes::Text("URL"),
                variable: "METHOD_TRACER_OTLP",
                help: "send spans to an OpenTelemetry collector, http://localhost:4318/v1/traces",
            },
        ],
    })
}
