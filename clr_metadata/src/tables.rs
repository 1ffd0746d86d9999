//! The stream of tables (ECMA-335 II.24.2.6).

use clr_profiler_il::token::{MAX_ROW, Token, TokenTable};

use crate::bytes::Bytes;
use crate::columns::Column;
use crate::error::{Error, ErrorKind, Result};
use crate::raw::{RawRow, width};
use crate::rows::{COLUMNS, TABLE_COUNT};

/// A bit in the sizes of the heaps: four more bytes follow the numbers of rows.
const EXTRA_DATA: u8 = 0x40;

/// The most columns of a table.
const MAX_COLUMNS: usize = 9;

/// The numbers of rows, by table.
pub(crate) type RowCounts = [u32; TABLE_COUNT];

/// The tables of a module.
#[derive(Clone, Debug)]
pub(crate) struct Tables<'a> {
    tables: [Table<'a>; TABLE_COUNT],
    sorted: u64,
}

/// One table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Table<'a> {
    rows: u32,
    row_size: u8,
    /// The offset of each column in a row.
    offsets: [u8; MAX_COLUMNS],
    /// A bit for each column of four bytes instead of two.
    wide: u16,
    bytes: Bytes<'a>,
}

/// The sizes that decide on the widths of columns.
struct Sizes {
    heaps: u8,
    rows: RowCounts,
}

impl Sizes {
    fn exceeds(&self, table: u8, most: u32) -> bool {
        let rows = self.rows.get(usize::from(table));
        rows.is_some_and(|&rows| rows > most)
    }

    /// Whether a column has four bytes, not two.
    fn is_wide(&self, column: Column) -> bool {
        match column {
            Column::U16 => false,
            Column::U32 => true,
            Column::String => self.heaps & 1 != 0,
            Column::Guid => self.heaps & 2 != 0,
            Column::Blob => self.heaps & 4 != 0,
            Column::Row(table) => self.exceeds(table, 0xffff),
            Column::Coded { bits, tables } => tables
                .iter()
                .any(|&table| self.exceeds(table, 0xffff >> bits)),
        }
    }
}

/// The numbers of rows after a bit mask of tables, and the offset after them.
pub(crate) fn row_counts(
    bytes: Bytes<'_>,
    mask: u64,
    mut offset: usize,
) -> Result<(RowCounts, usize)> {
    let mut counts = [0; TABLE_COUNT];
    for (table, rows) in counts.iter_mut().enumerate() {
        if mask >> table & 1 == 0 {
            continue;
        }
        *rows = bytes.u32(offset)?;
        if *rows > MAX_ROW {
            return Err(bytes.error(ErrorKind::TooManyRows(*rows), offset));
        }
        offset += 4;
    }
    Ok((counts, offset))
}

impl<'a> Tables<'a> {
    /// Reads the header. In a PDB, `external` has the numbers of rows of the assembly's tables.
    pub(crate) fn parse(stream: Bytes<'a>, external: Option<&RowCounts>) -> Result<Self> {
        let heaps = stream.u8(6)?;
        let valid = stream.u64(8)?;
        let sorted = stream.u64(16)?;
        let (own, mut offset) = row_counts(stream, valid, 24)?;
        if heaps & EXTRA_DATA != 0 {
            offset += 4;
        }
        let mut sizes = Sizes { heaps, rows: own };
        for (rows, external) in sizes.rows.iter_mut().zip(external.into_iter().flatten()) {
            *rows = (*rows).max(*external);
        }
        let mut tables = [Table::EMPTY; TABLE_COUNT];
        let layouts = tables.iter_mut().zip(COLUMNS).zip(own);
        for (number, ((table, columns), rows)) in (0..).zip(layouts) {
            if columns.is_empty() && valid >> number & 1 != 0 {
                return Err(stream.error(ErrorKind::UnknownTable(TokenTable(number)), 8));
            }
            table.rows = rows;
            for ((index, &column), at) in columns.iter().enumerate().zip(&mut table.offsets) {
                let wide = sizes.is_wide(column);
                table.wide |= u16::from(wide) << index;
                *at = table.row_size;
                table.row_size += width(wide);
            }
            // Less than 36 bytes times 2^24 rows.
            let size = u64::from(table.row_size) * u64::from(rows);
            let size = usize::try_from(size).unwrap_or(usize::MAX);
            table.bytes = stream.part(offset, size)?;
            offset += size;
        }
        Ok(Self { tables, sorted })
    }

    /// An empty table for an unknown number.
    pub(crate) fn table(&self, table: TokenTable) -> Table<'a> {
        let table = self.tables.get(usize::from(table.0));
        table.copied().unwrap_or(Table::EMPTY)
    }

    pub(crate) fn table_ref(&self, table: TokenTable) -> Option<&Table<'a>> {
        self.tables.get(usize::from(table.0))
    }

    pub(crate) fn rows(&self, table: TokenTable) -> u32 {
        self.table_ref(table).map_or(0, |table| table.rows)
    }

    /// Whether the rows of a table are sorted by their owners.
    pub(crate) const fn is_sorted(&self, table: TokenTable) -> bool {
        table.0 < 64 && self.sorted >> table.0 & 1 != 0
    }

    pub(crate) fn row(&self, token: Token) -> Result<RawRow<'a>> {
        let none = || Error::new(ErrorKind::NoRow(token), 0);
        let table = self.table_ref(token.table()).ok_or_else(none)?;
        table
            .row(token.row())
            .ok_or_else(|| table.bytes.error(ErrorKind::NoRow(token), 0))
    }
}

impl<'a> Table<'a> {
    pub(crate) const EMPTY: Self = Self {
        rows: 0,
        row_size: 0,
        offsets: [0; MAX_COLUMNS],
        wide: 0,
        bytes: Bytes::EMPTY,
    };

    pub(crate) const fn rows(&self) -> u32 {
        self.rows
    }

    /// The row with this number, from 1.
    #[inline]
    pub(crate) fn row(&self, row: u32) -> Option<RawRow<'a>> {
        let index = row.checked_sub(1)? as usize;
        if row > self.rows {
            return None;
        }
        let size = usize::from(self.row_size);
        let bytes = self.bytes.part(index * size, size).ok()?;
        Some(RawRow::new(bytes, self.wide))
    }

    /// The number in a column of a row.
    #[inline]
    pub(crate) fn number(&self, row: u32, column: usize) -> Option<u32> {
        let row = self.row(row)?;
        let offset = usize::from(*self.offsets.get(column)?);
        row.number(offset, self.wide >> column & 1 != 0).ok()
    }
}
