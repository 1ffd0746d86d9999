//! `IMetaDataEmit`, by topic.

mod attributes;
mod members;
mod references;
mod scope;
mod types;

use super::handle::{MetadataWriter, SealedWriter};

pub use attributes::MetadataEmitAttributes;
pub use members::MetadataEmitMembers;
pub use references::MetadataEmitReferences;
pub use scope::MetadataEmitScope;
pub use types::{EventMethods, MetadataEmitTypes, PropertyMethods};

/// Leaves a number as it is.
const KEEP: u32 = u32::MAX;

/// What `IMetaDataEmit` offers: adding to and changing the metadata of a module.
///
/// All of it may be called from every callback that is not during a collection. A module that is
/// loaded may only be added to, and what uses the additions must come later. Its methods stand in
/// the traits that it consists of, one for each topic; the [prelude](crate::prelude) has all of
/// them.
#[doc(alias = "IMetaDataEmit")]
pub trait MetadataEmit:
    SealedWriter
    + MetadataEmitTypes
    + MetadataEmitMembers
    + MetadataEmitReferences
    + MetadataEmitAttributes
    + MetadataEmitScope
{
}

impl MetadataEmit for MetadataWriter<'_> {}
