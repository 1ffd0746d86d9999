//! Widths of columns, coded indexes, sorted and unsorted tables, edits, and the rows of PDBs.

mod built;

use clr_metadata::rows::{LocalScopeRow, NestedClassRow, Row};
use clr_metadata::token::{MemberRef, MethodDef, Module, TokenTable, TypeDef, TypeRef};
use clr_metadata::{CustomAttributeType, ErrorKind, Metadata, ResolutionScope};
use clr_profiler_il::token::{CustomAttribute, Token};

/// The metadata of a stream of tables, with two names.
fn metadata(heaps: u8, sorted: u64, tables: &[(u8, u32)], rows: &[u8]) -> Vec<u8> {
    let tables = built::tables(heaps, sorted, tables, rows);
    built::metadata(&[("#~", &tables), ("#Strings", b"\0First\0Second\0")])
}

/// The size of a row: the least number of bytes that is enough for the tables, without those of other tables.
fn row_size(heaps: u8, tables: &[(u8, u32)], of: u8) -> usize {
    let stream = built::tables(heaps, 0, tables, &vec![0; 6 << 20]);
    let with = |size: usize| {
        let bytes = built::metadata(&[("#~", &stream[..stream.len() - (6 << 20) + size])]);
        Metadata::parse(&bytes).is_ok()
    };
    let (mut low, mut high) = (0, 6 << 20);
    while low < high {
        let middle = (low + high) / 2;
        (low, high) = if with(middle) {
            (low, middle)
        } else {
            (middle + 1, high)
        };
    }
    let own = tables.iter().find(|(table, _)| *table == of).unwrap().1 as usize;
    let others: usize = tables
        .iter()
        .filter(|(table, _)| *table != of)
        .map(|&(table, rows)| rows as usize * single(heaps, table, tables))
        .sum();
    (low - others) / own
}

/// The size of a row of the large tables in these tests.
fn single(heaps: u8, table: u8, tables: &[(u8, u32)]) -> usize {
    let wide = |bit: u8| if heaps & bit != 0 { 4 } else { 2 };
    match table {
        // TypeDef: flags, two names, TypeDefOrRef, field, method.
        0x02 => {
            let types = tables.iter().find(|(table, _)| *table == 2).unwrap().1;
            let coded = if types > 0x3fff { 4 } else { 2 };
            4 + 2 * wide(1) + coded + 4
        }
        0x1b => wide(4),
        _ => panic!("{table}"),
    }
}

#[test]
fn widths_follow_the_sizes_of_heaps() {
    // Generation, name, three GUIDs.
    assert_eq!(row_size(0, &[(0x00, 1)], 0x00), 10);
    assert_eq!(row_size(1, &[(0x00, 1)], 0x00), 12);
    assert_eq!(row_size(2, &[(0x00, 1)], 0x00), 16);
    assert_eq!(row_size(4, &[(0x00, 1), (0x1b, 1)], 0x00), 10);
}

#[test]
fn widths_follow_the_number_of_rows() {
    // EventMap: a type and an event.
    assert_eq!(row_size(0, &[(0x02, 0xffff), (0x12, 1)], 0x12), 4);
    assert_eq!(row_size(0, &[(0x02, 0x1_0000), (0x12, 1)], 0x12), 6);
    // InterfaceImpl: a type, and a coded index with a tag of 2 bits.
    assert_eq!(row_size(0, &[(0x09, 1), (0x1b, 0x3fff)], 0x09), 4);
    assert_eq!(row_size(0, &[(0x09, 1), (0x1b, 0x4000)], 0x09), 6);
}

#[test]
fn rows_are_decoded_by_their_columns() {
    // Two methods; rows of 14 bytes: RVA, two flags, name, blob, parameter.
    let mut rows = vec![0; 28];
    rows[14..18].copy_from_slice(&0x2050_u32.to_le_bytes());
    rows[14 + 6] = 0x10;
    rows[14 + 8] = 7;
    let bytes = metadata(0, 0, &[(0x06, 2)], &rows);
    let metadata = Metadata::parse(&bytes).unwrap();
    let [first, second] = [1, 2].map(|row| MethodDef::from_row(row).unwrap());
    let row = metadata.row(second).unwrap();
    assert_eq!(row.rva, 0x2050);
    assert!(row.attributes.is_static());
    assert_eq!(metadata.member_name(second), Ok("Second"));
    assert_eq!(metadata.row(first).unwrap().rva, 0);
    assert_eq!(
        metadata.tokens::<MethodDef>().collect::<Vec<_>>(),
        [first, second]
    );
    for missing in [0, 3, 0xff_ffff] {
        let missing = MethodDef::from_row(missing).unwrap();
        let error = metadata.row(missing).unwrap_err();
        assert_eq!(error.kind(), &ErrorKind::NoRow(missing.token()));
    }
    assert_eq!(metadata.row_count(TokenTable(0x70)), 0);
    assert!(metadata.values(Token::new(0x7000_0001)).is_err());
}

#[test]
fn coded_indexes_are_typed() {
    // A type reference in the assembly reference 5 (tag 2); an attribute with the constructor MemberRef 3 (tag 3), and one
    // with an unused tag.
    let mut rows = vec![0; 6 + 12];
    rows[0] = 5 << 2 | 2;
    rows[6 + 2] = 3 << 3 | 3;
    rows[12 + 2] = 3 << 3;
    let bytes = metadata(0, 0, &[(0x01, 1), (0x0c, 2)], &rows);
    let metadata = Metadata::parse(&bytes).unwrap();
    let scope = metadata.row(TypeRef::from_row(1).unwrap()).unwrap().scope;
    assert!(matches!(scope, ResolutionScope::AssemblyRef(token) if token.row() == 5));
    let attribute = |row| metadata.row(CustomAttribute::from_row(row).unwrap());
    let constructor = MemberRef::from_row(3).unwrap();
    assert_eq!(
        attribute(1).unwrap().constructor,
        CustomAttributeType::MemberRef(constructor)
    );
    let error = attribute(2).unwrap_err();
    assert_eq!(error.kind(), &ErrorKind::Index(3 << 3));
    assert_eq!(error.offset(), bytes.len() - b"\0First\0Second\0".len() - 4);
}

#[test]
fn owners_are_found_in_sorted_and_in_unsorted_tables() {
    let nested = [(2, 1), (4, 3), (4, 9), (6, 3)];
    let bytes_of = |rows: &[(u16, u16)]| -> Vec<u8> {
        rows.iter()
            .flat_map(|row| [row.0.to_le_bytes(), row.1.to_le_bytes()].concat())
            .collect()
    };
    let mut unsorted = nested;
    unsorted.reverse();
    let sorted_bit = 1 << NestedClassRow::TABLE.0;
    for (rows, sorted) in [(nested, sorted_bit), (nested, 0), (unsorted, 0)] {
        let bytes = metadata(0, sorted, &[(0x29, 4)], &bytes_of(&rows));
        let metadata = Metadata::parse(&bytes).unwrap();
        for row in 0..9 {
            let class = TypeDef::from_row(row).unwrap();
            let expected: Vec<u16> = rows
                .iter()
                .filter(|(nested, _)| u32::from(*nested) == row)
                .map(|(_, enclosing)| *enclosing)
                .collect();
            let found = metadata.rows_of::<NestedClassRow>(class);
            let found: Vec<_> = found
                .map(|row| row.unwrap().enclosing.row() as u16)
                .collect();
            assert_eq!(found, expected, "{row}, sorted {sorted}");
        }
    }
}

#[test]
fn members_of_edits_are_found_by_pointers() {
    // Two types with one method each, whose pointers are in the opposite order.
    let mut rows = Vec::new();
    for methods in [1_u16, 2] {
        rows.extend([0; 12]);
        rows.extend(methods.to_le_bytes());
    }
    rows.extend([2_u16, 1].map(u16::to_le_bytes).concat());
    rows.extend([0; 28]);
    let tables = built::tables(0, 0, &[(0x02, 2), (0x05, 2), (0x06, 2)], &rows);
    let bytes = built::metadata(&[("#-", &tables)]);
    let metadata = Metadata::parse(&bytes).unwrap();
    let types: Vec<_> = metadata.tokens::<TypeDef>().collect();
    for (class, method) in [(types[0], 2), (types[1], 1)] {
        let method = MethodDef::from_row(method).unwrap();
        assert_eq!(metadata.methods(class).collect::<Vec<_>>(), [method]);
        assert_eq!(metadata.method_owner(method), Ok(class));
    }
}

#[test]
fn tables_of_a_pdb_have_the_widths_of_its_assembly() {
    // A scope: method, imports, variables, constants, two numbers. The assembly has 65,536 methods.
    let row = [7_u32.to_le_bytes().to_vec(), vec![0; 6], vec![1; 8]].concat();
    let tables = built::tables(0, 0, &[(0x32, 1)], &row);
    let mut pdb = vec![9; 20];
    pdb.extend(0x0600_0001_u32.to_le_bytes());
    pdb.extend((1_u64 << 6).to_le_bytes());
    pdb.extend(0x1_0000_u32.to_le_bytes());
    let bytes = built::metadata(&[("#Pdb", &pdb), ("#~", &tables)]);
    let metadata = Metadata::parse(&bytes).unwrap();
    let stream = metadata.pdb_stream().unwrap();
    assert_eq!(
        (stream.id, stream.entry_point),
        ([9; 20], Token::new(0x0600_0001))
    );
    assert_eq!(stream.rows(TokenTable::METHOD_DEF), 0x1_0000);
    let scope = metadata.rows::<LocalScopeRow>().next().unwrap().unwrap();
    assert_eq!((scope.method.row(), scope.length), (7, 0x0101_0101));
}

#[test]
fn impossible_tables_are_errors() {
    let error = |tables: &[(u8, u32)]| {
        let bytes = metadata(0, 0, tables, &[0; 100]);
        Metadata::parse(&bytes).unwrap_err().kind().clone()
    };
    assert_eq!(
        error(&[(0x2d, 1)]),
        ErrorKind::UnknownTable(TokenTable(0x2d))
    );
    assert_eq!(error(&[(0x06, 0x1_0000)]), ErrorKind::UnexpectedEnd);
    assert_eq!(error(&[(0x06, u32::MAX)]), ErrorKind::TooManyRows(u32::MAX));
    let twice = built::tables(0, 0, &[], &[]);
    let bytes = built::metadata(&[("#~", &twice), ("#-", &twice)]);
    assert_eq!(
        Metadata::parse(&bytes).unwrap_err().kind(),
        &ErrorKind::TwoStreams("#-")
    );
    let bytes = built::metadata(&[("#Strings", b"\0")]);
    assert_eq!(
        Metadata::parse(&bytes).unwrap_err().kind(),
        &ErrorKind::NoStream("#~")
    );
}

#[test]
fn values_of_heaps_are_checked() {
    let tables = built::tables(0, 0, &[(0x00, 1)], &[0, 0, 1, 0, 1, 0, 2, 0, 0, 0]);
    let bytes = built::metadata(&[
        ("#~", &tables),
        ("#Strings", b"\0\xff\0open"),
        ("#GUID", &[3; 16]),
        ("#US", &[0, 3, b'a', 0, 0, 2, 1, 2]),
        ("#Blob", &[0, 2, 5, 6, 9]),
    ]);
    let metadata = Metadata::parse(&bytes).unwrap();
    let row = metadata.row(Module::from_row(1).unwrap()).unwrap();
    assert_eq!(
        metadata.string(row.name).unwrap_err().kind(),
        &ErrorKind::InvalidText
    );
    assert_eq!(metadata.string_bytes(row.name), Ok(&b"\xff"[..]));
    assert_eq!(metadata.guid(row.mvid), Ok(Some([3; 16])));
    assert_eq!(
        metadata.guid(row.enc_id).unwrap_err().kind(),
        &ErrorKind::NoGuid(2)
    );
    assert_eq!(metadata.guid(row.enc_base_id), Ok(None));
    let unterminated = clr_metadata::StringIndex(3);
    assert_eq!(
        metadata.string(unterminated).unwrap_err().kind(),
        &ErrorKind::UnexpectedEnd
    );
    let literal = |offset| {
        let token = clr_metadata::token::UserString::from_row(offset).unwrap();
        metadata
            .user_string(token)
            .map(|text| text.to_string_lossy())
    };
    assert_eq!(literal(1), Ok("a".to_owned()));
    assert_eq!(literal(0), Ok(String::new()));
    assert_eq!(
        literal(5).unwrap_err().kind(),
        &ErrorKind::InvalidUserString
    );
    assert_eq!(metadata.blob(clr_metadata::BlobIndex(1)), Ok(&[5, 6][..]));
    assert!(metadata.blob(clr_metadata::BlobIndex(4)).is_err());
}
