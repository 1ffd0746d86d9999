use super::error::{BodyError, BodyErrorKind};
use super::length::{SECTION_FAT, SECTION_MORE};
use super::link::node_at_offset;
use crate::code::{Bounds, ClauseKind, Code, END};
use crate::flat::{Flat, FlatClause};

/// Flag of a section: it contains exception clauses.
pub(super) const EXCEPTIONS: u8 = 0x01;
/// The bits of a section's kind that tell its contents.
const KIND: u8 = 0x3f;

/// The raw fields of a clause.
pub(super) struct Raw {
    flags: u32,
    try_offset: u32,
    try_length: u32,
    handler_offset: u32,
    handler_length: u32,
    value: u32,
}

/// Reads all sections, which follow the code (II.25.4.5). `add` gets each clause and its offset.
pub(super) fn read_sections(
    bytes: &[u8],
    code_end: usize,
    mut add: impl FnMut(&Raw, usize) -> Result<(), BodyError>,
) -> Result<(), BodyError> {
    let truncated = BodyError::new(bytes.len(), BodyErrorKind::Truncated);
    let mut end = code_end;
    loop {
        let start = end.next_multiple_of(4);
        let header: &[u8; 4] = bytes
            .get(start..)
            .and_then(|rest| rest.first_chunk())
            .ok_or(truncated)?;
        let [kind, s0, s1, s2] = *header;
        if kind & KIND != EXCEPTIONS {
            return Err(BodyError::new(start, BodyErrorKind::UnknownSection(kind)));
        }
        let fat = kind & SECTION_FAT != 0;
        let (size, clause_size) = if fat {
            (u32::from_le_bytes([s0, s1, s2, 0]) as usize, 24)
        } else {
            (usize::from(s0), 12)
        };
        // Some compilers omit the four bytes of the header from the size; the runtime accepts that
        // by rounding.
        let clauses = size / clause_size * clause_size;
        if size - clauses != 4 && (size != clauses || size == 0) {
            return Err(BodyError::new(start + 1, BodyErrorKind::SectionSize(size)));
        }
        end = start + 4 + clauses;
        let table = bytes.get(start + 4..end).ok_or(truncated)?;
        for (index, clause) in table.chunks_exact(clause_size).enumerate() {
            let raw = if fat {
                Raw::fat(clause)
            } else {
                Raw::small(clause)
            };
            let raw = raw.ok_or(truncated)?;
            let offset = start + 4 + index * clause_size;
            add(&raw, offset)?;
        }
        if kind & SECTION_MORE == 0 {
            return Ok(());
        }
    }
}

/// Adds a clause to freshly decoded code.
pub(super) fn link_clause(code: &mut Code, raw: &Raw, offset: usize) -> Result<(), BodyError> {
    let code_size = code.original.size;
    let Some(kind) = ClauseKind::from_flags(raw.flags) else {
        return Err(BodyError::new(
            offset,
            BodyErrorKind::UnknownClause(raw.flags),
        ));
    };
    let bound = |at: u64| {
        if at == code_size as u64 {
            return Ok(END);
        }
        let inside = u32::try_from(at).ok().filter(|_| at < code_size as u64);
        let Some(bound) = inside else {
            let kind = BodyErrorKind::ClauseOutside { end: at };
            return Err(BodyError::new(offset, kind));
        };
        node_at_offset(&*code, bound).ok_or(BodyError::new(
            offset,
            BodyErrorKind::ClauseInside { bound },
        ))
    };
    let filter = kind == ClauseKind::Filter;
    let bounds = Bounds {
        try_start: bound(u64::from(raw.try_offset))?,
        try_end: bound(raw.try_end())?,
        filter: if filter {
            Some(bound(u64::from(raw.value))?)
        } else {
            None
        },
        handler_start: bound(u64::from(raw.handler_offset))?,
        handler_end: bound(raw.handler_end())?,
    };
    let value = if filter { 0 } else { raw.value };
    code.add_clause(kind, (value, false), bounds);
    Ok(())
}

/// Adds a clause to flat code; `false` if it is malformed.
pub(super) fn add_flat_clause(flat: &mut Flat, raw: &Raw) -> bool {
    let Some(kind) = ClauseKind::from_flags(raw.flags) else {
        return false;
    };
    let (Ok(try_end), Ok(handler_end)) = (raw.try_end().try_into(), raw.handler_end().try_into())
    else {
        return false;
    };
    let is_filter = kind == ClauseKind::Filter;
    flat.add_clause(FlatClause {
        kind,
        value: if is_filter { 0 } else { raw.value },
        try_start: raw.try_offset,
        try_end,
        filter: match is_filter {
            true => raw.value,
            false => raw.handler_offset,
        },
        handler_start: raw.handler_offset,
        handler_end,
    })
}

/// Adds a clause of flat code to its nodes.
pub(super) fn link_flat_clause(code: &mut Code, clause: &FlatClause) {
    let size = code.original.size as u32;
    let bound = |at: u32| match at == size {
        true => END,
        false => node_at_offset(code, at).unwrap_or(END),
    };
    let bounds = Bounds {
        try_start: bound(clause.try_start),
        try_end: bound(clause.try_end),
        filter: (clause.kind == ClauseKind::Filter).then(|| bound(clause.filter)),
        handler_start: bound(clause.handler_start),
        handler_end: bound(clause.handler_end),
    };
    code.add_clause(clause.kind, (clause.value, false), bounds);
}

impl Raw {
    fn try_end(&self) -> u64 {
        u64::from(self.try_offset) + u64::from(self.try_length)
    }

    fn handler_end(&self) -> u64 {
        u64::from(self.handler_offset) + u64::from(self.handler_length)
    }

    fn small(clause: &[u8]) -> Option<Self> {
        let [f0, f1, t0, t1, t, h0, h1, h, v0, v1, v2, v3]: [u8; 12] = *clause.first_chunk()?;
        Some(Self {
            flags: u32::from(u16::from_le_bytes([f0, f1])),
            try_offset: u32::from(u16::from_le_bytes([t0, t1])),
            try_length: u32::from(t),
            handler_offset: u32::from(u16::from_le_bytes([h0, h1])),
            handler_length: u32::from(h),
            value: u32::from_le_bytes([v0, v1, v2, v3]),
        })
    }

    fn fat(clause: &[u8]) -> Option<Self> {
        let mut words = clause
            .chunks_exact(4)
            .filter_map(|word| word.first_chunk().map(|bytes| u32::from_le_bytes(*bytes)));
        Some(Self {
            flags: words.next()?,
            try_offset: words.next()?,
            try_length: words.next()?,
            handler_offset: words.next()?,
            handler_length: words.next()?,
            value: words.next()?,
        })
    }
}
