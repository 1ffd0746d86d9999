//! The iterators of rows and tokens.

use std::marker::PhantomData;

use clr_profiler_il::token::{Token, TokenTable};

use crate::error::{Error, ErrorKind, Result};
use crate::rows::{Decode, RowToken};
use crate::tables::Table;

/// The numbers of rows from `next` to before `end`. Of a table with a searched owner, those with it alone.
#[derive(Clone, Debug)]
pub(crate) struct Numbers<'a> {
    table: Table<'a>,
    next: u32,
    end: u32,
    /// A column, and the number that it must have.
    filter: Option<(usize, u32)>,
    /// Whether the rows with that number are adjacent.
    is_sorted: bool,
}

impl<'a> Numbers<'a> {
    pub(crate) const fn all(table: Table<'a>) -> Self {
        Self {
            table,
            next: 1,
            end: table.rows() + 1,
            filter: None,
            is_sorted: false,
        }
    }

    pub(crate) const fn none() -> Self {
        Self {
            table: Table::EMPTY,
            next: 1,
            end: 1,
            filter: None,
            is_sorted: false,
        }
    }

    /// The rows with a number in a column: by binary search in a sorted table, otherwise one after the other.
    pub(crate) fn with(table: Table<'a>, sorted: bool, column: usize, number: u32) -> Self {
        let mut numbers = Self {
            filter: Some((column, number)),
            ..Self::all(table)
        };
        if sorted {
            numbers.is_sorted = true;
            // Owners have few rows, so the end is found by reading them.
            let (mut low, mut high) = (1, table.rows() + 1);
            while low < high {
                let middle = low + (high - low) / 2;
                match table.number(middle, column) {
                    Some(found) if found < number => low = middle + 1,
                    _ => high = middle,
                }
            }
            numbers.next = low;
        }
        numbers
    }

    pub(crate) const fn table(&self) -> &Table<'a> {
        &self.table
    }
}

impl Iterator for Numbers<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        while self.next < self.end {
            let row = self.next;
            self.next += 1;
            match self.filter {
                Some((column, number)) if self.table.number(row, column) != Some(number) => {
                    if self.is_sorted {
                        self.next = self.end;
                    }
                }
                _ => return Some(row),
            }
        }
        None
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let most = self.end.saturating_sub(self.next) as usize;
        (if self.filter.is_some() { 0 } else { most }, Some(most))
    }
}

/// The rows of a table, or those of an owner.
#[derive(Clone, Debug)]
pub struct Rows<'a, R> {
    numbers: Numbers<'a>,
    of: PhantomData<fn() -> R>,
}

impl<'a, R> Rows<'a, R> {
    pub(crate) const fn new(numbers: Numbers<'a>) -> Self {
        Self {
            numbers,
            of: PhantomData,
        }
    }
}

impl<R: Decode> Iterator for Rows<'_, R> {
    type Item = Result<R>;

    fn next(&mut self) -> Option<Result<R>> {
        let row = self.numbers.next()?;
        let row = self.numbers.table().row(row);
        Some(
            row.ok_or(Error::new(ErrorKind::UnexpectedEnd, 0))
                .and_then(R::decode),
        )
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.numbers.size_hint()
    }
}

/// The tokens of the rows of a table, or of those of an owner.
#[derive(Clone, Debug)]
pub struct Tokens<'a, T> {
    numbers: Numbers<'a>,
    of: PhantomData<fn() -> T>,
}

impl<'a, T> Tokens<'a, T> {
    pub(crate) const fn new(numbers: Numbers<'a>) -> Self {
        Self {
            numbers,
            of: PhantomData,
        }
    }
}

impl<T: RowToken> Iterator for Tokens<'_, T> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        token(self.numbers.next()?)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.numbers.size_hint()
    }
}

/// The token of a row. The number of rows was checked to fit into tokens.
pub(crate) fn token<T: RowToken>(row: u32) -> Option<T> {
    let table: TokenTable = <T as RowToken>::TABLE;
    T::try_from(Token::from_row(table, row)?).ok()
}
