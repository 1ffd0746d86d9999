//! `verify`: whether each method of an application could be wrapped, without running it.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, IsTerminal, Write};
use std::panic::{self, AssertUnwindSafe};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use clr_profiler_il::wrap::Wrap;
use clr_profiler_test::{AssemblyFile, Outcome};
use serde_json::json;

use crate::cli::Verify;
use crate::outcome::{self, Failure, Result};
use crate::print;

/// The exit code if a method was refused.
const REFUSED: u8 = 3;

/// The totals of all assemblies.
#[derive(Debug, Default)]
struct Totals {
    assemblies: usize,
    methods: usize,
    wrapped: usize,
    /// Methods by reason, with the first of them.
    refused: BTreeMap<String, (usize, String)>,
    /// Files that are broken.
    broken: Vec<String>,
}

pub(crate) fn verify(options: &Verify) -> Result<ExitCode> {
    let files = assemblies(&options.folder)?;
    if files.is_empty() {
        return Err(Failure::new(format!(
            "There is no .NET assembly in `{}`.",
            options.folder.display()
        )));
    }
    let totals = Mutex::new(Totals::default());
    let next = AtomicUsize::new(0);
    // A file that is broken is a row of the table, not a message in the middle of it.
    let hook = panic::take_hook();
    panic::set_hook(Box::new(|_| {}));
    thread::scope(|scope| {
        let workers = thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..workers.min(files.len()) {
            scope.spawn(|| {
                while let Some(file) = files.get(next.fetch_add(1, Ordering::Relaxed)) {
                    examine(file, &totals);
                    let done = next.load(Ordering::Relaxed).min(files.len());
                    progress(done, files.len());
                }
            });
        }
    });
    panic::set_hook(hook);
    let totals = totals.into_inner().unwrap_or_default();
    if options.json.json {
        let refused = totals.refused.iter().map(|(reason, (count, first))| {
            json!({ "reason": reason, "methods": count, "first": first })
        });
        let outcome = json!({
            "assemblies": totals.assemblies,
            "methods": totals.methods,
            "wrapped": totals.wrapped,
            "refused": refused.collect::<Vec<_>>(),
            "broken": totals.broken,
        });
        print(format!("{outcome}\n"))?;
    } else {
        print(table(&totals))?;
    }
    let is_whole = totals.refused.is_empty() && totals.broken.is_empty();
    Ok(ExitCode::from(if is_whole { 0 } else { REFUSED }))
}

/// The assemblies below a folder, or the one file.
fn assemblies(path: &Path) -> Result<Vec<PathBuf>> {
    let about = fs::metadata(path).map_err(|error| {
        Failure::usage(format!("`{}` cannot be read: {error}.", path.display()))
    })?;
    if about.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    let mut folders = vec![path.to_owned()];
    while let Some(folder) = folders.pop() {
        let entries = fs::read_dir(&folder).map_err(outcome::io("read", &folder))?;
        for entry in entries.flatten() {
            let path = entry.path();
            let is_link = entry.file_type().is_ok_and(|kind| kind.is_symlink());
            if path.is_dir() && !is_link {
                folders.push(path);
            } else if path
                .extension()
                .is_some_and(|end| end == "dll" || end == "exe")
            {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn examine(path: &Path, totals: &Mutex<Totals>) {
    // A native library next to the assemblies is none of them.
    let Ok(file) = AssemblyFile::open(path) else {
        return;
    };
    let wrap = Wrap::new()
        .before(|code, _| {
            code.nop();
        })
        .on_return(|code, _| {
            code.nop();
        })
        .finally(|code, _| {
            code.nop();
        });
    let edited = panic::catch_unwind(AssertUnwindSafe(|| {
        file.edit(|body, method| {
            body.wrap(&wrap, &method.shape()?)?;
            Ok(())
        })
    }));
    let Ok(mut totals) = totals.lock() else {
        return;
    };
    totals.assemblies += 1;
    let Ok(edited) = edited else {
        totals.broken.push(path.display().to_string());
        return;
    };
    for method in edited.methods() {
        totals.methods += 1;
        let reason = match &method.outcome {
            Outcome::Refused(reason) => reason.lines().next().unwrap_or_default().to_owned(),
            Outcome::Invalid { violations, .. } => {
                let first = violations.lines().next().unwrap_or_default();
                format!("the new code would not be valid: {first}")
            }
            _ => {
                totals.wrapped += 1;
                continue;
            }
        };
        let row = totals.refused.entry(reason).or_default();
        row.0 += 1;
        if row.1.is_empty() {
            row.1.clone_from(&method.name);
        }
    }
}

/// On a terminal, one line that changes.
fn progress(done: usize, all: usize) {
    let mut stderr = io::stderr();
    if stderr.is_terminal() {
        let _ = write!(stderr, "\rverify: {done} of {all} files ");
        if done == all {
            let _ = write!(stderr, "\r{:40}\r", "");
        }
    }
}

fn table(totals: &Totals) -> String {
    let mut text = String::new();
    let mut rows: Vec<_> = totals.refused.iter().collect();
    rows.sort_by_key(|(reason, (count, _))| (std::cmp::Reverse(*count), *reason));
    if !rows.is_empty() {
        text += "methods  reason\n";
    }
    for (reason, (count, first)) in rows {
        text += &format!("{count:>7}  {reason}\n         such as {first}\n");
    }
    for file in &totals.broken {
        text += &format!("`{file}` is broken: it has rows or bodies that cannot be read.\n");
    }
    text += &format!(
        "{} of {} methods in {} assemblies can be wrapped.\n",
        totals.wrapped, totals.methods, totals.assemblies
    );
    text
}
