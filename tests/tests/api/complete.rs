//! No native method is forgotten.

use std::collections::BTreeSet;

use stand_in::methods;

use crate::implemented::implemented;
use crate::rows::all_rows;

#[test]
fn every_native_method_has_a_row() {
    let wrapped = all_rows().map(|row| row.native);
    let rows: BTreeSet<String> = wrapped.chain(implemented()).map(str::to_owned).collect();
    let native: BTreeSet<String> = methods()
        .iter()
        .filter(|method| {
            let other_way = method.interface.starts_with("ICorProfilerCallback");
            !other_way && !matches!(method.interface, "IUnknown" | "IClassFactory")
        })
        .map(|method| method.name())
        .collect();
    let gone: Vec<_> = rows.difference(&native).collect();
    assert!(gone.is_empty(), "no such methods: {gone:#?}");
    let forgotten: Vec<_> = native.difference(&rows).collect();
    assert!(forgotten.is_empty(), "have no row: {forgotten:#?}");
    println!("{} native methods", native.len());
}
