//! The stacks of exceptions, for viewers of stacks.

use std::io;
use std::sync::Mutex;
use std::time::{Instant, SystemTime};

use crate::profilers::named_stacks::{NamedStacks, named};
use crate::report::{Moment, Output, Pace, lock};
use crate::stacks::{Export, Form, Frame, Unit};

/// Stacks of `throw`, each with the type of its exception as the innermost frame, and their number.
pub(crate) struct ThrownStacks {
    output: Output,
    form: Form,
    began: (SystemTime, Instant),
    seen: Mutex<NamedStacks>,
}

impl ThrownStacks {
    pub(crate) fn new(output: Output, form: Form) -> Self {
        Self {
            output,
            form,
            began: (SystemTime::now(), Instant::now()),
            seen: Mutex::new(NamedStacks::new()),
        }
    }

    /// Adds an exception; the frames are innermost first.
    pub(crate) fn add(&self, class: &str, frames: &[Frame]) {
        let class = named(class);
        let mut seen = lock(&self.seen);
        let node = seen.node([&class].into_iter().chain(frames));
        seen.stacks.add_to(node, 1);
    }

    pub(crate) fn write(&self, pace: &mut Pace, moment: Moment) -> io::Result<()> {
        pace.replace(&self.output, moment, |file| {
            // A copy: the program does not wait for a disk.
            let seen = lock(&self.seen).clone();
            let export = Export {
                stacks: &seen.stacks,
                title: "Exceptions",
                unit: Unit::Samples,
                values: ("exceptions", "exceptions"),
                began: self.began.0,
                duration: self.began.1.elapsed(),
                timeline: None,
            };
            export.write(self.form, |number| seen.frame(number), file)
        })
    }
}
