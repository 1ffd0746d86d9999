use std::collections::HashMap;

use clr_profiler_il::body::{HandlerKind, MethodBody};
use clr_profiler_il::instruction::{Instruction, Label, Operand, Position};
use clr_profiler_il::opcode::Opcode;

/// The number of an unplaced label, instead of a line's.
const NOWHERE: usize = usize::MAX;

/// The contents of a body, with positions as instruction counts.
#[derive(Debug, PartialEq)]
pub(crate) struct Listing {
    pub(crate) init_locals: bool,
    pub(crate) locals: u32,
    pub(crate) lines: Vec<(Line, Vec<usize>)>,
    pub(crate) clauses: Vec<ClauseLine>,
}

/// An instruction without its targets.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Line {
    prefixes: Vec<String>,
    pub(crate) opcode: Opcode,
    operand: String,
}

/// A clause: its kind, and the positions of try region, handler and filter.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ClauseLine {
    kind: String,
    pub(crate) bounds: [usize; 4],
    pub(crate) filter: Option<usize>,
}

impl Line {
    pub(crate) fn of(one: &Instruction<'_>) -> Self {
        Self {
            prefixes: one.prefixes().map(|prefix| prefix.to_string()).collect(),
            opcode: one.opcode(),
            operand: match one.operand() {
                // Compared by bits, because NaN is not equal to itself.
                Operand::Float32(value) => format!("{:08x}", value.to_bits()),
                Operand::Float64(value) => format!("{:016x}", value.to_bits()),
                Operand::Reference(name) => name.to_string(),
                Operand::Target(_) | Operand::Switch(_) => String::new(),
                other => format!("{other:?}"),
            },
        }
    }
}

impl Listing {
    pub(crate) fn of(body: &MethodBody) -> Self {
        let order: HashMap<_, _> = body
            .instructions()
            .enumerate()
            .map(|(number, one)| (one.id(), number))
            .collect();
        let number = |position| match position {
            Position::Before(id) => order[&id],
            Position::End => order.len(),
        };
        let target = |label: Label| body.position(label).map_or(NOWHERE, number);
        Self {
            init_locals: body.init_locals(),
            locals: body.locals_token().map_or(0, |token| token.raw()),
            lines: body
                .instructions()
                .map(|one| (Line::of(&one), one.targets().map(target).collect()))
                .collect(),
            clauses: body
                .clauses()
                .map(|clause| ClauseLine {
                    kind: match clause.kind {
                        HandlerKind::Catch(name) => format!("catch {name}"),
                        HandlerKind::Filter { .. } => "filter".to_owned(),
                        other => format!("{other:?}"),
                    },
                    bounds: [
                        clause.try_region.start,
                        clause.try_region.end,
                        clause.handler.start,
                        clause.handler.end,
                    ]
                    .map(number),
                    filter: match clause.kind {
                        HandlerKind::Filter { start } => Some(number(start)),
                        _ => None,
                    },
                })
                .collect(),
        }
    }
}
