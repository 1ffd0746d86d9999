//! Which types may be sent to other threads and shared with them, and the reasons:
//! `docs/send-and-sync.md`.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;

use crate::pages::{self, CRATES, Page};

const FILE: &str = "docs/send-and-sync.md";
const TABLE: &str = "| type | `Send` | `Sync` | why |\n|---|---|---|---|\n";

/// The types whose `Send` or `Sync` is declared, not derived by the compiler, by their files.
const DECLARED: [(&str, &str); 9] = [
    ("clr_profiler/src/info/info13.rs", "Send for ObjectHandle"),
    ("clr_profiler/src/info/info13.rs", "Sync for ObjectHandle"),
    ("clr_profiler/src/runtime/handle.rs", "Send for Runtime"),
    ("clr_profiler/src/runtime/handle.rs", "Sync for Runtime"),
    ("clr_profiler/src/sampling/cpu/event.rs", "Send for Ring"),
    ("clr_profiler_test/src/stand_in/face.rs", "Send for Face"),
    ("clr_profiler_test/src/stand_in/face.rs", "Sync for Face"),
    (
        "clr_profiler_tools/src/report/signals.rs",
        "Sync for Postponed",
    ),
    (
        "clr_profiler_tools/src/report/signals.rs",
        "Sync for Semaphore",
    ),
];

/// Whether a type has an automatic trait, and under which condition.
fn answer(page: &Page, name: &str) -> String {
    let wanted = format!("{name} for ");
    let found: Vec<String> = page
        .headings(3)
        .into_iter()
        .filter(|heading| heading.starts_with("impl") || heading.starts_with("unsafe impl"))
        .filter(|heading| {
            let before = heading.split(&wanted).next().unwrap_or_default();
            heading.contains(&wanted) && (before.ends_with(' ') || before.ends_with('!'))
        })
        .collect();
    let [heading] = &found[..] else {
        panic!("{}: {name} is not said once, but {found:?}", page.path);
    };
    if heading.contains(&format!("!{wanted}")) {
        return "no".to_owned();
    }
    match heading.split_once("where ") {
        Some((_, condition)) => format!("where `{}`", condition.trim_end_matches(',')),
        None => "yes".to_owned(),
    }
}

/// The committed text before the first table, and the committed reason of each type.
fn committed() -> (String, BTreeMap<(String, String), String>) {
    let text = fs::read_to_string(pages::workspace().join(FILE)).unwrap_or_default();
    let introduction = text.split("\n## clr_profiler\n").next().unwrap().to_owned();
    let mut name = String::new();
    let mut reasons = BTreeMap::new();
    for line in text.lines() {
        if let Some(heading) = line.strip_prefix("## ") {
            name = heading.to_owned();
        }
        let cells: Vec<&str> = line.split(" | ").collect();
        if let [path, _, _, reason] = &cells[..] {
            let path = path.trim_start_matches("| ").trim_matches('`');
            let reason = reason.trim_end_matches('|').trim();
            reasons.insert((name.clone(), path.to_owned()), reason.to_owned());
        }
    }
    (introduction, reasons)
}

#[test]
fn each_public_type_has_a_line_and_each_that_threads_do_not_share_a_reason() {
    let (mut expected, mut reasons) = committed();
    let mut without_reason = Vec::new();
    for name in CRATES {
        write!(expected, "\n## {name}\n\n{TABLE}").unwrap();
        for page in pages::of(name) {
            if !["struct", "enum", "union"].contains(&&page.kind[..]) {
                continue;
            }
            let (send, sync) = (answer(&page, "Send"), answer(&page, "Sync"));
            let key = (name.to_owned(), page.path.clone());
            let reason = reasons.remove(&key).unwrap_or_default();
            if (&send[..], &sync[..]) != ("yes", "yes") && reason.is_empty() {
                without_reason.push(page.path.clone());
            }
            writeln!(expected, "| `{}` | {send} | {sync} | {reason} |", page.path).unwrap();
        }
    }
    pages::compare(FILE, &expected.replace(" |  |", " | |"));
    assert_eq!(without_reason, [""; 0], "say in {FILE} why");
}

#[test]
fn what_is_declared_is_argued() {
    let mut found = Vec::new();
    let mut folders = CRATES
        .map(|name| pages::workspace().join(name).join("src"))
        .to_vec();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.extension().is_none_or(|extension| extension != "rs") {
                continue;
            }
            let lines = fs::read_to_string(&path).unwrap();
            for line in lines
                .lines()
                .filter_map(|line| line.trim().strip_prefix("unsafe impl"))
            {
                // Neither generic implementations nor those of an own trait.
                let what = line.trim_end_matches("{}").trim();
                if what.contains("Send for ") || what.contains("Sync for ") {
                    let file = path.strip_prefix(pages::workspace()).unwrap();
                    found.push((file.to_string_lossy().into_owned(), what.to_owned()));
                }
            }
        }
    }
    found.sort();
    let found: Vec<(&str, &str)> = found
        .iter()
        .map(|(file, what)| (&file[..], &what[..]))
        .collect();
    assert_eq!(found, DECLARED);
    let (introduction, _) = committed();
    for (_, what) in DECLARED {
        let name = what.split(" for ").nth(1).unwrap();
        assert!(
            introduction.contains(&format!("`{name}`")),
            "{name} has no argument"
        );
    }
}
