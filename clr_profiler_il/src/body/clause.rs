use super::MethodBody;
use crate::code::{Clause, ClauseKind};
use crate::instruction::Position;
use crate::symbol::Reference;

/// A stretch of code between two places.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// Its first instruction is after this place.
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

impl MethodBody {
    /// The exception clauses, in their order: inner ones before those that enclose them.
    pub fn clauses(&self) -> impl Iterator<Item = ExceptionClause<'_>> {
        self.code.clauses.iter().map(|clause| self.view(clause))
    }

    fn view(&self, clause: &Clause) -> ExceptionClause<'_> {
        let position = |label| self.code.position(self.code.place(label));
        ExceptionClause {
            kind: match clause.kind {
                ClauseKind::Catch => {
                    HandlerKind::Catch(self.code.reference(clause.value, clause.symbolic))
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
