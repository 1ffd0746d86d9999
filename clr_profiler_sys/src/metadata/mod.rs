//! cor.h and corhdr.h: the metadata interfaces and the formats of images, metadata and signatures.

pub(crate) mod assembly;
pub(crate) mod attributes;
pub(crate) mod dispenser;
pub(crate) mod emit;
pub(crate) mod image;
pub(crate) mod import;
pub(crate) mod options;
pub(crate) mod services;
pub(crate) mod signatures;
pub(crate) mod structs;
pub(crate) mod tables;
pub(crate) mod tokens;
pub(crate) mod types;

pub use assembly::*;
pub use attributes::*;
pub use dispenser::*;
pub use emit::*;
pub use image::*;
pub use import::*;
pub use options::*;
pub use services::*;
pub use signatures::*;
pub use structs::*;
pub use tables::*;
pub use tokens::*;
pub use types::*;
