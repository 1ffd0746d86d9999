//! A database that looks like PostgreSQL, as far as Npgsql asks.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::thread;

/// The port of a server for one client after the other.
pub(super) fn start() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        while let Ok((client, _)) = listener.accept() {
            Database(client).serve();
        }
    });
    port
}

/// How Npgsql connects to it.
pub(super) fn connection(port: u16) -> String {
    format!(
        "Host=127.0.0.1;Port={port};Database=shop;Username=ada;Password=secret;Pooling=false;\
         SSL Mode=Disable;Server Compatibility Mode=NoTypeLoading"
    )
}

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
