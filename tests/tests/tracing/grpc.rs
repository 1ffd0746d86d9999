//! Rules for gRPC, on libraries that look like the real ones.

use clr_profiler_tests::runtimes;
use serde_json::{Value, json};

use super::conventions::{run_program, spans};
use super::trace::Span;

/// The requests that the program makes and answers.
const RULES: &str = "
rules:
  - methods: Calls!Calls.Shop.Ask
  - methods: Calls!Calls.Shop.Answer
    kind: server
    attributes: {url.path: order}
";

/// The name, the kind, the attributes and the status of a span.
fn facts(span: &Span) -> (&str, &str, Value, Option<&str>) {
    let kind = span.kind.as_deref().unwrap();
    (
        &span.name,
        kind,
        span.attributes.clone(),
        span.status.as_deref(),
    )
}

#[test]
fn calls_of_grpc_follow_the_conventions() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let variables = [("METHOD_TRACER_CONVENTIONS", "all")];
        let (trace, line) = run_program(runtime, ("grpc/Calls", 6), RULES, &variables);
        assert_eq!(line, "");
        assert_eq!(trace.other["values"], json!([]));
        let error = Some("error");
        let client = |code: u8| {
            json!({
                "rpc.system": "grpc", "rpc.service": "shop.Orders", "rpc.method": "Pay",
                "server.address": "orders.example", "server.port": 8081, "rpc.grpc.status_code": code,
            })
        };
        let method = "Grpc.Net.Client.Internal.GrpcCall";
        let calls = spans(&trace, method);
        let found: Vec<_> = calls.iter().map(|span| facts(span)).collect();
        let name = "shop.Orders/Pay";
        assert_eq!(
            found,
            [
                (name, "client", client(0), None),
                (name, "client", client(5), error),
                (name, "client", client(14), error),
            ]
        );
        // They are parts of the methods that ask.
        let asks = spans(&trace, "Calls.Shop.Ask");
        let parents = calls.iter().map(|span| span.parent);
        assert!(parents.eq(asks.iter().map(|span| span.id)), "{calls:?}");
        assert!(asks.iter().all(|span| span.attributes == json!({})));
        let server = |order: &str, code: u8| {
            json!({
                "url.path": order, "rpc.system": "grpc", "rpc.service": "shop.Orders", "rpc.method": "Pay",
                "rpc.grpc.status_code": code,
            })
        };
        let answers = spans(&trace, "Calls.Shop.Answer");
        let found: Vec<_> = answers.iter().map(|span| facts(span)).collect();
        // That there is no such order is no error of the server.
        assert_eq!(
            found,
            [
                (name, "server", server("7", 0), None),
                (name, "server", server("none", 5), None),
                (name, "server", server("fails", 13), error),
            ]
        );
        assert_eq!(trace.spans.len(), 9, "{:?}", trace.spans);
    }
}
