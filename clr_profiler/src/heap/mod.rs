//! The managed heap: its objects, the roots that keep them alive, and allocations.
//!
//! [`HeapRecorder`] is a component that forces a collection and records all objects as a
//! [`HeapGraph`]; its documentation has an example. The crate `clr_profiler_tools` analyses the
//! graph. [`AllocationSamples`] estimates all allocations from sampled ones, [`AllocationTicks`] reports the runtime's own
//! samples as they are, and [`CollectionTriggers`] the code that triggers collections. The types of the
//! callbacks of a collection are in [`events`](crate::events).

mod allocations;
mod columns;
mod graph;
mod record;
mod samples;
#[cfg(test)]
mod tests;
mod texts;
mod triggers;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock};
use std::time::Instant;

use crate::error::{Error, Hresult, OptionalExt, Result};
use crate::event_mask::EventMask;
use crate::events::payload::{GenerationSet, Roots, WeakTableElements};
use crate::events::reasons::{GcReason, RootKind};
use crate::ids::{ClassId, FunctionId, ModuleId, ObjectId, ObjectIds};
use crate::il::token::TypeDef;
use crate::info::{
    CorProfilerInfo, CorProfilerInfo2, CorProfilerInfo5, CorProfilerInfo8, GcScope,
    reference_fields,
};
use crate::metadata::MetadataImport;
use crate::profiler::{Component, needed_without};
use crate::runtime::{ProfilerInfo, lock};
use clr_profiler_macros::component;

pub use allocations::{AllocationTick, AllocationTicks};
pub use graph::{
    Elements, HeapClass, HeapGraph, HeapObject, HeapReference, HeapRoot, ReferencePlace,
};

pub use samples::{AllocationSample, AllocationSamples};
pub use texts::HeapText;
pub use triggers::{CollectionTrigger, CollectionTriggers, TriggerReason};

use graph::UNIT;
use record::Record;
use texts::Wanted;

opaque! { HeapRecorder }

/// Records all objects of the managed heap and their references, on demand.
///
/// It forces a collection, and records the callbacks with which the runtime reports the surviving
/// objects.
///
/// ```
/// use std::sync::Arc;
///
/// use clr_profiler::heap::HeapRecorder;
/// use clr_profiler::prelude::*;
///
/// struct Objects {
///     heap: Arc<HeapRecorder>,
/// }
///
/// #[profiler(clsid = "6C2C5B1B-0D0A-4C55-8B3E-0C1E8C4F9E11")]
/// impl Profiler for Objects {
///     fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
///         let heap = setup.attach(HeapRecorder::new())?;
///         Ok(Objects { heap })
///     }
/// }
///
/// impl Objects {
///     /// On a thread of the profiler's own.
///     fn strings(&self, info: &ProfilerInfo) -> Result<u64> {
///         let graph = self.heap.record(info)?;
///         let strings = graph.objects().filter(|object| object.class().name == "string");
///         Ok(strings.map(|string| string.size()).sum())
///     }
/// }
///
/// register!(Objects);
/// ```
#[derive(Default)]
pub struct HeapRecorder {
    state: Mutex<State>,
    /// Held while a heap is recorded, until its types have names.
    naming: Mutex<()>,
    turned_gc_events_off: AtomicBool,
    /// The length of the texts to record, if any.
    texts: Option<usize>,
    is_without_places: bool,
    walked: AtomicU64,
    /// The definition of `System.String`.
    string: OnceLock<(ModuleId, TypeDef)>,
}

#[derive(Default)]
enum State {
    #[default]
    Idle,
    /// The next collection of the whole heap will be recorded.
    Waiting,
    /// A collection is being recorded, which began then.
    Recording(Box<Record>, Result<()>, Instant),
    Recorded(Box<Record>, Result<()>),
}

impl HeapRecorder {
    /// Creates the component, to be [attached](crate::Setup::attach).
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Also records the texts of strings, at most so many UTF-16 units of each, for
    /// [`HeapObject::text`]. The program is suspended for longer then.
    #[must_use]
    pub fn with_texts(mut self, length: u32) -> Self {
        self.texts = Some(length as usize);
        self
    }

    /// Does not record the places of references, so that the program is suspended for less time and the graph takes less memory: each
    /// [`HeapReference::place`] is unknown, except those of weak tables.
    #[must_use]
    pub fn without_places(mut self) -> Self {
        self.is_without_places = true;
        self
    }

    /// The number of objects that the recording on another thread has seen so far, in steps of 65,536; zero while it waits
    /// for the collection.
    #[must_use]
    pub fn walked(&self) -> u64 {
        self.walked.load(Ordering::Relaxed)
    }

    /// Forces a collection and records the surviving objects. The program is suspended meanwhile,
    /// for about 0.2 seconds per million objects.
    ///
    /// **Events**: [`EventMask::MONITOR_GC`] at start-up, so that the runtime does not enable
    /// concurrent collections, during which the heap cannot be walked. Once the runtime has
    /// started, the event is removed until the heap is recorded, unless other components need it:
    /// with it the runtime walks the heap in every collection.
    ///
    /// The graph is built when the program runs again. With glibc, where that frees lists of more than 16 MB, the allocator
    /// returns free memory to the system: that of the whole process, whose threads wait meanwhile when they allocate native
    /// memory (`malloc_trim`).
    ///
    /// Calls `ICorProfilerInfo::ForceGC`. **Context**: a thread of the profiler's own, which never
    /// ran managed code; not a callback, and not after
    /// [`shutdown`](crate::Profiler::shutdown) has begun.
    ///
    /// # Errors
    ///
    /// The errors of [`CorProfilerInfo::force_gc`] and [`CorProfilerInfo5::set_event_mask2`];
    /// another error if the recorder is not attached, or another thread is recording.
    pub fn record(&self, info: &ProfilerInfo) -> Result<HeapGraph> {
        let naming = lock(&self.naming);
        {
            let mut state = lock(&self.state);
            if !matches!(*state, State::Idle) {
                return Err(Error::other("another thread is recording the heap"));
            }
            *state = State::Waiting;
        }
        self.walked.store(0, Ordering::Relaxed);
        let collected = with_events(info, || info.force_gc());
        let state = std::mem::take(&mut *lock(&self.state));
        collected?;
        let State::Recorded(record, outcome) = state else {
            return Err(Error::other(
                "no collection of the whole heap was seen: attach the recorder in `initialize`",
            ));
        };
        outcome?;
        let classes = record.classes.iter().map(|class| describe(info, *class));
        let classes = classes.collect();
        let functions = functions(info, &record);
        drop(naming);
        HeapGraph::build(*record, classes, functions)
    }
}

#[component(crate = crate)]
impl Component for HeapRecorder {
    /// The runtime has started: from now on it walks the heap only for a recording.
    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _status: Hresult,
    ) -> Result<()> {
        // The first module is the one that defines it.
        if self.texts.is_some() && self.string.get().is_none() {
            let string = info.module_metadata(module).and_then(|metadata| {
                let found = metadata.find_type_def_by_name("System.String", None);
                found.optional()
            });
            if let Ok(Some(string)) = string {
                let _ = self.string.set((module, string));
            }
        }
        let others = || needed_without(info, info.owner());
        if self.turned_gc_events_off.swap(true, Ordering::AcqRel)
            || others().contains(EventMask::MONITOR_GC)
        {
            return Ok(());
        }
        let events = info.event_mask2()?;
        info.set_event_mask2(events - EventMask::MONITOR_GC)
    }

    fn garbage_collection_started(
        &self,
        _gc: &GcScope,
        generations: GenerationSet,
        _reason: GcReason,
    ) -> Result<()> {
        let mut state = lock(&self.state);
        if matches!(*state, State::Waiting) && generations.contains(2) {
            let wanted = self.texts.zip(self.string.get());
            let mut record = Record::default();
            record.wanted = wanted.map(|(length, string)| Wanted::new(length, *string));
            record.has_places = !self.is_without_places;
            *state = State::Recording(Box::new(record), Ok(()), Instant::now());
        }
        Ok(())
    }

    fn root_references2(&self, _gc: &GcScope, roots: Roots<'_>) -> Result<()> {
        if let State::Recording(record, ..) = &mut *lock(&self.state) {
            record.add_roots(roots);
        }
        Ok(())
    }

    fn conditional_weak_table_element_references(
        &self,
        _gc: &GcScope,
        elements: WeakTableElements<'_>,
    ) -> Result<()> {
        if let State::Recording(record, ..) = &mut *lock(&self.state) {
            record.add_weak_elements(elements);
        }
        Ok(())
    }

    fn object_references(
        &self,
        gc: &GcScope,
        object: ObjectId<'_>,
        class: Option<ClassId>,
        references: ObjectIds<'_>,
    ) -> Result<()> {
        if let State::Recording(record, outcome, _) = &mut *lock(&self.state)
            && outcome.is_ok()
            && let Some(class) = class
        {
            *outcome = record.add(gc, object, class, references);
            let walked = record.addresses.len() as u64;
            if walked.is_multiple_of(1 << 16) {
                self.walked.store(walked, Ordering::Relaxed);
            }
        }
        Ok(())
    }

    fn garbage_collection_finished(&self, _gc: &GcScope) -> Result<()> {
        let mut state = lock(&self.state);
        *state = match std::mem::take(&mut *state) {
            State::Recording(mut record, outcome, began) => {
                record.pause = began.elapsed();
                State::Recorded(record, outcome)
            }
            other => other,
        };
        Ok(())
    }

    /// Waits until the types of a heap that is being recorded have names: types are unloaded with
    /// their modules.
    fn module_unload_started(&self, _info: &ProfilerInfo, _module: ModuleId) -> Result<()> {
        drop(lock(&self.naming));
        Ok(())
    }
}

/// Calls `collect` with the events that a recording needs.
fn with_events(info: &ProfilerInfo, collect: impl FnOnce() -> Result<()>) -> Result<()> {
    let before = info.event_mask2()?;
    if before.contains(EventMask::MONITOR_GC) {
        return collect();
    }
    info.set_event_mask2(before | EventMask::MONITOR_GC)?;
    let collected = collect();
    // The profiler may have changed other events meanwhile.
    let now = info.event_mask2()?;
    info.set_event_mask2(now - EventMask::MONITOR_GC)?;
    collected
}

/// The names of the functions on whose behalf stacks hold objects.
fn functions(info: &ProfilerInfo, record: &Record) -> HashMap<usize, String> {
    let of_stacks = record.roots.iter().map(|(_, root)| root);
    let of_stacks = of_stacks.filter(|root| root.kind == RootKind::Stack && root.id != 0);
    let functions: HashSet<usize> = of_stacks.map(|root| root.id).collect();
    let named = functions.into_iter().filter_map(|id| {
        let function = FunctionId::from_runtime(id);
        // Dynamic methods have no names in metadata.
        let is_dynamic = info.is_function_dynamic(function).unwrap_or(true);
        let method = (!is_dynamic).then(|| info.method(function));
        Some((id, method?.ok()?.full_name().ok()?))
    });
    named.collect()
}

/// Describes a type. Information that the runtime does not provide is left out: one incomplete type
/// does not fail the whole recording.
fn describe(info: &ProfilerInfo, class: ClassId) -> HeapClass {
    let array = info.array_class_info(class).ok().flatten();
    let elements = array.as_ref().map(|array| {
        // If the runtime does not provide the element type, the elements are taken for references.
        let size = match (array.element_type, array.element_class) {
            (0x11, Some(element)) => info.class_layout(element).map_or(0, |layout| layout.size),
            _ => UNIT as u32,
        };
        // The header with the length; for multidimensional arrays, the lengths and lower bounds.
        let bounds = if array.rank > 1 { array.rank * 8 } else { 0 };
        Elements {
            offset: 2 * UNIT as u32 + bounds,
            size: size.max(1),
        }
    });
    let mut fields = match elements {
        Some(_) => Vec::new(),
        None => reference_fields(info, class).unwrap_or_default(),
    };
    fields.sort();
    HeapClass {
        id: class,
        name: info
            .class_full_name(class)
            .unwrap_or_else(|_| "?".to_owned()),
        elements,
        fields,
    }
}
