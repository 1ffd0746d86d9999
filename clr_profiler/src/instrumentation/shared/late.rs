//! Methods that are decided about when they are compiled.

use std::sync::Arc;

use super::Shared;
use crate::error::Result;
use crate::image::ModuleImage;
use crate::info::method_facts::{Known, MethodDefinition};
use crate::instrumentation::rules::RuleIndex;
use crate::instrumentation::table::{MethodKey, Selected};
use crate::metadata::{Metadata, MetadataImport};
use crate::runtime::lock;

impl Shared {
    /// Whether a method is left alone that was not looked at: its module has only such methods.
    pub(in super::super) fn is_left_alone(&self, key: MethodKey) -> bool {
        self.is_deferring() && lock(&self.table).waits_undecided(key)
    }

    /// Records the rules of a method that was not decided about. Returns whether there are some.
    pub(super) fn decide(&self, key: MethodKey, rules: Vec<RuleIndex>) -> bool {
        let is_selected = !rules.is_empty();
        let may_wait = self.description.may_wait(&rules);
        lock(&self.table).decide(key, rules, may_wait);
        is_selected
    }

    /// Decides about a method of a module that was not searched; `None` if it was decided about, or its module is another one.
    pub(super) fn decide_late(&self, key: MethodKey) -> Result<Option<bool>> {
        let (selected, late) = {
            let table = lock(&self.table);
            (table.selected(key), table.late(key.0))
        };
        let (Selected::Undecided(is_framework), Some((image, assembly))) = (selected, late) else {
            return Ok(None);
        };
        let rules = self.select_late(key, image, (&assembly, is_framework))?;
        Ok(Some(self.decide(key, rules)))
    }

    /// Decides about methods that were left alone without that, at most this many.
    pub(super) fn decide_unseen(&self, most: usize) {
        // Their modules are not unloaded meanwhile. A rule that asks for outcomes does not wait for the thread that applies it.
        let Ok(_idle) = self.searching.try_lock() else {
            return;
        };
        let unseen = lock(&self.table).unseen(most);
        for key in unseen {
            // It stays undecided.
            let _ = self.decide_late(key);
        }
    }

    /// The rules that change a method of a module that was not searched, by its image.
    fn select_late(
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
        let reaching = self.description.reaching(assembly, is_framework);
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
            .select_definition(&reaching, &method, is_framework, is_global)
    }
}
