//! The row of the manifest in the metadata tables (II.22, II.24.2.6).

use super::AssemblyError;
use super::image::Bytes;

/// The manifest's row; strings and blobs as indexes into their heaps.
pub(super) struct AssemblyRow {
    /// The number of rows in the `TypeRef` table.
    pub(super) type_refs: u32,
    pub(super) hash_algorithm: u32,
    pub(super) version: [u16; 4],
    pub(super) flags: u32,
    pub(super) public_key: u32,
    pub(super) name: u32,
    pub(super) culture: u32,
}

/// The contents of a column.
enum Column {
    /// This many bytes.
    Fixed(usize),
    String,
    Guid,
    Blob,
    /// The row of one of these tables, in the bits that the tag leaves.
    Row(&'static [usize], u32),
}

use Column::{Blob, Fixed, Guid, Row, String};

const TWO: Column = Fixed(2);
const FOUR: Column = Fixed(4);
/// The number of the manifest's table; the tables before it are skipped.
const ASSEMBLY: usize = 0x20;
const TYPE_REF: usize = 0x01;

const FIELD: Column = Row(&[0x04], 0);
const METHOD: Column = Row(&[0x06], 0);
const PARAM: Column = Row(&[0x08], 0);
const TYPE: Column = Row(&[0x02], 0);
const EVENT: Column = Row(&[0x14], 0);
const PROPERTY: Column = Row(&[0x17], 0);
const MODULE: Column = Row(&[0x1a], 0);
const TYPE_DEF_OR_REF: Column = Row(&[0x02, 0x01, 0x1b], 2);
const METHOD_DEF_OR_REF: Column = Row(&[0x06, 0x0a], 1);
const RESOLUTION_SCOPE: Column = Row(&[0x00, 0x1a, 0x23, 0x01], 2);
const MEMBER_PARENT: Column = Row(&[0x02, 0x01, 0x1a, 0x06, 0x1b], 3);
const HAS_CONSTANT: Column = Row(&[0x04, 0x08, 0x17], 2);
const HAS_MARSHAL: Column = Row(&[0x04, 0x08], 1);
const HAS_SECURITY: Column = Row(&[0x02, 0x06, 0x20], 2);
const HAS_SEMANTICS: Column = Row(&[0x14, 0x17], 1);
const FORWARDED: Column = Row(&[0x04, 0x06], 1);
const ATTRIBUTE_TYPE: Column = Row(&[0x06, 0x0a], 3);
const HAS_ATTRIBUTE: Column = Row(
    &[
        0x06, 0x04, 0x01, 0x02, 0x08, 0x09, 0x0a, 0x00, 0x0e, 0x17, 0x14, 0x11, 0x1a, 0x1b, 0x20,
        0x23, 0x26, 0x27, 0x28, 0x2a, 0x2c, 0x2b,
    ],
    5,
);

/// The tables before the manifest's, by number.
const TABLES: [&[Column]; ASSEMBLY] = [
    /* 00 Module                 */ &[TWO, String, Guid, Guid, Guid],
    /* 01 TypeRef                */ &[RESOLUTION_SCOPE, String, String],
    /* 02 TypeDef                */ &[FOUR, String, String, TYPE_DEF_OR_REF, FIELD, METHOD],
    /* 03 FieldPtr               */ &[FIELD],
    /* 04 Field                  */ &[TWO, String, Blob],
    /* 05 MethodPtr              */ &[METHOD],
    /* 06 MethodDef              */ &[FOUR, TWO, TWO, String, Blob, PARAM],
    /* 07 ParamPtr               */ &[PARAM],
    /* 08 Param                  */ &[TWO, TWO, String],
    /* 09 InterfaceImpl          */ &[TYPE, TYPE_DEF_OR_REF],
    /* 0a MemberRef              */ &[MEMBER_PARENT, String, Blob],
    /* 0b Constant               */ &[TWO, HAS_CONSTANT, Blob],
    /* 0c CustomAttribute        */ &[HAS_ATTRIBUTE, ATTRIBUTE_TYPE, Blob],
    /* 0d FieldMarshal           */ &[HAS_MARSHAL, Blob],
    /* 0e DeclSecurity           */ &[TWO, HAS_SECURITY, Blob],
    /* 0f ClassLayout            */ &[TWO, FOUR, TYPE],
    /* 10 FieldLayout            */ &[FOUR, FIELD],
    /* 11 StandAloneSig          */ &[Blob],
    /* 12 EventMap               */ &[TYPE, EVENT],
    /* 13 EventPtr               */ &[EVENT],
    /* 14 Event                  */ &[TWO, String, TYPE_DEF_OR_REF],
    /* 15 PropertyMap            */ &[TYPE, PROPERTY],
    /* 16 PropertyPtr            */ &[PROPERTY],
    /* 17 Property               */ &[TWO, String, Blob],
    /* 18 MethodSemantics        */ &[TWO, METHOD, HAS_SEMANTICS],
    /* 19 MethodImpl             */ &[TYPE, METHOD_DEF_OR_REF, METHOD_DEF_OR_REF],
    /* 1a ModuleRef              */ &[String],
    /* 1b TypeSpec               */ &[Blob],
    /* 1c ImplMap                */ &[TWO, FORWARDED, String, MODULE],
    /* 1d FieldRVA               */ &[FOUR, FIELD],
    /* 1e EncLog                 */ &[FOUR, FOUR],
    /* 1f EncMap                 */ &[FOUR],
];

/// The widths of columns in one file.
struct Widths {
    heap_sizes: u8,
    rows: [u32; 64],
}

impl Widths {
    fn heap(&self, bit: u8) -> usize {
        if self.heap_sizes & bit == 0 { 2 } else { 4 }
    }

    fn column(&self, column: &Column) -> usize {
        match *column {
            Fixed(bytes) => bytes,
            String => self.heap(1),
            Guid => self.heap(2),
            Blob => self.heap(4),
            Row(tables, tag) => {
                let rows = tables.iter().filter_map(|table| self.rows.get(*table));
                let most = rows.copied().max().unwrap_or(0);
                if most >> (16 - tag) == 0 { 2 } else { 4 }
            }
        }
    }

    fn row(&self, table: &[Column]) -> usize {
        table.iter().map(|column| self.column(column)).sum()
    }
}

/// The manifest's row; `None` in a module without a manifest.
pub(super) fn assembly(stream: Bytes<'_>) -> Result<Option<AssemblyRow>, AssemblyError> {
    let [_, heap_sizes] = stream.u16(5)?.to_le_bytes();
    let present = stream.u64(8)?;
    let mut widths = Widths {
        heap_sizes,
        rows: [0; 64],
    };
    let mut at = 24;
    for (table, rows) in widths.rows.iter_mut().enumerate() {
        if present & (1 << table) != 0 {
            *rows = stream.u32(at)?;
            at += 4;
        }
    }
    // Some compilers add four bytes here.
    if heap_sizes & 0x40 != 0 {
        at += 4;
    }
    if present & (1 << ASSEMBLY) == 0 {
        return Ok(None);
    }
    let before = TABLES.iter().zip(widths.rows);
    let before: usize = before
        .map(|(table, rows)| widths.row(table).saturating_mul(rows as usize))
        .fold(0, usize::saturating_add);
    let row = stream.from(at)?.from(before)?;
    let mut at = 16;
    let mut index = |width: usize| {
        let index = if width == 2 {
            u32::from(row.u16(at)?)
        } else {
            row.u32(at)?
        };
        at += width;
        Ok::<_, AssemblyError>(index)
    };
    Ok(Some(AssemblyRow {
        type_refs: widths.rows.get(TYPE_REF).copied().unwrap_or(0),
        hash_algorithm: row.u32(0)?,
        version: [row.u16(4)?, row.u16(6)?, row.u16(8)?, row.u16(10)?],
        flags: row.u32(12)?,
        public_key: index(widths.heap(4))?,
        name: index(widths.heap(1))?,
        culture: index(widths.heap(1))?,
    }))
}
