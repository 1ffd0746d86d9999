//! What the example profilers share: stacks with weights, as a flame graph, for speedscope, and
//! folded.
//!
//! A [`Stacks`] is a tree: stacks that begin alike share nodes, so it grows with the code of a
//! program and not with the time that it runs. Frames are numbers of the profiler's choice; names
//! are asked for when a file is written. [`Live`] has such trees for threads that add to them all the
//! time, [`Names`] numbers for names.

mod files;
mod live;
mod names;
mod tree;

pub use files::{Form, Unit, flame_graph, folded, speedscope};
pub use live::{Live, Local};
pub use names::Names;
pub use tree::{Node, Stacks};
