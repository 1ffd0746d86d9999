//! A type with a static field in each module, which counts the calls of its methods.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use clr_profiler::il::symbol::FieldSymbol;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{HelperAssembly, NewField, NewType};
use clr_profiler::{Component, component};
use clr_profiler_tools::report::{Output, failures, is_framework, lock};

pub(crate) struct Counters {
    helper: HelperAssembly,
    il: Arc<Option<Output>>,
    fields: Mutex<HashMap<ModuleId, FieldSymbol>>,
}

impl Counters {
    pub(crate) fn new(helper: &HelperAssembly, il: &Arc<Option<Output>>) -> Self {
        Self {
            helper: helper.clone(),
            il: Arc::clone(il),
            fields: Mutex::default(),
        }
    }

    pub(crate) fn of(&self, module: ModuleId) -> Option<FieldSymbol> {
        lock(&self.fields).get(&module).cloned()
    }
}

#[component]
impl Component for Counters {
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
        if is_framework(&name) || name == self.helper.props().name {
            return Ok(());
        }
        let counter = info.define_type(module, "MethodLogger.Counter", NewType::Static, |class| {
            class.field("Calls", "int32", NewField::Static)
        });
        match counter {
            Ok(counter) => drop(lock(&self.fields).insert(module, counter)),
            // A module that the program builds at run time accepts no added types, nor does one without types.
            Err(error) => {
                if let Some(il) = &*self.il {
                    il.append(&format!("calls of {name} are not counted: {error}\n\n"));
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
