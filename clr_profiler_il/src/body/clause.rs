use super::MethodBody;
use crate::code::{Clause, ClauseKind};
use crate::instruction::Position;
use crate::symbol::Reference;

/// A range of code between two positions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Region {
    /// The position before its first instruction.
    pub start: Position,
    /// The position after its last instruction.
    pub end: Position,
}

/// The kind of a handler (ECMA-335 II.25.4.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum HandlerKind<'a> {
    /// Exceptions of a type.
    Catch(Reference<'a>),
    /// Exceptions that the filter code, from `start` to the handler, accepts.
    Filter {
        /// The start of the filter code, which ends where the handler starts.
        start: Position,
    },
    /// Runs however control leaves the try region.
    Finally,
    /// Runs only when an exception leaves the try region.
    Fault,
}

/// A try region and its handler (ECMA-335 II.25.4.6).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ExceptionClause<'a> {
    /// The kind of the handler.
    pub kind: HandlerKind<'a>,
    /// The protected code.
    pub try_region: Region,
    /// The handler.
    pub handler: Region,
}

impl MethodBody {
    /// The exception clauses in evaluation order: inner ones before those that enclose them.
    pub fn clauses(&self) -> impl Iterator<Item = ExceptionClause<'_>> {
        self.code.clauses.iter().map(|clause| self.view(clause))
    }

    fn view(&self, clause: &Clause) -> ExceptionClause<'_> {
        let position = |label| self.code.position(self.code.node_of(label));
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
