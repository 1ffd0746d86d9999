//! The memory that would be freed with an object.

use super::search::Search;
use super::{ClassTotals, ObjectGraph};

/// No object: not reached.
pub(super) const NONE: u32 = u32::MAX;

/// The dominators of objects: an object dominates another if every path from the roots to the other
/// one leads through it.
///
/// Takes 12 bytes an object; during the computation 20, and 8 for each reference to an object that was found before the one that
/// refers to it. [`ClassTotals::of`] needs less.
///
/// ```
/// use clr_profiler::heap::HeapGraph;
/// use clr_profiler_tools::heap::Dominators;
///
/// /// The types whose objects keep at least a megabyte.
/// fn keepers(graph: &HeapGraph) -> Vec<&str> {
///     let totals = Dominators::of(graph).by_class();
///     let of_classes = totals.iter().zip(graph.classes());
///     let large = of_classes.filter(|(total, _)| total.retained >= 1 << 20);
///     large.map(|(_, class)| class.name.as_str()).collect()
/// }
/// ```
#[derive(Clone, Debug)]
pub struct Dominators<'a, G> {
    graph: &'a G,
    /// The nearest object that dominates it; `len` if there is none, `NONE` if it is not reached.
    nearest: Vec<u32>,
    retained: Vec<u64>,
}

impl<'a, G: ObjectGraph> Dominators<'a, G> {
    /// Computes the dominators by the semidominators of Lengauer and Tarjan, and ancestors of the tree of dominators: the
    /// time grows hardly faster than the graph.
    #[must_use]
    pub fn of(graph: &'a G) -> Self {
        let found = Search::of(graph).references(graph).dominators();
        let (nearest, order, dominators) = found.of_objects();
        let count = graph.object_count();
        let mut retained: Vec<u64> = (0..count).map(|object| graph.size(object)).collect();
        // Children have higher numbers than their dominators.
        for number in (1..order.len()).rev() {
            let above = dominators[number] as usize;
            if above != 0 {
                retained[order[above] as usize] += retained[order[number] as usize];
            }
        }
        Self {
            graph,
            nearest,
            retained,
        }
    }

    /// Whether a root keeps the object alive, directly or through others.
    #[must_use]
    pub fn is_reached(&self, object: u32) -> bool {
        let nearest = self.nearest.get(object as usize);
        nearest.is_some_and(|nearest| *nearest != NONE)
    }

    /// The nearest object that dominates it; `None` if roots keep it alive in several ways, if it is not
    /// reached, or if there is no such object.
    #[must_use]
    pub fn immediate(&self, object: u32) -> Option<u32> {
        let nearest = *self.nearest.get(object as usize)?;
        ((nearest as usize) < self.nearest.len()).then_some(nearest)
    }

    /// The bytes that would be freed with an object: its own, and those of all that it dominates. Its own
    /// if no root keeps it alive; `None` if there is no such object.
    #[must_use]
    pub fn retained(&self, object: u32) -> Option<u64> {
        self.retained.get(object as usize).copied()
    }

    /// Totals for each of the graph's classes, in their order.
    #[must_use]
    pub fn by_class(&self) -> Vec<ClassTotals> {
        ClassTotals::by_dominators(self.graph, &self.nearest)
    }
}
