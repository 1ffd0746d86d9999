//! Types and methods as numbers that outlive them, in one range: both are frames of stacks.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::stacks::{Names, Stacks};
use clr_profiler::prelude::*;

/// The limits for types and methods with a row of their own.
const LIMIT: usize = 100_000;

const TYPE: u64 = 1 << 62;
/// The types beyond the limit.
const OTHER_TYPES: u64 = TYPE | 1 << 61;

/// Names of types and of methods.
#[derive(Clone)]
pub(crate) struct Numbers(Arc<Mutex<Tables>>);

#[derive(Clone)]
pub(crate) struct Tables {
    types: Names,
    methods: Names,
}

impl Numbers {
    pub(crate) fn new() -> Self {
        let limit = crate::report::limit("ALLOC_PROFILER_LIMIT_NAMES", LIMIT);
        Self(Arc::new(Mutex::new(Tables {
            types: Names::with_limit(limit),
            methods: Names::with_limit(limit),
        })))
    }

    fn lock(&self) -> MutexGuard<'_, Tables> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn of_type(&self, info: &ProfilerInfo, class: ClassId) -> u64 {
        // Asked before the lock is taken.
        let name = info.class_full_name(class);
        let name = name.as_deref().unwrap_or("[unknown type]");
        match self.lock().types.number(name) {
            Names::OTHERS => OTHER_TYPES,
            number => number | TYPE,
        }
    }

    pub(crate) fn of_method(&self, info: &ProfilerInfo, function: FunctionId) -> u64 {
        let name = info.method(function).and_then(|method| method.full_name());
        let name = name.as_deref().unwrap_or("[dynamic]");
        self.lock().methods.number(name)
    }

    /// The number for objects that the runtime allocates by itself.
    pub(crate) fn of_native(&self) -> u64 {
        self.lock().methods.number("[native]")
    }

    /// A copy of the names.
    pub(crate) fn names(&self) -> Tables {
        self.lock().clone()
    }
}

impl Tables {
    pub(crate) fn name(&self, frame: u64) -> Arc<str> {
        match frame {
            OTHER_TYPES => "(other types)".into(),
            Stacks::OTHERS | Names::OTHERS => self.methods.name(frame),
            frame if frame & TYPE != 0 => self.types.name(frame & !TYPE),
            frame => self.methods.name(frame),
        }
    }
}
