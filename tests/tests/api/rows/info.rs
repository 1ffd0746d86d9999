//! `ICorProfilerInfo` and its enumerators.

use std::ops::ControlFlow;
use std::time::Duration;

use clr_profiler::events::{
    DefinedEvent, EventDefinition, EventPipeProviderConfig, EventPipeSessionId,
};
use clr_profiler::info::{HandleKind, MethodEnum, SnapshotOptions, StackFrame};
use clr_profiler::prelude::*;

use super::{BODY, FUNCTION, MODULE, Row, Run, all, method, rows, show};

rows! { FIRST: Info;
    "ICorProfilerInfo::GetModuleMetaData" => |info| info.module_metadata(MODULE);
    "ICorProfilerInfo::GetTokenAndMetaDataFromFunction" =>
        |info| info.token_and_metadata_from_function(FUNCTION);
    "ICorProfilerInfo::SetILFunctionBody" =>
        |info| info.set_il_function_body(MODULE, method(), BODY);
    "IMethodMalloc::Alloc" =>
        |info| info.il_function_body_allocator(MODULE).and_then(|malloc| malloc.alloc(5).map(drop));
}

rows! { SECOND: Info;
    "ICorProfilerInfo2::DoStackSnapshot" => |info| frames(info);
    "ICorProfilerInfo2::DoStackSnapshot" => |info| seeded(info);
    "ICorProfilerInfo3::RequestProfilerDetach" =>
        |info| info.request_profiler_detach(Duration::from_secs(1));
    "ICorProfilerInfo4::RequestRevert" => |info| info.request_revert(&[(MODULE, method())]);
}

rows! { LATER: Info;
    "ICorProfilerInfo10::SuspendRuntime" => |info| info.with_suspended_runtime(|_| Ok(()));
    "ICorProfilerInfo10::ResumeRuntime" => |info| info.with_suspended_runtime(|_| Ok(()));
    "ICorProfilerInfo12::EventPipeAddProviderToSession" => |info|
        info.event_pipe_add_provider_to_session(SESSION, &EventPipeProviderConfig::all("provider"));
    "ICorProfilerInfo12::EventPipeStopSession" => |info| info.event_pipe_stop_session(SESSION);
    "ICorProfilerInfo12::EventPipeDefineEvent" => |info| defined_event(info);
    "ICorProfilerInfo12::EventPipeWriteEvent" => |info| defined_event(info).and_then(
        |event| info.event_pipe_write_event(&event, &[], None, None),
    );
    "ICorProfilerInfo14::EventPipeCreateProvider2" =>
        |info| info.event_pipe_create_provider2("mine", |_| ());
    "ICorProfilerInfo15::EnumerateGCHeapObjects" => |info| heap(info);
}

rows! { OBJECTS: Object;
    "ICorProfilerInfo::GetClassFromObject" => |info, object| info.class_from_object(object);
    "ICorProfilerInfo::GetObjectSize" => |info, object| info.object_size(object);
    "ICorProfilerInfo2::GetArrayObjectInfo" => |info, object| info.array_object_info(object);
    "ICorProfilerInfo2::GetObjectGeneration" => |info, object| info.object_generation(object);
    "ICorProfilerInfo4::GetObjectSize2" => |info, object| info.object_size2(object);
    "ICorProfilerInfo10::EnumerateObjectReferences" => |info, object| references(info, object);
    "ICorProfilerInfo10::IsFrozenObject" => |info, object| info.is_frozen_object(object);
    "ICorProfilerInfo13::CreateHandle" => |info, object| info.create_handle(object, HandleKind::Weak);
    "ICorProfilerInfo13::DestroyHandle" => |info, object| info
        .create_handle(object, HandleKind::Weak)
        .and_then(|handle| info.destroy_handle(handle));
    "ICorProfilerInfo13::GetObjectIDFromHandle" => |info, object| info
        .create_handle(object, HandleKind::Weak)
        .and_then(|handle| info.with_object_of_handle(&handle, |object| format!("{object:?}")));
}

rows! { IN_COLLECTION: Gc;
    "ICorProfilerInfo::GetClassFromObject" => |scope, object| scope.class_from_object(object);
    "ICorProfilerInfo4::GetObjectSize2" => |scope, object| scope.object_size(object);
}

// SAFETY: the fake runtime takes any number.
const SESSION: EventPipeSessionId = unsafe { EventPipeSessionId::from_raw(0x22) };
// SAFETY: as above.
const PROVIDER: EventPipeProviderId<'static> = unsafe { EventPipeProviderId::from_raw(0x21) };

/// The same, starting from registers.
fn seeded(info: &ProfilerInfo) -> Result<Vec<Option<FunctionId>>> {
    let mut functions = Vec::new();
    let visit = |frame: &StackFrame<'_>| {
        functions.push(frame.function);
        ControlFlow::Continue(())
    };
    // SAFETY: the fake runtime ignores them.
    unsafe {
        info.do_stack_snapshot_with_seed(None, SnapshotOptions::default(), &[0; 1232], visit)?;
    }
    Ok(functions)
}

fn frames(info: &ProfilerInfo) -> Result<Vec<Option<FunctionId>>> {
    let mut functions = Vec::new();
    info.do_stack_snapshot(None, SnapshotOptions::default(), |frame| {
        functions.push(frame.function);
        ControlFlow::Continue(())
    })?;
    Ok(functions)
}

fn references(info: &ProfilerInfo, object: ObjectId<'_>) -> Result<Vec<String>> {
    let mut targets = Vec::new();
    info.enumerate_object_references(object, |reference| {
        targets.push(format!("{:?}", reference.target));
        ControlFlow::Continue(())
    })?;
    Ok(targets)
}

fn heap(info: &ProfilerInfo) -> Result<Vec<String>> {
    let mut objects = Vec::new();
    info.enumerate_gc_heap_objects(|_, object| {
        objects.push(format!("{object:?}"));
        ControlFlow::Continue(())
    })?;
    Ok(objects)
}

fn inliners(info: &ProfilerInfo) -> Result<MethodEnum> {
    let inliners = info.ngen_module_methods_inlining_this_method(MODULE, MODULE, method())?;
    Ok(inliners.methods)
}

fn defined_event(info: &ProfilerInfo) -> Result<DefinedEvent> {
    info.event_pipe_define_event(PROVIDER, EventDefinition::new("event", 1))
}

/// The rows of an enumerator that this call returns.
macro_rules! enumerator_rows {
    ($($table:ident: $native:literal, $get:expr;)*) => {$(
        pub(super) const $table: &[Row] = &[
            enumerator_rows!(@row $native, "::Next", |info| $get(info).and_then(all)),
            enumerator_rows!(@row $native, "::GetCount", |info| $get(info).and_then(|it| it.total())),
            enumerator_rows!(@row $native, "::Skip", |info| $get(info).and_then(|mut it| it.leave_out(1))),
            enumerator_rows!(@row $native, "::Reset", |info| $get(info).and_then(|mut it| it.reset())),
            enumerator_rows!(@row $native, "::Clone", |info| $get(info).and_then(|it| it.try_clone())),
        ];
    )*};
    (@row $native:literal, $method:literal, |$info:ident| $call:expr) => {
        Row {
            native: concat!($native, $method),
            hides: &[],
            run: Run::Info(|$info| show($call)),
        }
    };
}

enumerator_rows! {
    MODULES: "ICorProfilerModuleEnum", ProfilerInfo::modules;
    THREADS: "ICorProfilerThreadEnum", ProfilerInfo::threads;
    FUNCTIONS: "ICorProfilerFunctionEnum", ProfilerInfo::jitted_functions2;
    METHODS: "ICorProfilerMethodEnum", inliners;
    FROZEN: "ICorProfilerObjectEnum", ProfilerInfo::non_gc_objects;
}
