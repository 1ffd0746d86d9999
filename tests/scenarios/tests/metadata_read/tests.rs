use clr_profiler_tests::Scenario;

use super::ReadsMetadata;

#[test]
fn metadata_says_what_the_source_says() {
    let scenario = Scenario::new("Metadata").profiled_by::<ReadsMetadata>();
    scenario.compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output());
        assert_eq!(profiled.status.code(), Some(4));
        for line in FACTS {
            assert!(profiled.logged(line), "{line} not in {}", profiled.log);
        }
        for line in DISPENSED {
            assert!(
                profiled.log.contains(line),
                "{line} not in {}",
                profiled.log
            );
        }
        for refused in REFUSED {
            assert!(
                profiled.log.contains(refused),
                "{refused} not in {}",
                profiled.log
            );
        }
    });
}

const FACTS: &[&str] = &[
    "scope: \"Metadata.dll\"",
    "types: 9",
    "types in all: true",
    "fourth type: true",
    "beyond: true",
    "nested in the cart: true",
    "cart is nested: None",
    "base: \"System.Object\"",
    "found again: true",
    "implements: \"Shop.IPriced\"",
    "Shop.IPriced.get_Price implements get_Price",
    "field Limit: Some(I4(-12)), the same true",
    "field Motto: Some(String(\"nächste\")), the same true",
    "field Rate: Some(R8(0.5)), the same true",
    "field Mark: Some(Char(120)), the same true",
    "field Nothing: Some(Null), the same true",
    "field Most: Some(U8(18446744073709551615)), the same true",
    "field Count: None, the same true",
    "green: Some(U1(200))",
    "methods Add: 2",
    "Add by bytes: true",
    "Add is a member: true",
    "parameter 1 name 0x0 None",
    "parameter 2 count 0x1010 Some(I4(5))",
    "third: None",
    "body: true",
    "global: false",
    "references found again: true",
    "property Owner: [], getter Some(\"get_Owner\") as Some(MethodSemanticsAttributes(GETTER)), setter true, others 0",
    "property Item: [String, I8], getter Some(\"get_Item\") as Some(MethodSemanticsAttributes(GETTER)), setter false, others 0",
    "event Changed: System.EventHandler, Some(\"add_Changed\"), removed true, fired false, served true",
    "no label: None",
    "attribute .ctor of the cart true, the same true",
    "layout 4 [Some(0), Some(2), Some(16)] 24",
    "layout of the cart: None",
    "P/Invoke getpid Some(\"libc\") 0x244",
    "P/Invoke of Main: None",
    "marshalled: Some([20])",
    "not marshalled: None",
    "literal \"half a pair \u{fffd}, a zero \\0, and {0}\", surrogate true, valid true",
    "valid: false",
    "named: \"Program\"",
    "parameter 0 TItem 0x14 [\"Shop.IPriced\"]",
    "parameter 1 TKey 0x18 [\"System.ValueType\"]",
    "instantiation [I8]",
    "assembly Metadata AssemblyVersion { major: 1, minor: 2, build: 3, revision: 4, culture: \"\" } key 0",
    "table TypeDef of 6 columns, all rows true, row true",
    "column Name: Cart`2",
    "coded: \"TypeDefOrRef\"",
    "mvid: true",
    "beyond the heap: true",
    "sizes: true",
];

const REFUSED: &[&str] = &[
    "no such type: IMetaDataImport::FindTypeDefByName failed with CLDB_E_RECORD_NOTFOUND",
    "truncated name: IMetaDataImport::FindTypeDefByName: the name \"Shop\\0\" has a zero",
    "Rate is an int: IMetaDataImport::FindField failed with CLDB_E_RECORD_NOTFOUND",
    "Add by wrong bytes: IMetaDataImport::FindMethod: signature, offset 1",
    "no table: IMetaDataTables::GetTableInfo: there is no table 64",
    "row zero: IMetaDataTables::GetColumn: there is no row before",
    "storage of a module: IMetaDataTables2::GetMetaDataStorage was not called",
    "marks of a module: IMetaDataFilter::MarkToken was not called",
];

/// The results of the dispenser, which the runtime's own library exports.
const DISPENSED: &[&str] = &[
    "opened: \"Shop.Cart`2\"",
    "magic: Some([66, 83, 74, 66])",
    "again: \"Shop.Cart`2\"",
    "no metadata: true",
    "no file: true",
    "option: 16",
    "directory: IMetaDataDispenserEx::GetCORSystemDirectory was not called: only .NET Framework",
];
