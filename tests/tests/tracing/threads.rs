//! Threads have their names in the trace.

use std::fs;

use clr_profiler_tests::{Finished, Folder, profilee, runtimes};
use serde_json::Value;

use super::trace::EXAMPLE;

#[test]
fn threads_have_their_names() {
    for runtime in runtimes() {
        println!("on {}", runtime.name);
        let folder = Folder::new();
        let file = folder.path("trace.json");
        let patterns = "ThreadNames.**; generated ThreadNames.**";
        let methods = ["--budget", "100", "--methods", patterns];
        let options = [&methods[..], &["--output", file.to_str().unwrap()]].concat();
        let program = profilee("ThreadNames");
        let plain = Finished::of(EXAMPLE.plain(runtime, &program, &[]));
        let finished = Finished::of(EXAMPLE.command(runtime, &options, &program, &[]));
        assert_eq!(finished.output(), plain.output());
        let trace: Value = serde_json::from_str(&fs::read_to_string(&file).unwrap()).unwrap();
        let events = trace["traceEvents"].as_array().unwrap();
        let name_of = |thread: &Value| {
            let mut names = events.iter().filter(|event| event["name"] == "thread_name");
            let name = names.rfind(|event| event["tid"] == *thread);
            name.map(|event| event["args"]["name"].as_str().unwrap().to_owned())
        };
        // Each thread runs one call of the lambda.
        let lambdas = events
            .iter()
            .filter(|event| event["ph"] == "X" && event["name"].as_str().unwrap().contains("b__"));
        let names: Vec<_> = lambdas.map(|event| name_of(&event["tid"])).collect();
        let long = "x".repeat(256);
        let expected = ["plain", "ä ß", "\u{1D11E}", "with\nlines", &long];
        assert_eq!(names, expected.map(|name| Some(name.to_owned())));
        let main = events
            .iter()
            .find(|event| event["ph"] == "X" && event["name"].as_str().unwrap().contains("Main("));
        assert_eq!(name_of(&main.unwrap()["tid"]).as_deref(), Some("main"));
    }
}
