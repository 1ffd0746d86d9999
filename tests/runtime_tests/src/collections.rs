//! Collections, the objects and the generations that they report.

use clr_profiler::info::Generation;
use clr_profiler::prelude::*;

use crate::common::{Collections, Count, check, clsid, log, report_failures};

/// Counts collections, and reads the bounds of the generations at the first.
#[derive(Default)]
pub(crate) struct BasicCollections(Collections);

#[profiler(clsid = clsid("BasicCollections"))]
impl Profiler for BasicCollections {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        // The inferred events: only those of `HIGH_BASIC_GC`.
        log::line(format_args!("events {:?}", setup.events()));
        Ok(Self::default())
    }

    fn garbage_collection_started(
        &self,
        gc: &GcScope,
        _: GenerationSet,
        _: GcReason,
    ) -> Result<()> {
        if self.0.start() > 1 {
            return Ok(());
        }
        let bounds = gc.generation_bounds()?;
        let mut generations: Vec<Generation> = Vec::new();
        let mut gen1 = (0, 0);
        for range in bounds {
            let generation = range.generation;
            check(
                !matches!(generation, Generation::Unknown(_)),
                format_args!("{range:?}"),
            );
            if !generations.contains(&generation) {
                generations.push(generation);
            }
            if generation == Generation::Gen1 {
                gen1 = (gen1.0.max(range.size), gen1.1.max(range.reserved));
            }
        }
        log::line(format_args!("generations {}", generations.len()));
        log::line(format_args!("gen1 {} {}", gen1.0, gen1.1));
        Ok(())
    }

    fn garbage_collection_finished(&self, _: &GcScope) -> Result<()> {
        self.0.finish();
        Ok(())
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        self.0.report();
        Ok(())
    }
}

/// Asks for the generation of every object that a collection reports.
#[derive(Default)]
pub(crate) struct CollectedObjects {
    collections: Collections,
    pinned_objects: Count,
    pinned_roots: Count,
}

/// Whether the object is on the heap of pinned objects. Only objects that are never collected have no generation.
fn is_pinned(gc: &GcScope, object: ObjectId<'_>) -> bool {
    match gc.object_generation(object) {
        Ok(range) => {
            check(
                range.contains(object.address()),
                format_args!("an object outside of {range:?}"),
            );
            range.generation == Generation::PinnedObjectHeap
        }
        Err(error) => {
            check(error.is(Hresult::CORPROF_E_NOT_GC_OBJECT), &error);
            false
        }
    }
}

#[profiler(clsid = clsid("CollectedObjects"))]
impl Profiler for CollectedObjects {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        setup.add_events(EventMask::MONITOR_GC);
        Ok(Self::default())
    }

    fn garbage_collection_started(&self, _: &GcScope, _: GenerationSet, _: GcReason) -> Result<()> {
        self.collections.start();
        Ok(())
    }

    fn object_references(
        &self,
        gc: &GcScope,
        object: ObjectId<'_>,
        _: Option<ClassId>,
        references: ObjectIds<'_>,
    ) -> Result<()> {
        let mut pinned = is_pinned(gc, object);
        for reference in references.iter() {
            pinned |= is_pinned(gc, reference);
        }
        if pinned {
            self.pinned_objects.one();
        }
        Ok(())
    }

    fn root_references(&self, gc: &GcScope, roots: RootIds<'_>) -> Result<()> {
        for root in roots.iter().flatten() {
            if is_pinned(gc, root) {
                self.pinned_roots.one();
            }
        }
        Ok(())
    }

    fn garbage_collection_finished(&self, _: &GcScope) -> Result<()> {
        self.collections.finish();
        Ok(())
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        self.collections.report();
        log::line(format_args!(
            "pinned objects {}, pinned roots {}",
            self.pinned_objects.get() > 0,
            self.pinned_roots.get() > 0
        ));
        Ok(())
    }
}

/// Gets the allocations of large and of pinned objects alone.
#[derive(Default)]
pub(crate) struct LargeAllocations {
    large: Count,
    pinned: Count,
}

#[profiler(clsid = clsid("LargeAllocations"))]
impl Profiler for LargeAllocations {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        setup.remove_events(EventMask::MONITOR_OBJECT_ALLOCATED);
        setup.add_events(
            EventMask::ENABLE_OBJECT_ALLOCATED
                | EventMask::HIGH_BASIC_GC
                | EventMask::HIGH_MONITOR_LARGEOBJECT_ALLOCATED,
        );
        if info.version() > 11 {
            setup.add_events(EventMask::HIGH_MONITOR_PINNEDOBJECT_ALLOCATED);
        }
        Ok(Self::default())
    }

    fn object_allocated(
        &self,
        info: &ProfilerInfo,
        object: ObjectId<'_>,
        _: ClassId,
    ) -> Result<()> {
        match info.object_generation(object)?.generation {
            Generation::LargeObjectHeap => self.large.one(),
            Generation::PinnedObjectHeap => self.pinned.one(),
            other => return Err(Error::other(format!("an object of {other:?}"))),
        };
        Ok(())
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        log::line(format_args!(
            "large {}, pinned {}",
            self.large.get() > 0,
            self.pinned.get() > 0
        ));
        Ok(())
    }
}

/// Compares the allocated objects that are never collected with those that the runtime enumerates.
#[derive(Default)]
pub(crate) struct NeverCollected {
    allocated: Count,
    collections: Count,
}

#[profiler(clsid = clsid("NeverCollected"))]
impl Profiler for NeverCollected {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        setup.add_events(EventMask::ENABLE_OBJECT_ALLOCATED | EventMask::HIGH_BASIC_GC);
        Ok(Self::default())
    }

    fn object_allocated(
        &self,
        info: &ProfilerInfo,
        object: ObjectId<'_>,
        _: ClassId,
    ) -> Result<()> {
        // There is no range without success, and no success with an unknown generation.
        match info.object_generation(object) {
            Ok(range) => check(
                !matches!(range.generation, Generation::Unknown(_)),
                format_args!("{range:?}"),
            ),
            Err(error) => {
                check(error.is(Hresult::CORPROF_E_NOT_GC_OBJECT), &error);
                self.allocated.one();
            }
        }
        Ok(())
    }

    fn garbage_collection_finished(&self, gc: &GcScope) -> Result<()> {
        self.collections.one();
        let mut count = 0;
        for object in gc.non_gc_objects()? {
            object?;
            count += 1;
        }
        let allocated = self.allocated.get();
        check(
            count == allocated,
            format_args!("{allocated} allocated, {count} enumerated"),
        );
        Ok(())
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        log::line(format_args!(
            "collections {}, never collected {}",
            self.collections.get() > 0,
            self.allocated.get() > 0
        ));
        Ok(())
    }
}

/// Asks for collections without their counts of objects by class, by a flag that runtimes up to .NET 10 do not have.
#[derive(Default)]
pub(crate) struct SkipsClasses {
    collections: Collections,
    by_class: Count,
}

#[profiler(clsid = clsid("SkipsClasses"))]
impl Profiler for SkipsClasses {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        // The flag of newer runtimes for collections without counts.
        setup.add_events(EventMask::MONITOR_GC | EventMask::from_halves(0, 0x200));
        Ok(Self::default())
    }

    fn garbage_collection_started(&self, _: &GcScope, _: GenerationSet, _: GcReason) -> Result<()> {
        self.collections.start();
        Ok(())
    }

    fn garbage_collection_finished(&self, _: &GcScope) -> Result<()> {
        self.collections.finish();
        Ok(())
    }

    fn objects_allocated_by_class(&self, _: &GcScope, _: AllocationsByClass<'_>) -> Result<()> {
        self.by_class.one();
        Ok(())
    }

    fn shutdown(&self, info: &ProfilerInfo) -> Result<()> {
        log::line(format_args!("mask {:#x}", info.event_mask2()?.high()));
        self.collections.report();
        log::line(format_args!("counts by class {}", self.by_class.get() > 0));
        Ok(())
    }
}
