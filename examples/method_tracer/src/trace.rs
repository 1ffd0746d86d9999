//! The trace as Perfetto and Chrome read it: the "Trace Event Format", JSON.

use std::fmt::{self, Write};
use std::io;
use std::process;
use std::time::Instant;

use report::{Moment, Output};
use serde_json::{Value, json};

use crate::otlp::Sent;
use crate::spans::{self, Outcome, Span};
use crate::summary;

/// How many spans that are under way are shown.
const OPEN: usize = 1_000;
/// So many bytes of events are not kept for later.
const FULL: usize = 4 << 20;

/// A file is written for a tenth of the time at most.
const SHARE: u32 = 10;

/// The file, which is whole whenever it was written: new events go where its end was.
#[derive(Debug)]
pub(crate) struct Trace {
    output: Output,
    /// Where the events end.
    end: u64,
    /// Events that were not written yet.
    new: String,
    /// How many spans had begun when the file was written.
    seen: u64,
    names: Names,
    not_before: Instant,
}

impl Trace {
    pub(crate) fn new(output: Output) -> Self {
        let name = std::env::args().next().unwrap_or_default();
        let process = json!({
            "ph": "M", "name": "process_name", "pid": process::id(), "args": { "name": name },
        });
        Self {
            output,
            end: 0,
            new: format!("{{\"displayTimeUnit\": \"ms\", \"traceEvents\": [\n{process}"),
            seen: u64::MAX,
            names: Names::default(),
            not_before: Instant::now(),
        }
    }

    /// Adds spans that have ended, and says whether the file was written.
    pub(crate) fn write(
        &mut self,
        ended: &[Span],
        moment: Moment,
        sent: Option<&Sent>,
    ) -> io::Result<bool> {
        for span in ended {
            add(&mut self.new, &mut self.names, span);
        }
        let begun = spans::begun();
        let began = Instant::now();
        let has_news = !self.new.is_empty() || begun != self.seen;
        let is_due = began >= self.not_before || self.new.len() > FULL;
        if moment == Moment::Meanwhile && !(has_news && is_due) {
            return Ok(false);
        }
        let new = self.new.len() as u64;
        let mut text = std::mem::take(&mut self.new);
        let is_file = self.output.is_replaceable();
        if is_file || moment == Moment::End {
            let open = spans::open(OPEN);
            let now = spans::now();
            for mut span in open {
                (span.end, span.is_later) = (now, true);
                add(&mut text, &mut self.names, &span);
            }
            let other = summary::json(sent);
            text += &format!("\n], \"otherData\": {other}}}\n");
        }
        match is_file {
            true => self.output.put(self.end, &text)?,
            false => self.output.append(&text)?,
        }
        self.end += new;
        self.seen = begun;
        self.not_before = Instant::now() + SHARE * began.elapsed();
        Ok(true)
    }
}

/// The texts of the names, which most of a trace consists of.
#[derive(Debug, Default)]
struct Names(Vec<String>);

impl Names {
    fn get(&mut self, method: u32) -> &str {
        let number = method as usize;
        while self.0.len() <= number {
            let name = spans::name(self.0.len() as u32);
            self.0.push(Value::from(name).to_string());
        }
        &self.0[number]
    }
}

/// Adds the events of a span. A call is one event on its thread; one that ended with a task, which
/// threads did not see, is a pair on a line of its own.
fn add(text: &mut String, names: &mut Names, span: &Span) {
    let common = format!(
        "\"name\": {}, \"pid\": {}, \"tid\": {}",
        names.get(span.method),
        process::id(),
        span.thread
    );
    let [start, end, took] = [span.start, span.end, span.end - span.start].map(Microseconds);
    let arguments = arguments(span);
    // Writing to a string cannot fail.
    let _ = if span.is_later {
        let common = format!("{common}, \"cat\": \"async\", \"id\": \"{:#x}\"", span.id);
        write!(
            text,
            ",\n{{\"ph\": \"b\", \"ts\": {start}, {common}, \"args\": {{{arguments}}}}},\n\
             {{\"ph\": \"e\", \"ts\": {end}, {common}}}"
        )
    } else {
        write!(
            text,
            ",\n{{\"ph\": \"X\", \"ts\": {start}, \"dur\": {took}, {common}, \"cat\": \"call\", \
             \"args\": {{{arguments}}}}}"
        )
    };
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
