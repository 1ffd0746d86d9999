//! No call is forgotten.

use std::collections::BTreeSet;

use clr_profiler_tests::coverage::wrappers;

#[test]
fn every_wrapper_is_called_or_left_out_for_a_reason() {
    let called: BTreeSet<&str> = probe::calls::all().iter().map(|call| call.name).collect();
    let left_out: BTreeSet<&str> = probe::calls::left_out().map(|(name, _)| name).collect();
    let wrappers = wrappers().unwrap();
    let wrappers: BTreeSet<&str> = wrappers
        .values()
        .flatten()
        .map(String::as_str)
        .filter(|name| !name.starts_with("Profiler::"))
        .collect();
    let is_called = |name: &str| {
        // Of an enumerator the type alone is named.
        let of_type = format!("{name}::");
        called.contains(name) || called.iter().any(|call| call.starts_with(&of_type))
    };
    let forgotten: Vec<_> = wrappers
        .iter()
        .filter(|name| !is_called(name) && !left_out.contains(*name))
        .collect();
    assert!(forgotten.is_empty(), "are not called: {forgotten:#?}");
    let gone: Vec<_> = left_out.difference(&wrappers).collect();
    assert!(gone.is_empty(), "no such wrappers: {gone:#?}");
    println!("{} calls, {} wrappers", called.len(), wrappers.len());
}
