use clr_profiler_tests::Scenario;

use super::EmitsMetadata;

#[test]
fn what_was_defined_is_read_back_from_everywhere() {
    let scenario = Scenario::new("Metadata").profiled_by::<EmitsMetadata>();
    scenario.compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output());
        assert_eq!(profiled.status, plain.status);
        let said = |fact: &str| profiled.log.lines().any(|line| line.starts_with(fact));
        for fact in EACH {
            for on in ["new", "module"] {
                assert!(
                    said(&format!("{on}: {fact}")),
                    "{on}: {fact} not in {}",
                    profiled.log
                );
            }
        }
        for fact in ONLY {
            assert!(said(fact), "{fact} not in {}", profiled.log);
        }
        let count = 2 * EACH.len() + ONLY.len();
        assert_eq!(profiled.log.lines().count(), count, "{}", profiled.log);
    });
}

/// In new metadata, and in that of a loaded module.
const EACH: &[&str] = &[
    "layout before: none",
    "layout: 2 [Some(4), Some(12)] 40",
    "layout changed: 8 [Some(4), Some(12)] 64",
    "layout deleted: none",
    "layout deleted again: true",
    "nested: found true, in outer true, outer in none true, [\"System.IDisposable\"]",
    "nested changed: 0x102, extends true, [\"System.IComparable\", \"System.IDisposable\"]",
    "nested kept: true",
    "event defined: Done 0x0 true true true false false",
    "event changed: Done 0x200 true true true true true",
    "events true, raised as 0x20, added as 0x8",
    "property defined: It 0x1000 Some(I4(41)) true false false",
    "property changed: It 0x1200 Some(I8(-42)) true true true",
    "generic defined: 0 TItem 0x10 true [(\"System.IDisposable\", true)]",
    "generic changed: 0 TThing 0x4 true [(\"System.IComparable\", true)]",
    "generic kept: 0 TThing 0x4 true [(\"System.IComparable\", true)]",
    "method placed: Close 0x1e6 0x2050 0x0",
    "method changed: Close 0x1c6 0x2060 0x8",
    "method kept: Close 0x1c6 0x2060 0x8",
    "method implemented: Close 0x1c6 0x2060 0x48",
    "method address: 0x2060 0x48",
    "overrides: [(true, true)]",
    "field defined: Data 0x16 None",
    "field changed: Data 0x8056 Some(I4(17))",
    "field kept: Data 0x8056 Some(I4(17))",
    "parameter 0: 0 \"\" 0x0 None",
    "parameter 1: 1 \"count\" 0x0 None",
    "parameter 2: 2 \"label\" 0x1010 Some(String(\"äöü\"))",
    "parameter 3: none",
    "parameter kept: label",
    "parameters: true",
    "P/Invoke before: none",
    "P/Invoke defined: one 0x202 Some(\"libone\")",
    "P/Invoke changed: other 0x244 Some(\"libother\")",
    "P/Invoke kept: other 0x244 Some(\"libother\")",
    "P/Invoke deleted: none",
    "libraries: [\"libone\", \"libother\"]",
    "marshal before: None",
    "marshal: Some([23, 32])",
    "marshal changed: Some([20])",
    "marshal deleted: None",
    "attribute defined: [1, 0, 3, 111, 108, 100, 0, 0] true true true",
    "attribute changed: [1, 0, 5, 111, 108, 100, 101, 114, 0, 0] true true true",
    "attributes: true",
    "permissions 2: \"<first/>\"",
    "permissions changed 2: \"<second/>\" true",
    "permission sets: true, of any action true, of another true",
    "permissions of another action: true",
    "security attributes: IMetaDataEmit::DefineSecurityAttributeSet failed with E_NOTIMPL",
    "imported field: Count true true",
    "imported method: ProcessId true true",
    "parent: Moved true, members false true",
    "own: true",
    "own resolved: true",
    "merge: IMetaDataEmit::Merge failed with E_NOTIMPL",
    "merged: IMetaDataEmit::MergeEnd failed with E_NOTIMPL",
];

/// In one of them, or about something else.
const ONLY: &[&str] = &[
    "new: assembly defined: Defined 1.4 \"\" 0x8004 []",
    "new: assembly changed: Changed 1.9 \"de\" 0x8004 [7, 8, 9]",
    "new: assembly found: true",
    "new: reference: Yet.Another 5 [3] [1, 2, 3, 4, 5, 6, 7, 8]",
    "new: file: part.netmodule [1, 2, 3] 0",
    "new: file changed: part.netmodule [4] 1",
    "new: files: true",
    "new: exported: Elsewhere.Type true true 0x1",
    "new: exported changed: Elsewhere.Type true 0x200000, found true",
    "new: resource: Some.Texts 16 1",
    "new: resource changed: Some.Texts true 0 2, found true",
    "new: field address: 0x4000",
    "new: global field: true, of a type false",
    "new: imported type: Shop.Cart`2, Metadata",
    "new: translated: Shop.Colour, Metadata",
    "saved: some: true",
    "saved: moved: true",
    "saved: sizes: true true true",
    "saved: from memory: true",
    "saved: storage: true",
    "saved: from a stream: true",
    "saved: from a file: true",
    "saved: to be written: true",
    "module: imported type: Shop.Cart`2",
    "module: translated: expected a TypeRef token, found 0x02000006 (TypeDef)",
    "changes: grown: true",
    "changes: saved: true true true",
    "changes: has the additions: true",
    "changes: has the additions: true",
    "changes: has the additions: true",
    "changes: applied",
    "changes: deleted: _Deleted true true",
    "services: mapping: IMetaDataInfo::GetFileMapping failed with COR_E_NOTSUPPORTED",
    "services: checks: IMetaDataValidate::ValidatorInit was not called: the metadata of this runtime has no IMetaDataValidate",
    "services: sections: ICeeGen::GetIlSection was not called: the metadata of this runtime has no ICeeGen",
    "services: marked before: true true",
    "services: marked none: false true",
    "services: marked the reference: true true",
    "services: marked all: true true",
    "services: marked none again: false true",
    "services: option CheckDuplicatesFor: true",
    "services: option RefToDefCheck: true",
    "services: option NotificationForTokenMovement: true",
    "services: option ImportOption: IMetaDataDispenserEx::GetOption failed with E_INVALIDARG",
    "services: option ThreadSafety: IMetaDataDispenserEx::GetOption failed with E_INVALIDARG",
    "services: option ErrorIfEmitOutOfOrder: true",
    "services: option Linker: IMetaDataDispenserEx::GetOption: the option is no number: it has the type 11",
    "services: option Merger: IMetaDataDispenserEx::GetOption failed with E_INVALIDARG",
    "services: option PreserveLocalRefs: IMetaDataDispenserEx::GetOption failed with E_INVALIDARG",
    "services: marks with locks: IMetaDataFilter::IsTokenMarked was not called: items of a loaded module cannot be marked, nor those of metadata that locks itself: open the module's file with `info.metadata_dispenser()`, without `ThreadSafety`",
];
