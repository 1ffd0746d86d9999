//! The waits as a file.

use std::collections::HashMap;
use std::io::{self, Write};
use std::time::Duration;

use crate::stacks::{Export, Form, Unit};
use clr_profiler::Overhead;

use super::profile::{Profile, Row};

/// The rows of a table.
const ROWS: usize = 40;

impl Profile {
    pub(crate) fn write(
        &self,
        form: Form,
        overhead: Overhead,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        if form == Form::Table {
            return self.table(overhead, out);
        }
        let (began, clock) = self.began;
        let export = Export {
            stacks: &self.stacks.stacks,
            title: "Waits for locks",
            unit: Unit::Nanoseconds,
            values: ("contentions", "delay"),
            began,
            duration: clock.elapsed(),
            timeline: None,
        };
        export.write(form, |number| self.stacks.frame(number), out)
    }

    fn table(&self, overhead: Overhead, out: &mut dyn Write) -> io::Result<()> {
        let methods = sorted(&self.methods, |method| {
            self.stacks.frame(method).to_string()
        });
        rows(out, "waits in", &methods)?;
        if !self.holders.is_empty() {
            writeln!(out)?;
            let holders = sorted(&self.holders, |holder| self.holder(holder));
            rows(out, "lock held by", &holders)?;
        }
        writeln!(out, "\noverhead: {overhead}")?;
        writeln!(out, "{}", self.sum())
    }

    /// The sum of all, for a line.
    fn sum(&self) -> String {
        let Row {
            waits,
            waited,
            longest,
        } = self.all;
        let mut line = format!(
            "{waits} waits for locks, {:.2} ms, at most {:.2} ms",
            milliseconds(waited),
            milliseconds(longest)
        );
        if self.waiting > 0 {
            line += &format!("; {} of them have not ended", self.waiting);
        }
        if waits > 0 && self.holders.is_empty() {
            line += "; this runtime does not tell who had the locks, .NET 8 and newer do";
        }
        line
    }

    /// Lines for the user of the command.
    pub(crate) fn remarks(&self) -> Vec<String> {
        let mut remarks = vec![self.sum()];
        let methods = sorted(&self.methods, |method| {
            self.stacks.frame(method).to_string()
        });
        let holders = sorted(&self.holders, |holder| self.holder(holder));
        for (words, rows) in [("most in", methods), ("most for", holders)] {
            if let Some((name, row)) = rows.first() {
                remarks.push(format!(
                    "{words} {name}: {} waits, {:.2} ms, at most {:.2} ms",
                    row.waits,
                    milliseconds(row.waited),
                    milliseconds(row.longest)
                ));
            }
        }
        remarks
    }
}

/// The longest waits first.
fn sorted<Key: Copy>(rows: &HashMap<Key, Row>, name: impl Fn(Key) -> String) -> Vec<(String, Row)> {
    let mut named: Vec<_> = rows.iter().map(|(key, row)| (name(*key), *row)).collect();
    named.sort_by(|(one, of_one), (other, of_other)| {
        of_other.waited.cmp(&of_one.waited).then(one.cmp(other))
    });
    named
}

fn rows(out: &mut dyn Write, title: &str, rows: &[(String, Row)]) -> io::Result<()> {
    writeln!(
        out,
        "{:>9}  {:>12}  {:>12}  {title}",
        "waits", "waited ms", "longest ms"
    )?;
    for (name, row) in rows.iter().take(ROWS) {
        writeln!(
            out,
            "{:>9}  {:>12.2}  {:>12.2}  {name}",
            row.waits,
            milliseconds(row.waited),
            milliseconds(row.longest)
        )?;
    }
    if rows.len() > ROWS {
        writeln!(out, "... and {} more", rows.len() - ROWS)?;
    }
    Ok(())
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
