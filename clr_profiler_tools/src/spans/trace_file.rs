//! The trace in the format of Perfetto and Chrome: the "Trace Event Format", JSON.

use std::collections::{HashMap, VecDeque};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use super::store::{Outcome, Span, Spans};
use crate::conventions::{self, Details, Status};
use crate::report::{EventFile, Moment, failures};

/// The limit for open spans in the file.
const OPEN: usize = 1_000;
/// The limit for events that are kept for later.
const MANY: usize = 10_000;
/// The number of events that are written at once.
const SOME: usize = 1_000;
/// The bytes of an event before there is one.
const USUAL: u64 = 150;

/// Writing takes at most a tenth of the time, and few events wait for others: each write has a price of its own.
const SHARE: u32 = 10;
const PATIENCE: Duration = Duration::from_millis(200);
const FEW: usize = 1_000;

/// A file of spans for Perfetto and Chrome, which is complete at any moment.
///
/// A call is an event on its thread; one that ended with a task has a track of its own. Threads have their names. It has the open
/// calls, and an object of the tool with the name `otherData`, when the program ends, or gets a signal that ends most programs.
///
/// The trace consists of up to two files. When `trace.json` has half of the limit, it becomes `trace.1.json`, in place of an older
/// one, and another `trace.json` begins: together, they have the newest spans. Each is whole for a viewer.
///
/// ```no_run
/// use clr_profiler_tools::report::Moment;
/// use clr_profiler_tools::spans::{Spans, TraceFile};
/// use serde_json::json;
///
/// # fn main() -> std::io::Result<()> {
/// let spans = Spans::new();
/// let mut file = TraceFile::create("trace.json".into(), 64 << 20)?;
/// // Periodically, on a thread of the tool.
/// file.write(&spans, &spans.take(), Moment::Meanwhile, || json!({}))?;
/// // When the program ends.
/// file.write(&spans, &spans.take(), Moment::End, || json!({ "lost": spans.lost() }))?;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct TraceFile {
    file: EventFile,
    /// The name of the file with the spans before, and how many it has.
    older: PathBuf,
    in_older: u64,
    /// The number of spans in the file.
    in_file: u64,
    /// Events that were not written yet, with their threads.
    new: VecDeque<(u32, String)>,
    /// The number of all events so far, and their bytes.
    prepared: (u64, u64),
    /// The names of threads, and whether the file has them.
    threads: HashMap<u32, (String, bool)>,
    /// The number of spans that are in neither file.
    left_out: u64,
    /// How many of them are counted as failures.
    told: u64,
    limit: u64,
    names: Names,
    not_before: Instant,
    /// When it was last written.
    last: Instant,
}

impl TraceFile {
    /// Creates the file, which takes together with the older one no more than `limit` bytes of spans. If another process has
    /// it that is alive, the name gets the number of this process.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn create(path: PathBuf, limit: u64) -> io::Result<Self> {
        let file = begin(path, limit)?;
        Ok(Self {
            older: older(file.path()),
            file,
            in_older: 0,
            in_file: 0,
            new: VecDeque::new(),
            prepared: (0, 0),
            threads: HashMap::new(),
            left_out: 0,
            told: 0,
            limit,
            names: Names::default(),
            not_before: Instant::now(),
            last: Instant::now(),
        })
    }

    /// Adds ended spans, and returns whether the file was written: writing takes at most a tenth of the time.
    ///
    /// `other` is asked for `otherData` when the file is complete; it has to return an object, which gets the number of spans
    /// that are `left_out`, and the name of the `older` file if there is one.
    ///
    /// # Errors
    ///
    /// The file cannot be written.
    pub fn write(
        &mut self,
        spans: &Spans,
        ended: &[Span],
        moment: Moment,
        other: impl FnOnce() -> Value,
    ) -> io::Result<bool> {
        match self.file.takes_events() {
            true => {
                for (thread, name) in spans.take_thread_names() {
                    self.threads.insert(thread, (name, false));
                }
                self.prepare(spans, ended);
            }
            false => self.left_out += ended.len() as u64,
        }
        let began = Instant::now();
        let is_early = began < self.not_before;
        let is_waiting = self.new.len() < FEW && began < self.last + PATIENCE;
        let is_due = !(is_early || is_waiting) || self.new.len() > MANY;
        if moment == Moment::Meanwhile && (self.new.is_empty() || !is_due) {
            return Ok(false);
        }
        let added = self.add();
        if moment != Moment::Meanwhile {
            self.finish(spans, moment, other)?;
        }
        self.last = Instant::now();
        self.not_before = self.last + SHARE * began.elapsed();
        added.map(|()| true)
    }

    /// Prepares the events of spans. Of more than the files have room for, only those that ended last.
    fn prepare(&mut self, spans: &Spans, ended: &[Span]) {
        let mut ended: Vec<&Span> = ended.iter().collect();
        ended.sort_by_key(|span| span.end);
        let (events, bytes) = self.prepared;
        let most = self.limit.saturating_mul(events.max(1)) / bytes.max(USUAL);
        let skipped = ended.len().saturating_sub(most as usize + MANY / 10);
        if skipped > 0 && self.file.is_replaceable() {
            self.left_out += ended.drain(..skipped).count() as u64;
        }
        for span in ended {
            let event = event(spans, &mut self.names, span);
            self.prepared.0 += 1;
            self.prepared.1 += event.len() as u64;
            self.new.push_back((span.thread, event));
        }
    }

    /// Adds the new events, to further files if need be.
    fn add(&mut self) -> io::Result<()> {
        while !self.new.is_empty() {
            let some = self.new.len().min(SOME);
            let (numbers, mut events): (Vec<u32>, Vec<String>) = self.new.drain(..some).unzip();
            // The first event of a thread is preceded by its name.
            let mut named = Vec::new();
            for (at, (thread, event)) in numbers.iter().zip(&mut events).enumerate() {
                if let Some((name, is_there @ false)) = self.threads.get_mut(thread) {
                    *is_there = true;
                    let with_name = format!("{},\n{event}", thread_name(*thread, name));
                    named.push((at, std::mem::replace(event, with_name)));
                }
            }
            let added = self.file.add(&events);
            let count = *added.as_ref().unwrap_or(&0);
            self.in_file += count as u64;
            // The others are for the next file, which has no names yet.
            for (at, event) in named {
                events[at] = event;
            }
            let others = numbers.into_iter().zip(events).skip(count);
            for other in others.rev() {
                self.new.push_front(other);
            }
            let is_hopeless = count == 0 && self.in_file == 0;
            let result = match added {
                Ok(_) if self.file.is_full() && !is_hopeless => self.begin_another(),
                Ok(_) => Ok(()),
                Err(error) => Err(error),
            };
            if result.is_err() || !self.file.takes_events() {
                self.left_out += self.new.drain(..).count() as u64;
                return result;
            }
        }
        Ok(())
    }

    /// Completes the file, which becomes the older one, and begins another one.
    fn begin_another(&mut self) -> io::Result<()> {
        let path = self.file.path().to_owned();
        let newer = path.file_name().unwrap_or_default().to_string_lossy();
        let other = json!({ "newer": newer });
        self.file.finish(&[], &format!("\"otherData\": {other}"))?;
        fs::rename(&path, &self.older)?;
        self.left_out += std::mem::replace(&mut self.in_older, self.in_file);
        self.in_file = 0;
        for (_, is_there) in self.threads.values_mut() {
            *is_there = false;
        }
        self.file = begin(path, self.limit)?;
        Ok(())
    }

    fn finish(
        &mut self,
        spans: &Spans,
        moment: Moment,
        other: impl FnOnce() -> Value,
    ) -> io::Result<()> {
        // The program may continue after a signal: a pipe gets its end only once.
        if moment != Moment::End && !self.file.is_replaceable() {
            return Ok(());
        }
        let now = spans.now();
        let names = &mut self.names;
        let open = spans.open(OPEN).into_iter().map(|mut span| {
            (span.end, span.is_later) = (now, true);
            event(spans, names, &span)
        });
        let mut last: Vec<String> = open.collect();
        // Threads that were named after their last call, and those of open calls.
        let threads = self.threads.iter().filter(|(_, (_, is_there))| !is_there);
        last.extend(
            threads
                .take(OPEN)
                .map(|(thread, (name, _))| thread_name(*thread, name)),
        );
        let mut other = other();
        if let Some(other) = other.as_object_mut() {
            other.insert("left_out".to_owned(), self.left_out.into());
            if self.in_older > 0 {
                let older = self.older.file_name().unwrap_or_default().to_string_lossy();
                other.insert("older".to_owned(), older.into());
            }
        }
        if self.in_older > 0 || self.file.is_full() {
            let megabytes = self.limit >> 20;
            failures::add_many(
                "calls are not in the trace",
                self.left_out - std::mem::replace(&mut self.told, self.left_out),
                format_args!(
                    "it has its {megabytes} MB, and the oldest calls were dropped; `--max-size` sets another limit"
                ),
            );
        }
        self.file.finish(&last, &format!("\"otherData\": {other}"))
    }
}

/// A file of the trace.
fn begin(path: PathBuf, limit: u64) -> io::Result<EventFile> {
    let name = std::env::args().next().unwrap_or_default();
    let process = json!({
        "ph": "M", "name": "process_name", "pid": process::id(), "args": { "name": name },
    });
    let head = format!("\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n{process}");
    EventFile::create(path, &head, limit / 2)
}

/// The name with a number before its ending, by which viewers know the format: `trace.1.json`.
fn older(path: &Path) -> PathBuf {
    let mut name = path.file_stem().unwrap_or_default().to_owned();
    name.push(".1");
    if let Some(ending) = path.extension() {
        name.push(".");
        name.push(ending);
    }
    path.with_file_name(name)
}

/// The event that names a thread; the last one for it counts.
fn thread_name(thread: u32, name: &str) -> String {
    let event = json!({
        "ph": "M", "name": "thread_name", "pid": process::id(), "tid": thread, "args": { "name": name },
    });
    event.to_string()
}

/// The texts of which most of a trace consists: the names, and the number of the process.
#[derive(Debug)]
struct Names {
    names: Vec<String>,
    process: String,
}

impl Default for Names {
    fn default() -> Self {
        Self {
            names: Vec::new(),
            process: format!(", \"pid\": {}, \"tid\": ", process::id()),
        }
    }
}

impl Names {
    /// The JSON of a method's name.
    fn get(&mut self, spans: &Spans, method: u32) -> &str {
        let number = method as usize;
        while self.names.len() <= number {
            let name = spans.name(self.names.len() as u32);
            self.names.push(Value::from(name).to_string());
        }
        &self.names[number]
    }
}

/// The events of a span. A call is one event on its thread; one that ended with a task,
/// or could wait without returning, is a pair on a track of its own.
fn event(spans: &Spans, names: &mut Names, span: &Span) -> String {
    let mut text = String::with_capacity(USUAL as usize * 2);
    if span.is_later {
        begin_event(&mut text, "b", span.start);
        add_common(&mut text, spans, names, span);
        text += ", \"cat\": \"async\", \"id\": \"";
        text += &format!("{:#x}", span.id);
        text += "\", \"args\": {";
        add_arguments(&mut text, spans, span);
        text += "}},\n";
        begin_event(&mut text, "e", span.end);
        add_common(&mut text, spans, names, span);
        text += &format!(", \"cat\": \"async\", \"id\": \"{:#x}\"}}", span.id);
    } else {
        begin_event(&mut text, "X", span.start);
        text += ", \"dur\": ";
        add_microseconds(&mut text, span.end - span.start);
        add_common(&mut text, spans, names, span);
        text += ", \"cat\": \"call\", \"args\": {";
        add_arguments(&mut text, spans, span);
        text += "}}";
    }
    text
}

fn begin_event(text: &mut String, kind: &str, at: u64) {
    *text += "{\"ph\": \"";
    *text += kind;
    *text += "\", \"ts\": ";
    add_microseconds(text, at);
}

fn add_common(text: &mut String, spans: &Spans, names: &mut Names, span: &Span) {
    let details = span.details.as_deref();
    *text += ", \"name\": ";
    match details.and_then(|details| details.name.as_deref()) {
        Some(own) => *text += &Value::from(own).to_string(),
        None => *text += names.get(spans, span.method),
    }
    *text += &names.process;
    add_number(text, span.thread.into());
}

fn add_arguments(text: &mut String, spans: &Spans, span: &Span) {
    for (name, number) in [
        ("\"span\": ", span.id),
        (", \"parent\": ", span.parent),
        (", \"trace\": ", span.trace),
    ] {
        *text += name;
        add_number(text, number);
    }
    match &span.outcome {
        Outcome::Open => *text += ", \"unfinished\": true",
        Outcome::Returned => {}
        Outcome::Threw(what) => {
            *text += &format!(
                ", \"exception\": {}",
                Value::from(what.replacen('\n', ": ", 1))
            );
        }
        Outcome::Cancelled => *text += ", \"cancelled\": true",
    }
    if !span.arguments.is_empty() {
        let lines: Value = span.arguments.split('\n').collect();
        *text += &format!(", \"arguments\": {lines}");
    }
    if !span.result.is_empty() {
        *text += &format!(", \"result\": {}", Value::from(&*span.result));
    }
    if let Some(details) = &span.details {
        *text += &said(spans, span, details);
    }
}

/// Adds a number in a tenth of the time of `format!`: there are six in each event.
fn add_number(text: &mut String, mut number: u64) {
    let mut digits = [b'0'; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (number % 10) as u8;
        number /= 10;
        if number == 0 {
            break;
        }
    }
    text.extend(digits[at..].iter().map(|digit| char::from(*digit)));
}

/// Adds nanoseconds in the format's unit.
fn add_microseconds(text: &mut String, nanoseconds: u64) {
    add_number(text, nanoseconds / 1000);
    let rest = nanoseconds % 1000;
    text.push('.');
    for digit in [rest / 100, rest / 10 % 10, rest % 10] {
        text.push(char::from(b'0' + digit as u8));
    }
}

/// The things that a rule has a span say.
fn said(spans: &Spans, span: &Span, details: &Details) -> String {
    let attributes: Map<String, Value> = details
        .attributes
        .iter()
        .map(|(name, value)| (name.clone(), json_of(value)))
        .collect();
    let method = Value::from(spans.name(span.method));
    let mut text = format!(
        ", \"method\": {method}, \"kind\": \"{}\", \"attributes\": {}",
        details.kind,
        Value::from(attributes)
    );
    if let Some((code, description)) = &details.status {
        let code = match code {
            Status::Unset => "unset",
            Status::Ok => "ok",
            Status::Error => "error",
        };
        text += &format!(", \"status\": \"{code}\"");
        if !description.is_empty() {
            text += &format!(", \"description\": {}", Value::from(&**description));
        }
    }
    text
}

fn json_of(value: &conventions::Value) -> Value {
    match value {
        conventions::Value::Null => Value::Null,
        conventions::Value::Bool(is) => (*is).into(),
        conventions::Value::Int(number) => (*number).into(),
        conventions::Value::Float(number) => (*number).into(),
        conventions::Value::Text(text) | conventions::Value::Named(_, text) => Value::from(&**text),
        conventions::Value::List(all) => all.iter().map(json_of).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::output::tests::Folder;

    fn events(path: &Path) -> Vec<Value> {
        let all: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
        all["traceEvents"].as_array().unwrap().clone()
    }

    fn ids(path: &Path) -> Vec<u64> {
        let events = events(path);
        events
            .iter()
            .filter_map(|event| event["args"]["span"].as_u64())
            .collect()
    }

    #[test]
    fn the_newest_spans_are_in_two_files_within_the_limit() {
        let folder = Folder::new("rotation");
        let [path, older] = ["trace.json", "trace.1.json"].map(|name| folder.0.join(name));
        let spans = Spans::new();
        spans.name_thread("worker");
        let method = spans.number("A.B()").unwrap();
        let mut file = TraceFile::create(path.clone(), 64 << 10).unwrap();
        let mut write = |count: u64, moment| {
            for _ in 0..count {
                let id = spans.begin(method, 0, 0, String::new());
                spans.end(id, Outcome::Returned, false);
            }
            file.write(&spans, &spans.take(), moment, || json!({}))
                .unwrap();
            file.left_out
        };
        assert_eq!(write(100, Moment::End), 0);
        assert!(!older.exists());
        let mut all = 100;
        for _ in 0..20 {
            let left_out = write(60, Moment::End);
            all += 60;
            let mut found = ids(&path);
            if older.exists() {
                found.splice(0..0, ids(&older));
            }
            // No span is missing between the oldest and the newest.
            let first = all - found.len() as u64;
            assert_eq!(left_out, first);
            assert!(
                found.windows(2).all(|two| two[1] == two[0] + 1),
                "{found:?}"
            );
        }
        for path in [&path, &older] {
            assert!(fs::metadata(path).unwrap().len() < 34 << 10);
            let is_named = |event: &Value| event["args"]["name"] == "worker";
            assert_eq!(
                events(path).iter().filter(|event| is_named(event)).count(),
                1
            );
        }
        // Many at once, more than two files have.
        write(2000, Moment::End);
        let newest = ids(&path);
        assert!(!newest.is_empty() && ids(&older).len() > 100);
        assert_eq!(fs::read_dir(&folder.0).unwrap().count(), 2);
    }

    #[test]
    fn a_call_that_is_larger_than_a_file_is_left_out() {
        let folder = Folder::new("large");
        let path = folder.0.join("trace");
        let spans = Spans::new();
        let method = spans.number("A.B()").unwrap();
        let mut file = TraceFile::create(path.clone(), 4 << 10).unwrap();
        let id = spans.begin(method, 0, 0, "x".repeat(9000));
        spans.end(id, Outcome::Returned, false);
        file.write(&spans, &spans.take(), Moment::End, || json!({}))
            .unwrap();
        assert_eq!((ids(&path).len(), file.left_out), (0, 1));
        assert_eq!(older(&path), folder.0.join("trace.1"));
    }
}
