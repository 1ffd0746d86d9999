//! No native method is forgotten.

use std::collections::BTreeSet;

use stand_in::methods;

use crate::rows::all_rows;

/// The native methods without a row, one a line: those whose wrapper is not written yet.
const MISSING: &str = include_str!("missing.txt");

#[test]
fn every_native_method_has_a_row_or_is_known_to_be_missing() {
    let lines = MISSING.lines().map(str::to_owned);
    let missing: BTreeSet<String> = lines.filter(|line| !line.starts_with('#')).collect();
    let rows: BTreeSet<String> = all_rows().map(|row| row.native.to_owned()).collect();
    let native: BTreeSet<String> = methods()
        .iter()
        .filter(|method| {
            let other_way = method.interface.starts_with("ICorProfilerCallback");
            !other_way && !matches!(method.interface, "IUnknown" | "IClassFactory")
        })
        .map(|method| method.name())
        .collect();
    let gone: Vec<_> = rows
        .difference(&native)
        .chain(missing.difference(&native))
        .collect();
    assert!(gone.is_empty(), "no such methods: {gone:#?}");
    let written: Vec<_> = rows.intersection(&missing).collect();
    assert!(
        written.is_empty(),
        "have rows, so take out of missing.txt: {written:#?}"
    );
    let forgotten: Vec<_> = native
        .iter()
        .filter(|name| !rows.contains(*name) && !missing.contains(*name))
        .collect();
    assert!(
        forgotten.is_empty(),
        "have neither a row nor a line: {forgotten:#?}"
    );
    println!(
        "{} native methods, {} of them without a row",
        native.len(),
        missing.len()
    );
}
