//! The stream of tables (ECMA-335 II.24.2.6): the offset of each column of each row.

use clr_profiler_il::token::{Token, TokenTable};

use crate::bytes::{array, rest, slice, u8_at, u32_at, u64_at};
use crate::error::{Error, ErrorKind, Result};
use crate::schema::{Column, TABLES, UNUSED};

/// A flag in the sizes of the heaps: another number follows the row counts.
const EXTRA_DATA: u8 = 0x40;

/// All tables of a file.
#[derive(Debug)]
pub(crate) struct Tables<'a> {
    tables: [Table<'a>; TABLES.len()],
}

/// One table.
#[derive(Clone, Copy, Debug, Default)]
struct Table<'a> {
    rows: u32,
    row_size: usize,
    bytes: &'a [u8],
    wide: u16,
}

/// The sizes that decide on the widths of columns.
struct Sizes {
    heaps: u8,
    rows: [u32; TABLES.len()],
}

impl Sizes {
    fn rows(&self, table: u8) -> u32 {
        self.rows.get(usize::from(table)).copied().unwrap_or(0)
    }

    /// Whether a column has four bytes, not two.
    fn is_wide(&self, column: Column) -> bool {
        match column {
            Column::U16 => false,
            Column::U32 => true,
            Column::Name => self.heaps & 1 != 0,
            Column::Guid => self.heaps & 2 != 0,
            Column::Blob => self.heaps & 4 != 0,
            Column::Row(table) => self.rows(table) > 0xffff,
            Column::Coded(coded) => coded
                .tables
                .iter()
                .any(|&table| self.rows(table) > 0xffff >> coded.bits),
        }
    }
}

impl<'a> Tables<'a> {
    pub(crate) fn open(stream: &'a [u8]) -> Result<Self> {
        let mut sizes = Sizes {
            heaps: u8_at(stream, 6)?,
            rows: [0; TABLES.len()],
        };
        let valid = u64_at(stream, 8)?;
        if valid >> TABLES.len() != 0 {
            let table = valid.ilog2();
            return Err(Error::new(ErrorKind::UnknownTable(table), 8));
        }
        let mut offset = 24;
        for (table, rows) in sizes.rows.iter_mut().enumerate() {
            if valid >> table & 1 != 0 {
                *rows = u32_at(stream, offset)?;
                offset += 4;
            }
        }
        if sizes.heaps & EXTRA_DATA != 0 {
            offset += 4;
        }
        let mut tables = [Table::default(); TABLES.len()];
        for ((table, columns), rows) in tables.iter_mut().zip(TABLES).zip(sizes.rows) {
            table.rows = rows;
            for (index, &column) in columns.iter().enumerate() {
                let wide = sizes.is_wide(column);
                table.wide |= u16::from(wide) << index;
                table.row_size += width(wide);
            }
            let size = table
                .row_size
                .checked_mul(rows as usize)
                .ok_or(Error::new(ErrorKind::Truncated, offset))?;
            table.bytes = slice(rest(stream, offset)?, 0, size)?;
            offset += size;
        }
        Ok(Self { tables })
    }

    pub(crate) fn rows(&self, table: TokenTable) -> u32 {
        self.table(table).map_or(0, |table| table.rows)
    }

    fn table(&self, table: TokenTable) -> Option<&Table<'a>> {
        self.tables.get(usize::from(table.0))
    }

    /// The number in a column of the row that a token names.
    pub(crate) fn cell(&self, token: Token, column: usize) -> Result<u32> {
        let no_row = Error::new(ErrorKind::NoRow(token), 0);
        let table = self.table(token.table()).ok_or(no_row)?;
        let row = token.row().checked_sub(1).ok_or(no_row)?;
        if row >= table.rows {
            return Err(no_row);
        }
        let wide = |index: usize| table.wide >> index & 1 != 0;
        let start = row as usize * table.row_size;
        let offset = start + (0..column).map(|index| width(wide(index))).sum::<usize>();
        if wide(column) {
            array(table.bytes, offset).map(u32::from_le_bytes)
        } else {
            array(table.bytes, offset).map(|bytes| u32::from(u16::from_le_bytes(bytes)))
        }
    }

    /// The token in a column that is a coded index.
    pub(crate) fn coded(&self, token: Token, column: usize) -> Result<Token> {
        let value = self.cell(token, column)?;
        let error = Error::new(ErrorKind::CodedIndex(value), 0);
        let columns = TABLES.get(usize::from(token.table().0));
        let Some(&Column::Coded(coded)) = columns.and_then(|columns| columns.get(column)) else {
            return Err(error);
        };
        let tag = value & ((1 << coded.bits) - 1);
        match coded.tables.get(tag as usize) {
            Some(&table) if table != UNUSED => {
                Token::from_row(TokenTable(table), value >> coded.bits).ok_or(error)
            }
            _ => Err(error),
        }
    }

    /// The tokens of the rows of a table.
    pub(crate) fn tokens(&self, table: TokenTable) -> impl Iterator<Item = Token> + use<> {
        (1..=self.rows(table)).map_while(move |row| Token::from_row(table, row))
    }
}

const fn width(wide: bool) -> usize {
    if wide { 4 } else { 2 }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream with the given numbers of rows in tables, all bytes zero.
    fn stream(heaps: u8, tables: &[(u8, u32)], size: usize) -> Vec<u8> {
        let mut stream = vec![0; 6];
        stream.extend([heaps, 1]);
        let valid = tables
            .iter()
            .fold(0u64, |valid, (table, _)| valid | 1 << table);
        stream.extend(valid.to_le_bytes());
        stream.extend([0; 8]);
        for (_, rows) in tables {
            stream.extend(rows.to_le_bytes());
        }
        stream.resize(stream.len() + size, 0);
        stream
    }

    fn row_size(heaps: u8, tables: &[(u8, u32)], of: u8) -> usize {
        let stream = stream(heaps, tables, 8 << 20);
        Tables::open(&stream).unwrap().tables[usize::from(of)].row_size
    }

    #[test]
    fn widths_follow_the_sizes_of_heaps() {
        // Generation, name, three GUIDs.
        assert_eq!(row_size(0, &[(0x00, 1)], 0x00), 10);
        assert_eq!(row_size(1, &[(0x00, 1)], 0x00), 12);
        assert_eq!(row_size(2, &[(0x00, 1)], 0x00), 16);
        assert_eq!(row_size(4, &[(0x00, 1), (0x1b, 1)], 0x1b), 4);
    }

    #[test]
    fn widths_follow_the_number_of_rows() {
        // EventMap: a type and an event.
        assert_eq!(row_size(0, &[(0x02, 0xffff)], 0x12), 4);
        assert_eq!(row_size(0, &[(0x02, 0x1_0000)], 0x12), 6);
        // InterfaceImpl: a type, and a coded index with a tag of 2 bits.
        assert_eq!(row_size(0, &[(0x1b, 0x3fff)], 0x09), 4);
        assert_eq!(row_size(0, &[(0x1b, 0x4000)], 0x09), 6);
    }

    #[test]
    fn columns_stand_behind_each_other() {
        // Two methods; rows of 14 bytes: RVA, two flags, name, blob, parameter.
        let mut bytes = stream(0, &[(0x06, 2)], 28);
        let row = bytes.len() - 14;
        bytes[row..row + 4].copy_from_slice(&0x2050u32.to_le_bytes());
        bytes[row + 10] = 7;
        let tables = Tables::open(&bytes).unwrap();
        let cell = |token: u32, column| tables.cell(Token::new(token), column);
        assert_eq!(cell(0x0600_0002, 0), Ok(0x2050));
        assert_eq!(cell(0x0600_0002, 4), Ok(7));
        assert_eq!(cell(0x0600_0001, 0), Ok(0));
        for missing in [0x0600_0000, 0x0600_0003, 0x0200_0001, 0x7000_0001] {
            let kind = cell(missing, 0).unwrap_err().kind;
            assert_eq!(kind, ErrorKind::NoRow(Token::new(missing)));
        }
    }

    #[test]
    fn coded_indexes_are_tokens() {
        // A type reference in the module reference 5 (tag 1), a member of an unused tag.
        let mut bytes = stream(0, &[(0x01, 1), (0x0a, 1)], 12);
        let rows = bytes.len() - 12;
        bytes[rows] = 5 << 2 | 1;
        bytes[rows + 6] = 5;
        let tables = Tables::open(&bytes).unwrap();
        assert_eq!(
            tables.coded(Token::new(0x0100_0001), 0),
            Ok(Token::new(0x1a00_0005))
        );
        assert_eq!(
            tables.coded(Token::new(0x0a00_0001), 0).unwrap_err().kind,
            ErrorKind::CodedIndex(5)
        );
    }

    #[test]
    fn impossible_tables_are_errors() {
        let unknown = stream(0, &[(0x2d, 1)], 100);
        assert_eq!(
            Tables::open(&unknown).unwrap_err().kind,
            ErrorKind::UnknownTable(0x2d)
        );
        let long = stream(0, &[(0x06, u32::MAX)], 100);
        assert_eq!(Tables::open(&long).unwrap_err().kind, ErrorKind::Truncated);
    }
}
