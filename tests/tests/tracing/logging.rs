//! Rules for logging: by the library itself on .NET 9, which the program there brings, and otherwise by one that looks alike.

use clr_profiler_tests::runtimes;
use serde_json::{Value, json};

use super::conventions::{attributes, run_program};

/// Spans with a value and without one.
const RULES: &str = "
rules:
  - methods: Logs!Logs.Shop.Work
    attributes: {order: order}
  - methods: [Logs!Logs.Shop.Pay, Logs!Logs.Shop.Count, Logs!Logs.Shop.Rest]
";

#[test]
fn calls_of_logging_are_listed_in_the_span_in_which_they_are_made() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let variables = [("METHOD_TRACER_CONVENTIONS", "all")];
        let (trace, line) = run_program(runtime, ("logging/Logs", 8), RULES, &variables);
        assert_eq!(line, "");
        assert_eq!(trace.other["values"], json!([]));
        let logged = |levels: &[&str], ids: Value| json!({"logging.levels": levels, "logging.event_ids": ids});
        let of = |method: &str| attributes(&trace, &format!("Logs.Shop.{method}"));
        // Once, although two providers have written each; without the level that nobody wants, and the id that is none.
        let mut work = logged(&["Information", "Warning"], json!([7]));
        work["order"] = json!("7");
        assert_eq!(of("Work"), [work]);
        assert_eq!(of("Pay"), [logged(&["Error"], json!([9]))]);
        let first: Vec<u32> = (1..=16).collect();
        assert_eq!(of("Count"), [logged(&["Information"], json!(first))]);
        assert_eq!(of("Rest"), [json!({})]);
        assert_eq!(trace.spans.len(), 4, "{:?}", trace.spans);
    }
}
