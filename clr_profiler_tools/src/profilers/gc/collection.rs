//! The content of a line.

use std::fmt::Write;
use std::time::Duration;

use clr_profiler::info::{Generation, GenerationRange};
use clr_profiler::prelude::*;

use super::triggers::{Named, Trigger};

/// How lines are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Readable text.
    Text,
    /// A JSON object a line.
    Json,
}

/// A collection.
#[derive(Debug, Clone)]
pub(crate) struct Collection {
    /// Counted from 1.
    pub(crate) number: u64,
    /// When it began, after the program's start.
    pub(crate) at: Duration,
    /// The highest generation that it collects.
    pub(crate) generation: u32,
    pub(crate) reason: GcReason,
    /// How long the program's threads did not run, from the first that was suspended.
    pub(crate) pause: Duration,
    pub(crate) before: Heap,
    pub(crate) after: Heap,
    /// Bytes of the objects that survived in the generations that it collects.
    pub(crate) survived: Option<u64>,
    /// Its trigger, if that is recorded.
    pub(crate) trigger: Option<Trigger>,
}

/// Bytes in use: generations 0 to 2, large, pinned, and never collected or unknown ones.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Heap([u64; 6]);

/// The names of the parts of a heap.
const PARTS: [&str; 6] = ["gen0", "gen1", "gen2", "large", "pinned", "other"];

impl Heap {
    pub(crate) fn of(ranges: &[GenerationRange]) -> Self {
        let mut heap = Self::default();
        for range in ranges {
            let part = match range.generation {
                Generation::Gen0 => 0,
                Generation::Gen1 => 1,
                Generation::Gen2 => 2,
                Generation::LargeObjectHeap => 3,
                Generation::PinnedObjectHeap => 4,
                _ => 5,
            };
            heap.0[part] += range.size as u64;
        }
        heap
    }

    pub(crate) fn total(&self) -> u64 {
        self.0.iter().sum()
    }
}

impl Collection {
    /// Its line, and those of its trigger.
    pub(crate) fn line(&self, format: Format, trigger: Option<&Named>) -> String {
        match format {
            Format::Text => self.text() + &trigger.map(Named::text).unwrap_or_default(),
            Format::Json => self.json(&trigger.map(Named::json).unwrap_or_default()),
        }
    }

    fn reason(&self) -> &'static str {
        match self.reason {
            GcReason::Induced => "induced",
            _ => "allocation",
        }
    }

    fn text(&self) -> String {
        let mut line = format!(
            "[gc {}] {:.3} s  gen{} {}  pause {:.2} ms  heap {} -> {} MB",
            self.number,
            self.at.as_secs_f64(),
            self.generation,
            self.reason(),
            milliseconds(self.pause),
            megabytes(self.before.total()),
            megabytes(self.after.total()),
        );
        for (part, (before, after)) in PARTS.iter().zip(self.before.0.iter().zip(self.after.0)) {
            if (*before, after) != (0, 0) {
                let (before, after) = (megabytes(*before), megabytes(after));
                // Writing to a `String` cannot fail.
                let _ = write!(line, "  {part} {before} -> {after}");
            }
        }
        if let Some(bytes) = self.survived {
            let _ = write!(line, "  survived {}", megabytes(bytes));
        }
        line.push('\n');
        line
    }

    fn json(&self, trigger: &str) -> String {
        let mut line = format!(
            "{{\"gc\":{},\"at_s\":{:.6},\"generation\":{},\"reason\":\"{}\",\"pause_ms\":{:.6}",
            self.number,
            self.at.as_secs_f64(),
            self.generation,
            self.reason(),
            milliseconds(self.pause),
        );
        for (name, heap) in [("before", &self.before), ("after", &self.after)] {
            let parts = PARTS.iter().zip(heap.0);
            let parts: Vec<String> = parts
                .map(|(part, size)| format!("\"{part}\":{size}"))
                .collect();
            let _ = write!(line, ",\"{name}\":{{{}}}", parts.join(","));
        }
        if let Some(bytes) = self.survived {
            let _ = write!(line, ",\"survived\":{bytes}");
        }
        line.push_str(trigger);
        line.push_str("}\n");
        line
    }
}

pub(crate) fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

/// Millions of bytes.
pub(crate) fn megabytes(bytes: u64) -> String {
    format!("{:.2}", bytes as f64 / 1e6)
}
