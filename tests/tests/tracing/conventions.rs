//! Rules: the values that spans have on real runtimes.

use std::{fs, thread};

use clr_profiler_tests::{Finished, Folder, Runtime, profilee, runtimes};
use clr_profiler_tools::conventions::{checked, files};
use serde_json::{Value, json};

use super::trace::{EXAMPLE, Span, Trace};

/// Rules for all calls of the program.
const RULES: &str = r#"
rules:
  - methods: Conventions!Conventions.Store.Sell
    kind: producer
    name: sell {order.Customer.Name}
    attributes:
      id: order.Id
      id.later: end(order.Id)
      city: order.Customer.Address.City
      cents: order.Total.Cents
      currency: order.Total.Currency
      euros: order.Total.Euros()
      size: order.Size
      size.number: {value: order.Size, type: int}
      discount: order.Discount
      item: order.Items[1]
      items: size(order.Items)
      lines: size(order.Lines)
      line: order.Lines[0]
      header: order.Headers["key"]
      box: order.Box.Content.Name
      payer: order.Payer.as(Conventions!Conventions.Customer).Title()
      person: order.Payer.as(Conventions!Conventions.Receipt).Number
      weight: order.Weight
      letter: order.Letter
      large: order.Large
      paid: order.IsPaid
      note: note
      note.length: size(note)
      amount: arguments[2]
      store: this.name
      age: order.Customer.Age
      broken: order.Broken()
      loud: order.Counted
      secret: order.Customer.secret
      missing: order.Nothing
      number: return.Number
      error: return.Error
      customer: order.Customer
      of: concat(type, "/", method)
    status:
      - error: return == null
        description: concat("no receipt for ", order.Id)
      - ok: return.Number > 100
  - methods: Conventions!Conventions.Store.Check
    attributes:
      limit: limit
      cents: money.Cents
      currency: money.Currency
      factor: factor
      is: return
      instance: this.name
  - methods: Conventions!Conventions.Store.SellLater
    kind: client
    attributes:
      id: order.Id
      id.later: end(order.Id)
      number: return.Number
      waits: waits
      label: end(this.Label)
      age: end(order.Customer.Age)
  - methods: Conventions!Conventions.Store.Pay
    attributes:
      is.paid: end(order.IsPaid)
      error.type: exception
  - methods: Conventions!Conventions.Store.Watch
    attributes:
      id.later: end(order.Id)
      number: return
  - methods: Conventions!Conventions.Store.Sum
    attributes:
      cents: return.Cents
      currency: return.Currency
  - methods: Conventions!Conventions.Store.Echo
    attributes:
      value: value
      result: return
  - methods: Conventions!Conventions.Store.Measure
    attributes:
      text: text
      name: name
      result: return
  - methods: Conventions!Conventions.Store.Many
    attributes:
      k: k
      first: arguments[0]
      last: arguments[11]
      none: arguments[12]
  - methods: Conventions!Conventions.Store.Fail
    attributes:
      id: order.Id
      error.type: exception
  - methods: Conventions!Conventions.Store.Nothing
    kind: client
"#;

/// A run of `Conventions` under rules: its trace, and the line of the tracer.
fn run(runtime: &Runtime, rules: &str, variables: &[(&str, &str)]) -> (Trace, String) {
    run_program(runtime, ("Conventions", 5), rules, variables)
}

/// A run of a program, which exits with this code.
pub(super) fn run_program(
    runtime: &Runtime,
    (name, code): (&str, i32),
    rules: &str,
    variables: &[(&str, &str)],
) -> (Trace, String) {
    let folder = Folder::new();
    let program = profilee(name);
    let file = folder.path("trace.json");
    let checked_file = folder.path("rules.json");
    let rules = files::read("rules.yaml", rules).unwrap_or_else(|fault| panic!("{fault}"));
    fs::write(&checked_file, checked::write(&rules)).unwrap();
    let plain = Finished::of(EXAMPLE.plain(runtime, &program, &[]));
    let options = ["--output", file.to_str().unwrap(), "--budget", "100"];
    let mut command = EXAMPLE.command(runtime, &options, &program, &[]);
    command.env("METHOD_TRACER_RULES", &checked_file);
    command.envs(variables.iter().copied());
    let finished = Finished::of(command);
    assert_eq!(plain.status.code(), Some(code), "{plain:?}");
    assert_eq!(finished.status, plain.status, "{finished:?}");
    assert_eq!(finished.stdout, plain.stdout, "{finished:?}");
    let (own, rest) = EXAMPLE.split(&finished.stderr);
    assert_eq!(rest, plain.stderr.lines().collect::<Vec<_>>());
    let trace = Trace::parse(&fs::read_to_string(&file).unwrap());
    assert!(
        trace.other["refused"].as_array().unwrap().is_empty(),
        "{}",
        trace.other
    );
    (trace, own.concat())
}

/// The spans of a method, in the order in which they began.
pub(super) fn spans<'a>(trace: &'a Trace, method: &str) -> Vec<&'a Span> {
    let of = |span: &&Span| {
        let name = span.method.as_deref().unwrap_or(&span.name);
        name.split(['(', '<']).next() == Some(method)
    };
    trace.spans.iter().filter(of).collect()
}

pub(super) fn attributes(trace: &Trace, method: &str) -> Vec<Value> {
    let all = spans(trace, method);
    all.iter().map(|span| span.attributes.clone()).collect()
}

#[test]
fn spans_have_the_values_of_rules() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let (trace, line) = run(runtime, RULES, &[]);
        let sells = spans(&trace, "Conventions.Store.Sell");
        let [first, second] = sells[..] else {
            panic!("{sells:?}");
        };
        assert_eq!(
            (&*first.name, first.kind.as_deref()),
            ("sell Ada", Some("producer"))
        );
        assert_eq!(
            first.attributes,
            json!({
                "id": 1, "id.later": 101, "city": "London", "cents": 1250, "currency": "EUR", "euros": 12.5,
                "size": "Large", "size.number": 7, "discount": 5, "item": "fig", "items": 2, "lines": 1,
                "line": "first", "header": "value", "box": "Ada", "payer": "customer Ada", "weight": 1.5,
                "letter": "x", "large": 12, "paid": false, "note": "good", "note.length": 4, "amount": 7,
                "store": "corner", "age": 36, "number": 101, "error": "good", "customer": "Conventions.Customer",
                "of": "Conventions.Store/Sell",
            })
        );
        assert_eq!(first.status.as_deref(), Some("ok"));
        // Null on the path: no attribute.
        assert_eq!(
            second.attributes,
            json!({
                "id": 2, "id.later": 102, "cents": 0, "euros": 0.0, "size": "0", "size.number": 0, "lines": 0,
                "weight": 1.5, "letter": "x", "large": 12, "paid": false, "note": "none", "note.length": 4,
                "amount": 8, "store": "corner", "of": "Conventions.Store/Sell",
            })
        );
        assert_eq!(
            (&*second.name, second.status.as_deref()),
            ("sell", Some("error"))
        );
        assert_eq!(second.description.as_deref(), Some("no receipt for 2"));
        assert_eq!(
            attributes(&trace, "Conventions.Store.Check"),
            [
                json!({"limit": 3, "cents": 2, "currency": "USD", "factor": 1.25, "is": true}),
                json!({"cents": 9, "factor": 0.5, "is": true}),
            ]
        );
        let later = |waits: bool| {
            json!({
                "id": 1, "id.later": 1001, "number": 1001, "waits": waits, "label": "open", "age": 36,
            })
        };
        assert_eq!(
            attributes(&trace, "Conventions.Store.SellLater"),
            [later(true), later(false)]
        );
        let kinds = spans(&trace, "Conventions.Store.SellLater");
        assert!(
            kinds
                .iter()
                .all(|span| span.kind.as_deref() == Some("client"))
        );
        assert_eq!(
            attributes(&trace, "Conventions.Store.Pay"),
            [
                json!({"is.paid": true}),
                json!({"error.type": "System.ArgumentException"})
            ]
        );
        // Read before the program could change the order; not at all if they have failed, or the program looks at the state
        // of its task.
        assert_eq!(
            attributes(&trace, "Conventions.Store.Watch"),
            [
                json!({"id.later": 20, "number": 0}),
                json!({}),
                json!({}),
                json!({}),
                json!({}),
            ]
        );
        let outcomes = spans(&trace, "Conventions.Store.Watch");
        let outcomes = outcomes.iter().map(|span| span.exception.is_some());
        assert!(outcomes.eq([false, true, false, false, false]));
        let sum = json!({"cents": 1250, "currency": "EUR"});
        assert_eq!(
            attributes(&trace, "Conventions.Store.Sum"),
            [sum.clone(), sum]
        );
        assert_eq!(
            attributes(&trace, "Conventions.Store.Echo"),
            [
                json!({"value": "Conventions.Order", "result": "Conventions.Order"}),
                json!({"value": "text", "result": "text"}),
            ]
        );
        assert_eq!(
            attributes(&trace, "Conventions.Store.Measure"),
            [json!({"name": "name", "result": 7})]
        );
        assert_eq!(
            attributes(&trace, "Conventions.Store.Many"),
            [json!({"k": 11, "first": 1, "last": "last"})]
        );
        let [failed] = spans(&trace, "Conventions.Store.Fail")[..] else {
            panic!("it is called once");
        };
        let class = "System.InvalidOperationException";
        assert_eq!(failed.attributes, json!({"id": 1, "error.type": class}));
        assert_eq!(
            failed.exception.as_deref(),
            Some("System.InvalidOperationException: corner 1")
        );
        check_notes(&trace, &line);
    }
}

/// The values that cannot be read are each noted once, with the reason.
fn check_notes(trace: &Trace, line: &str) {
    let notes = trace.other["values"].as_array().unwrap();
    let notes: Vec<(&str, &str)> = notes
        .iter()
        .map(|note| {
            (
                note["name"].as_str().unwrap(),
                note["reason"].as_str().unwrap(),
            )
        })
        .collect();
    for (path, reason) in [
        ("`order.Counted`", "may run other code"),
        ("`order.Customer.secret`", "not accessible"),
        ("`order.Nothing`", "Conventions.Order has no Nothing"),
        ("`this.name`", "static"),
        ("`text`", "by-ref-like"),
        ("`arguments[12]`", "there is no argument 12"),
    ] {
        let found = notes.iter().filter(|(name, _)| name.ends_with(path));
        let found: Vec<_> = found.collect();
        assert!(
            found.len() == 1 && found[0].1.contains(reason),
            "{path}: {notes:?}"
        );
    }
    assert_eq!(notes.len(), 6, "{notes:?}");
    let unmatched = &trace.other["unmatched"];
    let expected = "no method matches `Conventions!Conventions.Store.Nothing`";
    assert_eq!(unmatched[0]["reason"], expected, "{unmatched}");
    assert_eq!(unmatched.as_array().unwrap().len(), 1);
    assert!(
        line.contains("1 rules match nothing") && line.contains("rules.yaml:"),
        "{line}"
    );
}

/// Tracing changes methods of the core library, whose metadata threads of the runtime read while the program runs: it is opened for
/// writing before. Without that, and with memory that is unmapped when it is freed, 1 of 80 runs on .NET Core 3.1 crashed.
#[test]
fn no_thread_reads_metadata_that_was_freed() {
    const RUNS: usize = 6;
    const AT_ONCE: usize = 10;
    let variables = [
        ("METHOD_TRACER_CONVENTIONS", "all"),
        ("MALLOC_MMAP_THRESHOLD_", "512"),
        ("MALLOC_MMAP_MAX_", "30000"),
        ("MALLOC_PERTURB_", "165"),
    ];
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| {
                    for _ in 0..RUNS {
                        let (trace, line) = run(runtime, RULES, &variables);
                        assert!(!trace.spans.is_empty(), "{line}");
                    }
                });
            }
        });
    }
}

#[test]
fn commands_of_a_look_alike_provider_follow_the_conventions() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let rules = "rules:\n  - methods: Conventions!Conventions.Store.Echo\n";
        let (trace, line) = run(runtime, rules, &[("METHOD_TRACER_CONVENTIONS", "all")]);
        assert_eq!(line, "");
        let common = |text: &str| {
            json!({
                "db.system.name": "other_sql", "db.namespace": "shop", "db.query.text": text,
                "server.address": "db.example",
            })
        };
        let scalar = common("delete from orders where id = @id");
        let mut delete = scalar.clone();
        delete["ado_net.affected_rows"] = json!(3);
        let mut failed = common("fail");
        failed["error.type"] = json!("System.InvalidOperationException");
        assert_eq!(
            attributes(&trace, "Conventions.ShopCommand.ExecuteNonQuery"),
            [delete.clone(), failed]
        );
        assert_eq!(
            attributes(&trace, "Conventions.ShopCommand.ExecuteScalar"),
            [scalar]
        );
        let all = spans(&trace, "Conventions.ShopCommand.ExecuteNonQuery");
        assert!(all.iter().all(|span| span.name == "other_sql shop"));
        assert!(
            all.iter()
                .all(|span| span.kind.as_deref() == Some("client"))
        );
        // Without them, and of methods that no rule names, there are no spans.
        assert_eq!(trace.spans.len(), 5, "{:?}", trace.spans);
    }
}
