//! The common form of listings for comparison.

use std::collections::BTreeMap;

/// A method of a listing.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Method {
    pub(crate) max_stack: u16,
    pub(crate) size: u32,
    pub(crate) lines: Vec<Line>,
    pub(crate) clauses: BTreeMap<usize, Clause>,
    /// While a listing is read: the last try region that ended.
    pub(crate) last_try: (u32, u32),
}

/// An instruction or prefix. Operands are decimal numbers, floating-point numbers and tokens in
/// hexadecimal digits of their bits, labels `IL_0000`.
#[derive(Debug, PartialEq)]
pub(crate) struct Line {
    pub(crate) offset: u32,
    pub(crate) mnemonic: String,
    pub(crate) operand: String,
}

/// A clause, by offsets.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Clause {
    pub(crate) kind: String,
    pub(crate) try_region: (u32, u32),
    pub(crate) handler: (u32, u32),
    pub(crate) filter: Option<u32>,
}
