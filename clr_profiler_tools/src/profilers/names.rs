//! The names of types and functions, queried once, and the frames of a thread's own stack.

use std::collections::HashMap;
use std::hash::Hash;
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex, PoisonError};

use crate::report::lock;
use crate::stacks::Frame;
use clr_profiler::info::SnapshotOptions;
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

    /// The frame of a function, with its source line where a PDB has it and `lines` says so.
    pub(crate) fn frame(&self, info: &ProfilerInfo, (function, ip): Place, lines: bool) -> Frame {
        if !lines {
            return Frame::from(self.function(info, function));
        }
        let mut frame = Frame::from(self.source(info, function));
        // A PDB that cannot be read is no reason to lose the frame.
        if let Ok(Some(location)) = info.source_location_from_ip(ip) {
            frame.source = Some((location.file, location.start_line));
        }
        frame
    }

    /// A module is unloaded: ids can be reused.
    pub(crate) fn forget(&self) {
        lock(&self.classes).clear();
        lock(&self.functions).clear();
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

/// A function and the instruction pointer in it.
pub(crate) type Place = (FunctionId, usize);

/// The managed functions of this thread's stack, innermost first, at most `depth` of them.
pub(crate) fn own_stack(info: &ProfilerInfo, depth: usize) -> Result<Vec<Place>> {
    let mut places = Vec::new();
    info.do_stack_snapshot(None, SnapshotOptions::default(), |frame| {
        if places.len() >= depth {
            return ControlFlow::Break(());
        }
        places.extend(frame.function.map(|function| (function, frame.ip)));
        ControlFlow::Continue(())
    })?;
    Ok(places)
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
