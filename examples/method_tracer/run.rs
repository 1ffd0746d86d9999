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
                name: "--max-size",
                takes: Takes::Text("MEGABYTES"),
                variable: "METHOD_TRACER_MAX_SIZE",
                help: "the trace and the file with the calls before, trace.1.json, are together no larger: the oldest calls \
                       are dropped; 200 without this option",
            },
            ExampleOption {
                name: "--budget",
                takes: Takes::Text("PERCENT"),
                variable: "METHOD_TRACER_BUDGET",
                help: "tracing takes at most this part of the CPU time, 5 without this option: methods that are called too often are \
                       only counted; 100 for no limit",
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
                name: "--results",
                takes: Takes::Nothing,
                variable: "METHOD_TRACER_RESULTS",
                help: "record the result of each call, of a task when it has completed",
            },
            ExampleOption {
                name: "--iterators",
                takes: Takes::Nothing,
                variable: "METHOD_TRACER_ITERATORS",
                help: "each enumeration of an iterator is a span, too",
            },
            ExampleOption {
                name: "--redact",
                takes: Takes::Text("PATTERNS"),
                variable: "METHOD_TRACER_REDACT",
                help: "arguments and results whose name or text matches one of these patterns with `*` and `?` are replaced by \
                       [redacted]: '*password*; bearer *'",
            },
            ExampleOption {
                name: "--otlp",
                takes: Takes::Text("URL"),
                variable: "METHOD_TRACER_OTLP",
                help: "send spans to this OpenTelemetry collector, http://localhost:4318/v1/traces, instead of that of \
                       OTEL_EXPORTER_OTLP_ENDPOINT",
            },
        ],
    })
}
