//! The public items that are `unsafe`: SECURITY.md lists them all.

use std::fmt::Write;
use std::fs;

use crate::pages::{self, CRATES};

const FILE: &str = "SECURITY.md";
const BEGIN: &str = "<!-- unsafe items: made by tests/borders/tests/public -->\n";
const END: &str = "<!-- end of unsafe items -->\n";

/// The unsafe functions and traits of a crate, by their paths.
fn unsafe_items(name: &str) -> Vec<String> {
    let mut found = Vec::new();
    for page in pages::of(name) {
        if page.declaration().starts_with("pub unsafe ") {
            found.push(format!("{} ({})", page.path, page.kind));
        }
        for heading in page.headings(4) {
            let before = heading.split('(').next().unwrap_or_default();
            // Methods that a type has from a trait are listed with the trait.
            let is_own = page.kind == "trait" || before.starts_with("pub ");
            if let Some((keywords, function)) = before.split_once("fn ")
                && is_own
                && keywords.split(' ').any(|keyword| keyword == "unsafe")
            {
                let function = function.split('<').next().unwrap_or(function);
                found.push(format!("{}::{function}", page.path));
            }
        }
    }
    found.dedup();
    found
}

#[test]
fn all_unsafe_functions_are_listed() {
    let committed = fs::read_to_string(pages::workspace().join(FILE)).unwrap();
    let (before, rest) = committed.split_once(BEGIN).unwrap();
    let (_, after) = rest.split_once(END).unwrap();
    let mut list = String::from("\n");
    for name in CRATES {
        let items = unsafe_items(name);
        let items: Vec<String> = items.iter().map(|item| format!("  - `{item}`")).collect();
        match items.len() {
            0 => writeln!(list, "- `{name}`: none.").unwrap(),
            _ => writeln!(list, "- `{name}`:\n{}", items.join("\n")).unwrap(),
        }
    }
    list.push('\n');
    pages::compare(FILE, &format!("{before}{BEGIN}{list}{END}{after}"));
}
