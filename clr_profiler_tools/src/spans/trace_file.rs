//! The trace in the format of Perfetto and Chrome: the "Trace Event Format", JSON.

use std::fmt;
use std::io;
use std::path::PathBuf;
use std::process;
use std::time::Instant;

use serde_json::{Value, json};

use super::store::{Outcome, Span, Spans};
use crate::report::{EventFile, Moment, failures};

/// The limit for open spans in the file.
const OPEN: usize = 1_000;
/// The limit for events that are kept for later.
const MANY: usize = 10_000;

/// Writing takes at most a tenth of the time.
const SHARE: u32 = 10;

/// A file of spans for Perfetto and Chrome, which is complete at any moment.
///
/// A call is an event on its thread; one that ended with a task has a track of its own. Threads have their names. It has the open
/// calls, and an object of the tool with the name `otherData`, when the program ends, or gets a signal that ends most programs.
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
    /// Events that were not written yet, a string for each span.
    new: Vec<String>,
    /// The same for names of threads.
    threads: Vec<String>,
    /// The number of spans beyond the file's limit.
    left_out: u64,
    /// How many of them are counted as failures.
    told: u64,
    limit: u64,
    names: Names,
    not_before: Instant,
}

impl TraceFile {
    /// Creates the file, which takes no more spans beyond `limit` bytes. If another process has it that is alive, the
    /// name gets the number of this process.
    ///
    /// # Errors
    ///
    /// It cannot be written.
    pub fn create(path: PathBuf, limit: u64) -> io::Result<Self> {
        let name = std::env::args().next().unwrap_or_default();
        let process = json!({
            "ph": "M", "name": "process_name", "pid": process::id(), "args": { "name": name },
        });
        let head = format!("\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n{process}");
        Ok(Self {
            file: EventFile::create(path, &head, limit)?,
            new: Vec::new(),
            threads: Vec::new(),
            left_out: 0,
            told: 0,
            limit,
            names: Names::default(),
            not_before: Instant::now(),
        })
    }

    /// Adds ended spans, and returns whether the file was written: writing takes at most a tenth of the time.
    ///
    /// `other` is asked for `otherData` when the file is complete; it has to return an object, which gets the number of spans
    /// that are `left_out`.
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
                let threads = spans.take_thread_names().into_iter();
                self.threads
                    .extend(threads.map(|(thread, name)| thread_name(thread, &name)));
                let names = &mut self.names;
                let events = ended.iter().map(|span| event(spans, names, span));
                self.new.extend(events);
            }
            false => self.left_out += ended.len() as u64,
        }
        let began = Instant::now();
        let is_due = began >= self.not_before || self.new.len() > MANY;
        if moment == Moment::Meanwhile && (self.new.is_empty() || !is_due) {
            return Ok(false);
        }
        let count = self.new.len();
        let mut new = std::mem::take(&mut self.threads);
        new.append(&mut self.new);
        let added = self.file.add(&new);
        let left = new.len() - *added.as_ref().unwrap_or(&0);
        self.left_out += left.min(count) as u64;
        if moment != Moment::Meanwhile {
            self.finish(spans, moment, other)?;
        }
        self.not_before = Instant::now() + SHARE * began.elapsed();
        added.map(|_| true)
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
        let open: Vec<String> = open.collect();
        let mut other = other();
        if let Some(other) = other.as_object_mut() {
            other.insert("left_out".to_owned(), self.left_out.into());
        }
        if self.file.is_full() {
            let megabytes = self.limit >> 20;
            failures::add_many(
                "calls are not in the trace",
                self.left_out - std::mem::replace(&mut self.told, self.left_out),
                format_args!("it has its {megabytes} MB; `--limit` sets another limit"),
            );
        }
        self.file.finish(&open, &format!("\"otherData\": {other}"))
    }
}

/// The event that names a thread; the last one for it counts.
fn thread_name(thread: u32, name: &str) -> String {
    let event = json!({
        "ph": "M", "name": "thread_name", "pid": process::id(), "tid": thread, "args": { "name": name },
    });
    event.to_string()
}

/// The JSON of the names, which most of a trace consists of.
#[derive(Debug, Default)]
struct Names(Vec<String>);

impl Names {
    fn get(&mut self, spans: &Spans, method: u32) -> &str {
        let number = method as usize;
        while self.0.len() <= number {
            let name = spans.name(self.0.len() as u32);
            self.0.push(Value::from(name).to_string());
        }
        &self.0[number]
    }
}

/// The events of a span. A call is one event on its thread; one that ended with a task,
/// or could wait without returning, is a pair on a track of its own.
fn event(spans: &Spans, names: &mut Names, span: &Span) -> String {
    let common = format!(
        "\"name\": {}, \"pid\": {}, \"tid\": {}",
        names.get(spans, span.method),
        process::id(),
        span.thread
    );
    let [start, end, took] = [span.start, span.end, span.end - span.start].map(Microseconds);
    let arguments = arguments(span);
    if span.is_later {
        let common = format!("{common}, \"cat\": \"async\", \"id\": \"{:#x}\"", span.id);
        format!(
            "{{\"ph\": \"b\", \"ts\": {start}, {common}, \"args\": {{{arguments}}}}},\n\
             {{\"ph\": \"e\", \"ts\": {end}, {common}}}"
        )
    } else {
        format!(
            "{{\"ph\": \"X\", \"ts\": {start}, \"dur\": {took}, {common}, \"cat\": \"call\", \
             \"args\": {{{arguments}}}}}"
        )
    }
}

fn arguments(span: &Span) -> String {
    let Span {
        id, parent, trace, ..
    } = span;
    let mut text = format!("\"span\": {id}, \"parent\": {parent}, \"trace\": {trace}");
    match &span.outcome {
        Outcome::Open => text += ", \"unfinished\": true",
        Outcome::Returned => {}
        Outcome::Threw(what) => {
            text += &format!(
                ", \"exception\": {}",
                Value::from(what.replacen('\n', ": ", 1))
            );
        }
        Outcome::Cancelled => text += ", \"cancelled\": true",
    }
    if !span.arguments.is_empty() {
        let lines: Value = span.arguments.lines().collect();
        text += &format!(", \"arguments\": {lines}");
    }
    text
}

/// Nanoseconds in the format's unit.
struct Microseconds(u64);

impl fmt::Display for Microseconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{:03}", self.0 / 1000, self.0 % 1000)
    }
}
