//! The profiler: every callback, and its arguments.

use std::sync::OnceLock;

use clr_profiler::events::Callback;
use clr_profiler::prelude::*;

use crate::at::Own;
use crate::moments;
use crate::plan::{LOADED, journal};

static INFO: OnceLock<ProfilerInfo> = OnceLock::new();

/// The runtime, for callers without a handle.
pub fn info() -> Option<&'static ProfilerInfo> {
    INFO.get()
}

/// The arguments of a callback.
#[derive(Default)]
pub struct Handed<'a> {
    pub own: Own<'a>,
    pub object: Option<ObjectId<'a>>,
    pub control: Option<&'a FunctionControl<'a>>,
    pub references: Option<&'a AssemblyReferenceProvider<'a>>,
    pub gc: Option<&'a GcScope>,
}

trait HandIn<'a> {
    fn hand_in(self, handed: &mut Handed<'a>);
}

macro_rules! handed_in {
    ($($type:ty: |$it:tt, $handed:tt| $hand:expr;)*) => {$(
        impl<'a> HandIn<'a> for $type {
            fn hand_in(self, $handed: &mut Handed<'a>) {
                let $it = self;
                $hand;
            }
        }
    )*};
}

handed_in! {
    AppDomainId: |it, handed| handed.own.app_domain = Some(it);
    AssemblyId: |it, handed| handed.own.assembly = Some(it);
    ModuleId: |it, handed| handed.own.module = Some(it);
    ClassId: |it, handed| handed.own.class = Some(it);
    FunctionId: |it, handed| handed.own.function = Some(it);
    Option<ClassId>: |it, handed| handed.own.class = it;
    Option<FunctionId>: |it, handed| handed.own.function = it;
    ThreadId: |it, handed| handed.own.thread = Some(it);
    RejitId: |it, handed| handed.own.rejit = Some(it);
    MethodDef: |it, handed| handed.own.method = Some(it);
    EventPipeProviderId<'a>: |it, handed| handed.own.provider = Some(it);
    &'a EventPipeEvent<'a>: |it, handed| {
        handed.own.provider = Some(it.provider);
        handed.own.thread = it.thread;
    };
    ObjectId<'a>: |it, handed| handed.object = Some(it);
    Option<ObjectId<'a>>: |it, handed| handed.object = it;
    &'a FunctionControl<'a>: |it, handed| handed.control = Some(it);
    &'a AssemblyReferenceProvider<'a>: |it, handed| handed.references = Some(it);
    &'a GcScope: |it, handed| handed.gc = Some(it);
}

/// Callbacks without ids.
macro_rules! without_ids {
    ($($type:ty,)*) => {$(
        impl HandIn<'_> for $type {
            fn hand_in(self, _: &mut Handed<'_>) {}
        }
    )*};
}

without_ids! {
    &ProfilerInfo,
    GcHandleId,
    bool,
    u32,
    usize,
    &str,
    &[u8],
    Hresult,
    Option<Uuid>,
    JitCacheResult,
    TransitionReason,
    SuspendReason,
    GcReason,
    GenerationSet,
    MovedRanges<'_>,
    SurvivingRanges<'_>,
    AllocationsByClass<'_>,
    ObjectIds<'_>,
    RootIds<'_>,
    Roots<'_>,
    WeakTableElements<'_>,
}

/// Has every callback.
pub struct Probe;

/// Has components, so none of the callbacks that a component has alone.
pub struct WithParts;

/// Implements `Profiler` with every callback going to `moments::came`.
macro_rules! every_callback {
    (one owner: { $($own:tt)* } $($row:tt)*) => {
        every_callback! { @profiler Probe "0B7E8C1D-5C39-4C55-9F39-5E0D6A1C9A10" $($own)* $($row)* }
        every_callback! { @profiler WithParts "0B7E8C1D-5C39-4C55-9F39-5E0D6A1C9A11" $($row)* }
    };
    (@profiler $profiler:ident $clsid:literal
        $($callback:ident($context:ident: $of:ty $(, $argument:ident: $type:ty)*) $(-> $answer:literal)?;)*
    ) => {
        #[profiler(clsid = $clsid)]
        impl Profiler for $profiler {
            fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
                INFO.get_or_init(|| info.clone());
                journal(LOADED);
                moments::initialize(info, setup, "initialize")?;
                Ok(Self)
            }

            fn initialize_for_attach(info: &ProfilerInfo, setup: &mut Setup, _: &[u8]) -> Result<Self> {
                INFO.get_or_init(|| info.clone());
                journal(LOADED);
                moments::initialize(info, setup, "initialize_for_attach")?;
                Ok(Self)
            }

            fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
                moments::came("shutdown", Handed::default());
                Ok(())
            }

            $(fn $callback(&self, $context: $of $(, $argument: $type)*)
                -> Result<every_callback!(@type $($answer)?)>
            {
                let mut handed = Handed::default();
                $context.hand_in(&mut handed);
                $($argument.hand_in(&mut handed);)*
                moments::came(stringify!($callback), handed);
                moments::fails(stringify!($callback))?;
                Ok(every_callback!(@answer $($answer)?))
            })*
        }

        impl Drop for $profiler {
            fn drop(&mut self) {
                moments::came("drop", Handed::default());
            }
        }
    };
    (@type) => { () };
    (@type $answer:literal) => { bool };
    (@answer) => { () };
    (@answer $answer:literal) => { $answer };
}

every_callback! {
    one owner: {
        get_rejit_parameters(it: &ProfilerInfo, a: ModuleId, b: MethodDef, c: &FunctionControl<'_>);
    }
    app_domain_creation_started(it: &ProfilerInfo, a: AppDomainId);
    app_domain_creation_finished(it: &ProfilerInfo, a: AppDomainId, b: Hresult);
    app_domain_shutdown_started(it: &ProfilerInfo, a: AppDomainId);
    app_domain_shutdown_finished(it: &ProfilerInfo, a: AppDomainId, b: Hresult);
    assembly_load_started(it: &ProfilerInfo, a: AssemblyId);
    assembly_load_finished(it: &ProfilerInfo, a: AssemblyId, b: Hresult);
    assembly_unload_started(it: &ProfilerInfo, a: AssemblyId);
    assembly_unload_finished(it: &ProfilerInfo, a: AssemblyId, b: Hresult);
    module_load_started(it: &ProfilerInfo, a: ModuleId);
    module_load_finished(it: &ProfilerInfo, a: ModuleId, b: Hresult);
    module_unload_started(it: &ProfilerInfo, a: ModuleId);
    module_unload_finished(it: &ProfilerInfo, a: ModuleId, b: Hresult);
    module_attached_to_assembly(it: &ProfilerInfo, a: ModuleId, b: AssemblyId);
    class_load_started(it: &ProfilerInfo, a: ClassId);
    class_load_finished(it: &ProfilerInfo, a: ClassId, b: Hresult);
    class_unload_started(it: &ProfilerInfo, a: ClassId);
    class_unload_finished(it: &ProfilerInfo, a: ClassId, b: Hresult);
    function_unload_started(it: &ProfilerInfo, a: FunctionId);
    jit_compilation_started(it: &ProfilerInfo, a: FunctionId, b: bool);
    jit_compilation_finished(it: &ProfilerInfo, a: FunctionId, b: Hresult, c: bool);
    jit_cached_function_search_started(it: &ProfilerInfo, a: FunctionId) -> true;
    jit_cached_function_search_finished(it: &ProfilerInfo, a: FunctionId, b: JitCacheResult);
    jit_function_pitched(it: &ProfilerInfo, a: FunctionId);
    jit_inlining(it: &ProfilerInfo, a: FunctionId, b: FunctionId) -> true;
    thread_created(it: &ProfilerInfo, a: ThreadId);
    thread_destroyed(it: &ProfilerInfo, a: ThreadId);
    thread_assigned_to_os_thread(it: &ProfilerInfo, a: ThreadId, b: u32);
    remoting_client_invocation_started(it: &ProfilerInfo);
    remoting_client_sending_message(it: &ProfilerInfo, a: Option<Uuid>, b: bool);
    remoting_client_receiving_reply(it: &ProfilerInfo, a: Option<Uuid>, b: bool);
    remoting_client_invocation_finished(it: &ProfilerInfo);
    remoting_server_receiving_message(it: &ProfilerInfo, a: Option<Uuid>, b: bool);
    remoting_server_invocation_started(it: &ProfilerInfo);
    remoting_server_invocation_returned(it: &ProfilerInfo);
    remoting_server_sending_reply(it: &ProfilerInfo, a: Option<Uuid>, b: bool);
    unmanaged_to_managed_transition(it: &ProfilerInfo, a: Option<FunctionId>, b: TransitionReason);
    managed_to_unmanaged_transition(it: &ProfilerInfo, a: Option<FunctionId>, b: TransitionReason);
    runtime_suspend_started(it: &GcScope, a: SuspendReason);
    runtime_suspend_finished(it: &GcScope);
    runtime_suspend_aborted(it: &GcScope);
    runtime_resume_started(it: &GcScope);
    runtime_resume_finished(it: &GcScope);
    runtime_thread_suspended(it: &GcScope, a: ThreadId);
    runtime_thread_resumed(it: &GcScope, a: ThreadId);
    moved_references(it: &GcScope, a: MovedRanges<'_>);
    object_allocated(it: &ProfilerInfo, a: ObjectId<'_>, b: ClassId);
    objects_allocated_by_class(it: &GcScope, a: AllocationsByClass<'_>);
    object_references(it: &GcScope, a: ObjectId<'_>, b: Option<ClassId>, c: ObjectIds<'_>);
    root_references(it: &GcScope, a: RootIds<'_>);
    exception_thrown(it: &ProfilerInfo, a: ObjectId<'_>);
    exception_search_function_enter(it: &ProfilerInfo, a: FunctionId);
    exception_search_function_leave(it: &ProfilerInfo);
    exception_search_filter_enter(it: &ProfilerInfo, a: FunctionId);
    exception_search_filter_leave(it: &ProfilerInfo);
    exception_search_catcher_found(it: &ProfilerInfo, a: FunctionId);
    exception_os_handler_enter(it: &ProfilerInfo);
    exception_os_handler_leave(it: &ProfilerInfo);
    exception_unwind_function_enter(it: &ProfilerInfo, a: FunctionId);
    exception_unwind_function_leave(it: &ProfilerInfo);
    exception_unwind_finally_enter(it: &ProfilerInfo, a: FunctionId);
    exception_unwind_finally_leave(it: &ProfilerInfo);
    exception_catcher_enter(it: &ProfilerInfo, a: FunctionId, b: ObjectId<'_>);
    exception_catcher_leave(it: &ProfilerInfo);
    com_classic_vtable_created(it: &ProfilerInfo, a: ClassId, b: Option<Uuid>, c: usize, d: u32);
    com_classic_vtable_destroyed(it: &ProfilerInfo, a: ClassId, b: Option<Uuid>, c: usize);
    exception_clr_catcher_found(it: &ProfilerInfo);
    exception_clr_catcher_execute(it: &ProfilerInfo);
    thread_name_changed(it: &ProfilerInfo, a: ThreadId, b: &str);
    garbage_collection_started(it: &GcScope, a: GenerationSet, b: GcReason);
    surviving_references(it: &GcScope, a: SurvivingRanges<'_>);
    garbage_collection_finished(it: &GcScope);
    finalizeable_object_queued(it: &GcScope, a: bool, b: ObjectId<'_>);
    root_references2(it: &GcScope, a: Roots<'_>);
    handle_created(it: &ProfilerInfo, a: GcHandleId, b: Option<ObjectId<'_>>);
    handle_destroyed(it: &ProfilerInfo, a: GcHandleId);
    profiler_attach_complete(it: &ProfilerInfo);
    profiler_detach_succeeded(it: &ProfilerInfo);
    rejit_compilation_started(it: &ProfilerInfo, a: FunctionId, b: RejitId, c: bool);
    rejit_compilation_finished(it: &ProfilerInfo, a: FunctionId, b: RejitId, c: Hresult, d: bool);
    rejit_error(it: &ProfilerInfo, a: ModuleId, b: MethodDef, c: Option<FunctionId>, d: Hresult);
    moved_references2(it: &GcScope, a: MovedRanges<'_>);
    surviving_references2(it: &GcScope, a: SurvivingRanges<'_>);
    conditional_weak_table_element_references(it: &GcScope, a: WeakTableElements<'_>);
    get_assembly_references(it: &ProfilerInfo, a: &str, b: &AssemblyReferenceProvider<'_>);
    module_in_memory_symbols_updated(it: &ProfilerInfo, a: ModuleId);
    dynamic_method_jit_compilation_started(it: &ProfilerInfo, a: FunctionId, b: bool, c: &[u8]);
    dynamic_method_jit_compilation_finished(it: &ProfilerInfo, a: FunctionId, b: Hresult, c: bool);
    dynamic_method_unloaded(it: &ProfilerInfo, a: FunctionId);
    event_pipe_event_delivered(it: &ProfilerInfo, a: &EventPipeEvent<'_>);
    event_pipe_provider_created(it: &ProfilerInfo, a: EventPipeProviderId<'_>);
}

/// The events that cause a moment, in addition to those by which ids are learnt.
pub fn events_of(moment: &str) -> EventMask {
    Callback::ALL
        .iter()
        .filter(|callback| callback.name() == moment)
        .fold(EventMask::empty(), |events, callback| {
            events | callback.events()
        })
}
