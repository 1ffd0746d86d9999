//! Counts objects, and follows one of them through collections.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use clr_profiler::prelude::*;

use crate::log;

/// Watches the objects of `Allocates`; `SCENARIO_HEAP` limits it to a heap.
#[derive(Default)]
pub(crate) struct Allocations {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    names: HashMap<ClassId, String>,
    /// How many objects of the program were allocated, by type, generation, and largeness.
    counts: BTreeMap<String, u32>,
    /// The same from the collector, by type.
    by_class: BTreeMap<String, u32>,
    tracked: Option<usize>,
    moved: u32,
    stayed: u32,
    collections: Vec<String>,
    running: bool,
    handle: Option<GcHandleId>,
    handles: Vec<&'static str>,
}

impl Allocations {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn name(&mut self, info: &ProfilerInfo, class: ClassId) -> String {
        let known = self.names.entry(class);
        known
            .or_insert_with(|| name(info, class).unwrap_or_default())
            .clone()
    }
}

fn name(info: &ProfilerInfo, class: ClassId) -> Result<String> {
    if let Some(array) = info.array_class_info(class)? {
        let element = array.element_class;
        let element = element.ok_or_else(|| Error::other("no type of elements"))?;
        return Ok(format!("{}[]", name(info, element)?));
    }
    let facts = info.class_id_info2(class)?;
    let module = facts.module.ok_or_else(|| Error::other("no module"))?;
    let metadata = info.module_metadata(module)?;
    Ok(metadata.type_def_props(facts.token)?.name)
}

#[profiler(clsid = crate::clsid("Allocations"))]
impl Profiler for Allocations {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let all = EventMask::MONITOR_OBJECT_ALLOCATED
            | EventMask::ENABLE_OBJECT_ALLOCATED
            | EventMask::MONITOR_GC;
        match info.environment_variable("SCENARIO_HEAP")?.as_deref() {
            Some("large") => {
                setup.remove_events(all);
                setup.add_events(EventMask::HIGH_MONITOR_LARGEOBJECT_ALLOCATED);
            }
            Some("pinned") => {
                setup.remove_events(all);
                setup.add_events(EventMask::HIGH_MONITOR_PINNEDOBJECT_ALLOCATED);
            }
            Some("large and pinned") => {
                setup.remove_events(all);
                setup.add_events(
                    EventMask::HIGH_MONITOR_LARGEOBJECT_ALLOCATED
                        | EventMask::HIGH_MONITOR_PINNEDOBJECT_ALLOCATED,
                );
            }
            _ => {}
        }
        Ok(Self::default())
    }

    fn object_allocated(
        &self,
        info: &ProfilerInfo,
        object: ObjectId<'_>,
        class: ClassId,
    ) -> Result<()> {
        let mut state = self.state();
        let name = state.name(info, class);
        if !name.starts_with("Allocates.") {
            return Ok(());
        }
        if info.class_from_object(object)? != class {
            log::line("an object of another type");
        }
        let is_large = info.object_size2(object)? >= info.loh_object_size_threshold()? as usize;
        // Known only where collections are watched.
        let generation = match info.object_generation(object) {
            Ok(range) if range.contains(object.address()) => format!("{:?}", range.generation),
            Ok(range) => format!("outside of {range:?}"),
            Err(_) => "unknown".to_owned(),
        };
        let count = format!("{name} {generation} large {is_large}");
        *state.counts.entry(count).or_default() += 1;
        if name == "Allocates.Tracked" {
            state.tracked = Some(object.address());
        }
        Ok(())
    }

    fn objects_allocated_by_class(
        &self,
        _gc: &GcScope,
        allocations: AllocationsByClass<'_>,
    ) -> Result<()> {
        let mut state = self.state();
        for (class, count) in allocations.iter() {
            if let Some(name) = state.names.get(&class).cloned()
                && name.starts_with("Allocates.")
            {
                *state.by_class.entry(name).or_default() += count;
            }
        }
        Ok(())
    }

    fn garbage_collection_started(
        &self,
        _gc: &GcScope,
        generations: GenerationSet,
        reason: GcReason,
    ) -> Result<()> {
        let mut state = self.state();
        let nested = if state.running { "nested " } else { "" };
        state.running = true;
        let oldest = generations.oldest();
        let large = generations.contains(3);
        let line = format!("{nested}{reason:?} {oldest:?} large {large}");
        state.collections.push(line);
        Ok(())
    }

    fn garbage_collection_finished(&self, gc: &GcScope) -> Result<()> {
        let mut state = self.state();
        state.running = false;
        let Some(tracked) = state.tracked else {
            return Ok(());
        };
        let bounds = gc.generation_bounds()?;
        let holds = bounds.iter().filter(|range| range.contains(tracked));
        let generations: Vec<_> = holds.map(|range| range.generation).collect();
        let line = format!("then tracked in {generations:?}");
        state.collections.push(line);
        Ok(())
    }

    fn moved_references2(&self, _gc: &GcScope, ranges: MovedRanges<'_>) -> Result<()> {
        let mut state = self.state();
        let Some(tracked) = state.tracked else {
            return Ok(());
        };
        for range in ranges.iter() {
            if tracked >= range.old_start && tracked - range.old_start < range.length {
                state.tracked = Some(tracked - range.old_start + range.new_start);
                if range.old_start == range.new_start {
                    state.stayed += 1;
                } else {
                    state.moved += 1;
                }
                break;
            }
        }
        Ok(())
    }

    fn surviving_references2(&self, _gc: &GcScope, ranges: SurvivingRanges<'_>) -> Result<()> {
        let mut state = self.state();
        if let Some(tracked) = state.tracked
            && ranges.iter().any(|range| range.contains(&tracked))
        {
            state.stayed += 1;
        }
        Ok(())
    }

    fn handle_created(
        &self,
        _info: &ProfilerInfo,
        handle: GcHandleId,
        object: Option<ObjectId<'_>>,
    ) -> Result<()> {
        let mut state = self.state();
        let tracked = state.tracked;
        if tracked.is_some() && object.map(ObjectId::address) == tracked {
            state.handle = Some(handle);
            state.handles.push("made");
        }
        Ok(())
    }

    fn handle_destroyed(&self, _info: &ProfilerInfo, handle: GcHandleId) -> Result<()> {
        let mut state = self.state();
        if state.handle == Some(handle) {
            state.handle = None;
            state.handles.push("freed");
        }
        Ok(())
    }

    fn thread_name_changed(&self, info: &ProfilerInfo, _: ThreadId, name: &str) -> Result<()> {
        if let Some(address) = name.strip_prefix("at ") {
            let is_there = self.state().tracked.map(|at| at.to_string()) == Some(address.into());
            self.state().collections.push(format!("found {is_there}"));
        } else if name == "force" {
            let info = info.clone();
            // In a callback it is refused.
            let forced = thread::spawn(move || info.force_gc());
            let forced = forced.join().map_err(|_| Error::other("panicked"))?;
            self.state().collections.push(format!("forced {forced:?}"));
        } else if name.starts_with("handle ") {
            let line = format!("{name}: {:?}", self.state().handles);
            self.state().collections.push(line);
        }
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        let state = self.state();
        for (what, count) in &state.counts {
            log::line(format_args!("{count} {what}"));
        }
        for (what, count) in &state.by_class {
            log::line(format_args!("by class {count} {what}"));
        }
        for collection in &state.collections {
            log::line(collection);
        }
        log::line(format_args!(
            "moved {}, known {}",
            state.moved > 0,
            state.moved + state.stayed
        ));
        Ok(())
    }
}
