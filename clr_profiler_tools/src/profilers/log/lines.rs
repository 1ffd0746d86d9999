//! The lines, and the summary after them.

use std::collections::HashMap;
use std::sync::Mutex;
use std::time::Duration;
use std::{fmt, io};

use crate::report::{Output, lock};

/// Takes lines from all threads.
pub(crate) struct Log {
    output: Output,
    /// `None` if no summary is requested.
    totals: Option<Mutex<Totals>>,
}

struct Totals {
    by_assembly: HashMap<String, Total>,
    /// Whether something was added since the summary was written.
    are_new: bool,
}

/// The methods of an assembly, and their compile time.
#[derive(Clone, Copy, Default)]
struct Total {
    methods: u64,
    time: Duration,
}

impl Log {
    pub(crate) fn new(output: Output, has_summary: bool) -> Self {
        Self {
            output,
            totals: has_summary.then(|| {
                Mutex::new(Totals {
                    by_assembly: HashMap::new(),
                    are_new: true,
                })
            }),
        }
    }

    pub(crate) fn has_summary(&self) -> bool {
        self.totals.is_some()
    }

    /// Writes the line of a method, and counts it for its assembly.
    pub(crate) fn method(&self, kind: &str, name: &str, assembly: Option<&str>) {
        if let Some(assembly) = assembly {
            self.add(assembly, |total| total.methods += 1);
        }
        self.output.append(&format!("[{kind}] {name}\n"));
    }

    /// Adds the time of a compilation, which ends after its line is written.
    pub(crate) fn add_time(&self, assembly: &str, time: Duration) {
        self.add(assembly, |total| total.time += time);
    }

    /// An error if somebody removed the file.
    pub(crate) fn is_kept(&self) -> io::Result<()> {
        self.output.is_kept()
    }

    /// Writes the summary, if one is requested, unless it is the last thing that was written.
    pub(crate) fn summary(&self, overhead: &impl fmt::Display) {
        let Some(totals) = &self.totals else {
            return;
        };
        let mut totals = lock(totals);
        if std::mem::take(&mut totals.are_new) {
            let table = Table(&totals.by_assembly);
            self.output
                .append(&format!("overhead: {overhead}\n{table}"));
        }
    }

    fn add(&self, assembly: &str, add: impl FnOnce(&mut Total)) {
        let Some(totals) = &self.totals else {
            return;
        };
        let mut totals = lock(totals);
        totals.are_new = true;
        if let Some(total) = totals.by_assembly.get_mut(assembly) {
            return add(total);
        }
        add(totals.by_assembly.entry(assembly.to_owned()).or_default());
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
    use std::{env, fs, process};

    use super::*;

    #[test]
    fn the_table_ends_with_the_sum_and_is_written_once() {
        let file = env::temp_dir().join(format!("jit_logger-{}", process::id()));
        let log = Log::new(Output::lines(file.clone()).unwrap(), true);
        for assembly in ["A", "B", "B"] {
            log.method("jit", "X()", Some(assembly));
            log.add_time(assembly, Duration::from_micros(1300));
        }
        log.summary(&"none");
        log.summary(&"none");
        let written = fs::read_to_string(&file).unwrap();
        fs::remove_file(file).unwrap();
        assert_eq!(
            written
                .strip_prefix("[jit] X()\n[jit] X()\n[jit] X()\n")
                .unwrap(),
            "overhead: none\n methods        time  assembly\n       2      2.6 ms  B\n       1      1.3 ms  A\n       \
             3      3.9 ms  all\n"
        );
    }
}
