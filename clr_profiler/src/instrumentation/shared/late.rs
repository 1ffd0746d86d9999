//! Methods that are decided about when they are compiled.

use std::sync::Arc;

use super::Shared;
use crate::error::Result;
use crate::image::ModuleImage;
use crate::info::method_facts::{Known, MethodDefinition};
use crate::instrumentation::rules::RuleIndex;
use crate::instrumentation::table::MethodKey;
use crate::metadata::{Metadata, MetadataImport};

impl Shared {
    /// The rules that change a method of a module that was not searched, by its image.
    pub(super) fn select_late(
        &self,
        (module, token): MethodKey,
        image: Arc<ModuleImage>,
        (assembly, is_framework): (&str, bool),
    ) -> Result<Vec<RuleIndex>> {
        let metadata = Metadata::of_image(&self.info, module, image);
        let props = metadata.method_props(token)?;
        // A method without an address in the image has no IL, or was added with its body by this library.
        if props.rva == 0 {
            return Ok(Vec::new());
        }
        let is_global = props.class.is_nil();
        let known = Known {
            assembly: Some(assembly.into()),
            class: None,
        };
        let method = MethodDefinition {
            info: &self.info,
            module,
            metadata,
            token,
            props,
            known,
        };
        self.description
            .select_definition(&method, is_framework, is_global)
    }
}
