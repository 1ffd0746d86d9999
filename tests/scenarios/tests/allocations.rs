//! Allocations by heap, and the generations of objects after collections.
//!
//! The profiler counts objects, and follows one of them through collections.

use std::collections::{BTreeMap, HashMap};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Observes the objects of `Allocates`; `SCENARIO_HEAP` limits it to a heap.
#[derive(Default)]
pub(crate) struct Allocations {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    names: HashMap<ClassId, String>,
    /// How many objects of the program were allocated, by type, generation, and whether they are large.
    counts: BTreeMap<String, u32>,
    /// The same as reported by the collector, by type.
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

#[profiler(clsid = clsid("Allocations"))]
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
        // Known only if collections are observed.
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

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::Allocations;

    #[test]
    fn objects_are_counted_and_followed_through_collections() {
        let scenario = Scenario::new("Allocates").profiled_by::<Allocations>();
        scenario.on_each_runtime(|runtime, profiled| {
            let log = &profiled.log;
            let output = (Some(9), "pinned True\nalive True\n", "");
            assert_eq!(profiled.output(), output, "{log}");
            let mut counts = vec![
                "3 Allocates.Item[] Gen0 large false",
                "5 Allocates.Item[] LargeObjectHeap large true",
            ];
            if runtime.major >= 5 {
                counts.push("2 Allocates.Item[] PinnedObjectHeap large false");
            }
            counts.extend([
                "111 Allocates.Small Gen0 large false",
                "1 Allocates.Tracked Gen0 large false",
                // The collector counts objects on the ordinary heap.
                "by class 3 Allocates.Item[]",
                "by class 111 Allocates.Small",
                "by class 1 Allocates.Tracked",
                "found true",
            ]);
            // For older runtimes a compacting collection is not an induced one.
            let asked = if runtime.major >= 9 {
                "Induced"
            } else {
                "Other"
            };
            let collections = [
                format!("{asked} Some(0) large false"),
                "then tracked in [Gen1]".to_owned(),
                "found true".to_owned(),
                format!("{asked} Some(1) large false"),
                "then tracked in [Gen2]".to_owned(),
                "found true".to_owned(),
                format!("{asked} Some(2) large true"),
            ];
            let end = [
                "found true",
                "Induced Some(2) large true",
                "then tracked in [Gen2]",
                "forced Ok(())",
                "found true",
                "handle made: [\"made\"]",
                "handle freed: [\"made\", \"freed\"]",
                "moved true, known 4",
            ];
            let mut lines: Vec<&str> = log.lines().collect();
            let expected: Vec<&str> = counts
                .into_iter()
                .chain(collections.iter().map(String::as_str))
                .chain(end)
                .collect();
            // The third collection may have demoted the object to a younger generation.
            let third = expected.len() - end.len();
            assert!(lines.len() > third, "{log}");
            let after_third = lines.remove(third);
            assert!(after_third.starts_with("then tracked in [Gen"), "{log}");
            assert!(!after_third.contains(','), "{log}");
            assert_eq!(lines, expected);
        });
    }

    #[test]
    fn allocations_of_one_heap_come_alone() {
        let large = "5 Allocates.Item[] LargeObjectHeap large true";
        let pinned = "2 Allocates.Item[] PinnedObjectHeap large false";
        for (heaps, expected) in [
            ("large", &[large][..]),
            // Runtimes check that flag only if another one enables the callback.
            ("pinned", &[]),
            ("large and pinned", &[large, pinned]),
        ] {
            let scenario = Scenario::new("Allocates")
                .profiled_by::<Allocations>()
                .env("SCENARIO_HEAP", heaps);
            scenario.on_each_runtime(|runtime, profiled| {
                assert_eq!(profiled.status.code(), Some(9), "{}", profiled.stderr);
                let counts: Vec<&str> = profiled
                    .log
                    .lines()
                    .filter(|line| line.contains("Allocates."))
                    .collect();
                let mut expected = expected.to_vec();
                expected.retain(|line| *line != pinned || runtime.major >= 5);
                assert_eq!(counts, expected, "{heaps}");
            });
        }
    }
}
