//! The spans in which samples were taken.

use std::collections::HashMap;

use crate::stacks::Node;

/// The span in which samples of a stack were taken, by its ids outside of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Label {
    /// The id of the trace.
    pub trace: [u8; 16],
    /// The id of the span.
    pub span: [u8; 8],
}

impl Label {
    /// The names of the ids, with their hexadecimal digits.
    pub(super) fn texts(&self) -> [(&'static str, String); 2] {
        [
            (
                "trace_id",
                format!("{:032x}", u128::from_be_bytes(self.trace)),
            ),
            ("span_id", format!("{:016x}", u64::from_be_bytes(self.span))),
        ]
    }
}

/// A part of the weight of a stack, and of its count: of a span, or of none.
pub(super) type Part = (Option<Label>, u64, u64);

/// The parts of the weights of some [`Stacks`](crate::stacks::Stacks) that are those of spans.
///
/// ```
/// use clr_profiler_tools::stacks::{Label, Labels, Stacks};
///
/// let (mut stacks, mut labels) = (Stacks::with_limit(100), Labels::with_limit(100));
/// let node = stacks.add([1, 2], 30);
/// labels.add(node, Label { trace: [1; 16], span: [2; 8] }, 30);
/// ```
#[derive(Debug, Clone)]
pub struct Labels {
    parts: HashMap<Node, HashMap<Label, (u64, u64)>>,
    count: usize,
    limit: usize,
    left_out: u64,
}

impl Labels {
    /// No spans, with a limit for the pairs of a stack and a span, of some 100 bytes each. Samples beyond it have no label.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self {
            parts: HashMap::new(),
            count: 0,
            limit,
            left_out: 0,
        }
    }

    /// Labels a sample of the stack that ends at a node, which was added with this weight.
    pub fn add(&mut self, node: Node, label: Label, weight: u64) {
        let is_full = self.count >= self.limit;
        let parts = match is_full {
            true => self.parts.get_mut(&node),
            false => Some(self.parts.entry(node).or_default()),
        };
        let part = parts.and_then(|parts| match is_full {
            true => parts.get_mut(&label),
            false => Some(parts.entry(label).or_insert_with(|| {
                self.count += 1;
                (0, 0)
            })),
        });
        match part {
            Some((sum, count)) => (*sum, *count) = (*sum + weight, *count + 1),
            None => self.left_out += 1,
        }
    }

    /// The number of samples without a label because of the limit.
    #[must_use]
    pub fn left_out(&self) -> u64 {
        self.left_out
    }

    /// The parts of a stack's weight and count: those of its spans in the order of their ids, and the rest.
    pub(super) fn parts(&self, node: Node, weight: u64, count: u64) -> Vec<Part> {
        let (mut weight, mut count) = (weight, count);
        let mut all = Vec::new();
        if let Some(parts) = self.parts.get(&node) {
            for (label, (part, times)) in parts {
                (weight, count) = (weight.saturating_sub(*part), count.saturating_sub(*times));
                all.push((Some(*label), *part, *times));
            }
        }
        all.sort_unstable();
        if count > 0 || all.is_empty() {
            all.push((None, weight, count));
        }
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_beyond_the_limit_have_no_label() {
        let label = |number| Label {
            trace: [1; 16],
            span: [number; 8],
        };
        let mut labels = Labels::with_limit(2);
        let node = Node(1);
        for (number, weight) in [(2, 10), (1, 20), (2, 30), (3, 40)] {
            labels.add(node, label(number), weight);
        }
        labels.add(Node(2), label(1), 5);
        assert_eq!(labels.left_out(), 2);
        let parts = vec![
            (Some(label(1)), 20, 1),
            (Some(label(2)), 40, 2),
            (None, 50, 3),
        ];
        assert_eq!(labels.parts(node, 110, 6), parts);
        assert_eq!(labels.parts(Node(3), 7, 1), [(None, 7, 1)]);
        let [(trace, one), (span, two)] = label(10).texts();
        assert_eq!((trace, one.as_str()), ("trace_id", &*"01".repeat(16)));
        assert_eq!((span, two.as_str()), ("span_id", &*"0a".repeat(8)));
    }
}
