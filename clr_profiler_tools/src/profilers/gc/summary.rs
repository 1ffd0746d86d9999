//! The totals of many collections: a few numbers a generation, however long the program runs.

use std::fmt::Write;
use std::time::Duration;

use clr_profiler::Overhead;

use super::collection::{Collection, Format, megabytes, milliseconds};

#[derive(Debug, Default)]
pub(crate) struct Summary {
    begun: u64,
    /// By the highest generation that was collected.
    generations: [Row; 3],
    /// How long the program did not run; collections within one pause are counted once.
    paused: Duration,
    longest: Duration,
    /// The largest heap at the start of a collection.
    largest: u64,
}

#[derive(Debug, Default)]
struct Row {
    collections: u64,
    pause: Duration,
    longest: Duration,
}

impl Summary {
    /// Counts a collection that begins, and returns its number.
    pub(crate) fn begun(&mut self) -> u64 {
        self.begun += 1;
        self.begun
    }

    pub(crate) fn paused(&mut self, pause: Duration) {
        self.paused += pause;
        self.longest = self.longest.max(pause);
    }

    pub(crate) fn add(&mut self, collection: &Collection) {
        if let Some(row) = self.generations.get_mut(collection.generation as usize) {
            row.collections += 1;
            row.pause += collection.pause;
            row.longest = row.longest.max(collection.pause);
        }
        self.largest = self.largest.max(collection.before.total());
    }

    /// Collections by generation.
    pub(crate) fn counts(&self) -> [u64; 3] {
        self.generations.each_ref().map(|row| row.collections)
    }

    /// The pauses in a line.
    pub(crate) fn sum(&self, ran: Duration) -> String {
        let share = 100.0 * self.paused.as_secs_f64() / ran.as_secs_f64().max(1e-9);
        format!(
            "paused {:.2} ms of {:.3} s ({share:.2} %), at most {:.2} ms; largest heap {} MB",
            milliseconds(self.paused),
            ran.as_secs_f64(),
            milliseconds(self.longest),
            megabytes(self.largest),
        )
    }

    /// `ran` is the time since the start.
    pub(crate) fn text(&self, format: Format, ran: Duration, overhead: &Overhead) -> String {
        let mut text = String::new();
        // Writing to a `String` cannot fail, hence `let _`.
        match format {
            Format::Text => {
                let _ = writeln!(
                    text,
                    "{:>11}  {:>11}  {:>12}  {:>12}",
                    "collections", "generation", "pauses ms", "longest ms"
                );
                for (generation, row) in self.generations.iter().enumerate() {
                    let _ = writeln!(
                        text,
                        "{:>11}  {generation:>11}  {:>12.2}  {:>12.2}",
                        row.collections,
                        milliseconds(row.pause),
                        milliseconds(row.longest)
                    );
                }
                let _ = writeln!(text, "overhead: {overhead}");
                let _ = writeln!(text, "{}", self.sum(ran));
            }
            Format::Json => {
                let _ = writeln!(
                    text,
                    "{{\"summary\":true,\"ran_s\":{:.6},\"collections\":{:?},\"paused_ms\":{:.6},\
                     \"longest_ms\":{:.6},\"largest_heap\":{},\
                     \"callbacks\":{},\"callbacks_ms\":{:.6}}}",
                    ran.as_secs_f64(),
                    self.counts(),
                    milliseconds(self.paused),
                    milliseconds(self.longest),
                    self.largest,
                    overhead.callbacks,
                    milliseconds(overhead.time),
                );
            }
        }
        text
    }
}
