//! An ASP.NET Core server that others have written has faults from a file: `azmcp`, a package of npm, which the tests pin by version and
//! hash. It answers requests of the Model Context Protocol by HTTP; nothing that is asked here needs an account.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use clr_profiler_tests::{Finished, Folder, Pinned, Runtime, Scenario, Started, runtimes_where};

use crate::faulty_server::FaultyServer;

const CALLS: usize = 300;
const COMMAND: &str = "Azure.Mcp.Tools.AzureBestPractices.Commands.BestPracticesCommand";
const PATIENCE: Duration = Duration::from_secs(120);

/// The lines of the file of faults.
fn faults() -> [String; 3] {
    [
        format!("throw System.TimeoutException \"no answer\" in 5 % of {COMMAND}.GetResourceFileName"),
        format!("return \"no practices\" in 5 % of {COMMAND}.GetBestPracticesText"),
        format!("delay 20 ms in 5 % of {COMMAND}.Validate"),
    ]
}

/// A server, and the port at which it listens.
struct Server {
    program: Started,
    port: u16,
    session: String,
}

/// Sends a request, and returns the header lines and the body of the answer.
fn post(port: u16, session: &str, body: &str) -> Option<(String, String)> {
    let mut connection = TcpStream::connect(("127.0.0.1", port)).ok()?;
    connection.set_read_timeout(Some(PATIENCE)).unwrap();
    let length = body.len();
    // The older version has no parts of an answer with sizes of their own.
    let request = format!(
        "POST / HTTP/1.0\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nAccept: application/json, \
         text/event-stream\r\n{session}Content-Length: {length}\r\n\r\n{body}"
    );
    connection.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    connection.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n")?;
    Some((head.to_owned(), body.to_owned()))
}

impl Server {
    fn start(scenario: &Scenario, runtime: &Runtime, home: &Folder) -> Self {
        // Free a moment ago.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let scenario = scenario
            .clone()
            .env("ASPNETCORE_URLS", &format!("http://127.0.0.1:{port}"))
            .env("HOME", &home.path("").display().to_string())
            .env("AZURE_MCP_INCLUDE_PRODUCTION_CREDENTIALS", "true")
            .env("AZURE_MCP_COLLECT_TELEMETRY", "false");
        let program = scenario.start(runtime);
        let begin = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
        let deadline = Instant::now() + PATIENCE;
        let head = loop {
            if let Some((head, _)) = post(port, "", begin) {
                break head;
            }
            assert!(Instant::now() < deadline, "no server: {}", program.log());
            sleep(Duration::from_millis(50));
        };
        let session = head.lines().find(|line| line.to_ascii_lowercase().starts_with("mcp-session-id:"));
        let session = format!("{}\r\n", session.unwrap_or_else(|| panic!("no session: {head}")));
        Self { program, port, session }
    }

    /// The answers to one question, asked so many times, without the time that each has taken.
    fn asked(&self) -> Vec<String> {
        let question = r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"get_bestpractices_get","arguments":{"resource":"general","action":"code-generation"}}}"#;
        let answers = (0..CALLS).map(|_| {
            let (head, body) = post(self.port, &self.session, question).expect("the server listens");
            assert!(head.starts_with("HTTP/1.1 200 "), "{head}");
            match body.split_once(r"\u0022duration\u0022") {
                Some((before, _)) => before.to_owned(),
                None => body,
            }
        });
        answers.collect()
    }

    /// Tells it to stop, as a service manager does.
    fn stop(self) -> Finished {
        let id = self.program.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
        self.program.finish()
    }
}

/// The faults and calls that the profiler has counted, by line.
fn counted(finished: &Finished) -> [[usize; 2]; 3] {
    faults().map(|line| {
        let counts = finished.log.lines().find_map(|logged| {
            let counts = logged.strip_suffix(&format!(": {line}"))?;
            let (faults, calls) = counts.split_once(" of ")?;
            Some([faults.parse().ok()?, calls.parse().ok()?])
        });
        counts.unwrap_or_else(|| panic!("{line} {}", finished.log))
    })
}

#[test]
fn clients_of_a_server_from_a_registry_get_the_faults_of_a_file() {
    // Earlier versions of the program have no server for HTTP.
    let chosen = runtimes_where(|runtime| runtime.name == Pinned::NET_9.name);
    let Some((runtime, program)) = chosen
        .first()
        .and_then(|runtime| Some((*runtime, runtime.application()?)))
    else {
        println!("SKIPPED: the program is missing");
        return;
    };
    let arguments = ["server", "start", "--transport", "http", "--enable-insecure-transports"];
    let tools = ["--mode", "all", "--namespace", "get_bestpractices"];
    let plain = Scenario::at(program.to_owned()).args(&arguments).args(&tools);
    let folder = Folder::new();
    let server = Server::start(&plain, runtime, &folder);
    let answers = server.asked();
    server.stop();
    let right = answers[0].clone();
    assert!(right.contains("Azure"), "{right}");
    assert!(answers.iter().all(|answer| *answer == right), "{answers:?}");

    let mut by_seed = Vec::new();
    for seed in [7, 7, 8] {
        let file = folder.path("faults");
        fs::write(&file, format!("seed {seed}\n{}\n", faults().join("\n"))).unwrap();
        let scenario = plain
            .clone()
            .profiled_by::<FaultyServer>()
            .env("FAULTS", &file.display().to_string());
        let server = Server::start(&scenario, runtime, &folder);
        let answers = server.asked();
        let finished = server.stop();
        let [[thrown, questions], [returned, texts], [delayed, checks]] = counted(&finished);
        assert_eq!(questions, CALLS, "{}", finished.log);
        // A question that has no name of a file has no text.
        assert_eq!(texts, CALLS - thrown, "{}", finished.log);
        assert!(checks >= CALLS, "{}", finished.log);
        let with = |part: &str| answers.iter().filter(|answer| answer.contains(part)).count();
        assert_eq!(with("no answer"), thrown, "{}", finished.log);
        assert_eq!(with("no practices"), returned, "{}", finished.log);
        let unchanged = answers.iter().filter(|answer| **answer == right).count();
        assert_eq!(unchanged, CALLS - thrown - returned, "{}", finished.log);
        for count in [thrown, returned, delayed] {
            assert!((4..=30).contains(&count), "{count} {}", finished.log);
        }
        by_seed.push((thrown, returned, answers));
    }
    // One client asks after the other, so the seed alone decides which answers are faulty.
    assert!(by_seed[0] == by_seed[1], "the same seed has other faults");
    assert!(by_seed[0] != by_seed[2], "another seed has the same faults");
}
