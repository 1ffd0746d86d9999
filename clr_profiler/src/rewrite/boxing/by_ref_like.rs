//! Which types live on the stack alone: `ref struct` in C#.
//!
//! The type's own module says so by an attribute, so a reference is followed there.

use crate::ids::ModuleId;
use crate::metadata::MetadataImportAttributes;
use crate::rewrite::lookup::Lookup;
use crate::runtime::ProfilerInfo;
use clr_profiler_il::token::TypeToken;

const ATTRIBUTE: &str = "System.Runtime.CompilerServices.IsByRefLikeAttribute";

/// Whether values of a type live on the stack alone; `None` if that cannot be told.
pub(super) fn is_by_ref_like(
    info: &ProfilerInfo,
    module: ModuleId,
    class: TypeToken,
) -> Option<bool> {
    if let TypeToken::Spec(_) = class {
        return None;
    }
    Lookup::of(info).in_type(module, class, |place| {
        let metadata = &place.metadata;
        let attribute = metadata.custom_attribute_by_name(place.class, ATTRIBUTE);
        Some(attribute.ok()?.is_some())
    })
}
