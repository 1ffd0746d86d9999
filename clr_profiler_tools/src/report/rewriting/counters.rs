//! A type with a static field in each module, which counts the calls of its methods.

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use clr_profiler::il::symbol::FieldSymbol;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{HelperAssembly, NewField, NewType};
use clr_profiler::{Component, component};

use crate::report::{Output, failures, is_framework, lock};

/// A component that adds a type with a static field `Calls` to each module of the program, for inserted code to count in.
///
/// Modules of the framework and of the helper have none, nor do those that the program builds at run time: they accept no
/// added types.
///
/// ```no_run
/// use std::sync::Arc;
///
/// use clr_profiler::prelude::*;
/// use clr_profiler::rewrite::HelperAssembly;
/// use clr_profiler_tools::report::rewriting::ModuleCounters;
///
/// fn attach(setup: &mut Setup, helper: &HelperAssembly) -> Result<Arc<ModuleCounters>> {
///     setup.attach(ModuleCounters::new("Mine.Counter", helper, None))
/// }
/// ```
pub struct ModuleCounters {
    type_name: &'static str,
    helper: String,
    refusals: Option<Arc<Output>>,
    fields: Mutex<HashMap<ModuleId, FieldSymbol>>,
}

impl ModuleCounters {
    /// Counters in types of this name. Modules without one are listed in `refusals`.
    #[must_use]
    pub fn new(
        type_name: &'static str,
        helper: &HelperAssembly,
        refusals: Option<Arc<Output>>,
    ) -> Self {
        Self {
            type_name,
            helper: helper.props().name.clone(),
            refusals,
            fields: Mutex::default(),
        }
    }

    /// The field of a module, an `int`, if it has one.
    #[must_use]
    pub fn of(&self, module: ModuleId) -> Option<FieldSymbol> {
        lock(&self.fields).get(&module).cloned()
    }
}

impl fmt::Debug for ModuleCounters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ModuleCounters")
            .field("type_name", &self.type_name)
            .finish_non_exhaustive()
    }
}

#[component]
impl Component for ModuleCounters {
    // Before any type of the module is loaded.
    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _status: Hresult,
    ) -> Result<()> {
        let Some(assembly) = info.module_info(module)?.assembly else {
            return Ok(());
        };
        let name = info.assembly_info(assembly)?.name;
        if is_framework(&name) || name == self.helper {
            return Ok(());
        }
        let counter = info.define_type(module, self.type_name, NewType::Static, |class| {
            class.field("Calls", "int32", NewField::Static)
        });
        match counter {
            Ok(counter) => drop(lock(&self.fields).insert(module, counter)),
            // A module that the program builds at run time accepts no added types, nor does one without types.
            Err(error) => {
                if let Some(refusals) = &self.refusals {
                    refusals.append(&format!("calls of {name} are not counted: {error}\n\n"));
                }
                if !error.is(Hresult::CORPROF_E_MODULE_IS_DYNAMIC) {
                    failures::add("refused", format_args!("{name}: {error}"));
                }
            }
        }
        Ok(())
    }

    fn module_unload_started(&self, _info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        lock(&self.fields).remove(&module);
        Ok(())
    }
}
