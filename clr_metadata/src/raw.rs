//! The bytes of a row, column by column.

use clr_profiler_il::token::{Token, TokenTable};

use crate::bytes::Bytes;
use crate::columns::{Cell, Column, UNUSED};
use crate::error::{ErrorKind, Result};
use crate::heaps::{BlobIndex, GuidIndex, StringIndex};

pub(crate) const fn width(wide: bool) -> u8 {
    if wide { 4 } else { 2 }
}

/// The bytes of a row, and the offset of the next column.
#[derive(Clone, Copy, Debug)]
pub struct RawRow<'a> {
    bytes: Bytes<'a>,
    offset: usize,
    /// A bit for each column from the next one on that has four bytes.
    wide: u16,
}

impl<'a> RawRow<'a> {
    pub(crate) const fn new(bytes: Bytes<'a>, wide: u16) -> Self {
        Self {
            bytes,
            offset: 0,
            wide,
        }
    }

    /// The offset of the row in the input.
    pub(crate) const fn position(&self) -> usize {
        self.bytes.position(0)
    }

    #[inline]
    pub(crate) fn number(&self, offset: usize, wide: bool) -> Result<u32> {
        if wide {
            self.bytes.u32(offset)
        } else {
            self.bytes.u16(offset).map(u32::from)
        }
    }

    /// The value of the next column.
    #[inline]
    pub(crate) fn next<T: Cell>(&mut self) -> Result<T> {
        let wide = self.wide & 1 != 0;
        let number = self.number(self.offset, wide)?;
        let value = T::from_number(number)
            .ok_or_else(|| self.bytes.error(ErrorKind::Index(number), self.offset))?;
        self.offset += usize::from(width(wide));
        self.wide >>= 1;
        Ok(value)
    }
}

/// A value of [`Metadata::values`](crate::Metadata::values).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value {
    /// A number: flags, an address, a version.
    Number(u32),
    /// A text.
    String(StringIndex),
    /// A GUID.
    Guid(GuidIndex),
    /// A blob.
    Blob(BlobIndex),
    /// A row; its table is known even if it is nil.
    Token(Token),
}

impl RawRow<'_> {
    /// The values of all columns.
    pub(crate) fn values(self, columns: &[Column]) -> Result<Vec<Value>> {
        let (mut offset, mut wide) = (0, self.wide);
        let value = |&column: &Column| {
            let number = self.number(offset, wide & 1 != 0)?;
            let index = || self.bytes.error(ErrorKind::Index(number), offset);
            let token = |table, row| Token::from_row(TokenTable(table), row).ok_or_else(index);
            let value = match column {
                Column::U16 | Column::U32 => Value::Number(number),
                Column::String => Value::String(StringIndex(number)),
                Column::Guid => Value::Guid(GuidIndex(number)),
                Column::Blob => Value::Blob(BlobIndex(number)),
                Column::Row(table) => Value::Token(token(table, number)?),
                Column::Coded { bits, tables } => {
                    let tag = number & ((1 << bits) - 1);
                    let table = tables.get(tag as usize).filter(|&&table| table != UNUSED);
                    Value::Token(token(*table.ok_or_else(index)?, number >> bits)?)
                }
            };
            offset += usize::from(width(wide & 1 != 0));
            wide >>= 1;
            Ok(value)
        };
        columns.iter().map(value).collect()
    }
}
