//! The stacks and the heap of a suspended runtime can be walked, and events arrive.
//!
//! The profiler suspends the runtime, walks stacks and the heap, and raises events, on a thread of its own.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::sync::Once;
use std::thread;

use clr_profiler::events::{
    EventDefinition, EventParameter, EventPayloadReader, EventPipeProviderConfig, EventType,
    EventValue,
};
use clr_profiler::info::SnapshotOptions;
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Does all this when a thread gets its name.
pub(crate) struct WalksHeap {
    once: Once,
}

#[profiler(clsid = clsid("WalksHeap"))]
impl Profiler for WalksHeap {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        setup.add_events(EventMask::ENABLE_STACK_SNAPSHOT);
        Ok(Self { once: Once::new() })
    }

    fn thread_name_changed(&self, info: &ProfilerInfo, _: ThreadId, _: &str) -> Result<()> {
        let mut outcome = Ok(());
        self.once.call_once(|| {
            let namer = info.current_thread_id();
            let info = info.clone();
            let worker = thread::spawn(move || work(&info, namer?));
            outcome = worker
                .join()
                .unwrap_or_else(|_| Err(Error::other("the worker panicked")));
        });
        outcome
    }

    fn event_pipe_event_delivered(
        &self,
        info: &ProfilerInfo,
        event: &EventPipeEvent<'_>,
    ) -> Result<()> {
        let mut payload = EventPayloadReader::new(event.payload);
        log::line(format_args!(
            "event {} {} {:?} {:?} {:?} {}, activity {}",
            info.event_pipe_provider_info(event.provider)?,
            event.id,
            payload.i32(),
            payload.string(),
            payload.bool(),
            payload.rest().len(),
            event.activity == Some(ACTIVITY),
        ));
        Ok(())
    }
}

const ACTIVITY: Uuid = Uuid::from_u128(0xDF63A541_5A33_4611_8829_F4E495985EE3);

fn work(info: &ProfilerInfo, namer: ThreadId) -> Result<()> {
    info.initialize_current_thread()?;
    // Nothing is allocated while a suspended thread may hold the allocator's lock.
    let mut functions = Vec::with_capacity(1000);
    let (again, walked, refused) = info.with_suspended_runtime(|_| {
        let again = info.with_suspended_runtime(|_| Ok(()));
        let walked = info.do_stack_snapshot(Some(namer), SnapshotOptions::default(), |frame| {
            functions.extend(frame.function);
            ControlFlow::Continue(())
        });
        let domain = info.thread_app_domain(namer);
        let refused = domain.and_then(|domain| info.app_domain_info(domain));
        Ok((again, walked, refused))
    })?;
    if let Err(error) = again {
        log::line(format_args!("again: {error}"));
    }
    walked?;
    if let Err(error) = refused {
        log::line(error);
    }
    for function in functions {
        log::line(format_args!(
            "frame {}",
            info.method(function)?.full_name()?
        ));
    }
    if let Err(error) = info.do_stack_snapshot(Some(namer), SnapshotOptions::default(), |_| {
        ControlFlow::Continue(())
    }) {
        log::line(format_args!("running: {error}"));
    }
    log::line(format_args!(
        "threshold {}",
        info.loh_object_size_threshold()?
    ));
    if info.version() >= 14 {
        let (mut objects, ranges) = (0, info.non_gc_heap_bounds()?);
        for object in info.non_gc_objects()? {
            let address = object?.address();
            let is_inside = |range: &clr_profiler::info::NonGcHeapRange| {
                address >= range.start && address - range.start < range.size
            };
            if !ranges.iter().any(is_inside) {
                log::line("an object is outside of the heap that is not collected");
            }
            objects += 1;
        }
        log::line(format_args!("objects that stay {}", objects > 0));
    }
    if let Err(error) = heap(info) {
        log::line(format_args!("heap: {error}"));
    }
    // Last: it makes this thread a managed one, which is refused many calls outside of callbacks.
    if info.version() >= 12 {
        events(info)?;
    }
    Ok(())
}

fn heap(info: &ProfilerInfo) -> Result<()> {
    let mut counts: HashMap<ClassId, u32> = HashMap::with_capacity(10_000);
    let mut failure = None;
    info.enumerate_gc_heap_objects(|gc, object| {
        match gc.class_from_object(object) {
            Ok(class) => *counts.entry(class).or_default() += 1,
            Err(error) => failure = Some(error),
        }
        ControlFlow::Continue(())
    })?;
    if let Some(error) = failure {
        log::line(format_args!("class: {error}"));
    }
    for (class, count) in counts {
        if let Ok(facts) = info.class_id_info2(class)
            && let Some(module) = facts.module
        {
            let name = info
                .module_metadata(module)?
                .type_def_props(facts.token)?
                .name;
            log::line(format_args!("{count} of {name}"));
        }
    }
    let mut visited = 0;
    info.enumerate_gc_heap_objects(|_, _| {
        visited += 1;
        if visited == 5 {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    log::line(format_args!("visited {visited}"));
    Ok(())
}

fn events(info: &ProfilerInfo) -> Result<()> {
    let provider = info.event_pipe_create_provider("Scenario-Provider")?;
    let mut definition = EventDefinition::new("Happened", 7);
    definition.parameters = vec![
        EventParameter::new("count", EventType::Int32),
        EventParameter::new("text", EventType::String),
        EventParameter::new("flag", EventType::Boolean),
    ];
    let event = info.event_pipe_define_event(provider, definition)?;
    let session =
        info.event_pipe_start_session(&[EventPipeProviderConfig::all("Scenario-Provider")], false)?;
    let values = |text| {
        [
            EventValue::Int32(-9),
            EventValue::String(text),
            EventValue::Boolean(true),
        ]
    };
    info.event_pipe_write_event(&event, &values("heard ä"), Some(ACTIVITY), None)?;
    if let Err(error) = info.event_pipe_write_event(&event, &[], None, None) {
        log::line(error);
    }
    info.event_pipe_stop_session(session)?;
    info.event_pipe_write_event(&event, &values("too late"), None, None)
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::WalksHeap;

    #[test]
    fn a_stopped_runtime_shows_stacks_and_heap_and_events_come_back() {
        let scenario = Scenario::new("Objects").profiled_by::<WalksHeap>();
        scenario.on_each_runtime(|runtime, profiled| {
            let log = &profiled.log;
            assert_eq!(profiled.status.code(), Some(3));
            assert!(
                profiled.stdout.ends_with("outer 6\n"),
                "{}",
                profiled.stdout
            );
            assert!(profiled.logged("frame Objects.Program.Main()"), "{log}");
            assert!(
                log.contains("again: ICorProfilerInfo10::SuspendRuntime was not called"),
                "{log}"
            );
            assert!(
                log.contains("this thread has suspended the runtime; make the call"),
                "{log}"
            );
            assert!(profiled.logged("threshold 85000"), "{log}");
            let event =
                "event Scenario-Provider 7 Some(-9) Some(\"heard ä\") Some(true) 0, activity true";
            assert_eq!(profiled.logged(event), runtime.major >= 5, "{log}");
            assert!(!log.contains("too late"), "{log}");
            assert_eq!(
                profiled.logged("objects that stay true"),
                runtime.major >= 8,
                "{log}"
            );
            if runtime.major >= 9 {
                assert!(profiled.logged("3 of Objects.Holder"), "{log}");
                assert!(profiled.logged("visited 5"), "{log}");
            } else {
                assert!(
                    log.contains("needs ICorProfilerInfo15 (.NET 9 or newer)"),
                    "{log}"
                );
            }
        });
    }
}
