//! The outcomes, from which docs/faults.md is made.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::fmt::Write;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use clr_profiler_tests::{Example, Runtime};

use super::MAJORS;
use super::faults::{FAULTS, Fault};
use crate::watching::limits::EXAMPLES;

/// The state of the results when the program has ended.
#[derive(Debug, Clone, Copy)]
pub(super) enum Outcome {
    Whole,
    /// With [`Fault::setting`].
    WholeWithSetting,
    UpToPeriod,
    /// The program ended before anything was written.
    Early,
    Said,
    NotPermitted,
}

impl Outcome {
    fn text(self) -> &'static str {
        match self {
            Self::Whole => "whole",
            Self::WholeWithSetting => "whole without W^X",
            Self::UpToPeriod => "to the last period",
            Self::Early => "too early",
            Self::Said => "said",
            Self::NotPermitted => "not permitted here",
        }
    }
}

fn path() -> PathBuf {
    let target = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target");
    target.join("faults-around.txt")
}

/// Records one, and returns its text.
pub(super) fn add(
    fault: &Fault,
    example: Example,
    runtime: &Runtime,
    outcome: Outcome,
) -> &'static str {
    let line = format!(
        "{}\t{}\t{}\t{}\n",
        fault.name,
        example.0,
        runtime.major,
        outcome.text()
    );
    let file = File::options().append(true).create(true).open(path());
    file.and_then(|mut file| file.write_all(line.as_bytes()))
        .unwrap();
    outcome.text()
}

const HEAD: &str = "# Faults around the process

`FAULTS=write AROUND=all cargo test -p clr_profiler_tests --test all around` (a stage of `.ci/full`, `around`) writes
this file. Each fault was brought about for each example on .NET Core 3.1, .NET 8 and .NET 10. In each cell, the
standard output and the exit code were those of the program alone under the same fault, stderr had at most one more
line, and the file of the results was complete: JSON that parses, or whole lines.

- **whole**: the results of all of the program's work are there.
- **whole without W^X**: the same with `DOTNET_EnableWriteXorExecute=0`. Without that setting the program crashes: the
  hooks of the example have the child of the fork compile code, and from .NET 7 on the runtime then writes to the
  memory of its parent's compiled code, because it maps code twice. [SECURITY.md](../SECURITY.md) names this limit.
- **to the last period**: the program ended so that nothing could run; the results of its work had been written before.
- **too early**: the same, but it ended before the first write.
- **said**: something could not be written, and one line on stderr says what and why.
- **not permitted here**: the machine did not let the test bring it about.

One word stands for all three runtimes if they agree.

";

/// Writes the table, if `FAULTS=write`.
pub(super) fn write() {
    if env::var("FAULTS").is_ok_and(|value| value == "write") {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/faults.md");
        fs::write(file, table(&fs::read_to_string(path()).unwrap())).unwrap();
    }
}

fn table(outcomes: &str) -> String {
    let mut cells: BTreeMap<(&str, &str), BTreeMap<u32, &str>> = BTreeMap::new();
    for line in outcomes.lines() {
        let parts: Vec<&str> = line.split('\t').collect();
        if let [fault, example, major, outcome] = parts[..] {
            let major = major.parse().unwrap();
            // The latest one counts.
            cells
                .entry((fault, example))
                .or_default()
                .insert(major, outcome);
        }
    }
    let mut text = HEAD.to_owned();
    text += "| fault |";
    for (example, _) in EXAMPLES {
        let _ = write!(text, " {} |", example.0);
    }
    let _ = writeln!(text, "\n|---|{}", "---|".repeat(EXAMPLES.len()));
    for fault in FAULTS {
        let _ = write!(text, "| {} |", fault.name);
        for (example, _) in EXAMPLES {
            let cell = cells.get(&(fault.name, example.0));
            let _ = write!(text, " {} |", cell.map_or_else(String::new, words));
        }
        text.push('\n');
    }
    text
}

fn words(by_runtime: &BTreeMap<u32, &str>) -> String {
    let different: BTreeSet<&str> = by_runtime.values().copied().collect();
    if different.len() == 1 && by_runtime.len() >= MAJORS.len() - 1 {
        return different.into_iter().collect();
    }
    let name = |major: &u32| match major {
        3 => "3.1".to_owned(),
        major => major.to_string(),
    };
    let mut parts = Vec::new();
    for outcome in different {
        let of = by_runtime.iter().filter(|(_, found)| **found == outcome);
        let of: Vec<String> = of.map(|(major, _)| name(major)).collect();
        parts.push(format!("{}: {outcome}", of.join(", ")));
    }
    parts.join("; ")
}
