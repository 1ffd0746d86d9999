//! Counts of calls, incremented by the code of the program.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use clr_profiler::prelude::*;
use clr_profiler::rewrite::NativeCall;

/// The limit for counted methods.
const PLACES: usize = 16_384;

static COUNTS: [AtomicU64; PLACES] = [const { AtomicU64::new(0) }; PLACES];

/// Called by the code of the program.
extern "C" fn called(number: u32) {
    if let Some(count) = COUNTS.get(number as usize) {
        count.fetch_add(1, Ordering::Relaxed);
    }
}

/// The call at the start of a method.
pub(crate) fn call(info: &ProfilerInfo) -> NativeCall {
    let call = NativeCall::raw(called as extern "C" fn(u32));
    // .NET Core 3.1 requires the transition.
    if info.version() < 12 {
        return call;
    }
    // SAFETY: the function adds one, and does nothing else.
    unsafe { call.without_transition() }
}

/// Methods that were counted, with their numbers and names.
#[derive(Debug, Default)]
pub(crate) struct Counted {
    methods: HashMap<(ModuleId, MethodDef), Row>,
    used: u32,
}

#[derive(Debug)]
struct Row {
    number: u32,
    name: String,
}

impl Counted {
    /// The number of a method.
    pub(crate) fn number(&mut self, place: (ModuleId, MethodDef), name: &str) -> Result<u32> {
        if let Some(row) = self.methods.get(&place) {
            return Ok(row.number);
        }
        if self.used as usize >= PLACES {
            return Err(Error::other(format!(
                "{PLACES} methods were counted already"
            )));
        }
        let number = self.used;
        self.used += 1;
        let name = name.to_owned();
        self.methods.insert(place, Row { number, name });
        Ok(number)
    }

    /// The number of calls of a method so far, and its full name, if it was ever patched.
    pub(crate) fn get(&self, place: (ModuleId, MethodDef)) -> Option<(u64, &str)> {
        let row = self.methods.get(&place)?;
        let count = COUNTS.get(row.number as usize)?;
        Some((count.load(Ordering::Relaxed), &row.name))
    }

    /// The module's methods are gone; its id can be reused.
    pub(crate) fn forget(&mut self, module: ModuleId) {
        self.methods.retain(|place, _| place.0 != module);
    }
}
