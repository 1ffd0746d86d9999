//! The lines, and the summary behind them.

use std::collections::HashMap;
use std::fmt;
use std::io::Write;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use clr_profiler::{Error, Result};

/// Takes lines from all threads.
pub(crate) struct Log {
    has_summary: bool,
    /// `None` after the end.
    open: Mutex<Option<Open>>,
}

struct Open {
    output: Box<dyn Write + Send>,
    /// By assembly.
    totals: HashMap<String, Total>,
}

/// Methods of an assembly, and the time that they took.
#[derive(Clone, Copy, Default)]
struct Total {
    methods: u64,
    time: Duration,
}

impl Log {
    pub(crate) fn new(output: Box<dyn Write + Send>, has_summary: bool) -> Self {
        let totals = HashMap::new();
        Self {
            has_summary,
            open: Mutex::new(Some(Open { output, totals })),
        }
    }

    pub(crate) fn has_summary(&self) -> bool {
        self.has_summary
    }

    /// Writes the line of a method, and counts it for its assembly.
    pub(crate) fn method(&self, kind: &str, name: &str, assembly: Option<&str>) -> Result<()> {
        // In one piece: so a line stays whole, whoever else writes to the same stream or file.
        let line = format!("[{kind}] {name}\n");
        let mut open = self.lock();
        let Some(open) = open.as_mut() else {
            return Ok(());
        };
        if let Some(assembly) = assembly {
            open.total(assembly).methods += 1;
        }
        open.write(&line)
    }

    /// Adds the time of a compilation, which ends later than its line is written.
    pub(crate) fn add_time(&self, assembly: &str, time: Duration) {
        if let Some(open) = self.lock().as_mut() {
            open.total(assembly).time += time;
        }
    }

    /// Writes the summary, if one is wanted. Nothing is written after it.
    pub(crate) fn close(&self) -> Result<()> {
        if let Some(mut open) = self.lock().take()
            && self.has_summary
        {
            open.write(&Table(&open.totals).to_string())?;
        }
        Ok(())
    }

    fn lock(&self) -> MutexGuard<'_, Option<Open>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Open {
    fn write(&mut self, text: &str) -> Result<()> {
        self.output
            .write_all(text.as_bytes())
            .map_err(|error| Error::other(format!("the log cannot be written: {error}")))
    }

    fn total(&mut self, assembly: &str) -> &mut Total {
        if !self.totals.contains_key(assembly) {
            self.totals.insert(assembly.to_owned(), Total::default());
        }
        self.totals.get_mut(assembly).expect("it was inserted")
    }
}

/// Prints the totals, the most methods first, and their sum.
struct Table<'a>(&'a HashMap<String, Total>);

impl fmt::Display for Table<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut rows: Vec<(&str, Total)> = self
            .0
            .iter()
            .map(|(name, total)| (name.as_str(), *total))
            .collect();
        rows.sort_by_key(|(name, total)| (std::cmp::Reverse(total.methods), *name));
        let all = rows.iter().fold(Total::default(), |sum, (_, total)| Total {
            methods: sum.methods + total.methods,
            time: sum.time + total.time,
        });
        rows.push(("all", all));
        writeln!(f, "{:>8}  {:>10}  assembly", "methods", "time")?;
        for (name, total) in rows {
            let milliseconds = total.time.as_secs_f64() * 1000.0;
            writeln!(f, "{:>8}  {milliseconds:>7.1} ms  {name}", total.methods)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::Arc;

    use super::*;

    /// What was written, a string for each call.
    #[derive(Clone, Default)]
    struct Output(Arc<Mutex<Vec<String>>>);

    impl Write for Output {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let mut calls = self.0.lock().unwrap();
            calls.push(String::from_utf8(bytes.to_vec()).unwrap());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn log(has_summary: bool) -> (Log, Output) {
        let output = Output::default();
        (Log::new(Box::new(output.clone()), has_summary), output)
    }

    #[test]
    fn a_line_is_one_call() {
        let (log, output) = log(false);
        log.method("jit", "A.B()", None).unwrap();
        log.close().unwrap();
        log.method("jit", "A.Late()", None).unwrap();
        assert_eq!(*output.0.lock().unwrap(), ["[jit] A.B()\n"]);
    }

    #[test]
    fn the_table_ends_with_the_sum() {
        let (log, output) = log(true);
        for assembly in ["A", "B", "B"] {
            log.method("jit", "X()", Some(assembly)).unwrap();
            log.add_time(assembly, Duration::from_micros(1300));
        }
        log.close().unwrap();
        let calls = output.0.lock().unwrap();
        assert_eq!(
            calls.last().unwrap(),
            " methods        time  assembly\n       2      2.6 ms  B\n       1      1.3 ms  A\n       \
             3      3.9 ms  all\n"
        );
    }
}
