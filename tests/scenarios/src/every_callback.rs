//! Profilers that override every callback: they count, fail or panic in all of them.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Implements `Profiler` with every callback going to `self.hit(name)`.
macro_rules! override_every_callback {
    (#[profiler($($class:tt)*)] impl Profiler for $profiler:ident, $initialize:expr) => {
        override_every_callback! { @rows [$($class)*] $profiler, $initialize;
            info app_domain_creation_started(AppDomainId);
            info app_domain_creation_finished(AppDomainId, Hresult);
            info app_domain_shutdown_started(AppDomainId);
            info app_domain_shutdown_finished(AppDomainId, Hresult);
            info assembly_load_started(AssemblyId);
            info assembly_load_finished(AssemblyId, Hresult);
            info assembly_unload_started(AssemblyId);
            info assembly_unload_finished(AssemblyId, Hresult);
            info module_load_started(ModuleId);
            info module_load_finished(ModuleId, Hresult);
            info module_unload_started(ModuleId);
            info module_unload_finished(ModuleId, Hresult);
            info module_attached_to_assembly(ModuleId, AssemblyId);
            info class_load_started(ClassId);
            info class_load_finished(ClassId, Hresult);
            info class_unload_started(ClassId);
            info class_unload_finished(ClassId, Hresult);
            info function_unload_started(FunctionId);
            info jit_compilation_started(FunctionId, bool);
            info jit_compilation_finished(FunctionId, Hresult, bool);
            info jit_cached_function_search_started(FunctionId) -> true;
            info jit_cached_function_search_finished(FunctionId, JitCacheResult);
            info jit_function_pitched(FunctionId);
            info jit_inlining(FunctionId, FunctionId) -> true;
            info thread_created(ThreadId);
            info thread_destroyed(ThreadId);
            info thread_assigned_to_os_thread(ThreadId, u32);
            info remoting_client_invocation_started();
            info remoting_client_sending_message(Option<Uuid>, bool);
            info remoting_client_receiving_reply(Option<Uuid>, bool);
            info remoting_client_invocation_finished();
            info remoting_server_receiving_message(Option<Uuid>, bool);
            info remoting_server_invocation_started();
            info remoting_server_invocation_returned();
            info remoting_server_sending_reply(Option<Uuid>, bool);
            info unmanaged_to_managed_transition(Option<FunctionId>, TransitionReason);
            info managed_to_unmanaged_transition(Option<FunctionId>, TransitionReason);
            gc runtime_suspend_started(SuspendReason);
            gc runtime_suspend_finished();
            gc runtime_suspend_aborted();
            gc runtime_resume_started();
            gc runtime_resume_finished();
            gc runtime_thread_suspended(ThreadId);
            gc runtime_thread_resumed(ThreadId);
            gc moved_references(MovedRanges<'_>);
            info object_allocated(ObjectId<'_>, ClassId);
            gc objects_allocated_by_class(AllocationsByClass<'_>);
            gc object_references(ObjectId<'_>, Option<ClassId>, ObjectIds<'_>);
            gc root_references(RootIds<'_>);
            info exception_thrown(ObjectId<'_>);
            info exception_search_function_enter(FunctionId);
            info exception_search_function_leave();
            info exception_search_filter_enter(FunctionId);
            info exception_search_filter_leave();
            info exception_search_catcher_found(FunctionId);
            info exception_os_handler_enter();
            info exception_os_handler_leave();
            info exception_unwind_function_enter(FunctionId);
            info exception_unwind_function_leave();
            info exception_unwind_finally_enter(FunctionId);
            info exception_unwind_finally_leave();
            info exception_catcher_enter(FunctionId, ObjectId<'_>);
            info exception_catcher_leave();
            info com_classic_vtable_created(ClassId, Option<Uuid>, usize, u32);
            info com_classic_vtable_destroyed(ClassId, Option<Uuid>, usize);
            info exception_clr_catcher_found();
            info exception_clr_catcher_execute();
            info thread_name_changed(ThreadId, &str);
            gc garbage_collection_started(GenerationSet, GcReason);
            gc surviving_references(SurvivingRanges<'_>);
            gc garbage_collection_finished();
            gc finalizeable_object_queued(bool, ObjectId<'_>);
            gc root_references2(Roots<'_>);
            info handle_created(GcHandleId, Option<ObjectId<'_>>);
            info handle_destroyed(GcHandleId);
            info profiler_attach_complete();
            info profiler_detach_succeeded();
            info rejit_compilation_started(FunctionId, RejitId, bool);
            info get_rejit_parameters(ModuleId, MethodDef, &FunctionControl<'_>);
            info rejit_compilation_finished(FunctionId, RejitId, Hresult, bool);
            info rejit_error(ModuleId, MethodDef, Option<FunctionId>, Hresult);
            gc moved_references2(MovedRanges<'_>);
            gc surviving_references2(SurvivingRanges<'_>);
            gc conditional_weak_table_element_references(WeakTableElements<'_>);
            info get_assembly_references(&str, &AssemblyReferenceProvider<'_>);
            info module_in_memory_symbols_updated(ModuleId);
            info dynamic_method_jit_compilation_started(FunctionId, bool, &[u8]);
            info dynamic_method_jit_compilation_finished(FunctionId, Hresult, bool);
            info dynamic_method_unloaded(FunctionId);
            info event_pipe_event_delivered(&EventPipeEvent<'_>);
            info event_pipe_provider_created(EventPipeProviderId<'_>);
        }
    };
    (@rows [$($class:tt)*] $profiler:ident, $initialize:expr;
        $($context:ident $callback:ident($($argument:ty),*) $(-> $answer:literal)?;)*
    ) => {
        #[profiler($($class)*)]
        impl Profiler for $profiler {
            fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
                let initialize: fn(&mut Setup) -> Self = $initialize;
                // Refused with other profilers, or if the platform lacks it.
                setup
                    .remove_events(EventMask::HIGH_ADD_ASSEMBLY_REFERENCES | EventMask::MONITOR_CCW)
                    .add_events(EventMask::MONITOR_EXCEPTIONS);
                Ok(initialize(setup))
            }

            $(fn $callback(
                &self,
                _: override_every_callback!(@context $context)
                $(, _: $argument)*
            ) -> Result<override_every_callback!(@type $($answer)?)> {
                self.hit(stringify!($callback))?;
                Ok(override_every_callback!(@answer $($answer)?))
            })*

            fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
                self.hit("shutdown")
            }
        }
    };
    (@context info) => { &ProfilerInfo };
    (@context gc) => { &GcScope };
    (@type) => { () };
    (@type $answer:literal) => { bool };
    (@answer) => { () };
    (@answer $answer:literal) => { $answer };
}

/// Counts the callbacks, and writes the counts at the end.
#[derive(Default)]
pub(crate) struct Counts(Mutex<BTreeMap<&'static str, u64>>);

impl Counts {
    fn hit(&self, callback: &'static str) -> Result<()> {
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        *counts.entry(callback).or_default() += 1;
        if callback == "shutdown" {
            for (callback, count) in counts.iter() {
                log::line(format_args!("{callback} {count}"));
            }
        }
        Ok(())
    }
}

override_every_callback! {
    #[profiler(clsid = clsid("Counts"))]
    impl Profiler for Counts, |setup| {
        setup.on_failure(|failure| log::line(failure));
        Counts::default()
    }
}

/// Returns an error from every callback.
pub(crate) struct Fails;

impl Fails {
    fn hit(&self, _callback: &'static str) -> Result<()> {
        Err(Error::other("as always"))
    }
}

override_every_callback! {
    #[profiler(clsid = clsid("Fails"))]
    impl Profiler for Fails, |setup| {
        setup.on_failure(|failure| log::line(failure));
        Fails
    }
}

/// Panics in every callback.
pub(crate) struct Panics;

impl Panics {
    fn hit(&self, callback: &'static str) -> Result<()> {
        panic!("in {callback}")
    }
}

override_every_callback! {
    #[profiler(clsid = clsid("Panics"))]
    impl Profiler for Panics, |setup| {
        setup
            .panic_limit(u32::MAX)
            .on_failure(|failure| log::line(failure));
        Panics
    }
}

/// Panics in every callback, and is disabled after three panics.
pub(crate) struct PanicsUntilRetired;

impl PanicsUntilRetired {
    fn hit(&self, callback: &'static str) -> Result<()> {
        log::line(format_args!("called {callback}"));
        panic!("in {callback}")
    }
}

override_every_callback! {
    #[profiler(clsid = clsid("PanicsUntilRetired"))]
    impl Profiler for PanicsUntilRetired, |setup| {
        setup
            .panic_limit(3)
            .on_failure(|failure| log::line(failure));
        PanicsUntilRetired
    }
}

/// Counts the callbacks that belong to the events in `SCENARIO_EVENTS`, a hexadecimal mask, and
/// all others.
#[derive(Default)]
pub(crate) struct CountsChosen(Counts);

impl CountsChosen {
    fn hit(&self, callback: &'static str) -> Result<()> {
        self.0.hit(callback)
    }
}

override_every_callback! {
    #[profiler(clsid = clsid("CountsChosen"))]
    impl Profiler for CountsChosen, |setup| {
        let chosen = std::env::var("SCENARIO_EVENTS").unwrap_or_default();
        let chosen = EventMask::from_bits_retain(u64::from_str_radix(&chosen, 16).unwrap_or(0));
        setup
            .on_failure(|failure| log::line(failure))
            .remove_events(EventMask::all())
            .add_events(chosen);
        CountsChosen::default()
    }
}
