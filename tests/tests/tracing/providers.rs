//! A provider of ADO.NET that others have written, with a database that looks alike.

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

use clr_profiler_tests::{Finished, Folder, profilee, runtimes_where};
use serde_json::{Value, json};

use super::trace::{EXAMPLE, Trace};

/// A message of PostgreSQL's protocol: its kind, its length, and its content.
fn message(kind: u8, content: &[u8]) -> Vec<u8> {
    let mut all = vec![kind];
    all.extend(u32::try_from(content.len() + 4).unwrap().to_be_bytes());
    all.extend(content);
    all
}

fn text(text: &str) -> Vec<u8> {
    let mut bytes = text.as_bytes().to_vec();
    bytes.push(0);
    bytes
}

fn number(stream: &mut TcpStream) -> Option<u32> {
    let mut bytes = [0; 4];
    stream.read_exact(&mut bytes).ok()?;
    Some(u32::from_be_bytes(bytes))
}

/// Three rows are deleted, one number is selected, and there is no table `missing`.
struct Database(TcpStream);

impl Database {
    const READY: &'static [u8] = b"Z\0\0\0\x05I";

    /// The port of a server for one client after the other.
    fn start() -> u16 {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        thread::spawn(move || {
            while let Ok((client, _)) = listener.accept() {
                Database(client).serve();
            }
        });
        port
    }

    fn send(&mut self, kind: u8, content: &[u8]) -> Option<()> {
        self.0.write_all(&message(kind, content)).ok()
    }

    fn serve(mut self) -> Option<()> {
        let length = number(&mut self.0)?;
        let mut parameters = vec![0; length as usize - 4];
        self.0.read_exact(&mut parameters).ok()?;
        self.send(b'R', &[0; 4])?;
        for (name, value) in [
            ("server_version", "16.0"),
            ("client_encoding", "UTF8"),
            ("standard_conforming_strings", "on"),
            ("integer_datetimes", "on"),
            ("TimeZone", "UTC"),
        ] {
            self.send(b'S', &[text(name), text(value)].concat())?;
        }
        self.send(b'K', &[0; 8])?;
        self.0.write_all(Self::READY).ok()?;
        let mut statement = String::new();
        let mut has_failed = false;
        loop {
            let mut kind = [0];
            self.0.read_exact(&mut kind).ok()?;
            let mut content = vec![0; number(&mut self.0)? as usize - 4];
            self.0.read_exact(&mut content).ok()?;
            let selects = statement.starts_with("select");
            match kind[0] {
                b'S' => {
                    has_failed = false;
                    self.0.write_all(Self::READY).ok()?;
                }
                _ if has_failed => {}
                b'P' => {
                    // The name of the statement is empty.
                    statement = content[1..].iter().map(|byte| char::from(*byte)).collect();
                    has_failed = statement.contains("missing");
                    if has_failed {
                        let fields = ["SERROR", "VERROR", "C42P01", "Mthere is no table", ""];
                        let fields: Vec<u8> = fields.into_iter().flat_map(text).collect();
                        self.send(b'E', &fields)?;
                    } else {
                        self.send(b'1', &[])?;
                    }
                }
                b'B' => self.send(b'2', &[])?,
                b'D' if selects => {
                    // One column: no table, the type int4, of 4 bytes, as binary.
                    let mut column = vec![0, 1];
                    column.extend(text("total"));
                    column.extend([0; 6]);
                    column.extend([0, 0, 0, 23, 0, 4, 0xFF, 0xFF, 0xFF, 0xFF, 0, 1]);
                    self.send(b'T', &column)?;
                }
                b'D' => self.send(b'n', &[])?,
                b'E' if selects => {
                    self.send(b'D', &[0, 1, 0, 0, 0, 4, 0, 0, 0, 42])?;
                    self.send(b'C', &text("SELECT 1"))?;
                }
                b'E' => self.send(b'C', &text("DELETE 3"))?,
                b'X' => return Some(()),
                other => panic!("a message {:?}", char::from(other)),
            }
        }
    }
}

#[test]
fn commands_of_npgsql_follow_the_conventions() {
    // The program that brings Npgsql.
    for runtime in runtimes_where(|runtime| runtime.major == 9) {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let file = folder.path("trace.json");
        let program = profilee("Provider");
        let connection = |port: u16| {
            format!(
                "Host=127.0.0.1;Port={port};Database=shop;Username=ada;Password=secret;Pooling=false;\
                 SSL Mode=Disable;Server Compatibility Mode=NoTypeLoading"
            )
        };
        let factory = ["Npgsql", "Npgsql.NpgsqlFactory"];
        let at = connection(Database::start());
        let plain = Finished::of(EXAMPLE.plain(runtime, &program, &[factory[0], factory[1], &at]));
        let port = Database::start();
        let at = connection(port);
        let options = [
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
