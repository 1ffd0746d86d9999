//! Stacks with weights, as a flame graph, for speedscope, and
//! folded.
//!
//! A [`Stacks`] is a tree: stacks with a common beginning share nodes, so it grows with the code of a
//! program and not with its running time. Frames are numbers that the profiler chooses; names
//! are queried when a file is written. [`Live`] has such trees for threads that continuously add to
//! them, [`Names`] numbers for names.

mod files;
mod flame_graph;
mod live;
mod names;
mod tree;

pub use files::{Form, Unit, folded, speedscope};
pub use flame_graph::flame_graph;
pub use live::{Live, Local};
pub use names::Names;
pub use tree::{Node, Stacks};
