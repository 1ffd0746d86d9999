//! The formats of stacks, each read by a reader that others have written.

use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use clr_profiler_test::{Archive, Fetcher, Index, Pinned, Platform};
use clr_profiler_tests::{Folder, profilee, runtimes};

use crate::command::{clr_on, sample, stderr, stdout, text};

const SEVENTY: &str = "Spins.Program+Hot<int>.Seventy()";

/// Datadog's reader of pprof.
const PPROF_FORMAT: Pinned = Pinned {
    name: "pprof-format 2.3.2",
    version: "2.3.2",
    index: Index::Npm,
    package: "pprof-format",
    package_version: "2.3.2",
    licence: "MIT",
    archives: &[Archive {
        platform: Platform::Any,
        tag: "any",
        file: "pprof-format-2.3.2.tgz",
        sha256: "209b123f810b084accdcdbba2e2304469a7161250f28974d194c226aeb94026c",
        size: 359_606,
        executable: "package/dist/commonjs/index.js",
    }],
};

/// The Firefox Profiler without its pages.
const PROFILER_CLI: Pinned = Pinned {
    name: "profiler-cli 0.10.0",
    version: "0.10.0",
    index: Index::Npm,
    package: "@firefox-devtools/profiler-cli",
    package_version: "0.10.0",
    licence: "MPL-2.0",
    archives: &[Archive {
        platform: Platform::Any,
        tag: "any",
        file: "firefox-devtools-profiler-cli-0.10.0.tgz",
        sha256: "41a25d3ef0c1131f5286eb098489f2868d7b9a627424023fc6e7aff9a33f85e2",
        size: 419_907,
        executable: "package/dist/profiler-cli.js",
    }],
};

/// The package of speedscope, for the schema of its files.
const SPEEDSCOPE: Pinned = Pinned {
    name: "speedscope 1.25.0",
    version: "1.25.0",
    index: Index::Npm,
    package: "speedscope",
    package_version: "1.25.0",
    licence: "MIT",
    archives: &[Archive {
        platform: Platform::Any,
        tag: "any",
        file: "speedscope-1.25.0.tgz",
        sha256: "2831f1e0d26df914b477e522d78b8485511495a6af81a0b88158f8b48f9e0d03",
        size: 282_655,
        executable: "package/dist/release/file-format-schema.json",
    }],
};

/// A validator of JSON schemas.
const JSON_SCHEMA: Pinned = Pinned {
    name: "json-schema 4.1.6",
    version: "4.1.6",
    index: Index::Npm,
    package: "@cfworker/json-schema",
    package_version: "4.1.6",
    licence: "MIT",
    archives: &[Archive {
        platform: Platform::Any,
        tag: "any",
        file: "cfworker-json-schema-4.1.6.tgz",
        sha256: "816fd637a08f4ea48b17850ed1a91bc888100db893539c53237af9cb274886f5",
        size: 61_306,
        executable: "package/dist/commonjs/index.js",
    }],
};

fn fetched(pinned: &Pinned) -> PathBuf {
    Fetcher::from_env().unwrap().fetch(pinned).unwrap()
}

/// Profiles a program that uses time in known shares.
fn profiled(folder: &Folder, verb: &[&str], file: &str) -> PathBuf {
    let runtime = runtimes()[0];
    let output = folder.path(file);
    let words = [verb, &["-o", output.to_str().unwrap()]].concat();
    let run = clr_on(runtime, &words, &profilee("Spins"), &["2", "960"]).output();
    let run = run.unwrap();
    let told = stderr(&run);
    assert!(run.status.success() && told.contains(": wrote `"), "{told}");
    output
}

/// The readers are programs of node, which Wine has not. The formats are the same everywhere.
pub(crate) fn has_node() -> bool {
    let has_node = Command::new("node").arg("--version").output().is_ok();
    assert!(has_node || cfg!(windows), "there is node, as there is npm");
    if !has_node {
        eprintln!("NOT TESTED: there is no node, whose programs would read the file");
    }
    has_node
}

fn script(script: &str, arguments: &[&Path]) -> String {
    let mut node = Command::new("node");
    let ran = node.arg("-e").arg(script).args(arguments).output();
    let ran = ran.expect("there is node, as there is npm");
    assert!(ran.status.success(), "{}", stderr(&ran));
    stdout(&ran)
}

/// A file of pprof as lines, by another library: the types of values, and for each sample its last value and its frames,
/// innermost first.
pub(crate) fn pprof(file: &Path) -> String {
    script(
        r#"
        const [reader, file] = process.argv.slice(1);
        const {Profile} = require(reader);
        const bytes = require("zlib").gunzipSync(require("fs").readFileSync(file));
        const profile = Profile.decode(bytes);
        const text = number => profile.stringTable.strings[Number(number)];
        const byId = list => new Map(list.map(item => [Number(item.id), item]));
        const [locations, functions] = [byId(profile.location), byId(profile.function)];
        console.log("types " + profile.sampleType.map(type => text(type.type) + "/" + text(type.unit)).join(" "));
        for (const sample of profile.sample) {
            const frames = sample.locationId.map(id => {
                const [line] = locations.get(Number(id)).line;
                const of = functions.get(Number(line.functionId));
                return text(of.name) + " " + text(of.filename) + ":" + line.line;
            });
            console.log(sample.value.at(-1) + " " + frames.join(" < "));
        }
        "#,
        &[&fetched(&PPROF_FORMAT), file],
    )
}

#[test]
fn pprof_by_another_library() {
    if !has_node() {
        return;
    }
    let folder = Folder::new();
    let file = profiled(&folder, &["cpu", "--lines"], "cpu.pb.gz");
    let text = pprof(&file);
    let mut lines = text.lines();
    assert_eq!(lines.next(), Some("types samples/count cpu/nanoseconds"));
    let (mut all, mut seventy) = (0, 0);
    for line in lines {
        let (time, stack) = line.split_once(' ').unwrap();
        let time: u64 = time.parse().unwrap();
        all += time;
        if stack.starts_with(SEVENTY) {
            seventy += time;
            assert!(stack.contains("Spins.cs:"), "{line}");
        }
    }
    assert!(
        seventy * 10 > all * 5 && all > 0,
        "{seventy} of {all}: {text}"
    );
}

/// The spans of a trace: by number their methods and traces.
fn spans(trace: &str) -> HashMap<u64, (String, u64)> {
    let trace: Value = serde_json::from_str(trace).unwrap();
    let events = trace["traceEvents"].as_array().unwrap();
    let spans = events.iter().filter_map(|event| {
        let about = &event["args"];
        let name = event["name"].as_str()?.to_owned();
        Some((about["span"].as_u64()?, (name, about["trace"].as_u64()?)))
    });
    spans.collect()
}

/// The samples of a profile: the last value, the ids of the trace and of the span, and the frames, innermost first.
fn labelled(profile: &Path) -> String {
    script(
        r#"
        const [reader, file] = process.argv.slice(1);
        const {Profile} = require(reader);
        const profile = Profile.decode(require("zlib").gunzipSync(require("fs").readFileSync(file)));
        const text = number => profile.stringTable.strings[Number(number)];
        const byId = list => new Map(list.map(item => [Number(item.id), item]));
        const [locations, functions] = [byId(profile.location), byId(profile.function)];
        for (const sample of profile.sample) {
            const frames = sample.locationId.map(id => {
                const [line] = locations.get(Number(id)).line;
                return text(functions.get(Number(line.functionId)).name);
            });
            const labels = Object.fromEntries(sample.label.map(label => [text(label.key), text(label.str)]));
            console.log([sample.value.at(-1), labels.trace_id ?? "", labels.span_id ?? "", ...frames].join("\t"));
        }
        "#,
        &[&fetched(&PPROF_FORMAT), profile],
    )
}

/// The runtime's own tracing reports these on their threads, from .NET 5 on.
#[test]
fn events_next_to_a_trace_have_their_spans() {
    if !has_node() {
        return;
    }
    // The option, the program with its argument, its code, a traced method, and the least part of the values in its spans.
    let mut kinds = vec![
        ("locks", ("Contends", ""), 7, "WaitFor", 1.0),
        ("alloc", ("Estimates", "2000"), 7, "", 0.9),
        ("exceptions", ("Throws", ""), 4, "", 0.9),
        ("gc", ("Triggers", ""), 7, "By", 1.0),
    ];
    // The sampler reads the span of a thread that waits, which no signal interrupts.
    if cfg!(all(target_os = "linux", target_arch = "x86_64")) {
        kinds.push(("wall", ("Contends", ""), 7, "WaitFor", 0.9));
    }
    for runtime in runtimes() {
        for (kind, (program, argument), code, method, least) in kinds.clone() {
            if runtime.major == 3 && kind != "wall" {
                continue;
            }
            let folder = Folder::new();
            let [trace, profile] = ["trace.json", "profile.pb.gz"].map(|name| folder.path(name));
            let option = format!("--{kind}-profile");
            let words = [
                "trace",
                "--methods",
                &format!("{program}.Program.*"),
                "--budget",
                "100",
                &option,
                profile.to_str().unwrap(),
                "-o",
                trace.to_str().unwrap(),
            ];
            let arguments: Vec<&str> = [argument].into_iter().filter(|it| !it.is_empty()).collect();
            let run = clr_on(runtime, &words, &profilee(program), &arguments).output();
            let run = run.unwrap();
            let told = stderr(&run);
            assert_eq!(run.status.code(), Some(code), "{told}");
            assert!(told.contains(" in spans"), "{told}");
            let spans = spans(&fs::read_to_string(&trace).unwrap());
            let text = labelled(&profile);
            let (mut all, mut own) = (0, 0);
            for line in text.lines() {
                let fields: Vec<&str> = line.split('\t').collect();
                let value: u64 = fields[0].parse().unwrap();
                let name = format!("{program}.Program.{method}");
                if !fields[3..].iter().any(|frame| frame.starts_with(&name)) {
                    continue;
                }
                all += value;
                if fields[2].is_empty() {
                    continue;
                }
                let number = |field: usize| u64::from_str_radix(fields[field], 16).unwrap();
                let span = spans.get(&number(2)).expect(line);
                assert_eq!(span.1, number(1), "{line}");
                own += if span.0.contains(method) { value } else { 0 };
            }
            println!("on {}, {kind}: {own} of {all}", runtime.name);
            assert!(
                all > 0 && own as f64 >= all as f64 * least,
                "{own} of {all}: {text}"
            );
        }
    }
}

/// The handler of a timer reads the innermost span where it interrupts a thread.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn samples_next_to_a_trace_have_their_spans() {
    if !has_node() {
        return;
    }
    for runtime in runtimes() {
        let folder = Folder::new();
        let [trace, profile] = ["trace.json", "cpu.pb.gz"].map(|name| folder.path(name));
        let words = [
            "trace",
            "--methods",
            "Spins.Program+Hot*.Seventy; Spins.Program.Ten; Spins.Program.Spin",
            "--budget",
            "100",
            "--cpu-profile",
            profile.to_str().unwrap(),
            "-o",
            trace.to_str().unwrap(),
        ];
        let run = clr_on(runtime, &words, &profilee("Spins"), &["2", "960"]).output();
        let told = stderr(&run.unwrap());
        assert!(told.contains(" % of it in spans"), "{told}");
        let spans = spans(&fs::read_to_string(&trace).unwrap());
        let text = labelled(&profile);
        let (mut all, mut own, mut labelled) = (0, 0, 0);
        for line in text.lines() {
            let fields: Vec<&str> = line.split('\t').collect();
            let time: u64 = fields[0].parse().unwrap();
            let span = (!fields[2].is_empty()).then(|| {
                let number = |field: usize| u64::from_str_radix(fields[field], 16).unwrap();
                assert_eq!((fields[1].len(), fields[2].len()), (32, 16), "{line}");
                let span = spans.get(&number(2)).expect(line);
                assert_eq!(span.1, number(1), "{line}");
                &span.0
            });
            labelled += if span.is_some() { time } else { 0 };
            let traced = ["Seventy(", "Ten(", "Spin("];
            let is_traced = |frame: &&&str| traced.iter().any(|name| frame.contains(name));
            if let Some(method) = fields[3..].iter().find(is_traced) {
                all += time;
                let name = traced.iter().find(|name| method.contains(*name)).unwrap();
                own += if span.is_some_and(|span| span.contains(name)) {
                    time
                } else {
                    0
                };
            }
        }
        println!(
            "on {}: {own} of {all} in their own spans, {labelled} in spans",
            runtime.name
        );
        assert!(
            all > 300_000_000 && own * 100 >= all * 98,
            "{own} of {all}: {text}"
        );
    }
}

#[test]
fn pprof_by_go() {
    let folder = Folder::new();
    let go = |words: &[&str], file: &Path| {
        let mut go = Command::new("go");
        go.args(["tool", "pprof"]).args(words).arg(file);
        // Its own files.
        go.env("PPROF_TMPDIR", folder.path("")).output()
    };
    if Command::new("go").arg("version").output().is_err() {
        eprintln!("NOT TESTED: there is no go, whose pprof would read the file");
        return;
    }
    let file = profiled(&folder, &["cpu", "--lines"], "cpu.pprof");
    let top = stdout(&go(&["-top"], &file).unwrap());
    assert!(top.contains("Type: cpu") && top.contains(SEVENTY), "{top}");
    let lines = stdout(&go(&["-top", "-lines"], &file).unwrap());
    assert!(lines.contains("Spins.cs:"), "{lines}");
    // As an option, whatever the name is.
    let file = profiled(&folder, &["alloc", "--format", "pprof"], "allocated");
    let top = stdout(&go(&["-top", "-sample_index=alloc_objects"], &file).unwrap());
    assert!(top.contains("Type: alloc_objects"), "{top}");
    assert!(top.contains("System.Threading.Thread"), "{top}");
}

/// The facts about a file for the Firefox Profiler, and the functions of its threads, by the profiler's own command.
pub(crate) fn firefox(folder: &Folder, file: &Path) -> (String, String) {
    let command = fetched(&PROFILER_CLI);
    let ask = |words: &[&str]| {
        let mut node = Command::new("node");
        node.arg(&command).args(words);
        node.env("PROFILER_CLI_SESSION_DIR", folder.path("sessions"));
        let answer = node.output().expect("there is node, as there is npm");
        stdout(&answer) + &stderr(&answer)
    };
    // On a busy machine, its process takes longer to start than it waits for it.
    let mut loaded = String::new();
    for _ in 0..10 {
        loaded = ask(&["load", file.to_str().unwrap()]);
        if !loaded.contains("did not become ready") {
            break;
        }
    }
    let info = ask(&["profile", "info", "--all"]);
    let threads = info.lines().filter_map(|line| {
        let (handle, _) = line.trim().split_once(": ")?;
        handle.starts_with("t-").then_some(handle)
    });
    // Under an emulator the start of the runtime takes more time than the threads of the program.
    let functions = threads.map(|thread| ask(&["thread", "functions", "--thread", thread]));
    let functions: String = functions.collect();
    ask(&["stop", "--all"]);
    (loaded + &info, functions)
}

#[test]
fn firefox_by_its_own_command() {
    if !has_node() {
        return;
    }
    let folder = Folder::new();
    let file = profiled(&folder, &["cpu"], "cpu.firefox.json");
    let (info, functions) = firefox(&folder, &file);
    assert!(info.contains("Processor time"), "{info}");
    assert!(functions.contains(SEVENTY), "{info} {functions}");
}

/// Whether a file has speedscope's schema, and whether it has with another unit.
pub(crate) fn speedscope(file: &Path) -> String {
    script(
        r#"
        const [validator, schema, file] = process.argv.slice(1);
        const {Validator} = require(validator);
        const read = path => JSON.parse(require("fs").readFileSync(path));
        const of = data => new Validator(read(schema), "7").validate(data);
        const data = read(file);
        console.log(JSON.stringify(of(data)));
        data.profiles[0].unit = "hours";
        console.log(JSON.stringify(of(data).valid));
        "#,
        &[&fetched(&JSON_SCHEMA), &fetched(&SPEEDSCOPE), file],
    )
}

#[test]
fn speedscope_by_its_schema() {
    if !has_node() {
        return;
    }
    let folder = Folder::new();
    let file = profiled(&folder, &["cpu", "--lines"], "cpu.json");
    let text = speedscope(&file);
    assert_eq!(text, "{\"valid\":true,\"errors\":[]}\nfalse\n");
}

#[test]
fn exceptions_are_stacks_with_their_types() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let output = folder.path("exceptions.folded");
        let words = ["exceptions", "-o", output.to_str().unwrap()];
        let run = clr_on(runtime, &words, &sample(), &[]).output().unwrap();
        let told = stderr(&run);
        assert!(told.contains("each line is a stack"), "{told}");
        let text = text(&folder, "exceptions.folded");
        assert!(text.contains("Shop.Program.Main(string[]);"), "{text}");
        for line in text.lines() {
            let (stack, count) = line.rsplit_once(' ').unwrap();
            assert!(
                stack.ends_with("Exception") && count.parse::<u64>().is_ok(),
                "{line}"
            );
        }
    }
}
