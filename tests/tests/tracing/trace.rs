//! A trace, read from its file.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use clr_profiler_tests::{Example, Finished, Folder, Runtime, profilee};
use serde_json::Value;

pub(crate) const EXAMPLE: Example = Example("method_tracer");

/// A call.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    pub(crate) name: String,
    pub(crate) id: u64,
    pub(crate) parent: u64,
    pub(crate) thread: u64,
    pub(crate) is_async: bool,
    /// In microseconds.
    pub(crate) start: f64,
    pub(crate) end: f64,
    pub(crate) arguments: Vec<String>,
    pub(crate) result: Option<String>,
    pub(crate) exception: Option<String>,
    pub(crate) is_cancelled: bool,
    pub(crate) is_unfinished: bool,
    /// Of spans with a rule.
    pub(crate) method: Option<String>,
    pub(crate) kind: Option<String>,
    pub(crate) attributes: Value,
    pub(crate) status: Option<String>,
    pub(crate) description: Option<String>,
}

#[derive(Debug)]
pub(crate) struct Trace {
    pub(crate) spans: Vec<Span>,
    pub(crate) other: Value,
}

impl Span {
    /// In milliseconds.
    pub(crate) fn took(&self) -> f64 {
        (self.end - self.start) / 1e3
    }
}

impl Trace {
    pub(crate) fn parse(text: &str) -> Self {
        let all: Value =
            serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"));
        let events = all["traceEvents"].as_array().unwrap();
        let mut spans: HashMap<u64, Span> = HashMap::new();
        for event in events {
            let arguments = &event["args"];
            let at = event["ts"].as_f64().unwrap_or_default();
            match event["ph"].as_str().unwrap() {
                "M" => {}
                kind @ ("X" | "b") => {
                    let id = arguments["span"].as_u64().unwrap();
                    let texts = arguments["arguments"].as_array();
                    let span = Span {
                        name: event["name"].as_str().unwrap().to_owned(),
                        id,
                        parent: arguments["parent"].as_u64().unwrap(),
                        thread: event["tid"].as_u64().unwrap(),
                        is_async: kind == "b",
                        start: at,
                        end: event["dur"].as_f64().map_or(f64::NAN, |took| at + took),
                        arguments: texts
                            .map(|texts| {
                                texts
                                    .iter()
                                    .map(|t| t.as_str().unwrap().to_owned())
                                    .collect()
                            })
                            .unwrap_or_default(),
                        result: arguments["result"].as_str().map(str::to_owned),
                        exception: arguments["exception"].as_str().map(str::to_owned),
                        is_cancelled: arguments["cancelled"] == true,
                        is_unfinished: arguments["unfinished"] == true,
                        method: arguments["method"].as_str().map(str::to_owned),
                        kind: arguments["kind"].as_str().map(str::to_owned),
                        attributes: arguments["attributes"].clone(),
                        status: arguments["status"].as_str().map(str::to_owned),
                        description: arguments["description"].as_str().map(str::to_owned),
                    };
                    assert!(
                        spans.insert(id, span).is_none(),
                        "the span {id} is there twice"
                    );
                }
                "e" => {
                    let id = event["id"].as_str().unwrap().trim_start_matches("0x");
                    let span = spans
                        .get_mut(&u64::from_str_radix(id, 16).unwrap())
                        .unwrap();
                    span.end = at;
                }
                other => panic!("an event `{other}`"),
            }
        }
        let mut spans: Vec<Span> = spans.into_values().collect();
        spans.sort_by(|one, other| {
            one.start
                .total_cmp(&other.start)
                .then(one.id.cmp(&other.id))
        });
        for span in &spans {
            assert!(span.end >= span.start, "{span:?}");
        }
        Self {
            spans,
            other: all["otherData"].clone(),
        }
    }

    /// The spans of a method, in the order in which they began.
    pub(crate) fn of(&self, method: &str) -> Vec<&Span> {
        let found: Vec<_> = self
            .spans
            .iter()
            .filter(|span| span.name == method)
            .collect();
        assert!(!found.is_empty(), "no span of `{method}`");
        found
    }

    pub(crate) fn get(&self, id: u64) -> &Span {
        self.spans.iter().find(|span| span.id == id).unwrap()
    }

    /// The value for a method under a key: for example, why it is refused.
    pub(crate) fn reason(&self, key: &str, name: &str) -> Option<&str> {
        let notes = self.other[key].as_array().unwrap();
        let note = notes.iter().find(|note| note["name"] == name)?;
        note["reason"].as_str()
    }
}

/// A run of `Traced`.
#[derive(Debug)]
pub(crate) struct Traced {
    pub(crate) trace: Trace,
    pub(crate) summary: String,
    /// The line of the tracer at the end, if there is one.
    pub(crate) line: String,
    /// The time of the program.
    pub(crate) took: Duration,
}

/// Traces `Traced` and checks that it behaves as without the tracer.
pub(crate) fn traced(runtime: &Runtime, options: &[&str], words: &[&str]) -> (Trace, String) {
    let traced = traced_in(runtime, options, words, &[]);
    (traced.trace, traced.summary)
}

/// Without a budget: on a busy machine some methods would lose their spans. `budget.rs` is about that.
pub(crate) const WITHOUT_BUDGET: [&str; 2] = ["--budget", "100"];

/// The same with these environment variables, and unless the options have one, without a budget.
pub(crate) fn traced_in(
    runtime: &Runtime,
    options: &[&str],
    words: &[&str],
    variables: &[(&str, &str)],
) -> Traced {
    let folder = Folder::new();
    let (file, summary) = (folder.path("trace.json"), folder.path("summary.txt"));
    let mut all = options.to_vec();
    if !options.contains(&"--budget") {
        all.extend(WITHOUT_BUDGET);
    }
    all.extend([
        "--output",
        file.to_str().unwrap(),
        "--summary",
        summary.to_str().unwrap(),
    ]);
    let program = profilee("Traced");
    let plain = Finished::of(EXAMPLE.plain(runtime, &program, words));
    let mut command = EXAMPLE.command(runtime, &all, &program, words);
    command.envs(variables.iter().copied());
    let begun = Instant::now();
    let finished = Finished::of(command);
    let took = begun.elapsed();
    assert!(plain.status.success(), "{plain:?}");
    assert_eq!(finished.status, plain.status, "{finished:?}");
    assert_eq!(finished.stdout, plain.stdout);
    let (own, rest) = EXAMPLE.split(&finished.stderr);
    assert_eq!(rest, plain.stderr.lines().collect::<Vec<_>>());
    let text = |file: &Path| fs::read_to_string(file).unwrap();
    let trace = Trace::parse(&text(&file));
    // Refusals and spans that the collector does not have are reported in one line, and nothing else failed.
    let refused = trace.other["refused"].as_array().unwrap().len();
    let is_sent = trace.other["otlp"]
        .as_str()
        .is_none_or(|sent| sent.contains(", 0 lost, 0 not sent"));
    match own[..] {
        [] => assert!(refused == 0 && is_sent),
        [line] if is_sent => {
            assert!(
                line.starts_with(&format!("method_tracer: {refused} refused")),
                "{line}"
            );
        }
        [line] => {
            let kinds = line.strip_prefix("method_tracer: ").unwrap().split("; ");
            let kinds: Vec<_> = kinds
                .filter(|kind| kind.contains(" spans not sent"))
                .collect();
            assert_eq!(kinds.len(), 1, "{line}");
        }
        _ => panic!("{own:?}"),
    }
    Traced {
        trace,
        summary: text(&summary),
        line: own.concat(),
        took,
    }
}
