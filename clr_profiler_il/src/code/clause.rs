use super::{Code, Label, LabelKind};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ClauseKind {
    Catch,
    Filter,
    Finally,
    Fault,
}

impl ClauseKind {
    pub(crate) const fn from_flags(flags: u32) -> Option<Self> {
        Some(match flags {
            0 => Self::Catch,
            1 => Self::Filter,
            2 => Self::Finally,
            4 => Self::Fault,
            _ => return None,
        })
    }

    pub(crate) const fn flags(self) -> u8 {
        match self {
            Self::Catch => 0,
            Self::Filter => 1,
            Self::Finally => 2,
            Self::Fault => 4,
        }
    }
}

/// A clause in storage: every bound has a label of its own.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Clause {
    pub(crate) kind: ClauseKind,
    pub(crate) symbolic: bool,
    /// The type of a catch; for a finally or fault, the decoded bytes of that field.
    pub(crate) value: u32,
    pub(crate) try_start: Label,
    pub(crate) try_end: Label,
    pub(crate) handler_start: Label,
    pub(crate) handler_end: Label,
    /// The start of a filter; for other clauses the handler's start.
    pub(crate) filter: Label,
}

impl Clause {
    /// The bounds of its regions.
    pub(crate) const fn bounds(&self) -> [Label; 5] {
        [
            self.try_start,
            self.try_end,
            self.filter,
            self.handler_start,
            self.handler_end,
        ]
    }

    /// The clause of a copy of its code.
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

/// The nodes at the bounds of a new clause's regions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bounds {
    pub(crate) try_start: u32,
    pub(crate) try_end: u32,
    pub(crate) filter: Option<u32>,
    pub(crate) handler_start: u32,
    pub(crate) handler_end: u32,
}

impl Clause {
    /// Creates the labels of a clause.
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

impl Code {
    /// Appends a clause.
    pub(crate) fn add_clause(&mut self, kind: ClauseKind, value: (u32, bool), bounds: Bounds) {
        let clause = Clause::new(self, kind, value, bounds);
        self.clauses.push(clause);
    }
}
