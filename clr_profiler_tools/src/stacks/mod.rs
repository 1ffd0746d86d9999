//! Stacks with weights, and their files: flame graphs, and the formats of pprof, the Firefox Profiler, speedscope and
//! OpenTelemetry.
//!
//! A [`Stacks`] is a tree: stacks with a common beginning share nodes, so it grows with the code of a
//! program and not with its running time. Frames are numbers that the profiler chooses; names
//! are queried when a file is written, by [`Export`]. [`Live`] has such trees for threads that continuously add to
//! them, [`Names`] numbers for names, [`Timeline`] single samples, and [`Labels`] the spans of samples.

mod export;
mod files;
mod firefox;
mod flame_graph;
mod form;
mod labels;
mod live;
mod names;
mod otlp;
mod pprof;
mod timeline;
mod tree;

pub use export::{Export, Frame};
pub use form::{Form, Unit};
pub use labels::{Label, Labels};
#[cfg(feature = "profilers")]
pub(crate) use live::Place;
pub use live::{Live, Local};
pub use names::Names;
pub use timeline::Timeline;
pub use tree::{Node, Stacks};
