//! `docs/api-coverage.md`.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::{fs, io};

use stand_in::{NativeMethod, methods};

use super::real::{RUNTIMES, Real, Seen, is_offered};
use super::repository;
use super::sources::table;

const NONE: &str = "–";
const NOT_OFFERED: &str = "not offered";
const FAILS: &str = "fails in ";

/// One native method.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Line {
    /// `Interface::Method`.
    pub native: String,
    /// The wrappers, `Type::method`.
    pub wrappers: Vec<String>,
    /// Whether it is tried on the fake runtime.
    pub fake: bool,
    /// The cell of each real runtime.
    pub real: Vec<String>,
    /// Why a wrapper or a result is impossible.
    pub reason: String,
}

/// The whole table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Document {
    /// Its lines, in the order of the definitions.
    pub lines: Vec<Line>,
}

impl Document {
    /// Builds it from the wrappers in the sources, the lists of the tests, and the recorded results.
    ///
    /// # Errors
    ///
    /// If a list cannot be read, or names a method that does not exist.
    pub fn new(wrappers: &BTreeMap<String, Vec<String>>, real: &Real) -> io::Result<Self> {
        let rows = Rows::read()?;
        let reasons = Reasons::read()?;
        let lines = described().map(|method| {
            let native = method.name();
            let fake = rows.has(method);
            let real = (0..RUNTIMES.len())
                .map(|runtime| match real.get(&native, runtime) {
                    Some(Seen::Succeeds(scenario)) => format!("`{scenario}`"),
                    _ if !is_offered(method, runtime) => NOT_OFFERED.to_owned(),
                    Some(Seen::Fails(scenario)) => format!("{FAILS}`{scenario}`"),
                    None => NONE.to_owned(),
                })
                .collect();
            Line {
                wrappers: wrappers.get(&native).cloned().unwrap_or_default(),
                fake,
                real,
                reason: reasons.of(method),
                native,
            }
        });
        Ok(Self {
            lines: lines.collect(),
        })
    }

    /// Reads the committed document.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub fn read() -> io::Result<Self> {
        let text = fs::read_to_string(super::document_path())?;
        let mut lines = Vec::new();
        let mut interface = "";
        for line in text.lines() {
            interface = line.strip_prefix("## ").unwrap_or(interface);
            let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
            let [method, wrappers, fake, real @ .., reason] = &cells[..] else {
                continue;
            };
            if interface.is_empty() || !method.starts_with('`') || real.len() != RUNTIMES.len() {
                continue;
            }
            lines.push(Line {
                native: format!("{interface}::{}", method.trim_matches('`')),
                wrappers: wrappers
                    .split(", ")
                    .filter(|wrapper| *wrapper != NONE)
                    .map(|wrapper| wrapper.trim_matches('`').to_owned())
                    .collect(),
                fake: *fake == "yes",
                real: real.iter().map(|cell| (*cell).to_owned()).collect(),
                reason: (*reason).to_owned(),
            });
        }
        Ok(Self { lines })
    }

    /// The results on real runtimes in its cells.
    pub fn real(&self) -> Real {
        let mut real = Real::default();
        for line in &self.lines {
            for (runtime, cell) in line.real.iter().enumerate() {
                let quoted = |text: &str| text.trim_matches('`').to_owned();
                if let Some(scenario) = cell.strip_prefix(FAILS) {
                    real.insert(&line.native, runtime, Seen::Fails(quoted(scenario)));
                } else if cell.starts_with('`') {
                    real.insert(&line.native, runtime, Seen::Succeeds(quoted(cell)));
                }
            }
        }
        real
    }

    /// The document as Markdown.
    pub fn to_markdown(&self) -> String {
        let mut text = String::from(INTRODUCTION);
        let runtimes: Vec<&str> = RUNTIMES.iter().map(|(name, ..)| *name).collect();
        let runtimes = runtimes.join(" | ");
        let _ = writeln!(
            text,
            "\n| | native methods | wrapped | fake runtime | {runtimes} |"
        );
        let columns = "|---".repeat(4 + RUNTIMES.len());
        let _ = writeln!(text, "{columns}|");
        for name in GROUPS {
            let lines = self.lines.iter().filter(|line| group(&line.native) == name);
            let _ = writeln!(text, "| {name} | {} |", totals(&lines.collect::<Vec<_>>()));
        }
        let all: Vec<&Line> = self.lines.iter().collect();
        let _ = writeln!(text, "| **all** | {} |", totals(&all));

        let mut interface = "";
        for line in &self.lines {
            let (of, method) = line.native.split_once("::").unwrap_or_default();
            if of != interface {
                interface = of;
                let _ = writeln!(
                    text,
                    "\n## {of}\n\n| method | wrapper | fake | {runtimes} | |\n{columns}|"
                );
            }
            let wrappers: Vec<String> = line.wrappers.iter().map(|it| format!("`{it}`")).collect();
            let wrappers = match wrappers.join(", ") {
                none if none.is_empty() => NONE.to_owned(),
                some => some,
            };
            let fake = if line.fake { "yes" } else { NONE };
            let real = line.real.join(" | ");
            let row = format!(
                "| `{method}` | {wrappers} | {fake} | {real} | {} |",
                line.reason
            );
            text.push_str(&row.replace("|  |", "| |"));
            text.push('\n');
        }
        text
    }
}

const INTRODUCTION: &str = "\
# Which native methods are wrapped, and where each was seen to work

One row for each method of the interfaces of profiling and metadata. `.ci/coverage` generates this file:
*wrapper* is taken from the documentation in the sources; *fake* is whether it is tried against a
runtime with correct, failing and odd answers (`tests/tests/api`; callbacks: `tests/tests/object`); the
columns of real runtimes name one scenario in which the runtime was seen to make or answer the call
with success, all on Linux x64.
";

/// The groups of interfaces in the totals.
const GROUPS: [&str; 4] = [
    "callbacks",
    "ICorProfilerInfo",
    "other interfaces of profiling",
    "metadata",
];

/// The group of a method.
fn group(native: &str) -> &'static str {
    let [callbacks, info, given, metadata] = GROUPS;
    if native.starts_with("ICorProfilerCallback") {
        callbacks
    } else if native.starts_with("ICorProfilerInfo") {
        info
    } else if native.starts_with("ICorProfiler") || native.starts_with("IMethodMalloc") {
        given
    } else {
        metadata
    }
}

fn totals(lines: &[&Line]) -> String {
    let count = |is: &dyn Fn(&Line) -> bool| lines.iter().filter(|line| is(line)).count();
    let mut cells = vec![
        lines.len(),
        count(&|line| !line.wrappers.is_empty()),
        count(&|line| line.fake),
    ];
    cells.extend(
        (0..RUNTIMES.len()).map(|runtime| count(&|line| line.real[runtime].starts_with('`'))),
    );
    let cells: Vec<String> = cells.iter().map(usize::to_string).collect();
    cells.join(" | ")
}

/// Every native method with a line in the document.
fn described() -> impl Iterator<Item = &'static NativeMethod> {
    let not_ours = ["IUnknown", "IClassFactory"];
    methods()
        .iter()
        .copied()
        .filter(move |method| !not_ours.contains(&method.interface))
}

/// The lines of a list without comments.
fn list(path: &str) -> io::Result<BTreeSet<String>> {
    let text = fs::read_to_string(repository().join(path))?;
    let lines = text.lines().map(str::trim);
    Ok(lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .map(str::to_owned)
        .collect())
}

/// The sources of the tests against the fake runtime.
struct Rows(String);

impl Rows {
    fn read() -> io::Result<Self> {
        let tests = repository().join("tests/tests/api");
        let mut sources = fs::read_to_string(tests.join("implemented.rs"))?;
        for file in fs::read_dir(tests.join("rows"))? {
            sources.push_str(&fs::read_to_string(file?.path())?);
        }
        // Rows of the library's table are tried without being named.
        for (native, _) in table() {
            sources.push_str(&format!("{native:?}"));
        }
        Ok(Self(sources))
    }

    /// Whether a method is tried: those of enumerators have their two names separately.
    fn has(&self, method: &NativeMethod) -> bool {
        let quoted = |text: &str| self.0.contains(&format!("\"{text}\""));
        method.interface.starts_with("ICorProfilerCallback")
            || quoted(&method.name())
            || (quoted(method.interface) && quoted(&format!("::{}", method.facts.name)))
    }
}

/// Why a method is not wrapped, or cannot be seen on some runtime.
struct Reasons(Vec<(String, String)>);

impl Reasons {
    fn read() -> io::Result<Self> {
        let bad = |line: &str| {
            let message =
                format!("reasons.txt: {line}: no `Interface::Method: reason` of a method");
            io::Error::new(io::ErrorKind::InvalidData, message)
        };
        let mut reasons = Vec::new();
        for line in list("tests/coverage/reasons.txt")? {
            let (pattern, reason) = line.split_once(": ").ok_or_else(|| bad(&line))?;
            if !described().any(|method| matches(pattern, method)) {
                return Err(bad(&line));
            }
            reasons.push((pattern.to_owned(), reason.to_owned()));
        }
        Ok(Self(reasons))
    }

    fn of(&self, method: &NativeMethod) -> String {
        let reasons = self.0.iter();
        let mut matching = reasons.filter(|(pattern, _)| matches(pattern, method));
        matching
            .next()
            .map(|(_, reason)| reason.clone())
            .unwrap_or_default()
    }
}

/// Whether `Interface::Method` or `Interface::*` is this method.
fn matches(pattern: &str, method: &NativeMethod) -> bool {
    match pattern.strip_suffix("::*") {
        Some(interface) => interface == method.interface,
        None => pattern == method.name(),
    }
}
