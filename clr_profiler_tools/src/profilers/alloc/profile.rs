//! The totals of the allocations, in files.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt;
use std::io::{self, Write};
use std::time::{Instant, SystemTime};

use crate::stacks::{Export, Form, Frame, Stacks, Unit};
use clr_profiler::Overhead;

use super::numbers::Tables;
use super::survival::{Bytes, GENERATIONS};

/// The rows of the table of methods.
const METHODS: usize = 40;

/// A snapshot of the state.
pub(crate) struct Profile {
    pub(crate) stacks: Stacks,
    pub(crate) names: Tables,
    pub(crate) threads: u64,
    pub(crate) survival: Option<(u64, HashMap<u64, Bytes>)>,
    pub(crate) overhead: Overhead,
    /// If objects and bytes are estimates.
    pub(crate) samples: Option<Samples>,
    pub(crate) form: Form,
    pub(crate) began: (SystemTime, Instant),
}

/// The runtime's samples from which objects and bytes are estimated.
#[derive(Clone, Copy)]
pub(crate) struct Samples {
    pub(crate) is_random: bool,
    pub(crate) number: u64,
}

impl fmt::Display for Samples {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.is_random {
            true => write!(
                f,
                "estimates without bias from {} random samples: a type or a method with n of them is exact to 100 % / sqrt(n), in two \
                 of three cases",
                self.number
            ),
            false => write!(
                f,
                "estimates with a bias from {} samples, one for each 100 kB: before .NET 10 small objects next to large ones are hardly \
                 seen",
                self.number
            ),
        }
    }
}

/// Objects and bytes.
type Sum = (u64, u64);

impl Profile {
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let form = self.form;
        if form == Form::Table {
            return self.table(out);
        }
        let (began, clock) = self.began;
        let export = Export {
            stacks: &self.stacks,
            title: match self.samples {
                Some(Samples { is_random, .. }) if is_random => {
                    "Allocated, estimated from random samples"
                }
                Some(_) => "Allocated, estimated from samples with a bias",
                None => "Allocated",
            },
            unit: Unit::Bytes,
            values: ("alloc_objects", "alloc_space"),
            began,
            duration: clock.elapsed(),
            timeline: None,
        };
        export.write(form, |number| Frame::from(self.names.name(number)), out)
    }

    fn table(&self, out: &mut dyn Write) -> io::Result<()> {
        let mut types: HashMap<u64, Sum> = HashMap::new();
        let mut methods: HashMap<u64, Sum> = HashMap::new();
        let (mut objects, mut bytes) = (0, 0);
        for (stack, weight, count) in self.stacks.iter() {
            let places = [(&mut types, 1), (&mut methods, 2)];
            for (sums, from_end) in places {
                let frame = stack.len().checked_sub(from_end);
                if let Some(frame) = frame.and_then(|index| stack.get(index)) {
                    let sum = sums.entry(*frame).or_default();
                    (sum.0, sum.1) = (sum.0 + count, sum.1 + weight);
                }
            }
            (objects, bytes) = (objects + count, bytes + weight);
        }
        let what = "objects";
        write!(out, "{what:>12}{:>15}{:>9}", "bytes", "")?;
        if self.survival.is_some() {
            write!(out, "  survived")?;
            for generation in GENERATIONS {
                write!(out, "{generation:>12}")?;
            }
        }
        writeln!(out, "  type")?;
        for (frame, sum) in sorted(&types) {
            row(out, sum, bytes)?;
            if let Some((_, survived)) = &self.survival {
                write!(out, "{:10}", "")?;
                for bytes in survived.get(&frame).copied().unwrap_or_default() {
                    write!(out, "{bytes:12}")?;
                }
            }
            writeln!(out, "  {}", self.names.name(frame))?;
        }
        writeln!(out, "\n{what:>12}{:>15}{:>9}  allocated by", "bytes", "")?;
        for (frame, sum) in sorted(&methods).into_iter().take(METHODS) {
            row(out, sum, bytes)?;
            writeln!(out, "  {}", self.names.name(frame))?;
        }
        if methods.len() > METHODS {
            writeln!(out, "... and {} more", methods.len() - METHODS)?;
        }
        writeln!(out, "\noverhead: {}", self.overhead)?;
        write!(
            out,
            "{objects} {what}, {bytes} bytes of {} types on {} threads",
            types.len(),
            self.threads
        )?;
        if let Some((collections, _)) = &self.survival {
            write!(out, "; {collections} collections")?;
        }
        writeln!(out)?;
        match self.samples {
            Some(samples) => writeln!(out, "{samples}"),
            None => Ok(()),
        }
    }
}

fn row(out: &mut dyn Write, (objects, bytes): Sum, all: u64) -> io::Result<()> {
    let share = bytes as f64 / all.max(1) as f64 * 100.0;
    write!(out, "{objects:12}{bytes:15}{share:7.2} %")
}

/// Most bytes first.
fn sorted(sums: &HashMap<u64, Sum>) -> Vec<(u64, Sum)> {
    let mut rows: Vec<(u64, Sum)> = sums.iter().map(|(frame, sum)| (*frame, *sum)).collect();
    rows.sort_by_key(|(frame, (objects, bytes))| (Reverse((*bytes, *objects)), *frame));
    rows
}
