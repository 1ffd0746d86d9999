use super::MethodBody;
use crate::code::{Code, LabelKind};
use crate::instruction::{Label, Position, reference};
use crate::symbol::Reference;

/// A stretch of code between two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// Its first instruction is behind this place.
    pub start: Position,
    /// Its last instruction is before this place.
    pub end: Position,
}

/// What a handler handles (ECMA-335 II.25.4.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlerKind<'a> {
    /// Exceptions of a type.
    Catch(Reference<'a>),
    /// Exceptions that the code from `start` to the handler accepts.
    Filter {
        /// Where that code starts. It ends where the handler starts.
        start: Position,
    },
    /// Every way out of the try region.
    Finally,
    /// Every exception; not the other ways out.
    Fault,
}

/// A try region and its handler (ECMA-335 II.25.4.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ExceptionClause<'a> {
    /// What the handler handles.
    pub kind: HandlerKind<'a>,
    /// The protected code.
    pub try_region: Region,
    /// The handler.
    pub handler: Region,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClauseKind {
    Catch,
    Filter,
    Finally,
    Fault,
}

impl ClauseKind {
    pub(super) const fn from_flags(flags: u32) -> Option<Self> {
        Some(match flags {
            0 => Self::Catch,
            1 => Self::Filter,
            2 => Self::Finally,
            4 => Self::Fault,
            _ => return None,
        })
    }

    pub(super) const fn flags(self) -> u8 {
        match self {
            Self::Catch => 0,
            Self::Filter => 1,
            Self::Finally => 2,
            Self::Fault => 4,
        }
    }
}

/// A clause as it is kept: every bound is a label of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clause {
    pub(crate) kind: ClauseKind,
    pub(crate) symbolic: bool,
    /// The type of a catch. Of a finally or fault: whatever stood in its place.
    pub(crate) value: u32,
    pub(crate) try_start: Label,
    pub(crate) try_end: Label,
    pub(crate) handler_start: Label,
    pub(crate) handler_end: Label,
    /// Only of a filter; else the handler's start.
    pub(crate) filter: Label,
}

impl Clause {
    /// Where its regions begin and end.
    pub(crate) const fn bounds(&self) -> [Label; 5] {
        [
            self.try_start,
            self.try_end,
            self.filter,
            self.handler_start,
            self.handler_end,
        ]
    }

    /// The same clause after its code was copied.
    pub(crate) const fn shifted(self, labels: u32, symbols: u32) -> Self {
        Self {
            value: if self.symbolic {
                self.value + symbols
            } else {
                self.value
            },
            try_start: shifted(self.try_start, labels),
            try_end: shifted(self.try_end, labels),
            handler_start: shifted(self.handler_start, labels),
            handler_end: shifted(self.handler_end, labels),
            filter: shifted(self.filter, labels),
            ..self
        }
    }
}

const fn shifted(label: Label, labels: u32) -> Label {
    Label {
        index: label.index + labels,
        ..label
    }
}

/// The nodes that bound a new clause's regions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) try_start: u32,
    pub(crate) try_end: u32,
    pub(crate) filter: Option<u32>,
    pub(crate) handler_start: u32,
    pub(crate) handler_end: u32,
}

impl Clause {
    /// Makes the labels of a clause.
    pub(crate) fn new(
        code: &mut Code,
        kind: ClauseKind,
        (value, symbolic): (u32, bool),
        bounds: Bounds,
    ) -> Self {
        let mut start = |at| code.add_label(at, LabelKind::RegionStart);
        let try_start = start(bounds.try_start);
        let handler_start = start(bounds.handler_start);
        let filter = bounds.filter.map_or(handler_start, &mut start);
        let mut end = |at| code.add_label(at, LabelKind::RegionEnd);
        Self {
            kind,
            symbolic,
            value,
            try_start,
            try_end: end(bounds.try_end),
            handler_start,
            handler_end: end(bounds.handler_end),
            filter,
        }
    }
}

impl MethodBody {
    /// The exception clauses, in their order: inner ones before those that enclose them.
    pub fn clauses(&self) -> impl Iterator<Item = ExceptionClause<'_>> {
        self.clauses.iter().map(|clause| self.view(clause))
    }

    fn view(&self, clause: &Clause) -> ExceptionClause<'_> {
        let position = |label| self.code.position(self.code.place(label));
        ExceptionClause {
            kind: match clause.kind {
                ClauseKind::Catch => {
                    HandlerKind::Catch(reference(&self.code, clause.value, clause.symbolic))
                }
                ClauseKind::Filter => HandlerKind::Filter {
                    start: position(clause.filter),
                },
                ClauseKind::Finally => HandlerKind::Finally,
                ClauseKind::Fault => HandlerKind::Fault,
            },
            try_region: Region {
                start: position(clause.try_start),
                end: position(clause.try_end),
            },
            handler: Region {
                start: position(clause.handler_start),
                end: position(clause.handler_end),
            },
        }
    }
}
