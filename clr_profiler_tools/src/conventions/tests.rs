//! Expressions, files and the rules that ship with the tool.

use std::fs;
use std::path::Path;

use super::SHIPPED;
use super::checked::{self, RuleText};
use super::evaluate::Scope;
use super::files;
use super::parse::parse;
use super::rule::{Root, Rule, SpanKind};
use super::value::Value;

/// The value of an expression, in which `a` is 5, `b` a text and `c` null.
fn value(text: &str) -> Value {
    let mut paths = Vec::new();
    let expression = parse(text, &mut paths).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
    let values: Vec<Value> = paths
        .iter()
        .map(|path| match &*path.text {
            "a" => Value::Int(5),
            "b" => Value::Text("/api/text".to_owned()),
            "e" => Value::Named(200, "OK".to_owned()),
            "size(b)" => Value::Int(9),
            _ => Value::Null,
        })
        .collect();
    let attributes = [("known".to_owned(), Value::Float(1.5))];
    Scope {
        values: &values,
        method: "Sell",
        class: "Shop.Store",
        exception: Some("System.Exception"),
        attributes: &attributes,
    }
    .value(&expression)
}

fn text(text: &str) -> Value {
    Value::Text(text.to_owned())
}

#[test]
fn each_operator_and_function_has_its_value() {
    let (yes, no) = (Value::Bool(true), Value::Bool(false));
    for (expression, expected) in [
        // Literals, paths and facts.
        ("12", Value::Int(12)),
        ("-12", Value::Int(-12)),
        ("0.5", Value::Float(0.5)),
        ("'it\\'s'", text("it's")),
        (r#""a\n\"b""#, text("a\n\"b")),
        ("null", Value::Null),
        ("[1, 2]", Value::List(vec![Value::Int(1), Value::Int(2)])),
        ("a", Value::Int(5)),
        ("c", Value::Null),
        ("method", text("Sell")),
        ("type", text("Shop.Store")),
        ("exception", text("System.Exception")),
        ("attribute('known')", Value::Float(1.5)),
        ("attribute('other')", Value::Null),
        // Operators.
        ("a == 5", yes.clone()),
        ("a == 5.0", yes.clone()),
        ("a == '5'", no.clone()),
        ("c == null", yes.clone()),
        ("e == 200 && e == 'OK'", yes.clone()),
        ("a != 5", no.clone()),
        ("c != null", no.clone()),
        ("a < 6", yes.clone()),
        ("a < 5", no.clone()),
        ("a <= 5", yes.clone()),
        ("a > 4.5", yes.clone()),
        ("a >= 6", no.clone()),
        ("c >= 0", no.clone()),
        ("'a' < 'b'", yes.clone()),
        ("a == 5 && b == 'x'", no.clone()),
        ("a == 6 || a == 5", yes.clone()),
        ("a == 6 || a == 5 && false", no.clone()),
        ("!(a == 5)", no.clone()),
        ("!c", Value::Null),
        ("a + 1", Value::Int(6)),
        ("a + 0.5", Value::Float(5.5)),
        ("'x' + 'y'", text("xy")),
        ("a > 3 ? 'many' : 'few'", text("many")),
        ("a > 5 ? 'many' : a > 4 ? 'some' : 'few'", text("some")),
        // Functions.
        ("concat(type, '.', method, c, a)", text("Shop.Store.Sell5")),
        ("coalesce(c, a, 'none')", Value::Int(5)),
        ("coalesce(c, c)", Value::Null),
        ("substring(b, 1, 3)", text("api")),
        ("substring(b, 5)", text("text")),
        ("substring(b, 20, 3)", text("")),
        ("substring(b, -1)", Value::Null),
        ("string(a)", text("5")),
        ("string(true)", text("true")),
        ("string(e)", text("OK")),
        ("string(c)", Value::Null),
        ("int('12')", Value::Int(12)),
        ("int(e)", Value::Int(200)),
        ("int('x')", Value::Null),
        ("double(a)", Value::Float(5.0)),
        ("size('\u{1f600}')", Value::Int(2)),
        ("size(b)", Value::Int(9)),
        ("size([1, 2, 3])", Value::Int(3)),
        ("startsWith(b, '/api/')", yes.clone()),
        ("b.startsWith('/api/')", yes.clone()),
        ("endsWith(b, '.json')", no.clone()),
        ("contains(b, 'api')", yes.clone()),
        ("contains(c, 'api')", Value::Null),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
}

/// OpenTelemetry .NET wrote expressions like this before it took over CEL.
#[test]
fn the_names_and_functions_of_older_files_are_read() {
    let (yes, no) = (Value::Bool(true), Value::Bool(false));
    for (expression, expected) in [
        ("concat($type, '.', $method)", text("Shop.Store.Sell")),
        ("tostring(a)", text("5")),
        ("equals(a, 5)", yes.clone()),
        ("equals(b, 'other')", no.clone()),
        ("notequals(a, 5)", no.clone()),
        ("isnull(c)", yes.clone()),
        ("isnull('')", yes.clone()),
        ("isnull(a)", no.clone()),
        ("isnotnull(a)", yes),
        ("isnotnull(c)", no),
    ] {
        assert_eq!(value(expression), expected, "{expression}");
    }
    for (older, newer) in [
        ("$arg1", "arguments[0]"),
        ("$arg12.Nested.Property", "arguments[11].Nested.Property"),
        ("$instance", "instance"),
        ("$instance.Name", "instance.Name"),
        ("$return.Status", "return.Status"),
    ] {
        let of = |text: &str| {
            let mut paths = Vec::new();
            parse(text, &mut paths).unwrap_or_else(|fault| panic!("{text}: {fault:?}"));
            let path = paths.remove(0);
            assert_eq!((&*path.text, paths.len()), (text, 0));
            (path.root, path.steps, path.is_late)
        };
        assert_eq!(of(older), of(newer), "{older}");
    }
}

#[test]
fn mistakes_in_expressions_have_columns() {
    for (expression, column, part) in [
        ("", 1, "a value is missing"),
        ("a ==", 5, "a value is missing"),
        ("a b", 3, "should end here"),
        ("'a", 1, "no end"),
        ("a ? 1", 6, "`:` is missing"),
        ("concat(a", 9, "`,` is missing"),
        ("frobnicate(a)", 1, "there is no function `frobnicate`"),
        ("substring(a)", 1, "takes 2 or 3 arguments"),
        ("a.", 3, "name of a member"),
        ("a[b]", 3, "an index"),
        ("arguments", 10, "`[` is missing"),
        ("arguments[a]", 11, "number of an argument"),
        ("a.Sell(1)", 3, "only getters"),
        ("a.as(Shop)", 6, "Assembly!"),
        ("$arg0", 2, "`arg1` for the first argument"),
        ("$other", 2, "`arg1` for the first argument"),
        ("$", 2, "`arg1` for the first argument"),
        ("equals(a)", 1, "no function `equals`"),
        ("a # b", 3, "`#`"),
        (&"(".repeat(100), 65, "too deeply"),
    ] {
        let (at, problem) = parse(expression, &mut Vec::new()).unwrap_err();
        assert!(
            at == column && problem.contains(part),
            "{expression}: {at} {problem}"
        );
    }
}

#[test]
fn paths_begin_at_arguments_and_results() {
    let mut paths = Vec::new();
    parse(
        "concat(order.Id, order.Id, end(order.Id), return.A, this.B, arguments[3])",
        &mut paths,
    )
    .unwrap();
    let found: Vec<(&Root, bool)> = paths
        .iter()
        .map(|path| (&path.root, path.is_late))
        .collect();
    let order = Root::Parameter("order".to_owned());
    let expected = [
        (&order, false),
        (&order, true),
        (&Root::Return, true),
        (&Root::This, false),
        (&Root::Argument(3), false),
    ];
    assert_eq!(found, expected);
    assert_eq!(paths[0].text, "order.Id");
}

#[test]
fn mistakes_in_files_have_lines_and_columns() {
    let rule = |rest: &str| format!("rules:\n  - methods: A.B\n    {rest}\n");
    for (source, line, column, part) in [
        (String::new(), 1, 1, "empty"),
        ("rule: []".to_owned(), 1, 1, "no key `rule`"),
        (
            "rules:\n  - kind: client\n".to_owned(),
            2,
            5,
            "`methods` is missing",
        ),
        ("rules:\n  - methods: A.B(\n".to_owned(), 2, 18, "missing"),
        (
            "rules:\n  - methods: |\n      A.B\n      A.C(\n".to_owned(),
            4,
            11,
            "missing",
        ),
        (
            "rules:\n  - methods: [A.B, 'A.C(']\n".to_owned(),
            2,
            25,
            "missing",
        ),
        (
            rule("kind: clint"),
            3,
            11,
            "`clint` is none of internal, server",
        ),
        (rule("knd: client"), 3, 5, "no key `knd`"),
        (rule("kind: client\n    kind: server"), 4, 5, "twice"),
        (rule("name: pay {order.}"), 3, 22, "name of a member"),
        (rule("name: pay {order"), 3, 15, "without `}`"),
        (rule("attributes: {a: b ==}"), 3, 25, "a value is missing"),
        (
            rule("attributes:\n      a: \"b ==\""),
            4,
            15,
            "a value is missing",
        ),
        (
            rule("attributes:\n      a: {value: b, type: text}"),
            4,
            18,
            "none of string",
        ),
        (rule("adds_to: outer"), 3, 14, "none of internal, server"),
        (
            rule("attributes:\n      a: {value: b, type: list}"),
            4,
            18,
            "needs `adds_to`",
        ),
        (
            rule("adds_to: innermost\n    attributes: {a: {value: b + c, type: list}}"),
            4,
            29,
            "has one path",
        ),
        (rule("status: [{error: a &&}]"), 3, 26, "a value is missing"),
        (rule("status: [{code: error}]"), 3, 15, "no key `code`"),
        (
            rule("inject: {into: a, set: Add}"),
            3,
            28,
            "bool Contains(string)",
        ),
        (rule("extract: {parent: 'a + b'}"), 3, 24, "write a path"),
    ] {
        let fault = files::read("f", &source).unwrap_err();
        let at = (fault.line, fault.column);
        assert!(
            at == (line, column) && fault.problem.contains(part),
            "{source}: {fault}"
        );
    }
}

#[test]
fn a_rule_of_six_lines_survives_the_checked_form() {
    let source = "\
rules:
  - methods: Shop!Shop.Orders.Pay
    kind: client
    name: pay {order.Customer.Name}
    attributes:
      shop.order.id: order.Id
";
    assert_eq!(source.lines().count(), 6);
    let rules = files::read("shop.yaml", source).unwrap();
    let read = checked::read(&checked::write(&rules)).unwrap();
    let [rule] = &read[..] else {
        panic!("{read:?}");
    };
    assert_eq!((&rule.text, rule.kind), (&rules[0], SpanKind::Client));
    assert_eq!(rule.text.origin, "shop.yaml:2");
    assert!(checked::read("{}").is_err() && checked::read("x").is_err());
    let wrong = checked::write(&[RuleText {
        methods: "A.B".to_owned(),
        name: Some("concat(".to_owned()),
        ..RuleText::default()
    }]);
    assert!(
        checked::read(&wrong)
            .unwrap_err()
            .contains("name, column 8")
    );
}

/// The examples of OpenTelemetry .NET have this form.
const NO_CODE: &str = r#"
file_format: "1.0"
resource:
  attributes: []
instrumentation/development:
  dotnet:
    no_code:
      targets:
        - target:
            assembly:
              name: Shop.Services
            type: Shop.Services.Orders
            method: Process
            signature:
              return_type: Shop.Result
              parameter_types:
                - Shop.Request
                - System.Threading.Tasks.Task`1[System.Int32]
          span:
            name: process
            name_source: concat("process ", arguments[0].Kind)
            kind: server
            attributes:
              - name: order.id
                source: arguments[0].Id
                type: string
              - name: fixed
                value: "text"
                type: string
              - name: flags
                value: [true, false]
                type: bool_array
            status:
              rules:
                - condition: return == null
                  code: error
                  description: "no result"
                - condition: return.Status == "Completed"
                  code: ok
        - target:
            assembly:
              name: Shop.*
            type: Shop.**
            method: Handle*
          span:
            name: handle
        - target:
            assembly:
              name: Shop
            type: Shop.Pair`2
            method: Swap
            signature:
              return_type: '!0'
              parameter_types:
                - '!0'
                - '!!1'
          span:
            name: swap
        - target:
            assembly:
              name: Shop
            type: Shop.Store
            method: Close
            signature:
              return_type: System.Void
              parameter_types:
          span:
            name: close
"#;

#[test]
fn files_of_opentelemetry_are_read_as_they_are() {
    let rules = files::read("otel.yaml", NO_CODE).unwrap_or_else(|fault| panic!("{fault}"));
    let methods: Vec<&str> = rules.iter().map(|rule| &*rule.methods).collect();
    assert_eq!(
        methods,
        [
            "Shop.Services!Shop.Services.Orders.Process(Shop.Request, System.Threading.Tasks.Task<System.Int32>)",
            "Shop.*!Shop.**.Handle*",
            "Shop!Shop.Pair`2.Swap(*, *)",
            "Shop!Shop.Store.Close()",
        ]
    );
    let first = &rules[0];
    assert_eq!(first.kind.as_deref(), Some("server"));
    let name = "coalesce(concat(\"process \", arguments[0].Kind), \"process\")";
    assert_eq!(first.name.as_deref(), Some(name));
    let attribute = |name: &str, of: Option<&str>, value: &str| {
        (name.to_owned(), of.map(str::to_owned), value.to_owned())
    };
    assert_eq!(
        first.attributes,
        [
            attribute("order.id", Some("string"), "arguments[0].Id"),
            attribute("fixed", Some("string"), "\"text\""),
            attribute("flags", None, "[true, false]"),
        ]
    );
    let status = |code: &str, condition: &str, words: Option<&str>| {
        (
            code.to_owned(),
            condition.to_owned(),
            words.map(str::to_owned),
        )
    };
    assert_eq!(
        first.statuses,
        [
            status("error", "return == null", Some("\"no result\"")),
            status("ok", "return.Status == \"Completed\"", None),
        ]
    );
    let wrong = NO_CODE.replace("arguments[0].Id", "arguments[0].");
    let fault = files::read("otel.yaml", &wrong).unwrap_err();
    assert_eq!((fault.line, fault.column), (25, 38), "{fault}");
    let other = NO_CODE.replace("\"1.0\"", "\"2.0\"");
    assert_eq!(files::read("otel.yaml", &other).unwrap_err().line, 2);
}

#[test]
fn the_checked_form_of_the_shipped_files_is_current() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/conventions");
    let mut names: Vec<_> = fs::read_dir(folder.join("shipped"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    let mut rules = Vec::new();
    for name in &names {
        let source = fs::read_to_string(folder.join("shipped").join(name)).unwrap();
        let read = files::read(name, &source);
        rules.extend(read.unwrap_or_else(|fault| panic!("{name}:{fault}")));
    }
    let written = checked::write(&rules);
    if std::env::var("CONVENTIONS").as_deref() == Ok("write") {
        fs::write(folder.join("shipped.json"), &written).unwrap();
        return;
    }
    assert!(
        written == SHIPPED,
        "`CONVENTIONS=write cargo test` writes shipped.json"
    );
}

/// Attributes of version 1.38.0 of OpenTelemetry's semantic conventions, with their types, and those that they do not have.
const CONVENTIONS: [(&str, &str); 22] = [
    ("ado_net.affected_rows", "int"),
    ("db.namespace", "string"),
    ("db.query.text", "string"),
    ("db.system.name", "string"),
    ("error.type", "string"),
    ("http.request.method", "string"),
    ("http.response.status_code", "int"),
    ("http.route", "string"),
    ("logging.event_ids", "list"),
    ("logging.levels", "list"),
    ("network.protocol.version", "string"),
    ("rpc.grpc.status_code", "int"),
    ("rpc.method", "string"),
    ("rpc.service", "string"),
    ("rpc.system", "string"),
    ("server.address", "string"),
    ("server.port", "int"),
    ("url.full", "string"),
    ("url.path", "string"),
    ("url.query", "string"),
    ("url.scheme", "string"),
    ("user_agent.original", "string"),
];

/// The attributes that a span of a kind must have, by those conventions.
const REQUIRED: [(&str, &[&str]); 4] = [
    (
        "http_client.yaml",
        &[
            "http.request.method",
            "server.address",
            "server.port",
            "url.full",
            "error.type",
        ],
    ),
    (
        "aspnet_core.yaml",
        &[
            "http.request.method",
            "url.path",
            "url.scheme",
            "error.type",
        ],
    ),
    ("ado_net.yaml", &["db.system.name", "error.type"]),
    ("grpc.yaml", &["rpc.system", "server.address"]),
];

#[test]
fn the_shipped_files_use_names_of_the_conventions() {
    let rules = checked::read(SHIPPED).unwrap();
    assert!(rules.len() >= 5);
    for rule in &rules {
        for (name, of, _) in &rule.text.attributes {
            let known = CONVENTIONS.iter().find(|(known, _)| known == name);
            let known = known.unwrap_or_else(|| panic!("{}: {name}", rule.text.origin));
            assert!(of.as_deref().is_none_or(|of| of == known.1), "{name}");
        }
    }
    for (file, names) in REQUIRED {
        let of_file = |rule: &&Rule| rule.text.origin.starts_with(file) && rule.adds_to.is_none();
        let rule = rules.iter().find(of_file).unwrap();
        for name in names {
            let has = rule
                .attributes
                .iter()
                .any(|attribute| attribute.name == *name);
            assert!(has, "{file}: {name}");
        }
        let expected = match file {
            "aspnet_core.yaml" => SpanKind::Server,
            _ => SpanKind::Client,
        };
        assert_eq!(rule.kind, expected, "{file}");
    }
}
