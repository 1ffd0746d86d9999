//! All public items with their signatures: `docs/public-api`, a file for each crate. A change of the public API is
//! a difference there. Of `clr_profiler_sys` it has the names alone.

use std::collections::BTreeSet;

use crate::pages::{self, NATIVE, PUBLISHED, Page};

/// The head of a declaration: members have lines of their own.
fn head(page: &Page) -> String {
    let declaration = page.declaration().replace("]pub ", "] pub ");
    match &page.kind[..] {
        "struct" | "enum" | "union" | "trait" => {
            let head = declaration.split(" {").next().unwrap_or_default();
            head.trim_end_matches(" where").to_owned()
        }
        _ => declaration,
    }
}

/// The name in a signature of an associated item.
fn name(signature: &str) -> &str {
    let after = ["fn ", "const ", "type "]
        .iter()
        .filter_map(|keyword| Some(signature.split_once(keyword)?.1))
        .min_by_key(|after| std::cmp::Reverse(after.len()))
        .unwrap_or(signature);
    // `const fn` and `const unsafe fn`.
    let after = after
        .split_once("fn ")
        .map_or(after, |(before, name)| match before.trim() {
            "" | "unsafe" => name,
            _ => after,
        });
    after
        .split(|character: char| !character.is_alphanumeric() && character != '_')
        .next()
        .unwrap_or(after)
}

/// The lines of an item: itself, its members, and the traits that it implements.
fn lines(page: &Page) -> Vec<String> {
    let path = &page.path;
    let mut lines = vec![format!("{path}: {}", head(page))];
    if !page.is_of_workspace() {
        return lines;
    }
    lines.extend((page.fields().iter()).map(|(owner, field)| format!("{path}::{owner}{field}")));
    for member in page.members() {
        lines.push(format!("{path}::{}: {member}", name(&member)));
    }
    for implemented in page.implemented() {
        if implemented.contains("StructuralPartialEq") {
            continue; // Of the compiler; nobody can name it.
        }
        lines.push(format!("{path}: {implemented}"));
    }
    lines
}

#[test]
fn the_public_api_is_the_committed_one() {
    for crate_name in PUBLISHED {
        let mut all: BTreeSet<String> = BTreeSet::new();
        for page in pages::of(crate_name) {
            all.extend(lines(&page));
        }
        all.extend(pages::exported_again(crate_name));
        let text: String = all.into_iter().map(|line| line + "\n").collect();
        pages::compare(&format!("docs/public-api/{crate_name}.txt"), &text);
    }
}

#[test]
fn the_public_names_of_the_native_interfaces_are_the_committed_ones() {
    let names = pages::of(NATIVE).into_iter();
    let lines: BTreeSet<String> = names
        .map(|page| format!("{}: {}\n", page.path, page.kind))
        .collect();
    let text: String = lines.into_iter().collect();
    pages::compare(&format!("docs/public-api/{NATIVE}.txt"), &text);
}

#[test]
fn names_are_found_in_signatures() {
    for (signature, expected) in [
        (
            "pub const unsafe fn from_raw(raw: usize) -> Self",
            "from_raw",
        ),
        ("pub const ALL: Self", "ALL"),
        ("fn rows<T>(&self) -> T", "rows"),
        ("type Native", "Native"),
    ] {
        assert_eq!(name(signature), expected);
    }
}
