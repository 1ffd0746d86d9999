//! Analysis of heap graphs: why an object is alive, and the memory that it retains.
//!
//! [`HeapRecorder`](clr_profiler::heap::HeapRecorder) returns a [`HeapGraph`]; everything here computes from that
//! graph alone, on any thread, without calls to the runtime. The analysis needs only an
//! [`ObjectGraph`], so it also works on graphs from other sources:
//!
//! ```
//! use clr_profiler_tools::heap::{Dominators, HeapPath, ObjectGraph};
//!
//! /// Objects of 16 bytes; a root holds the first.
//! struct Objects(Vec<Vec<u32>>);
//!
//! impl ObjectGraph for Objects {
//!     fn object_count(&self) -> u32 {
//!         self.0.len() as u32
//!     }
//!     fn class_count(&self) -> usize {
//!         1
//!     }
//!     fn class_index(&self, _object: u32) -> usize {
//!         0
//!     }
//!     fn size(&self, _object: u32) -> u64 {
//!         16
//!     }
//!     fn target(&self, object: u32, reference: u32) -> Option<u32> {
//!         self.0[object as usize].get(reference as usize).copied()
//!     }
//!     fn strong_roots(&self) -> impl Iterator<Item = (usize, u32)> {
//!         [(0, 0)].into_iter()
//!     }
//! }
//!
//! // The first object keeps the second, which keeps the third.
//! let graph = Objects(vec![vec![1], vec![2], vec![]]);
//! assert_eq!(Dominators::of(&graph).retained(1), Some(32));
//! assert_eq!(HeapPath::shortest(&graph, |object| object == 2).map(|path| path.steps.len()), Some(2));
//! ```

mod dominators;
mod path;
mod place;
mod search;
#[cfg(test)]
mod tests;
mod totals;

use clr_profiler::heap::HeapGraph;

pub use dominators::Dominators;
pub use path::{HeapPath, HeapStep};
pub use place::PlaceName;
pub use totals::ClassTotals;

/// Objects numbered from 0, and their references.
///
/// Methods are called only with numbers below [`object_count`](Self::object_count). The analysis
/// panics if a graph names objects or classes that it does not have.
pub trait ObjectGraph {
    /// The number of objects: fewer than 2^32 - 2.
    fn object_count(&self) -> u32;

    /// The number of types of the objects.
    fn class_count(&self) -> usize;

    /// The type of an object, below [`class_count`](Self::class_count).
    fn class_index(&self, object: u32) -> usize;

    /// The bytes that an object takes.
    fn size(&self, object: u32) -> u64;

    /// The object that a reference of an object leads to, by the number of the reference from 0;
    /// `None` after the last one.
    fn target(&self, object: u32, reference: u32) -> Option<u32>;

    /// The roots that keep objects alive, each by a number that the graph chooses, with its object.
    fn strong_roots(&self) -> impl Iterator<Item = (usize, u32)>;

    /// Frees the references, which are not needed anymore: [`target`](Self::target) may return `None` from now on. Does nothing by
    /// default.
    fn clear_references(&mut self) {}

    /// The objects that an object refers to.
    fn targets(&self, object: u32) -> impl Iterator<Item = u32> {
        (0..).map_while(move |reference| self.target(object, reference))
    }
}

impl ObjectGraph for HeapGraph {
    fn object_count(&self) -> u32 {
        self.len()
    }

    fn class_count(&self) -> usize {
        self.classes().len()
    }

    fn class_index(&self, object: u32) -> usize {
        self.object(object)
            .map_or(usize::MAX, |object| object.class_index())
    }

    fn size(&self, object: u32) -> u64 {
        self.object(object).map_or(0, |object| object.size())
    }

    fn target(&self, object: u32, reference: u32) -> Option<u32> {
        self.object(object)?.target(reference)
    }

    fn clear_references(&mut self) {
        self.clear_references();
    }

    fn strong_roots(&self) -> impl Iterator<Item = (usize, u32)> {
        let roots = self.roots().iter().enumerate();
        let strong = roots.filter(|(_, root)| root.is_strong());
        strong.map(|(number, root)| (number, root.object))
    }
}
