//! Files of OpenTelemetry .NET, with all that its documentation has.

use clr_profiler_tests::runtimes;
use serde_json::{Value, json};

use super::conventions::{run_program, spans};
use super::trace::{Span, Trace};

const FILE: &str = r#"
file_format: "1.0-rc.1"
# The parts for the SDK are not ours.
tracer_provider:
  processors: []
instrumentation/development:
  dotnet:
    no_code:
      targets:
        # A static method, with attributes of each type.
        - target:
            assembly: {name: NoCode}
            type: NoCode.Office
            method: Open
            signature:
              return_type: System.Void
              parameter_types:
          span:
            name: opening
            kind: producer
            attributes:
              - {name: text, value: "seven", type: string}
              - {name: truth, value: true, type: bool}
              - {name: number, value: 7, type: int}
              - {name: share, value: 0.5, type: double}
              - {name: texts, value: ["a", "b"], type: string_array}
              - {name: truths, value: [true, false], type: bool_array}
              - {name: numbers, value: [1, 2], type: int_array}
              - {name: shares, value: [0.5, 1.5], type: double_array}
        # Overloads, of which one has none of the others' types.
        - target:
            assembly: {name: NoCode}
            type: NoCode.Office
            method: Close
            signature: {return_type: System.Void, parameter_types: []}
          span: {name: close, kind: client}
        - target:
            assembly: {name: NoCode}
            type: NoCode.Office
            method: Close
            signature: {return_type: System.Void, parameter_types: [System.String]}
          span: {name: close for a text, kind: server}
        - target:
            assembly: {name: NoCode}
            type: NoCode.Office
            method: Close
            signature: {return_type: System.Void, parameter_types: [System.Int32]}
          span: {name: close for a number, kind: consumer}
        - target:
            assembly: {name: NoCode}
            type: NoCode.Office
            method: Close
            signature:
              return_type: System.Void
              parameter_types: ["System.String[]", "System.Int32[,]"]
          span: {name: close for arrays}
        # Members, operators and functions; statuses.
        - target:
            assembly: {name: NoCode}
            type: NoCode.Office
            method: Send
            signature:
              return_type: NoCode.Result
              parameter_types: [NoCode.Parcel, System.String]
          span:
            name: send
            name_source: 'arguments[0].Weight > 1000 ? concat("heavy ", arguments[1]) : concat(method, "-", arguments[1])'
            kind: client
            attributes:
              - {name: parcel.id, source: "arguments[0].Id", type: string}
              - {name: to.name, source: 'coalesce(arguments[0].To.Name, arguments[0].To.Mail, "nobody")', type: string}
              - {name: to.age, source: 'arguments[0].To.Age >= 18 ? "adult" : "minor"', type: string}
              - {name: city, source: instance.City, type: string}
              - {name: is.api, source: 'startsWith(arguments[0].Path, "/api/")', type: bool}
              - {name: is.json, source: 'endsWith(arguments[0].Path, ".json")', type: bool}
              - {name: is.error, source: 'contains(return.Message, "error")', type: bool}
              - {name: labels, source: "size(arguments[0].Labels)", type: int}
              - {name: labels.text, source: "string(size(arguments[0].Labels))", type: string}
              - {name: service.short, source: "substring(arguments[1], 0, 2)", type: string}
              - {name: operation, source: 'concat(type, ".", method)', type: string}
              - {name: is.fast, source: 'arguments[1] == "post" && return.Success || !(return != null)', type: bool}
              - {name: weight, source: "arguments[0].Weight", type: double}
            status:
              rules:
                - {condition: return == null, code: error, description: no result}
                - condition: contains(return.Message, "error")
                  code: error
                  description: 'concat("failed: ", return.Message)'
                - {condition: 'return.Code >= 200 && return.Code < 300', code: ok}
                - {condition: 'return.Status == "Open"', code: unset}
        # Tasks of all kinds.
        - target:
            assembly: {name: NoCode}
            type: NoCode.Office
            method: Weigh
            signature:
              return_type: System.Threading.Tasks.Task`1[System.Int32]
              parameter_types: [NoCode.Parcel]
          span:
            name: weigh
            attributes: [{name: grams, source: return, type: int}]
        - target:
            assembly: {name: NoCode}
            type: NoCode.Office
            method: Wait
            signature: {return_type: System.Threading.Tasks.Task, parameter_types: []}
          span: {name: wait}
        - target:
            assembly: {name: NoCode}
            type: NoCode.Office
            method: Price
            signature:
              return_type: System.Threading.Tasks.ValueTask`1[System.Int32]
              parameter_types: [System.Int32]
          span:
            name: price
            attributes: [{name: price, source: return, type: int}]
        - target:
            assembly: {name: NoCode}
            type: NoCode.Office
            method: Rest
            signature: {return_type: System.Threading.Tasks.ValueTask, parameter_types: []}
          span: {name: rest}
        # Generic methods: the return type is that of one call, and all calls have spans.
        - target:
            assembly: {name: NoCode}
            type: NoCode.Office
            method: Find
            signature: {return_type: System.Int32, parameter_types: []}
          span:
            name: find
            attributes: [{name: found, source: return, type: int}]
        - target:
            assembly: {name: NoCode}
            type: NoCode.Shelf`2
            method: Put
            signature:
              return_type: '!0'
              parameter_types: ['!0', '!1', '!!0', '!!1']
          span:
            name: put
            attributes:
              - {name: other, source: "arguments[0]", type: double}
              - {name: key, source: "arguments[2]", type: string}
        # Generic types in generic types, nested types, references.
        - target:
            assembly: {name: NoCode}
            type: NoCode.Office
            method: Sort
            signature:
              return_type: System.Int32
              parameter_types:
                - System.Collections.Generic.Dictionary`2[System.String,System.Collections.Generic.List`1[System.Int32[]]]
                - NoCode.Parcel+Tag
                - System.Int32&
          span:
            name: sort
            attributes:
              - {name: boxes, source: "size(arguments[0])", type: int}
              - {name: tag, source: "arguments[1].Text", type: string}
              - {name: count, source: "arguments[2]", type: int}
        - target:
            assembly: {name: NoCode}
            type: NoCode.Shelf`2+Slot`1
            method: Fill
            signature:
              return_type: System.Int32
              parameter_types: ["System.Collections.Generic.List`1[!!0]", "!!2"]
          span:
            name: fill
            attributes: [{name: label, source: "arguments[1]", type: int}]
        # More parameters than nine.
        - target:
            assembly: {name: NoCode}
            type: NoCode.Office
            method: Route
          span:
            name: route
            attributes:
              - {name: last, source: "arguments[10]", type: string}
              - {name: sum, source: return, type: int}
        # A structure, whose method changes it.
        - target:
            assembly: {name: NoCode}
            type: NoCode.Stamp
            method: Stick
            signature: {return_type: System.Int32, parameter_types: [NoCode.Stamp]}
          span:
            name: stick
            attributes:
              - {name: cents, source: instance.Cents, type: int}
              - {name: cents.later, source: end(instance.Cents), type: int}
              - {name: country, source: instance.Country, type: string}
              - {name: other.country, source: "arguments[0].Country", type: string}
        # An argument that can only be on the stack is left out, with a note. Wildcards.
        - target:
            assembly: {name: No*}
            type: NoCode.Off*
            method: Re*d
          span:
            name: read
            attributes:
              - {name: line, source: "arguments[0]", type: string}
              - {name: name, source: "arguments[1]", type: string}
"#;

/// The name, the kind and the attributes of the spans of a method.
fn facts(trace: &Trace, method: &str) -> Vec<(String, String, Value)> {
    let facts = |span: &&Span| {
        let kind = span.kind.clone().unwrap();
        (span.name.clone(), kind, span.attributes.clone())
    };
    spans(trace, method).iter().map(facts).collect()
}

fn of(name: &str, kind: &str, attributes: Value) -> (String, String, Value) {
    (name.to_owned(), kind.to_owned(), attributes)
}

#[test]
fn files_of_opentelemetry_are_followed_as_they_are() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let (trace, line) = run_program(runtime, ("NoCode", 9), FILE, &[]);
        assert_eq!(line, "");
        let all = json!({
            "text": "seven", "truth": true, "number": 7, "share": 0.5, "texts": ["a", "b"], "truths": [true, false],
            "numbers": [1, 2], "shares": [0.5, 1.5],
        });
        let office = |method: &str| facts(&trace, &format!("NoCode.Office.{method}"));
        assert_eq!(office("Open"), [of("opening", "producer", all)]);
        assert_eq!(
            office("Close"),
            [
                of("close", "client", json!({})),
                of("close for a text", "server", json!({})),
                of("close for a number", "consumer", json!({})),
                of("close for arrays", "internal", json!({})),
            ]
        );
        check_send(&trace);
        let internal = |name: &str, attributes: Value| of(name, "internal", attributes);
        assert_eq!(office("Weigh"), [internal("weigh", json!({"grams": 1200}))]);
        assert_eq!(office("Wait"), [internal("wait", json!({}))]);
        assert_eq!(office("Price"), [internal("price", json!({"price": 42}))]);
        assert_eq!(office("Rest"), [internal("rest", json!({}))]);
        assert_eq!(
            office("Find"),
            [
                internal("find", json!({"found": 0})),
                internal("find", json!({})),
            ]
        );
        let sort = json!({"boxes": 1, "tag": "fragile", "count": 2});
        assert_eq!(office("Sort"), [internal("sort", sort)]);
        assert_eq!(
            office("Route"),
            [internal("route", json!({"last": "last", "sum": 59}))]
        );
        assert_eq!(office("Read"), [internal("read", json!({"name": "name"}))]);
        let of_type = |name: &str| {
            let found = trace.spans.iter().filter(|span| span.name == name);
            found
                .map(|span| span.attributes.clone())
                .collect::<Vec<_>>()
        };
        assert_eq!(of_type("put"), [json!({"other": 1.5, "key": "key"})]);
        assert_eq!(of_type("fill"), [json!({"label": 5})]);
        let stick = json!({"cents": 80, "cents.later": 85, "country": "CH", "other.country": "DE"});
        assert_eq!(of_type("stick"), [stick]);
        // Of everything else nothing is missing.
        let notes = trace.other["values"].as_array().unwrap();
        let [note] = &notes[..] else {
            panic!("{notes:?}");
        };
        assert!(
            note["reason"].as_str().unwrap().contains("by-ref-like"),
            "{note}"
        );
        assert_eq!(trace.spans.len(), 22, "{:?}", trace.spans);
    }
}

fn check_send(trace: &Trace) {
    let sends = spans(trace, "NoCode.Office.Send");
    let said: Vec<_> = sends
        .iter()
        .map(|span| {
            let words = (span.status.as_deref(), span.description.as_deref());
            (&*span.name, words.0, words.1)
        })
        .collect();
    assert_eq!(
        said,
        [
            ("heavy post", Some("ok"), None),
            ("heavy none", Some("error"), Some("no result")),
            ("heavy slow", Some("error"), Some("failed: error: too slow")),
            ("heavy lost", Some("unset"), None),
            ("Send-post", Some("ok"), None),
        ]
    );
    assert!(
        sends
            .iter()
            .all(|span| span.kind.as_deref() == Some("client"))
    );
    let mut first = json!({
        "parcel.id": "12", "to.name": "Ada", "to.age": "adult", "city": "Basel", "is.api": true, "is.json": true,
        "is.error": false, "labels": 2, "labels.text": "2", "service.short": "po", "operation": "NoCode.Office.Send",
        "is.fast": true, "weight": 1200.5,
    });
    assert_eq!(sends[0].attributes, first);
    // A value that is null is left out, as are those that need it.
    first["service.short"] = json!("no");
    first.as_object_mut().unwrap().remove("is.error");
    assert_eq!(sends[1].attributes, first);
    assert_eq!(sends[2].attributes["is.error"], true);
    assert_eq!(sends[2].attributes["is.fast"], false);
    assert_eq!(
        sends[4].attributes,
        json!({
            "parcel.id": "13", "to.name": "bo@shop.example", "to.age": "minor", "city": "Basel", "is.error": false,
            "labels": 0, "labels.text": "0", "service.short": "po", "operation": "NoCode.Office.Send", "is.fast": true,
            "weight": 3.0,
        })
    );
}
