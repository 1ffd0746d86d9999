//! The totals of the calls, in files.

use std::cmp::Reverse;
use std::io::{self, Write};
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use crate::stacks::{Export, Form, Frame, Names, Stacks, Unit};
use clr_profiler::Overhead;

use super::options::{Options, Sort};

/// A snapshot of the state.
pub(crate) struct Profile<'a> {
    pub(crate) stacks: Stacks,
    pub(crate) names: Names,
    pub(crate) threads: u64,
    pub(crate) overhead: Overhead,
    pub(crate) options: &'a Options,
    pub(crate) began: (SystemTime, Instant),
}

struct Row {
    calls: u64,
    own: u64,
    total: u64,
    name: Arc<str>,
}

impl Profile<'_> {
    pub(crate) fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let form = self.options.form;
        if form == Form::Table {
            return self.table(out);
        }
        let (title, unit) = match self.options.times {
            true => ("Time", Unit::Nanoseconds),
            false => ("Calls", Unit::Calls),
        };
        let by_calls;
        let weighed = match self.options.times {
            true => &self.stacks,
            false => {
                by_calls = self.stacks.by_count();
                &by_calls
            }
        };
        let (began, clock) = self.began;
        let export = Export {
            stacks: weighed,
            title,
            unit,
            values: ("calls", "wall"),
            began,
            duration: clock.elapsed(),
            timeline: None,
        };
        export.write(form, |number| Frame::from(self.names.name(number)), out)
    }

    fn rows(&self) -> Vec<Row> {
        let times = self.stacks.by_frame();
        let calls = self.stacks.calls_by_frame();
        let rows = times.into_iter().map(|(frame, (own, total))| Row {
            calls: calls.get(&frame).copied().unwrap_or(0),
            own,
            total,
            name: self.names.name(frame),
        });
        // The node that only stands for lost callers has no calls; methods beyond the limit have.
        let mut rows: Vec<Row> = rows.filter(|row| row.calls > 0).collect();
        rows.sort_by(|a, b| {
            let key = |row: &Row| match self.options.sort {
                Sort::Own => [row.own, row.total, row.calls],
                Sort::Total => [row.total, row.own, row.calls],
                Sort::Calls => [row.calls, row.own, row.total],
            };
            (Reverse(key(a)), &a.name).cmp(&(Reverse(key(b)), &b.name))
        });
        rows
    }

    fn table(&self, out: &mut dyn Write) -> io::Result<()> {
        let rows = self.rows();
        let (mut calls, mut time) = (0, 0);
        let times = self.options.times;
        match times {
            true => writeln!(out, "         calls        own ms      total ms  method")?,
            false => writeln!(out, "         calls  method")?,
        }
        for row in &rows {
            calls += row.calls;
            time += row.own;
            write!(out, "{:14}", row.calls)?;
            if times {
                write!(out, "{:14.3}{:14.3}", ms(row.own), ms(row.total))?;
            }
            writeln!(out, "  {}", row.name)?;
        }
        writeln!(out, "overhead, without the hooks: {}", self.overhead)?;
        write!(
            out,
            "{calls} calls of {} methods on {} threads",
            rows.len(),
            self.threads
        )?;
        if times {
            write!(out, ", {:.3} ms", ms(time))?;
        }
        let lost = self.stacks.calls_below_others();
        if lost > 0 {
            write!(out, "; of {lost} calls the callers found no place")?;
        }
        writeln!(out)
    }
}

fn ms(nanoseconds: u64) -> f64 {
    nanoseconds as f64 / 1e6
}
