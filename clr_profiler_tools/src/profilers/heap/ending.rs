//! Detects that the program ends while its runtime still works.

use std::sync::OnceLock;

use clr_profiler::prelude::*;

/// The type whose function runtimes call when `Main` has returned, at `Environment.Exit`, and at a signal
/// that ends the program in order. At the runtime's shutdown it is too late to collect garbage.
const TYPE: &str = "System.AppContext";
const METHOD: &str = "OnProcessExit";

/// Recognises that function.
#[derive(Default)]
pub(crate) struct Ending {
    method: OnceLock<Option<(ModuleId, MethodDef)>>,
}

impl Ending {
    /// The first module is the one that defines it.
    pub(crate) fn module_loaded(&self, info: &ProfilerInfo, module: ModuleId) {
        self.method.get_or_init(|| {
            let metadata = info.module_metadata(module).ok()?;
            let class = metadata.find_type_def_by_name(TYPE, None).ok()?;
            let method = metadata.methods_with_name(class, METHOD).ok()?.next()?;
            Some((module, method.ok()?))
        });
    }

    /// Whether a function is that one.
    pub(crate) fn is(&self, info: &ProfilerInfo, function: FunctionId) -> bool {
        let Some(Some((module, method))) = self.method.get() else {
            return false;
        };
        let facts = info.function_info(function);
        facts.is_ok_and(|facts| facts.module == *module && facts.token == *method)
    }
}
