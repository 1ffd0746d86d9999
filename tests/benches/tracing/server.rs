//! A running server, and the questions that it is asked.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use super::measure::{Job, Result};

const PATIENCE: Duration = Duration::from_secs(180);

const BEGIN: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;

/// Questions whose answers are always the same; the last one is refused.
pub(crate) const QUESTIONS: [&str; 4] = [
    r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_bestpractices_get","arguments":{"resource":"general","action":"code-generation"}}}"#,
    r#"{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"get_bestpractices_get","arguments":{"resource":"azurefunctions","action":"deployment"}}}"#,
    r#"{"jsonrpc":"2.0","id":4,"method":"tools/list"}"#,
    r#"{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"get_bestpractices_get","arguments":{"resource":"none","action":"at all"}}}"#,
];

pub(crate) struct Server {
    child: Child,
    port: u16,
    /// The header by which it knows its client.
    session: String,
}

impl Server {
    /// Starts a server, and waits for its first answer.
    pub(crate) fn start(command: &mut Command, job: &Job) -> Result<Self> {
        let url = job
            .environment
            .iter()
            .find(|(name, _)| *name == "ASPNETCORE_URLS");
        let port = url.and_then(|(_, url)| url.rsplit(':').next()?.parse().ok());
        let port = port.ok_or("the server has no port")?;
        let mut server = Self {
            child: command.spawn()?,
            port,
            session: String::new(),
        };
        let deadline = Instant::now() + PATIENCE;
        let head = loop {
            if let Some(head) = server.post(BEGIN) {
                break head;
            }
            if Instant::now() > deadline || server.child.try_wait()?.is_some() {
                return Err(job.fails(&"no server"));
            }
            thread::sleep(Duration::from_millis(20));
        };
        let session = head
            .lines()
            .find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id:"));
        server.session = format!("{}\r\n", session.ok_or("no session")?);
        Ok(server)
    }

    pub(crate) fn process(&self) -> u32 {
        self.child.id()
    }

    /// Asks a question, and returns the answer without its head.
    pub(crate) fn ask(&self, question: &str) -> Option<String> {
        let answer = self.post(question)?;
        let (_, body) = answer.split_once("\r\n\r\n")?;
        Some(body.to_owned())
    }

    /// Sends a request, and returns the answer.
    fn post(&self, body: &str) -> Option<String> {
        let mut connection = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        connection.set_read_timeout(Some(PATIENCE)).ok()?;
        let (length, session) = (body.len(), &self.session);
        let request = format!(
            "POST / HTTP/1.0\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, \
             text/event-stream\r\n{session}Content-Length: {length}\r\n\r\n{body}"
        );
        connection.write_all(request.as_bytes()).ok()?;
        let mut answer = String::new();
        connection.read_to_string(&mut answer).ok()?;
        answer.starts_with("HTTP/1.1 200 ").then_some(answer)
    }

    /// Has it end, as a terminal does.
    pub(crate) fn end(mut self, job: &Job) -> Result<()> {
        Command::new("kill")
            .args(["-TERM", &self.child.id().to_string()])
            .status()?;
        job.wait(&mut self.child)
    }
}

impl Drop for Server {
    /// None outlives a failure.
    fn drop(&mut self) {
        // It has ended, usually.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
