//! The code that triggers collections.

use std::collections::HashMap;
use std::io::{self, Write};
use std::time::{Duration, Instant, SystemTime};

use crate::profilers::named_stacks::{NamedStacks, named};
use crate::stacks::{Export, Form, Frame, Unit};
use clr_profiler::FunctionId;
use clr_profiler::heap::TriggerReason;

use super::collection::{Collection, milliseconds};

/// How many frames of a stack are recorded, from the innermost.
pub(crate) const DEPTH: usize = 256;

/// How many frames a line is followed by.
const SHOWN: usize = 20;

/// The rows of the table.
const ROWS: usize = 40;

/// The reason and the stack of a collection. Its functions have no names yet: while the runtime is suspended, they cannot be
/// queried.
#[derive(Debug, Clone)]
pub(crate) struct Trigger {
    pub(crate) reason: TriggerReason,
    /// Innermost first.
    pub(crate) stack: Vec<FunctionId>,
}

/// The latest trigger, until the collections that begin with it have begun.
#[derive(Debug, Default)]
pub(crate) struct Latest {
    trigger: Option<Trigger>,
    is_used: bool,
}

impl Latest {
    pub(crate) fn set(&mut self, trigger: Trigger) {
        self.trigger = Some(trigger);
        self.is_used = false;
    }

    /// Its functions are about to be unloaded.
    pub(crate) fn forget_stack(&mut self) {
        if let Some(trigger) = &mut self.trigger {
            trigger.stack.clear();
        }
    }

    /// A collection begins. One of the background may have a smaller one before it, with the same trigger.
    pub(crate) fn of_collection(&mut self) -> Option<Trigger> {
        self.is_used = true;
        self.trigger.clone()
    }

    /// The program runs again. A thread of it may have triggered the next collection already.
    pub(crate) fn resumed(&mut self) {
        if self.is_used {
            self.trigger = None;
        }
    }
}

/// A trigger with its names.
pub(crate) struct Named {
    pub(crate) reason: TriggerReason,
    /// Innermost first.
    pub(crate) frames: Vec<Frame>,
}

impl Named {
    /// Lines after that of the collection.
    pub(crate) fn text(&self) -> String {
        let mut text = format!("    trigger: {}\n", self.reason);
        for frame in self.frames.iter().take(SHOWN) {
            text += &format!("    at {frame}\n");
        }
        match self.frames.len() {
            0 => text += "    at [native]\n",
            frames if frames > SHOWN => text += "    ...\n",
            _ => {}
        }
        text
    }

    /// As a member of the collection's object.
    pub(crate) fn json(&self) -> String {
        let frames = self.frames.iter().map(ToString::to_string);
        let stack = frames.collect::<Vec<_>>();
        let trigger = serde_json::json!({ "reason": self.reason.to_string(), "stack": stack });
        format!(",\"trigger\":{trigger}")
    }
}

#[derive(Debug, Clone, Copy, Default)]
struct Row {
    collections: u64,
    pause: Duration,
    longest: Duration,
}

/// The sums of the collections by their triggers.
#[derive(Clone)]
pub(crate) struct Triggers {
    began: (SystemTime, Instant),
    /// Weights are nanoseconds of pauses.
    stacks: NamedStacks,
    /// By the number of the frame of the method that has triggered them.
    methods: HashMap<u64, Row>,
}

impl Triggers {
    pub(crate) fn new() -> Self {
        Self {
            began: (SystemTime::now(), Instant::now()),
            stacks: NamedStacks::new(),
            methods: HashMap::new(),
        }
    }

    pub(crate) fn add(&mut self, collection: &Collection, trigger: &Named) {
        let native = [named("[native]")];
        let frames = match &trigger.frames[..] {
            [] => &native,
            frames => frames,
        };
        let pause = collection.pause;
        let node = self.stacks.node(frames.iter());
        let nanoseconds = u64::try_from(pause.as_nanos()).unwrap_or(u64::MAX);
        self.stacks.stacks.add_to(node, nanoseconds);
        // The code of the program, rather than `System.GC.Collect`.
        let own = frames
            .iter()
            .find(|frame| !frame.name.starts_with("System.GC."));
        if let Some(method) = own.or(frames.last()) {
            let row = self.methods.entry(self.stacks.number(method)).or_default();
            row.collections += 1;
            row.pause += pause;
            row.longest = row.longest.max(pause);
        }
    }

    pub(crate) fn write(&self, form: Form, out: &mut dyn Write) -> io::Result<()> {
        let (began, clock) = self.began;
        let export = Export {
            stacks: &self.stacks.stacks,
            title: "Pauses of collections, by the code that triggers them",
            unit: Unit::Nanoseconds,
            values: ("collections", "pause"),
            began,
            duration: clock.elapsed(),
            timeline: None,
        };
        export.write(form, |number| self.stacks.frame(number), out)
    }

    /// The methods with the most pauses first.
    fn sorted(&self) -> Vec<(String, Row)> {
        let named = |(method, row): (&u64, &Row)| (self.stacks.frame(*method).to_string(), *row);
        let mut rows: Vec<_> = self.methods.iter().map(named).collect();
        rows.sort_by(|(one, of_one), (other, of_other)| {
            of_other.pause.cmp(&of_one.pause).then(one.cmp(other))
        });
        rows
    }

    /// A table for people.
    pub(crate) fn text(&self) -> String {
        let mut text = format!(
            "{:>11}  {:>12}  {:>12}  triggered by\n",
            "collections", "pauses ms", "longest ms"
        );
        let rows = self.sorted();
        for (name, row) in rows.iter().take(ROWS) {
            text += &format!(
                "{:>11}  {:>12.2}  {:>12.2}  {name}\n",
                row.collections,
                milliseconds(row.pause),
                milliseconds(row.longest)
            );
        }
        if rows.len() > ROWS {
            text += &format!("... and {} more\n", rows.len() - ROWS);
        }
        text
    }

    /// The same as JSON.
    pub(crate) fn json(&self) -> String {
        let rows = self.sorted().into_iter().take(ROWS).map(|(name, row)| {
            serde_json::json!({
                "method": name,
                "collections": row.collections,
                "paused_ms": milliseconds(row.pause),
                "longest_ms": milliseconds(row.longest),
            })
        });
        let rows: Vec<_> = rows.collect();
        format!("{}\n", serde_json::json!({ "triggers": rows }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trigger(reason: TriggerReason) -> Trigger {
        Trigger {
            reason,
            stack: Vec::new(),
        }
    }

    #[test]
    fn a_trigger_counts_until_the_program_runs_again() {
        let mut latest = Latest::default();
        assert!(latest.of_collection().is_none());
        latest.set(trigger(TriggerReason::Induced));
        for _ in 0..2 {
            let of = latest.of_collection().map(|trigger| trigger.reason);
            assert_eq!(of, Some(TriggerReason::Induced));
        }
        latest.resumed();
        assert!(latest.of_collection().is_none(), "it has none of its own");
        // One that comes before the program was seen to run again.
        latest.set(trigger(TriggerReason::SmallAllocation));
        latest.resumed();
        assert!(latest.of_collection().is_some());
    }

    #[test]
    fn a_stack_is_shown_in_part() {
        let frames = |number| {
            (0..number)
                .map(|frame| named(&format!("F{frame}")))
                .collect()
        };
        let text = |number| {
            let named = Named {
                reason: TriggerReason::Induced,
                frames: frames(number),
            };
            named.text()
        };
        assert_eq!(text(0), "    trigger: induced\n    at [native]\n");
        assert_eq!(text(1), "    trigger: induced\n    at F0\n");
        assert_eq!(text(20).lines().count(), 21);
        assert!(text(21).ends_with("    at F19\n    ...\n"));
    }
}
