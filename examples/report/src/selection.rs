//! The selection of methods that a profiler rewrites.

use std::collections::HashMap;
use std::sync::Mutex;

use clr_profiler::prelude::*;

use crate::lock;

/// The methods that a profiler rewrites: decided once for each method, so that all callbacks
/// get the same answer.
///
/// Each call of a rewritten method runs the rewritten IL only if no other code has an inlined copy of the
/// original. Three callbacks have to agree: `jit_compilation_started` rewrites the methods for which
/// [`has`](Self::has) is true, `jit_inlining` refuses them, and `jit_cached_function_search_started`
/// refuses all precompiled code that [may contain copies](Self::may_be_copied_into).
#[derive(Debug, Default)]
pub struct Selection {
    /// The modules with such methods, and the decisions about their methods.
    modules: Mutex<HashMap<ModuleId, HashMap<MethodDef, bool>>>,
}

impl Selection {
    /// A module has such methods: call it in `module_load_finished`.
    pub fn add(&self, module: ModuleId) {
        lock(&self.modules).entry(module).or_default();
    }

    /// The module's methods are gone; its id can be reused.
    pub fn remove(&self, module: ModuleId) {
        lock(&self.modules).remove(&module);
    }

    /// Whether a module has such methods.
    pub fn has_module(&self, module: ModuleId) -> bool {
        lock(&self.modules).contains_key(&module)
    }

    /// Whether this method is one: `decide` is called once, and never for other modules' methods.
    ///
    /// # Errors
    ///
    /// Those of `decide`, which is called again then.
    pub fn has(
        &self,
        method: &Method<'_>,
        decide: impl FnOnce(&Method<'_>) -> Result<bool>,
    ) -> Result<bool> {
        let known = lock(&self.modules)
            .get(&method.module())
            .map(|methods| methods.get(&method.token()).copied());
        match known {
            None => Ok(false),
            Some(Some(decided)) => Ok(decided),
            Some(None) => {
                let decided = decide(method)?;
                if let Some(methods) = lock(&self.modules).get_mut(&method.module()) {
                    methods.insert(method.token(), decided);
                }
                Ok(decided)
            }
        }
    }

    /// Whether precompiled code of this function may contain copies of such methods: it is of one of
    /// the modules, which were compiled together, or was compiled there for a type of one.
    ///
    /// # Errors
    ///
    /// Those of [`function_info2`](CorProfilerInfo2::function_info2).
    pub fn may_be_copied_into(&self, info: &ProfilerInfo, function: FunctionId) -> Result<bool> {
        let about = info.function_info2(function)?;
        if self.has_module(about.module) {
            return Ok(true);
        }
        let of_class = about.class.into_iter();
        Ok(of_class
            .chain(about.type_arguments)
            .any(|class| self.is_made_of(info, class)))
    }

    fn is_made_of(&self, info: &ProfilerInfo, class: ClassId) -> bool {
        // Arrays and pointers are not types of a module: all arrays of classes share their code.
        info.class_id_info2(class).is_ok_and(|about| {
            about.module.is_some_and(|module| self.has_module(module))
                || about
                    .type_arguments
                    .into_iter()
                    .any(|argument| self.is_made_of(info, argument))
        })
    }
}
