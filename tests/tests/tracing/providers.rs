//! A provider of ADO.NET that others have written, with a database that looks alike.

use std::fs;

use clr_profiler_tests::{Finished, Folder, profilee, runtimes_where};
use serde_json::{Value, json};

use super::database::{self, connection};
use super::trace::{EXAMPLE, Trace};

#[test]
fn commands_of_npgsql_follow_the_conventions() {
    // The program that brings Npgsql.
    for runtime in runtimes_where(|runtime| runtime.major == 9) {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let file = folder.path("trace.json");
        let program = profilee("Provider");
        let factory = ["Npgsql", "Npgsql.NpgsqlFactory"];
        let at = connection(database::start());
        let plain = Finished::of(EXAMPLE.plain(runtime, &program, &[factory[0], factory[1], &at]));
        let port = database::start();
        let at = connection(port);
        let options = [
            "--budget",
            "100",
            "--methods",
            "Provider!**.Ask*",
            "--output",
            file.to_str().unwrap(),
        ];
        let mut command =
            EXAMPLE.command(runtime, &options, &program, &[factory[0], factory[1], &at]);
        command.env("METHOD_TRACER_CONVENTIONS", "all");
        let traced = Finished::of(command);
        assert_eq!(
            plain.stdout,
            "3\n3\n-1\n42\n42\n42\n42\n42P01: there is no table\n42P01: there is no table\n3\n",
            "{plain:?}"
        );
        assert_eq!(
            (traced.status, &traced.stdout),
            (plain.status, &plain.stdout),
            "{traced:?}"
        );
        let trace = Trace::parse(&fs::read_to_string(&file).unwrap());
        check(&trace, port);
    }
}

fn check(trace: &Trace, port: u16) {
    const DELETE: &str = "delete from orders where id = @id";
    const SELECT: &str = "select total from orders where id = @id";
    const MISSING: &str = "delete from missing where id = @id";
    let said = |text: &str, others: Value| {
        let mut all = json!({
            "db.system.name": "postgresql", "db.namespace": "shop", "db.query.text": text,
            "server.address": "127.0.0.1", "server.port": port,
        });
        all.as_object_mut()
            .unwrap()
            .extend(others.as_object().unwrap().clone());
        all
    };
    let rows = json!({"ado_net.affected_rows": 3});
    let failed = json!({"error.type": "Npgsql.PostgresException"});
    let expected = [
        ("ExecuteNonQuery", said(DELETE, rows.clone())),
        ("ExecuteNonQueryAsync", said(DELETE, rows)),
        // A query has no such number.
        ("ExecuteNonQuery", said(SELECT, json!({}))),
        ("ExecuteScalar", said(SELECT, json!({}))),
        ("ExecuteScalarAsync", said(SELECT, json!({}))),
        ("ExecuteDbDataReader", said(SELECT, json!({}))),
        ("ExecuteDbDataReaderAsync", said(SELECT, json!({}))),
        ("ExecuteNonQuery", said(MISSING, failed.clone())),
        ("ExecuteNonQueryAsync", said(MISSING, failed)),
        // One span, although the command of the data source calls that of a connection.
        (
            "ExecuteNonQuery",
            said("delete from orders", json!({"ado_net.affected_rows": 3})),
        ),
    ];
    let (ask, commands): (Vec<_>, Vec<_>) = trace
        .spans
        .iter()
        .partition(|span| span.name.starts_with("Provider."));
    let [ask, source] = ask[..] else {
        panic!("{ask:?}");
    };
    let found: Vec<(&str, Value)> = commands
        .iter()
        .map(|span| {
            let method = span.method.as_deref().unwrap().split('(').next().unwrap();
            let name = method
                .strip_prefix("Npgsql.NpgsqlCommand.")
                .unwrap_or(method);
            (name, span.attributes.clone())
        })
        .collect();
    assert_eq!(found, expected, "{}", trace.other);
    for span in commands {
        assert_eq!(
            (&*span.name, span.kind.as_deref()),
            ("postgresql shop", Some("client"))
        );
        let is_last = span.attributes["db.query.text"] == "delete from orders";
        assert_eq!(span.parent, if is_last { source.id } else { ask.id });
    }
}
