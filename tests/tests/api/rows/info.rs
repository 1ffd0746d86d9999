//! `ICorProfilerInfo` and its enumerators.

use std::ops::ControlFlow;
use std::time::Duration;

use clr_profiler::prelude::*;
use clr_profiler::{
    ContextId, DefinedEvent, EventDefinition, EventPipeProviderConfig, EventPipeSessionId,
    HandleKind, IlMapEntry, MethodEnum, RejitFlags, SnapshotOptions, StackFrame,
};

use super::{BODY, CLASS, FUNCTION, MODULE, Row, Run, all, class, method, rows, show, token};

rows! { FIRST: Info;
    "ICorProfilerInfo::GetCodeInfo" => |info| info.code_info(FUNCTION);
    "ICorProfilerInfo::GetFunctionFromIP" => |info| info.function_from_ip(0x1234);
    "ICorProfilerInfo::GetILToNativeMapping" => |info| info.il_to_native_mapping(FUNCTION);
    "ICorProfilerInfo::GetFunctionInfo" => |info| info.function_info(FUNCTION);
    "ICorProfilerInfo::GetClassIDInfo" => |info| info.class_id_info(CLASS);
    "ICorProfilerInfo::GetClassFromToken" => |info| info.class_from_token(MODULE, class());
    "ICorProfilerInfo::GetFunctionFromToken" => |info| info.function_from_token(MODULE, method());
    "ICorProfilerInfo::IsArrayClass" => |info| info.array_class_info(CLASS);
    "ICorProfilerInfo::GetThreadInfo" => |info| info.thread_info(THREAD);
    "ICorProfilerInfo::GetHandleFromThread" => |info| info.handle_from_thread(THREAD);
    "ICorProfilerInfo::GetThreadContext" => |info| info.thread_context(THREAD);
    "ICorProfilerInfo::ForceGC" => |info| info.force_gc();
    "ICorProfilerInfo::GetCurrentThreadID" => |info| info.current_thread_id();
    "ICorProfilerInfo::GetModuleInfo" => |info| info.module_info(MODULE);
    "ICorProfilerInfo::GetModuleMetaData" => |info| info.module_metadata(MODULE);
    "ICorProfilerInfo::GetTokenAndMetaDataFromFunction" =>
        |info| info.token_and_metadata_from_function(FUNCTION);
    "ICorProfilerInfo::GetILFunctionBody" hides ["pcbMethodSize"] =>
        |info| info.il_function_body(MODULE, method());
    "ICorProfilerInfo::SetILFunctionBody" =>
        |info| info.set_il_function_body(MODULE, method(), BODY);
    "ICorProfilerInfo::GetILFunctionBodyAllocator" => |info| info.il_function_body_allocator(MODULE);
    "IMethodMalloc::Alloc" =>
        |info| info.il_function_body_allocator(MODULE).and_then(|malloc| malloc.alloc(5).map(drop));
    "ICorProfilerInfo::SetILInstrumentedCodeMap" =>
        |info| info.set_il_instrumented_code_map(FUNCTION, true, &[IL_MAP]);
    "ICorProfilerInfo::GetAppDomainInfo" => |info| info.app_domain_info(APP_DOMAIN);
    "ICorProfilerInfo::GetAssemblyInfo" => |info| info.assembly_info(ASSEMBLY);
    // Flags have names.
    "ICorProfilerInfo::GetEventMask" hides ["pdwEvents"] => |info| info.event_mask();
    "ICorProfilerInfo::SetEventMask" => |info| info.set_event_mask(EventMask::empty());
    "ICorProfilerInfo::SetFunctionReJIT" => |info| info.set_function_rejit(FUNCTION);
    "ICorProfilerInfo::GetInprocInspectionInterface" => |info| info.inproc_inspection_interface();
    "ICorProfilerInfo::GetInprocInspectionIThisThread" =>
        |info| info.inproc_inspection_this_thread();
    "ICorProfilerInfo::BeginInprocDebugging" => |info| info.begin_inproc_debugging(true);
    "ICorProfilerInfo::EndInprocDebugging" => |info| info.end_inproc_debugging(1);
}

rows! { SECOND: Info;
    "ICorProfilerInfo2::GetFunctionInfo2" => |info| info.function_info2(FUNCTION);
    "ICorProfilerInfo2::GetClassIDInfo2" => |info| info.class_id_info2(CLASS);
    "ICorProfilerInfo2::GetFunctionFromTokenAndTypeArgs" =>
        |info| info.function_from_token_and_type_args(MODULE, method(), CLASS, &[CLASS]);
    "ICorProfilerInfo2::GetClassFromTokenAndTypeArgs" =>
        |info| info.class_from_token_and_type_args(MODULE, class(), &[CLASS]);
    "ICorProfilerInfo2::DoStackSnapshot" => |info| frames(info);
    "ICorProfilerInfo2::DoStackSnapshot" => |info| seeded(info);
    "ICorProfilerInfo2::GetStringLayout" => |info| info.string_layout();
    "ICorProfilerInfo2::GetClassLayout" => |info| info.class_layout(CLASS);
    "ICorProfilerInfo2::GetCodeInfo2" => |info| info.code_info2(FUNCTION);
    "ICorProfilerInfo2::EnumModuleFrozenObjects" =>
        |info| info.module_frozen_objects(MODULE).and_then(all);
    "ICorProfilerInfo2::GetBoxClassLayout" => |info| info.box_class_layout(CLASS);
    "ICorProfilerInfo2::GetThreadAppDomain" => |info| info.thread_app_domain(THREAD);
    "ICorProfilerInfo2::GetGenerationBounds" => |info| info.generation_bounds();
    "ICorProfilerInfo2::GetNotifiedExceptionClauseInfo" =>
        |info| info.notified_exception_clause_info();
    // Flags have names.
    "ICorProfilerInfo2::GetStaticFieldInfo" hides ["pFieldInfo"] =>
        |info| info.static_field_info(CLASS, field());
    "ICorProfilerInfo2::GetRVAStaticAddress" => |info| info.rva_static_address(CLASS, field());
    "ICorProfilerInfo2::GetAppDomainStaticAddress" =>
        |info| info.app_domain_static_address(CLASS, field(), APP_DOMAIN);
    "ICorProfilerInfo2::GetThreadStaticAddress" =>
        |info| info.thread_static_address(CLASS, field(), None);
    "ICorProfilerInfo2::GetContextStaticAddress" =>
        |info| info.context_static_address(CLASS, field(), CONTEXT);
    "ICorProfilerInfo3::GetThreadStaticAddress2" =>
        |info| info.thread_static_address2(CLASS, field(), APP_DOMAIN, THREAD);
    "ICorProfilerInfo3::EnumModules" => |info| info.modules().and_then(all);
    "ICorProfilerInfo3::EnumJITedFunctions" => |info| info.jitted_functions().and_then(all);
    "ICorProfilerInfo3::GetStringLayout2" => |info| info.string_layout2();
    "ICorProfilerInfo3::GetAppDomainsContainingModule" =>
        |info| info.app_domains_containing_module(MODULE);
    // Flags have names.
    "ICorProfilerInfo3::GetModuleInfo2" hides ["pdwModuleFlags"] => |info| info.module_info2(MODULE);
    "ICorProfilerInfo3::RequestProfilerDetach" =>
        |info| info.request_profiler_detach(Duration::from_secs(1));
    "ICorProfilerInfo3::GetRuntimeInformation" => |info| info.runtime_information();
    "ICorProfilerInfo4::EnumThreads" => |info| info.threads().and_then(all);
    "ICorProfilerInfo4::EnumJITedFunctions2" => |info| info.jitted_functions2().and_then(all);
    "ICorProfilerInfo4::InitializeCurrentThread" => |info| info.initialize_current_thread();
    "ICorProfilerInfo4::RequestReJIT" => |info| info.request_rejit(&[(MODULE, method())]);
    "ICorProfilerInfo4::RequestRevert" => |info| info.request_revert(&[(MODULE, method())]);
    "ICorProfilerInfo4::GetFunctionFromIP2" => |info| info.function_from_ip2(0x1234);
    "ICorProfilerInfo4::GetILToNativeMapping2" =>
        |info| info.il_to_native_mapping2(FUNCTION, RejitId::ORIGINAL);
    "ICorProfilerInfo4::GetCodeInfo3" => |info| info.code_info3(FUNCTION, RejitId::ORIGINAL);
    "ICorProfilerInfo4::GetReJITIDs" => |info| info.rejit_ids(FUNCTION);
}

rows! { LATER: Info;
    "ICorProfilerInfo5::GetEventMask2" hides ["pdwEventsLow", "pdwEventsHigh"] =>
        |info| info.event_mask2();
    "ICorProfilerInfo5::SetEventMask2" => |info| info.set_event_mask2(EventMask::empty());
    "ICorProfilerInfo6::EnumNgenModuleMethodsInliningThisMethod" => |info| inliners(info).and_then(all);
    "ICorProfilerInfo7::ApplyMetaData" => |info| info.apply_metadata(MODULE);
    "ICorProfilerInfo7::GetInMemorySymbolsLength" => |info| info.in_memory_symbols_length(MODULE);
    "ICorProfilerInfo7::ReadInMemorySymbols" =>
        |info| info.read_in_memory_symbols(MODULE, 0, &mut [0; 100]);
    "ICorProfilerInfo8::IsFunctionDynamic" => |info| info.is_function_dynamic(FUNCTION);
    "ICorProfilerInfo8::GetFunctionFromIP3" => |info| info.function_from_ip3(0x1234);
    "ICorProfilerInfo8::GetDynamicFunctionInfo" => |info| info.dynamic_function_info(FUNCTION);
    "ICorProfilerInfo9::GetNativeCodeStartAddresses" =>
        |info| info.native_code_start_addresses(FUNCTION, RejitId::ORIGINAL);
    "ICorProfilerInfo9::GetCodeInfo4" => |info| info.code_info4(0x1234);
    "ICorProfilerInfo9::GetILToNativeMapping3" => |info| info.il_to_native_mapping3(0x1234);
    "ICorProfilerInfo10::GetLOHObjectSizeThreshold" => |info| info.loh_object_size_threshold();
    "ICorProfilerInfo10::RequestReJITWithInliners" =>
        |info| info.request_rejit_with_inliners(RejitFlags::BLOCK_INLINING, &[(MODULE, method())]);
    "ICorProfilerInfo10::SuspendRuntime" => |info| info.with_suspended_runtime(|_| Ok(()));
    "ICorProfilerInfo10::ResumeRuntime" => |info| info.with_suspended_runtime(|_| Ok(()));
    "ICorProfilerInfo11::GetEnvironmentVariable" => |info| info.environment_variable("NAME");
    "ICorProfilerInfo11::SetEnvironmentVariable" =>
        |info| info.set_environment_variable("NAME", Some("value"));
    "ICorProfilerInfo12::EventPipeStartSession" =>
        |info| info.event_pipe_start_session(&[EventPipeProviderConfig::all("provider")], false);
    "ICorProfilerInfo12::EventPipeAddProviderToSession" =>
        |info| info.event_pipe_add_provider_to_session(
            SESSION,
            &EventPipeProviderConfig::all("provider"),
        );
    "ICorProfilerInfo12::EventPipeStopSession" =>
        |info| info.event_pipe_stop_session(SESSION);
    "ICorProfilerInfo12::EventPipeCreateProvider" => |info| info.event_pipe_create_provider("mine");
    "ICorProfilerInfo12::EventPipeGetProviderInfo" => |info| info.event_pipe_provider_info(PROVIDER);
    "ICorProfilerInfo12::EventPipeDefineEvent" => |info| defined_event(info);
    "ICorProfilerInfo12::EventPipeWriteEvent" => |info| defined_event(info).and_then(
        |event| info.event_pipe_write_event(&event, &[], None, None),
    );
    "ICorProfilerInfo14::EnumerateNonGCObjects" => |info| info.non_gc_objects().and_then(all);
    "ICorProfilerInfo14::GetNonGCHeapBounds" => |info| info.non_gc_heap_bounds();
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
const THREAD: ThreadId = unsafe { ThreadId::from_raw(0x41) };
// SAFETY: as above.
const APP_DOMAIN: AppDomainId = unsafe { AppDomainId::from_raw(0x31) };
// SAFETY: as above.
const PROVIDER: EventPipeProviderId = unsafe { EventPipeProviderId::from_raw(0x21) };
// SAFETY: as above.
const ASSEMBLY: AssemblyId = unsafe { AssemblyId::from_raw(1) };
// SAFETY: as above.
const CONTEXT: ContextId = unsafe { ContextId::from_raw(1) };
// SAFETY: as above.
const SESSION: EventPipeSessionId = unsafe { EventPipeSessionId::from_raw(1) };
const IL_MAP: IlMapEntry = IlMapEntry {
    old_offset: 0,
    new_offset: 1,
    is_accurate: true,
};

fn field() -> FieldDef {
    token(0x0400_0001)
}

/// The same from registers on.
fn seeded(info: &ProfilerInfo) -> Result<Vec<Option<FunctionId>>> {
    let mut functions = Vec::new();
    let visit = |frame: &StackFrame<'_>| {
        functions.push(frame.function);
        ControlFlow::Continue(())
    };
    // SAFETY: the fake runtime does not look at them.
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

/// The rows of an enumerator, which is got by this call.
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
