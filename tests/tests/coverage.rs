//! `docs/api-coverage.md` agrees with the sources.

#![cfg(target_os = "linux")]

use std::collections::{BTreeMap, BTreeSet};

use clr_profiler_tests::coverage::{Document, wrappers};
use stand_in::methods;

const AGAIN: &str = "write it again: cargo run -p clr_profiler_tests --bin api_coverage";

#[test]
fn every_wrapper_wraps_something_that_there_is() {
    let native: BTreeSet<String> = methods().iter().map(|method| method.name()).collect();
    for (wrapped, by) in wrappers().unwrap() {
        assert!(
            native.contains(&wrapped),
            "{by:?} wrap {wrapped}, which is unknown"
        );
    }
}

#[test]
fn the_document_has_every_wrapper_and_no_other() {
    let document = Document::read().unwrap();
    let written: BTreeMap<String, Vec<String>> = document
        .lines
        .iter()
        .filter(|line| !line.wrappers.is_empty())
        .map(|line| (line.native.clone(), line.wrappers.clone()))
        .collect();
    assert_eq!(written, wrappers().unwrap(), "{AGAIN}");
}

#[test]
fn the_document_says_what_its_sources_say() {
    let committed = Document::read().unwrap();
    let again = Document::new(&wrappers().unwrap(), &committed.real()).unwrap();
    for (committed, again) in committed.lines.iter().zip(&again.lines) {
        assert_eq!(committed, again, "{AGAIN}");
    }
    assert_eq!(committed.lines.len(), again.lines.len(), "{AGAIN}");
}
