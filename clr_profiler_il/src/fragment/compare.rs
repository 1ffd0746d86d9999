use super::Fragment;
use crate::code::{Clause, ClauseKind, Label, Node, PrefixSlot};
use crate::opcode::OperandKind;

/// Fragments are equal if they have the same instructions with the same targets, and the same
/// exception clauses. The time at which a label was created does not matter; unplaced labels are
/// compared by their order of creation.
impl PartialEq for Fragment {
    fn eq(&self, other: &Self) -> bool {
        self.code.nodes.len() == other.code.nodes.len()
            && self.code.clauses.len() == other.code.clauses.len()
            && same_prefixes(self, &self.pending, other, &other.pending)
            && self
                .code
                .nodes
                .iter()
                .zip(other.code.nodes.iter())
                .all(|(left, right)| same_node(self, left, other, right))
            && self
                .code
                .clauses
                .iter()
                .zip(&other.code.clauses)
                .all(|(left, right)| same_clause(self, left, other, right))
    }
}

fn same_label(a: &Fragment, left: Label, b: &Fragment, right: Label) -> bool {
    let (left_node, right_node) = (a.code.node_of(left), b.code.node_of(right));
    let unplaced = left_node == crate::code::UNPLACED;
    left_node == right_node && (!unplaced || left.index == right.index)
}

/// Symbols are compared themselves: fragments number theirs in the order in which they were named.
fn same_prefixes(a: &Fragment, one: &[PrefixSlot], b: &Fragment, two: &[PrefixSlot]) -> bool {
    one.len() == two.len()
        && one.iter().zip(two).all(|(one, two)| {
            one.opcode == two.opcode
                && a.code.reference(one.value, one.symbolic)
                    == b.code.reference(two.value, two.symbolic)
        })
}

fn same_node(a: &Fragment, left: &Node, b: &Fragment, right: &Node) -> bool {
    let prefixes = || {
        let (one, two) = (a.code.prefixes_of(left), b.code.prefixes_of(right));
        same_prefixes(a, one, b, two)
    };
    let operands = || match left.opcode.operand_kind() {
        OperandKind::Target | OperandKind::ShortTarget => {
            let (left, right) = (left.operand as u32, right.operand as u32);
            let (left, right) = (a.code.label(left), b.code.label(right));
            same_label(a, left, b, right)
        }
        OperandKind::Switch => {
            let (left, right) = (a.code.switch(left.operand), b.code.switch(right.operand));
            let mut pairs = left.iter().zip(right);
            left.len() == right.len() && pairs.all(|(&one, &two)| same_label(a, one, b, two))
        }
        kind if kind.is_token() => {
            a.code.reference(left.operand as u32, left.symbolic)
                == b.code.reference(right.operand as u32, right.symbolic)
        }
        _ => left.operand == right.operand,
    };
    left.opcode == right.opcode && prefixes() && operands()
}

fn same_clause(a: &Fragment, left: &Clause, b: &Fragment, right: &Clause) -> bool {
    left.kind == right.kind
        && left
            .bounds()
            .into_iter()
            .zip(right.bounds())
            .all(|(one, two)| a.code.node_of(one) == b.code.node_of(two))
        && (left.kind != ClauseKind::Catch
            || a.code.reference(left.value, left.symbolic)
                == b.code.reference(right.value, right.symbolic))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_at_the_end_is_compared_by_its_type() {
        let parse = |text: &str| text.parse::<Fragment>().unwrap();
        let clause = ".try IL_0000 to IL_0001 catch [A]First handler IL_0001 to IL_0002\n";
        let code = "IL_0000:  nop\nIL_0001:  nop\nIL_0002:\n";
        let before = parse(&format!("{code}constrained. [A]Other\n{clause}"));
        assert_eq!(
            before,
            parse(&format!("{code}{clause}constrained. [A]Other\n"))
        );
        assert_ne!(
            before,
            parse(&format!("{code}{clause}constrained. [A]First\n"))
        );
    }
}
