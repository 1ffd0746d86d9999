//! Methods that are decided about when they are compiled.

use std::sync::Arc;

use super::Shared;
use crate::error::Result;
use crate::ids::ModuleId;
use crate::image::{Images, ModuleImage};
use crate::info::method_facts::{Known, MethodDefinition};
use crate::instrumentation::late::Whole;
use crate::instrumentation::rules::RuleIndex;
use crate::instrumentation::table::{MethodKey, Rules, Selected};
use crate::metadata::{Metadata, MetadataImport};
use crate::runtime::lock;
use clr_profiler_il::token::TypeDef;

impl Shared {
    /// Has the methods of a module be chosen at their first use, if all are selected. Returns `false` if it is searched; a module
    /// that is not to be changed has no entry then.
    pub(super) fn enter_late(
        &self,
        module: ModuleId,
        (assembly, is_framework): (&str, bool),
        problems: &mut Vec<String>,
    ) -> bool {
        let (info, description) = (&self.info, &self.description);
        let rules = description.rules_of_all(assembly, is_framework);
        let found = rules.and_then(|rules| {
            let image = info.extension::<Images>().as_loaded(module)?;
            // The first type has the first methods, the global ones.
            let first = image.read(|own| {
                let global = TypeDef::from_row(1).into_iter();
                let global = global.flat_map(|class| own.methods(class)).count();
                own.tokens().nth(global)
            });
            let first = first?;
            let whole = Whole {
                image,
                rules,
                first,
            };
            Some((whole, description.late_choice.as_ref()?))
        });
        let Some((whole, choice)) = found else {
            return false;
        };
        description.count_reaching(assembly, is_framework);
        let is_open = (choice.open)(info, module).unwrap_or_else(|error| {
            problems.push(format!("{assembly}: its methods were not chosen: {error}"));
            false
        });
        if is_open {
            self.prepare(module, [&whole.rules.to_vec()]);
            let mut table = lock(&self.table);
            table.choose_late(module, whole, description.timing);
        } else {
            lock(&self.table).end_module(module, None);
        }
        true
    }

    /// Whether a method is left alone that was not looked at: its module has only such methods.
    pub(in super::super) fn is_left_alone(&self, key: MethodKey) -> bool {
        self.is_deferring() && lock(&self.table).waits_undecided(key)
    }

    /// Records the rules of a method that was not decided about. Returns whether there are some.
    pub(super) fn decide(&self, key: MethodKey, rules: Rules) -> bool {
        let is_selected = !rules.is_empty();
        let may_wait = self.description.may_wait(&rules);
        lock(&self.table).decide(key, rules, may_wait);
        is_selected
    }

    /// Decides about a method of a module that was not searched; `None` if it was decided about, or its module is another one.
    pub(super) fn decide_late(&self, key: MethodKey) -> Result<Option<bool>> {
        let (is_framework, whole) = {
            let table = lock(&self.table);
            let Selected::Undecided(is_framework) = table.selected(key) else {
                return Ok(None);
            };
            (is_framework, table.whole(key.0))
        };
        if let Some(whole) = whole {
            let is_chosen = self.choose_late(key, &whole)?;
            let rules = if is_chosen {
                whole.rules
            } else {
                Rules::default()
            };
            return Ok(Some(self.decide(key, rules)));
        }
        let late = lock(&self.table).late(key.0);
        let Some((image, assembly)) = late else {
            return Ok(None);
        };
        let rules = self.select_late(key, image, (&assembly, is_framework))?;
        Ok(Some(self.decide(key, rules.into())))
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

    /// Whether a method is chosen of a module whose methods are all selected.
    fn choose_late(&self, (module, token): MethodKey, whole: &Whole) -> Result<bool> {
        let row = whole.image.read(|own| own.row(token).ok());
        let has_body = row.is_some_and(|row| row.rva != 0) && token.row() >= whole.first.row();
        let choice = self.description.late_choice.as_ref();
        match choice.filter(|_| has_body) {
            Some(choice) => (choice.is_chosen)(module, token),
            None => Ok(false),
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
