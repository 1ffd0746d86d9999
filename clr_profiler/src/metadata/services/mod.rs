//! The small interfaces around metadata, and the objects that the runtime calls.

mod cee_gen;
mod checks;
mod handler;
mod stream;

pub use cee_gen::{CeeGen, CeeGeneration, CeeSection, TokenMap};
pub use checks::{
    FileMapping, MetadataFilter, MetadataInfo, MetadataValidate, MetadataWinMdImport,
};
pub use handler::{MetadataEvents, MetadataHandler};
pub(super) use stream::OutStream;
