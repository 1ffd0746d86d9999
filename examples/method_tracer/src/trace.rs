//! The trace as Perfetto and Chrome read it: the "Trace Event Format", JSON.

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
        ended.iter().for_each(|span| add(&mut self.new, span));
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
                add(&mut text, &span);
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

/// A call is one event on its thread; one that ended with a task, which threads did not see, is a pair
/// on a line of its own.
fn add(text: &mut String, span: &Span) {
    let mut event = json!({
        "name": spans::name(span.method),
        "cat": if span.is_later { "async" } else { "call" },
        "pid": process::id(),
        "tid": span.thread,
        "ts": span.start as f64 / 1e3,
        "args": { "span": span.id, "parent": span.parent, "trace": span.trace },
    });
    let arguments = &mut event["args"];
    match &span.outcome {
        Outcome::Open => arguments["unfinished"] = true.into(),
        Outcome::Returned => {}
        Outcome::Threw(what) => arguments["exception"] = what.replacen('\n', ": ", 1).into(),
        Outcome::Cancelled => arguments["cancelled"] = true.into(),
    }
    if !span.arguments.is_empty() {
        let lines = span.arguments.lines();
        arguments["arguments"] = lines.map(Value::from).collect::<Vec<_>>().into();
    }
    let took = (span.end - span.start) as f64 / 1e3;
    if !span.is_later {
        event["ph"] = "X".into();
        event["dur"] = took.into();
        *text += &format!(",\n{event}");
        return;
    }
    event["id"] = format!("{:#x}", span.id).into();
    event["ph"] = "b".into();
    *text += &format!(",\n{event}");
    event["ph"] = "e".into();
    event["ts"] = (span.end as f64 / 1e3).into();
    event["args"] = json!({});
    *text += &format!(",\n{event}");
}
