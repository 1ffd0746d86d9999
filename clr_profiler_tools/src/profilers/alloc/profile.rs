//! The totals of the allocations, in files.

use std::cmp::Reverse;
use std::collections::HashMap;
use std::io::{self, Write};
use std::time::{Instant, SystemTime};

use crate::stacks::{Export, Form, Frame, Stacks, Unit};
use clr_profiler::Overhead;

use super::numbers::Tables;
use super::options::Options;
use super::survival::{Bytes, GENERATIONS};

/// The rows of the table of methods.
const METHODS: usize = 40;

/// A snapshot of the state.
pub(crate) struct Profile<'a> {
    pub(crate) stacks: Stacks,
    pub(crate) names: Tables,
    pub(crate) threads: u64,
    pub(crate) survival: Option<(u64, HashMap<u64, Bytes>)>,
    pub(crate) overhead: Overhead,
    pub(crate) options: &'a Options,
    pub(crate) began: (SystemTime, Instant),
}

/// Objects and bytes.
type Sum = (u64, u64);

impl Profile<'_> {
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let form = self.options.form;
        if form == Form::Table {
            return self.table(out);
        }
        let (began, clock) = self.began;
        let export = Export {
            stacks: &self.stacks,
            title: match self.options.sampled {
                true => "Allocated, sampled",
                false => "Allocated",
            },
            unit: Unit::Bytes,
            values: match self.options.sampled {
                true => ("alloc_ticks", "alloc_space"),
                false => ("alloc_objects", "alloc_space"),
            },
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
        let what = match self.options.sampled {
            true => "ticks",
            false => "objects",
        };
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
        writeln!(out)
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
