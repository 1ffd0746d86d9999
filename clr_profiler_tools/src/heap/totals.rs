//! The memory of the objects of each type.

use super::ObjectGraph;
use super::dominators::NONE;
use super::search::Search;

/// The memory of the objects of a type: see [`Dominators::by_class`](super::Dominators::by_class) and [`ClassTotals::of`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ClassTotals {
    /// The number of objects.
    pub count: u64,
    /// The bytes that they take themselves.
    pub size: u64,
    /// The bytes that would be freed with them: of those objects that no other one of the type dominates.
    pub retained: u64,
    /// The bytes of those objects that no root keeps alive, directly or through others.
    pub unreached: u64,
}

impl ClassTotals {
    /// Totals for each of the graph's classes, in their order, as [`Dominators::by_class`](super::Dominators::by_class) returns them. The
    /// graph loses its references, so that less memory is needed.
    ///
    /// Takes 12 bytes an object in addition to the graph, and 8 for each reference to an object that was found before the
    /// one that refers to it; without the references of the graph 20 and 8.
    ///
    /// ```
    /// use clr_profiler::heap::HeapGraph;
    /// use clr_profiler_tools::heap::ClassTotals;
    ///
    /// /// The bytes that would be freed with all strings.
    /// fn of_strings(mut graph: HeapGraph) -> u64 {
    ///     let totals = ClassTotals::of(&mut graph);
    ///     let strings = graph.classes().iter().zip(totals).filter(|(class, _)| class.name == "string");
    ///     strings.map(|(_, total)| total.retained).sum()
    /// }
    /// ```
    #[must_use]
    pub fn of(graph: &mut impl ObjectGraph) -> Vec<Self> {
        let found = Search::of(graph).references(graph);
        graph.clear_references();
        let (nearest, ..) = found.dominators().of_objects();
        Self::by_dominators(graph, &nearest)
    }

    /// From the nearest dominator of each object: their number if there is none, `NONE` if it is not reached.
    pub(super) fn by_dominators(graph: &impl ObjectGraph, nearest: &[u32]) -> Vec<Self> {
        let mut totals = vec![Self::default(); graph.class_count()];
        for (object, nearest) in nearest.iter().enumerate() {
            let size = graph.size(object as u32);
            let total = &mut totals[graph.class_index(object as u32)];
            total.count += 1;
            total.size += size;
            if *nearest == NONE {
                total.unreached += size;
                total.retained += size;
            }
        }
        let (first_child, next) = children(nearest);
        let mut walk = Walk {
            graph,
            seen: 0,
            open: vec![(0, 0); totals.len()],
        };
        let mut object = first_child[nearest.len()];
        while (object as usize) < nearest.len() {
            walk.enter(object);
            if first_child[object as usize] != NONE {
                object = first_child[object as usize];
                continue;
            }
            loop {
                let (class, retained) = walk.leave(object);
                totals[class].retained += retained;
                if next[object as usize] != NONE {
                    object = next[object as usize];
                    break;
                }
                object = nearest[object as usize];
                if object as usize >= nearest.len() {
                    break;
                }
            }
        }
        totals
    }
}

/// The tree's first children, of the root at the end, and next siblings.
fn children(nearest: &[u32]) -> (Vec<u32>, Vec<u32>) {
    let count = nearest.len();
    let mut first = vec![NONE; count + 1];
    let mut next = vec![NONE; count];
    for object in (0..count).rev() {
        let nearest = nearest[object];
        if nearest != NONE {
            next[object] = first[nearest as usize];
            first[nearest as usize] = object as u32;
        }
    }
    (first, next)
}

/// A walk through the tree of dominators.
struct Walk<'a, G> {
    graph: &'a G,
    /// The bytes of all objects that the walk has entered.
    seen: u64,
    /// For each class, the number of its objects that the walk has entered and not left, and `seen` before the first of them.
    open: Vec<(u32, u64)>,
}

impl<G: ObjectGraph> Walk<'_, G> {
    fn enter(&mut self, object: u32) {
        let (number, before) = &mut self.open[self.graph.class_index(object)];
        if *number == 0 {
            *before = self.seen;
        }
        *number += 1;
        self.seen += self.graph.size(object);
    }

    /// Returns the object's class, and the bytes that it retains unless one of the same type dominates it.
    fn leave(&mut self, object: u32) -> (usize, u64) {
        let class = self.graph.class_index(object);
        let (number, before) = &mut self.open[class];
        *number -= 1;
        (class, if *number == 0 { self.seen - *before } else { 0 })
    }
}
