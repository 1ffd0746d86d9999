//! The stacks of exceptions, for viewers of stacks.

use std::io;
use std::sync::Mutex;
use std::time::{Instant, SystemTime};

use crate::report::{Output, lock};
use crate::stacks::{Export, Form, Frame, Names, Stacks, Unit};

/// The limit for nodes of the tree, some 16 MB.
const NODES: usize = 200_000;
/// The limit for names.
const NAMES: usize = 100_000;

/// Stacks of `throw`, each with the type of its exception as the innermost frame, and their number.
pub(crate) struct ThrownStacks {
    output: Output,
    form: Form,
    began: (SystemTime, Instant),
    seen: Mutex<(Names, Stacks)>,
}

impl ThrownStacks {
    pub(crate) fn new(output: Output, form: Form) -> Self {
        Self {
            output,
            form,
            began: (SystemTime::now(), Instant::now()),
            seen: Mutex::new((Names::with_limit(NAMES), Stacks::with_limit(NODES))),
        }
    }

    /// Adds an exception; the frames are innermost first.
    pub(crate) fn add(&self, class: &str, frames: &[String]) {
        let mut seen = lock(&self.seen);
        let (names, stacks) = &mut *seen;
        let frames = frames.iter().rev().map(String::as_str).chain([class]);
        let frames: Vec<u64> = frames.map(|name| names.number(name)).collect();
        stacks.add(frames, 1);
    }

    /// Whether the file can be written again and again.
    pub(crate) fn is_replaceable(&self) -> bool {
        self.output.is_replaceable()
    }

    pub(crate) fn write(&self) -> io::Result<()> {
        // A copy: the program does not wait for a disk.
        let (names, stacks) = lock(&self.seen).clone();
        let export = Export {
            stacks: &stacks,
            title: "Exceptions",
            unit: Unit::Samples,
            values: ("exceptions", "exceptions"),
            began: self.began.0,
            duration: self.began.1.elapsed(),
            timeline: None,
        };
        let frame = |number| Frame::from(names.name(number));
        self.output
            .replace(|file| export.write(self.form, frame, file))
    }
}
