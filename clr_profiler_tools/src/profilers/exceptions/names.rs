//! Names, queried once.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};

use clr_profiler::prelude::*;

/// The limit for names of a kind: a program can create types and methods without limit.
const LIMIT: usize = 20_000;

/// The names of types and functions.
#[derive(Default)]
pub(crate) struct Names {
    classes: Cache<ClassId>,
    functions: Cache<FunctionId>,
}

type Cache<Id> = Mutex<HashMap<Id, Arc<str>>>;

impl Names {
    pub(crate) fn class(&self, info: &ProfilerInfo, class: ClassId) -> Arc<str> {
        cached(&self.classes, class, || info.class_full_name(class))
    }

    /// The name that the method has in the source.
    pub(crate) fn source(&self, info: &ProfilerInfo, function: FunctionId) -> Arc<str> {
        self.named(info, function, |method| method.source_name())
    }

    pub(crate) fn function(&self, info: &ProfilerInfo, function: FunctionId) -> Arc<str> {
        self.named(info, function, |method| method.full_name())
    }

    fn named(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        name: impl FnOnce(Method<'_>) -> Result<String>,
    ) -> Arc<str> {
        cached(&self.functions, function, || {
            let named = info.method(function).and_then(name);
            // Without metadata: created with `DynamicMethod`.
            named.or_else(|_| Ok(info.dynamic_function_info(function)?.name))
        })
    }
}

fn cached<Id: Copy + Eq + Hash>(
    cache: &Cache<Id>,
    id: Id,
    name: impl FnOnce() -> Result<String>,
) -> Arc<str> {
    let lock = || cache.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(name) = lock().get(&id) {
        return Arc::clone(name);
    }
    // Not while the names are locked: the query may take long.
    let name: Arc<str> = name().unwrap_or_else(|error| format!("? ({error})")).into();
    let mut cache = lock();
    if cache.len() >= LIMIT {
        cache.clear();
    }
    cache.insert(id, Arc::clone(&name));
    name
}
