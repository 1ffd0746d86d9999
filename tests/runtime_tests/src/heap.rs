//! The objects of the heap: walked, held by handles, counted by class.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use clr_profiler::info::{HandleKind, ObjectHandle};
use clr_profiler::prelude::*;

use crate::common::{Count, answer_calls, check, class_name, clsid, locked, log, report_failures};

/// The class of the object that the walk has to find.
static CUSTOM: Mutex<Option<ClassId>> = Mutex::new(None);

/// Walks the heap when the program asks for it: 0, at once; 1, within a suspension.
pub(crate) struct HeapWalk;

fn walk(info: &ProfilerInfo) -> Result<()> {
    let custom = *locked(&CUSTOM);
    let (mut objects, mut found) = (0u32, 0);
    info.enumerate_gc_heap_objects(|gc, object| {
        objects += 1;
        match gc.class_from_object(object) {
            Ok(class) => found += u32::from(Some(class) == custom),
            Err(error) => check(false, error),
        }
        ControlFlow::Continue(())
    })?;
    log::line(format_args!("objects {}, custom {found}", objects >= 500));
    Ok(())
}

fn answer_walk(info: &ProfilerInfo, what: i32) -> Result<i32> {
    let walked = loop {
        let walked = match what {
            0 => walk(info),
            _ => info.with_suspended_runtime(|_| walk(info)),
        };
        // A collection of another thread was first.
        match &walked {
            Err(error) if error.is(Hresult::CORPROF_E_SUSPENSION_IN_PROGRESS) => {}
            _ => break walked,
        }
    };
    if let Err(error) = walked {
        log::line(format_args!("refused: {error}"));
    }
    Ok(0)
}

#[profiler(clsid = clsid("HeapWalk"))]
impl Profiler for HeapWalk {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        // Without this, the two callbacks below would include the events of collections.
        let collections = EventMask::MONITOR_GC | EventMask::HIGH_BASIC_GC;
        setup.remove_events(collections);
        if info.environment_variable("MONITOR_COLLECTIONS")?.as_deref() == Some("TRUE") {
            setup.add_events(collections);
        }
        Ok(Self)
    }

    fn class_load_finished(&self, info: &ProfilerInfo, class: ClassId, _: Hresult) -> Result<()> {
        if class_name(info, class).is_some_and(|name| name.ends_with("CustomHeapObject")) {
            *locked(&CUSTOM) = Some(class);
        }
        Ok(())
    }

    fn jit_compilation_started(&self, info: &ProfilerInfo, f: FunctionId, _: bool) -> Result<()> {
        answer_calls(info, f, answer_walk)
    }

    fn garbage_collection_started(&self, _: &GcScope, _: GenerationSet, _: GcReason) -> Result<()> {
        std::thread::sleep(Duration::from_millis(5));
        Ok(())
    }
}

/// Holds the instances of three classes by handles of three kinds.
#[derive(Default)]
pub(crate) struct HeldObjects {
    held: Mutex<Held>,
    induced: Count,
    looks: Count,
}

#[derive(Default)]
struct Held {
    weak: Option<ObjectHandle>,
    strong: Option<ObjectHandle>,
    pinned: Option<ObjectHandle>,
    /// The address of the pinned object.
    address: AtomicUsize,
}

impl HeldObjects {
    /// Logs which objects are alive after the collection with this number; after the second, all handles become weak.
    fn look(&self, info: &ProfilerInfo, number: u32) -> Result<()> {
        let held = &mut *locked(&self.held);
        let alive = |handle: &Option<ObjectHandle>| -> Result<Option<usize>> {
            let handle = handle.as_ref().ok_or_else(|| Error::other("no handle"))?;
            info.with_object_of_handle(handle, |object| {
                object
                    .map(|object| info.class_from_object(object).map(|_| object.address()))
                    .transpose()
            })?
        };
        let (weak, strong) = (alive(&held.weak)?, alive(&held.strong)?);
        let pinned = alive(&held.pinned)?;
        let same = pinned == Some(held.address.load(Ordering::SeqCst));
        log::line(format_args!(
            "after {number}: weak {}, strong {}, pinned {}, at its address {same}",
            weak.is_some(),
            strong.is_some(),
            pinned.is_some()
        ));
        if number == 2 {
            for handle in [&mut held.strong, &mut held.pinned] {
                let Some(old) = handle.take() else { continue };
                let weak = info.with_object_of_handle(&old, |object| match object {
                    Some(object) => info.create_handle(object, HandleKind::Weak),
                    None => Err(Error::other("the object is gone")),
                })??;
                info.destroy_handle(old)?;
                *handle = Some(weak);
            }
        }
        Ok(())
    }
}

#[profiler(clsid = clsid("HeldObjects"))]
impl Profiler for HeldObjects {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
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
        class: ClassId,
    ) -> Result<()> {
        let Some(name) = class_name(info, class) else {
            return Ok(());
        };
        let kind = match name.strip_prefix("RuntimeTests.Heap+") {
            Some("WeaklyHeld") => HandleKind::Weak,
            Some("StronglyHeld") => HandleKind::Strong,
            Some("PinnedHeld") => HandleKind::Pinned,
            Some("LookNow") => {
                let number = self.looks.one();
                check(
                    number == self.induced.get(),
                    format_args!("{number} looks after {} collections", self.induced.get()),
                );
                return self.look(info, number);
            }
            _ => return Ok(()),
        };
        match info.create_handle(object, kind) {
            Ok(handle) => {
                let mut held = locked(&self.held);
                match kind {
                    HandleKind::Weak => held.weak = Some(handle),
                    HandleKind::Strong => held.strong = Some(handle),
                    _ => {
                        held.pinned = Some(handle);
                        held.address.store(object.address(), Ordering::SeqCst);
                    }
                }
            }
            Err(error) => log::line(format_args!("refused: {error}")),
        }
        Ok(())
    }

    fn garbage_collection_started(
        &self,
        _: &GcScope,
        _: GenerationSet,
        reason: GcReason,
    ) -> Result<()> {
        if reason == GcReason::Induced {
            self.induced.one();
        }
        Ok(())
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        log::line(format_args!("induced {}", self.induced.get()));
        Ok(())
    }
}

/// Sums the objects of one class, and counts the arrays, that the runtime reports at each collection.
#[derive(Default)]
pub(crate) struct AllocatedClasses {
    counted: Mutex<Option<ClassId>>,
    sum: AtomicUsize,
    arrays: AtomicUsize,
}

#[profiler(clsid = clsid("AllocatedClasses"))]
impl Profiler for AllocatedClasses {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        setup.add_events(EventMask::MONITOR_GC);
        Ok(Self::default())
    }

    fn class_load_finished(&self, info: &ProfilerInfo, class: ClassId, _: Hresult) -> Result<()> {
        if class_name(info, class).is_some_and(|name| name == "RuntimeTests.Heap+Counted") {
            *locked(&self.counted) = Some(class);
        }
        Ok(())
    }

    fn objects_allocated_by_class(
        &self,
        gc: &GcScope,
        allocations: AllocationsByClass<'_>,
    ) -> Result<()> {
        let counted = *locked(&self.counted);
        for (class, count) in allocations.iter() {
            check(count > 0, "a class without objects");
            if Some(class) == counted {
                self.sum.fetch_add(count as usize, Ordering::SeqCst);
            } else if gc.array_class_info(class)?.is_some() {
                self.arrays.fetch_add(1, Ordering::SeqCst);
            }
        }
        Ok(())
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        log::line(format_args!(
            "counted {}, arrays {}",
            self.sum.load(Ordering::SeqCst),
            self.arrays.load(Ordering::SeqCst) >= 200
        ));
        Ok(())
    }
}

/// A notification profiler that declines to be attached so that the runtime survives it: it accepts without events, and
/// detaches.
pub(crate) struct DeclinesAttach;

#[profiler(clsid = clsid("DeclinesAttach"))]
impl Profiler for DeclinesAttach {
    fn initialize(_: &ProfilerInfo, _: &mut Setup) -> Result<Self> {
        Ok(Self)
    }

    fn initialize_for_attach(_: &ProfilerInfo, setup: &mut Setup, data: &[u8]) -> Result<Self> {
        report_failures(setup);
        setup.remove_events(EventMask::all());
        log::line(format_args!("attached with {data:?}"));
        Ok(Self)
    }

    fn load_as_notification_only() -> bool {
        true
    }

    fn profiler_attach_complete(&self, info: &ProfilerInfo) -> Result<()> {
        info.request_profiler_detach(Duration::ZERO)
    }

    fn objects_allocated_by_class(&self, _: &GcScope, _: AllocationsByClass<'_>) -> Result<()> {
        log::line("FAILED a callback of a profiler that has declined");
        Ok(())
    }

    fn profiler_detach_succeeded(&self, _: &ProfilerInfo) -> Result<()> {
        log::line("declined");
        Ok(())
    }
}
