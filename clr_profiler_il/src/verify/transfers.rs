use super::{Check, Rule};
use crate::code::{END, UNPLACED};
use crate::flow::{OUTSIDE, RegionKind, Regions};
use crate::instruction::Instruction;
use crate::opcode::{Opcode, OperandKind};

impl Check<'_> {
    /// Checks targets, the end of the code, and transfers between regions.
    #[inline]
    pub(super) fn flow(
        &mut self,
        instruction: &Instruction<'_>,
        rank: u32,
        regions: Option<&Regions>,
    ) {
        let opcode = instruction.opcode();
        if matches!(
            opcode.operand_kind(),
            OperandKind::Target | OperandKind::ShortTarget | OperandKind::Switch
        ) {
            self.targets(instruction, rank, regions);
        }
        if !opcode.ends_block() {
            if instruction.code.next(instruction.id.0) == END {
                self.blame(instruction, Rule::FallsOffTheEnd);
            } else if let Some(rule) = regions.and_then(|regions| go(regions, rank, rank + 1)) {
                self.blame(instruction, rule);
            }
        }
        if let Some(regions) = regions
            && !belongs(regions, rank, opcode)
        {
            self.blame(instruction, Rule::Misplaced(opcode));
        }
    }

    fn targets(&mut self, instruction: &Instruction<'_>, rank: u32, regions: Option<&Regions>) {
        for target in instruction.targets() {
            let target_node = instruction.code.node_of(target);
            if target_node == END || target_node == UNPLACED {
                self.blame(instruction, Rule::NoTarget);
            } else if let Some(regions) = regions {
                let to = self.ranks.of(target_node);
                let rule = if instruction.opcode() == Opcode::Leave {
                    leave(regions, rank, to)
                } else {
                    go(regions, rank, to)
                };
                if let Some(rule) = rule {
                    self.blame(instruction, rule);
                }
            }
        }
    }

    /// Checks that filters end in `endfilter` directly before their handlers.
    pub(super) fn filters(&mut self, regions: &Regions) {
        let body = self.body;
        for filter in regions
            .all
            .iter()
            .filter(|region| region.kind == RegionKind::Filter)
        {
            let clause = filter.first_clause as usize;
            let handler = body.code.clauses.get(clause);
            let handler = handler.map_or(END, |clause| body.code.node_of(clause.handler_start));
            let last = body.code.previous(handler);
            if body
                .code
                .node(last)
                .is_none_or(|node| node.opcode != Opcode::Endfilter)
            {
                self.blame_clause(clause, last, Rule::Filter);
            }
        }
    }
}

/// The violation of a transfer other than `leave`, if any.
fn go(regions: &Regions, from: u32, to: u32) -> Option<Rule> {
    let (from, region) = (regions.at(from), regions.at(to));
    if regions.may_enter(from, to) {
        return None;
    }
    let outward = regions.encloses(region, from);
    Some(if outward { Rule::Leaves } else { Rule::Enters })
}

/// The violation of a `leave`, if any.
fn leave(regions: &Regions, from: u32, to: u32) -> Option<Rule> {
    let target = regions.entrance(to);
    let mut region = regions.at(from);
    if regions.may_enter(region, to) {
        return None;
    }
    while region != target {
        let Some(left) = regions.get(region) else {
            return Some(Rule::Enters);
        };
        match left.kind {
            RegionKind::Try => {}
            RegionKind::Filter | RegionKind::Finally => return Some(Rule::LeavesHandler),
            RegionKind::Catch => {
                // A catch may leave to the code that it protects.
                let protected = regions.get(target).is_some_and(|back| {
                    back.kind == RegionKind::Try
                        && (back.first_clause..=back.last_clause).contains(&left.first_clause)
                });
                if protected {
                    return None;
                }
            }
        }
        region = left.parent;
    }
    None
}

/// Whether an instruction is allowed in its region.
fn belongs(regions: &Regions, rank: u32, opcode: Opcode) -> bool {
    let region = regions.at(rank);
    let kind = || regions.get(region).map(|region| region.kind);
    match opcode {
        Opcode::Ret | Opcode::Jmp => region == OUTSIDE,
        Opcode::Endfinally => kind() == Some(RegionKind::Finally),
        Opcode::Endfilter => {
            kind() == Some(RegionKind::Filter)
                && regions
                    .get(region)
                    .is_some_and(|filter| filter.end == rank + 1)
        }
        Opcode::Rethrow => regions.handler(region) == Some(RegionKind::Catch),
        Opcode::Localloc => regions.handler(region).is_none(),
        _ => true,
    }
}
