//! The facts in the guide's tables and text agree with the code.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use clr_profiler::events::Callback;
use clr_profiler::{EventMask, Hresult};

/// The chapters with their names.
fn chapters() -> Vec<(String, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/src");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read_to_string(entry.path()).unwrap())
        })
        .collect()
}

/// The rows of all tables, as their cells.
fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let rows = text.lines().filter(|line| line.starts_with('|'));
    rows.map(|row| row.trim_matches('|').split('|').map(str::trim).collect())
}

/// The texts in backticks.
fn code(text: &str) -> impl Iterator<Item = &str> {
    let lines = text.lines().filter(|line| !line.starts_with("```"));
    lines.flat_map(|line| line.split('`').skip(1).step_by(2))
}

/// The words of a text with this beginning.
fn words<'a>(text: &'a str, start: &str) -> Vec<&'a str> {
    let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
    words.filter(|word| word.starts_with(start)).collect()
}

#[test]
fn codes_have_the_names_that_the_guide_gives_them() {
    let mut known = 0;
    for (chapter, text) in chapters() {
        for row in rows(&text) {
            let [code, name, ..] = row[..] else { continue };
            let Some(digits) = code.strip_prefix("`0x") else {
                continue;
            };
            let value = u32::from_str_radix(digits.trim_matches('`'), 16).unwrap();
            let expected = Hresult(value.cast_signed()).name();
            assert_eq!(expected, Some(name.trim_matches('`')), "{chapter}: {code}");
            known += 1;
        }
    }
    assert!(known >= 10, "{known}");
}

#[test]
fn codes_that_are_named_exist() {
    let names: BTreeSet<&str> = clr_profiler_sys::HRESULTS
        .iter()
        .map(|(_, name)| *name)
        .collect();
    for (chapter, text) in chapters() {
        for start in ["CORPROF_E_", "CLDB_E_"] {
            for word in words(&text, start) {
                assert!(names.contains(word), "{chapter}: {word}");
            }
        }
    }
}

#[test]
fn flags_that_are_named_exist() {
    // `HIGH_` alone stands for all of them.
    for (chapter, text) in chapters() {
        for start in ["MONITOR_", "HIGH_", "DISABLE_"] {
            for word in words(&text, start) {
                let known = EventMask::from_name(word).is_some() || word == "HIGH_";
                assert!(known, "{chapter}: {word}");
            }
        }
    }
}

/// The callbacks of a row, as its first cell names them; `a_started` / `_finished` is two.
fn callbacks(cell: &str) -> Vec<&'static Callback> {
    let mut found = Vec::new();
    let mut first = String::new();
    for name in code(cell) {
        // Other names begin with `_`, too.
        let name = match (name.strip_prefix('_'), first.rsplit_once('_')) {
            (Some(end), Some((start, _))) => format!("{start}_{end}"),
            _ => name.to_owned(),
        };
        found.extend(Callback::ALL.iter().filter(|one| one.name() == name));
        first = name;
    }
    found
}

#[test]
fn callbacks_need_the_flags_that_the_guide_says() {
    let mut known = 0;
    for (chapter, text) in chapters() {
        for row in rows(&text) {
            let [names, _, flags] = row[..] else { continue };
            let callbacks = callbacks(names);
            // Only in tables of callbacks and their flags.
            if callbacks.is_empty() || !flags.contains('_') {
                continue;
            }
            let flags = code(flags).filter_map(EventMask::from_name);
            let flags = flags.fold(EventMask::empty(), |all, flag| all | flag);
            for callback in callbacks {
                assert_eq!(callback.events(), flags, "{chapter}: {}", callback.name());
                known += 1;
            }
        }
    }
    assert!(known >= 30, "{known}");
}

#[test]
fn calls_that_are_named_exist() {
    let mut sources = String::new();
    let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for package in [
        "clr_metadata",
        "clr_profiler",
        "clr_profiler_il",
        "clr_profiler_launcher",
    ] {
        collect(&top.join(package).join("src"), &mut sources);
    }
    let mut known = 0;
    for (chapter, text) in chapters() {
        for call in code(&text) {
            let Some((receiver, rest)) = call.split_once('.') else {
                continue;
            };
            if !["info", "setup", "body", "cx", "metadata", "control"].contains(&receiver) {
                continue;
            }
            let mut parts = rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let name = parts.next().unwrap_or_default();
            let declared = ["(", "<"]
                .iter()
                .any(|next| sources.contains(&format!("fn {name}{next}")));
            assert!(declared, "{chapter}: {call}");
            known += 1;
        }
    }
    assert!(known >= 30, "{known}");
}

fn collect(folder: &Path, sources: &mut String) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            collect(&path, sources);
        } else {
            sources.push_str(&fs::read_to_string(&path).unwrap());
        }
    }
}
