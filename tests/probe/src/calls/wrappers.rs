//! Calls of native methods that are not rows of the library's table, or need more than arguments by type.

use std::fmt::Debug;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::OnceLock;
use std::time::Duration;

use clr_profiler::events::{CodegenFlags, DefinedEvent, EventDefinition, EventPipeSessionId};
use clr_profiler::hooks::Hooked;
use clr_profiler::il::signature::MethodSig;
use clr_profiler::il::token::{Assembly, AssemblyRef, StandAloneSig, TypeSpec, UserString};
use clr_profiler::info::{HandleKind, IlMapEntry, ObjectHandle, SnapshotOptions};
use clr_profiler::metadata::{DispenserOption, MetadataEvents, MetadataHandler};
use clr_profiler::prelude::*;

use super::{Call, calls};
use crate::at::{At, Kind, Pick, provider};
use crate::plan::Ids;
use crate::pool::with_opened;

/// Wrappers that cannot be called without `unsafe`, or that are names of other calls' results.
pub const LEFT_OUT: &[(&str, &str)] = &[
    ("CorProfilerInfo2::do_stack_snapshot_with_seed", "unsafe"),
    ("CorProfilerInfoHooks::function_enter3_info", "unsafe"),
    ("CorProfilerInfoHooks::function_leave3_info", "unsafe"),
    ("CorProfilerInfoHooks::function_tailcall3_info", "unsafe"),
    (
        "CorProfilerInfoHooks::set_enter_leave_function_hooks",
        "unsafe",
    ),
    (
        "CorProfilerInfoHooks::set_enter_leave_function_hooks2",
        "unsafe",
    ),
    (
        "CorProfilerInfoHooks::set_enter_leave_function_hooks3",
        "unsafe",
    ),
    (
        "CorProfilerInfoHooks::set_enter_leave_function_hooks3_with_info",
        "unsafe",
    ),
    ("Setup::hooks", "its hooks are unsafe to implement"),
    (
        "MetadataDispenserEx::open_scope_on_type_info",
        "takes an object of COM",
    ),
    ("MetadataEvents::error", "is called by the runtime"),
    ("MetadataEvents::token_mapped", "is called by the runtime"),
    ("MetadataEvents::token_marked", "is called by the runtime"),
];

/// A tiny header and `ret`.
const BODY: &[u8] = &[0x06, 0x2A];

fn used<T: Debug>(given: Result<T>) -> Option<Result<()>> {
    Some(given.map(|given| drop(format!("{given:?}"))))
}

/// The first items.
fn items<T: Debug>(given: Result<impl Iterator<Item = Result<T>>>) -> Option<Result<()>> {
    used(given.and_then(|items| items.take(40).collect::<Result<Vec<_>>>()))
}

/// A call on each item of an enumerator, from its beginning.
fn asked_of<T>(
    items: Result<impl Iterator<Item = Result<T>>>,
    ask: impl Fn(T) -> Result<()>,
) -> Option<Result<()>> {
    Some(items.map(|items| items.flatten().for_each(|item| drop(ask(item)))))
}

/// The object of the callback; of `Ids::Moved` after it may have moved.
fn object<'a>(at: &At<'a>) -> Option<ObjectId<'a>> {
    let object = at.object?;
    if at.ids == Ids::Moved {
        let _ = at.info.modules();
    }
    Some(object)
}

struct Events;

impl MetadataEvents for Events {}

/// A session that is started once, and stopped by a call of its own.
fn session(at: &At<'_>) -> Result<EventPipeSessionId> {
    static SESSION: OnceLock<EventPipeSessionId> = OnceLock::new();
    match SESSION.get() {
        Some(session) => Ok(*session),
        None => {
            let session = at.info.event_pipe_start_session(&[provider()], false)?;
            Ok(*SESSION.get_or_init(|| session))
        }
    }
}

fn event(at: &At<'_>) -> Option<Result<DefinedEvent>> {
    static MADE: OnceLock<EventPipeProviderId<'static>> = OnceLock::new();
    let made = match MADE.get() {
        Some(made) => Ok(*made),
        None => at
            .info
            .event_pipe_create_provider("Probe-Made")
            .map(|made| *MADE.get_or_init(|| made)),
    };
    let definition = EventDefinition::new("Probed", 77);
    Some(made.and_then(|made| at.info.event_pipe_define_event(made, definition)))
}

/// A handle that is kept beyond the callback.
fn handle<'h>(at: &At<'_>) -> Option<Result<&'h ObjectHandle>> {
    static HANDLE: OnceLock<ObjectHandle> = OnceLock::new();
    Some(match (HANDLE.get(), at.object) {
        (Some(handle), _) => Ok(handle),
        (None, None) => return None,
        (None, Some(object)) => at
            .info
            .create_handle(object, HandleKind::Weak)
            .map(|handle| HANDLE.get_or_init(|| handle)),
    })
}

fn gc<'a, T: Debug>(
    at: &At<'a>,
    ask: impl FnOnce(&'a GcScope) -> Option<Result<T>>,
) -> Option<Result<()>> {
    used(ask(at.gc?)?)
}

/// Calls on a section of the generator of image sections.
macro_rules! cee {
    ($at:ident, |$generator:ident| $call:expr) => {
        $at.with_writer(|writer| {
            used(
                writer
                    .cee_gen()
                    .and_then(|$generator| $call.map(|given| format!("{given:?}"))),
            )
        })
    };
}

pub fn calls() -> Vec<Call> {
    let mut calls = info();
    calls.extend(objects());
    calls.extend(enumerators());
    calls.extend(in_collections());
    calls.extend(metadata());
    calls.extend(cee_gen());
    calls
}

fn info() -> Vec<Call> {
    calls! {
        Asks CorProfilerInfo::module_metadata = |at| used(at.info.module_metadata(ModuleId::pick(at)?));
        Asks CorProfilerInfo::module_metadata_for_writing =
            |at| used(at.info.module_metadata_for_writing(ModuleId::pick(at)?));
        Asks CorProfilerInfo::token_and_metadata_from_function =
            |at| used(at.info.token_and_metadata_from_function(FunctionId::pick(at)?));
        Writes CorProfilerInfo::set_il_function_body = |at| {
            let (module, method) = (ModuleId::pick(at)?, MethodDef::pick(at)?);
            // Its original body, so that the program behaves as before.
            let body = at.info.il_function_body(module, method);
            let body = body.unwrap_or_else(|_| BODY.to_vec());
            used(at.info.set_il_function_body(module, method, &body))
        };
        Changes MethodMalloc::alloc = |at| {
            if at.pick_stale(Kind::Opened) {
                return with_opened(|opened| {
                    used(opened.malloc.as_ref()?.alloc(16).map(|memory| memory.fill(0x2A)))
                })?;
            }
            let malloc = at.info.il_function_body_allocator(ModuleId::pick(at)?);
            used(malloc.and_then(|malloc| malloc.alloc(16).map(|memory| memory.fill(0x2A))))
        };
        Asks CorProfilerInfo2::do_stack_snapshot = |at| {
            let thread = if at.turn % 2 == 0 { None } else { Some(ThreadId::pick(at)?) };
            used(at.info.do_stack_snapshot(thread, SnapshotOptions::default(), |_| {
                ControlFlow::Continue(())
            }))
        };
        Asks CorProfilerInfo2::do_stack_snapshot_of_thread = |at| {
            let thread = Some(ThreadId::pick(at)?);
            used(at.info.do_stack_snapshot(thread, SnapshotOptions::default(), |_| {
                ControlFlow::Continue(())
            }))
        };
        Alone CorProfilerInfo3::request_profiler_detach =
            |at| used(at.info.request_profiler_detach(Duration::from_millis(20)));
        Changes CorProfilerInfo4::request_revert =
            |at| used(at.info.request_revert(&[(ModuleId::pick(at)?, MethodDef::pick(at)?)]));
        Changes CorProfilerInfo10::with_suspended_runtime =
            |at| used(at.info.with_suspended_runtime(|suspended| suspended.threads()));
        Changes CorProfilerInfo12::event_pipe_add_provider_to_session = |at| used(
            session(at).and_then(|it| at.info.event_pipe_add_provider_to_session(it, &provider()))
        );
        Changes CorProfilerInfo12::event_pipe_stop_session =
            |at| used(session(at).and_then(|session| at.info.event_pipe_stop_session(session)));
        Changes CorProfilerInfo12::event_pipe_define_event = |at| used(event(at)?);
        Changes CorProfilerInfo12::event_pipe_write_event = |at| used(
            event(at)?.and_then(|event| at.info.event_pipe_write_event(&event, &[], None, None))
        );
        Changes CorProfilerInfo14::event_pipe_create_provider2 =
            |at| used(at.info.event_pipe_create_provider2("Probe-Mine", |_| ()));
        Changes CorProfilerInfo15::enumerate_gc_heap_objects =
            |at| used(at.info.enumerate_gc_heap_objects(|_, _| ControlFlow::Continue(())));
        Alone CorProfilerInfoHooks::set_function_id_mapper =
            |at| used(at.info.set_function_id_mapper(|_| Hooked::No));
        Alone CorProfilerInfoHooks::set_function_id_mapper2 =
            |at| used(at.info.set_function_id_mapper2(|_| Hooked::No));
        Writes FunctionControl::set_codegen_flags =
            |at| used(at.control?.set_codegen_flags(CodegenFlags::DISABLE_INLINING));
        Writes FunctionControl::set_il_function_body = |at| {
            let control = at.control?;
            let body = at.info.il_function_body(at.own.module?, at.own.method?);
            used(body.and_then(|body| control.set_il_function_body(&body)))
        };
        Writes FunctionControl::set_il_instrumented_code_map = |at| {
            let map = IlMapEntry { old_offset: 0, new_offset: 0, is_accurate: true };
            used(at.control?.set_il_instrumented_code_map(&[map]))
        };
        Changes AssemblyReferenceProvider::add = |at| used(at.references?.add("Library", [1, 2, 3, 4]));
    }
}

fn objects() -> Vec<Call> {
    calls! {
        Asks CorProfilerInfo::class_from_object = |at| used(at.info.class_from_object(object(at)?));
        Asks CorProfilerInfo::object_size = |at| used(at.info.object_size(object(at)?));
        Asks CorProfilerInfo2::array_object_info = |at| used(at.info.array_object_info(object(at)?));
        Asks CorProfilerInfo2::object_generation = |at| used(at.info.object_generation(object(at)?));
        Asks CorProfilerInfo4::object_size2 = |at| used(at.info.object_size2(object(at)?));
        Asks CorProfilerInfo10::is_frozen_object = |at| used(at.info.is_frozen_object(object(at)?));
        Asks CorProfilerInfo10::enumerate_object_references = |at| used(
            at.info.enumerate_object_references(object(at)?, |_| ControlFlow::Continue(()))
        );
        Changes CorProfilerInfo13::create_handle =
            |at| used(at.info.create_handle(object(at)?, HandleKind::Weak));
        Changes CorProfilerInfo13::destroy_handle = |at| used(
            at.info
                .create_handle(object(at)?, HandleKind::Weak)
                .and_then(|handle| at.info.destroy_handle(handle))
        );
        Asks CorProfilerInfo13::with_object_of_handle = |at| used(handle(at)?.and_then(|handle| {
            at.info.with_object_of_handle(handle, |object| {
                object.map(|object| at.info.class_from_object(object).map(drop)).transpose()
            })
        }));
    }
}

/// The calls of an enumerator, which is new or was kept while modules were unloaded.
macro_rules! enumerator {
    ($name:ident, $at:ident, $kept:ident, $get:expr) => {
        calls! {
            Asks $name::next = |$at| {
                if $at.pick_stale(Kind::Opened) {
                    return with_opened(|opened| items(Ok(opened.$kept.as_mut()?)))?;
                }
                items($get)
            };
            Asks $name::total = |$at| {
                if $at.pick_stale(Kind::Opened) {
                    return with_opened(|opened| used(opened.$kept.as_ref()?.total()))?;
                }
                used($get.and_then(|it| it.total()))
            };
            Asks $name::leave_out = |$at| {
                if $at.pick_stale(Kind::Opened) {
                    return with_opened(|opened| used(opened.$kept.as_mut()?.leave_out(1)))?;
                }
                used($get.and_then(|mut it| it.leave_out(1)))
            };
            Asks $name::reset = |$at| {
                if $at.pick_stale(Kind::Opened) {
                    return with_opened(|opened| used(opened.$kept.as_mut()?.reset()))?;
                }
                used($get.and_then(|mut it| it.reset()))
            };
            Asks $name::try_clone = |$at| {
                if $at.pick_stale(Kind::Opened) {
                    return with_opened(|opened| items(opened.$kept.as_ref()?.try_clone()))?;
                }
                items($get.and_then(|it| it.try_clone()))
            };
        }
    };
}

fn enumerators() -> Vec<Call> {
    let mut calls = enumerator!(ModuleEnum, at, modules, at.info.modules());
    calls.extend(enumerator!(ThreadEnum, at, threads, at.info.threads()));
    calls.extend(enumerator!(
        FunctionEnum,
        at,
        functions,
        at.info.jitted_functions2()
    ));
    calls.extend(calls! {
        // Stale ids that a kept enumerator returns.
        Asks ModuleEnum::items = |at| with_opened(|opened| {
            let kept = opened.modules.as_ref()?.try_clone();
            asked_of(kept, |module| at.info.module_info(module).map(drop))
        })?;
        Asks FunctionEnum::items = |at| with_opened(|opened| {
            let kept = opened.functions.as_ref()?.try_clone();
            asked_of(kept, |(function, _)| at.info.function_info(function).map(drop))
        })?;
        Asks ThreadEnum::items = |at| with_opened(|opened| {
            let kept = opened.threads.as_ref()?.try_clone();
            asked_of(kept, |thread| at.info.thread_info(thread).map(drop))
        })?;
        Asks MethodEnum::next = |at| {
            let (module, method) = (ModuleId::pick(at)?, MethodDef::pick(at)?);
            let inliners = at.info.ngen_module_methods_inlining_this_method(module, module, method);
            items(inliners.map(|inliners| inliners.methods))
        };
        Asks ObjectEnum::next = |at| items(at.info.non_gc_objects());
        Asks ObjectEnum::total = |at| used(at.info.non_gc_objects().and_then(|it| it.total()));
        Asks SuspendedRuntime::threads = |at| items(at.suspended?.threads());
    });
    calls
}

fn in_collections() -> Vec<Call> {
    calls! {
        Asks GcScope::class_from_object = |at| gc(at, |gc| Some(gc.class_from_object(object(at)?)));
        Asks GcScope::object_size = |at| gc(at, |gc| Some(gc.object_size(object(at)?)));
        Asks GcScope::array_class_info = |at| gc(at, |gc| Some(gc.array_class_info(ClassId::pick(at)?)));
        Asks GcScope::class_id_info = |at| gc(at, |gc| Some(gc.class_id_info(ClassId::pick(at)?)));
        Asks GcScope::class_id_info2 = |at| gc(at, |gc| Some(gc.class_id_info2(ClassId::pick(at)?)));
        Asks GcScope::function_info = |at| gc(at, |gc| Some(gc.function_info(FunctionId::pick(at)?)));
        Asks GcScope::function_from_ip = |at| gc(at, |gc| Some(gc.function_from_ip(usize::pick(at)?)));
        Asks GcScope::class_layout = |at| gc(at, |gc| Some(gc.class_layout(ClassId::pick(at)?)));
        Asks GcScope::box_class_layout = |at| gc(at, |gc| Some(gc.box_class_layout(ClassId::pick(at)?)));
        Asks GcScope::string_layout = |at| gc(at, |gc| Some(gc.string_layout()));
        Asks GcScope::array_object_info = |at| gc(at, |gc| Some(gc.array_object_info(object(at)?)));
        Asks GcScope::generation_bounds = |at| gc(at, |gc| Some(gc.generation_bounds()));
        Asks GcScope::object_generation = |at| gc(at, |gc| Some(gc.object_generation(object(at)?)));
        Asks GcScope::is_frozen_object = |at| gc(at, |gc| Some(gc.is_frozen_object(object(at)?)));
        Asks GcScope::loh_object_size_threshold = |at| gc(at, |gc| Some(gc.loh_object_size_threshold()));
        Asks GcScope::current_thread_id = |at| gc(at, |gc| Some(gc.current_thread_id()));
        Asks GcScope::thread_info = |at| gc(at, |gc| Some(gc.thread_info(ThreadId::pick(at)?)));
        Asks GcScope::thread_app_domain = |at| gc(at, |gc| Some(gc.thread_app_domain(ThreadId::pick(at)?)));
        Asks GcScope::thread_context = |at| gc(at, |gc| Some(gc.thread_context(ThreadId::pick(at)?)));
        Asks GcScope::static_field_info = |at| gc(at, |gc| Some(gc.static_field_info(ClassId::pick(at)?, FieldDef::pick(at)?)));
        Asks GcScope::rva_static_address = |at| gc(at, |gc| Some(gc.rva_static_address(ClassId::pick(at)?, FieldDef::pick(at)?)));
        Asks GcScope::app_domain_static_address = |at| gc(at, |gc| {
            Some(gc.app_domain_static_address(ClassId::pick(at)?, FieldDef::pick(at)?, AppDomainId::pick(at)?))
        });
        Asks GcScope::thread_static_address2 = |at| gc(at, |gc| {
            let (class, field) = (ClassId::pick(at)?, FieldDef::pick(at)?);
            Some(gc.thread_static_address2(class, field, AppDomainId::pick(at)?, ThreadId::pick(at)?))
        });
        Asks GcScope::non_gc_objects = |at| gc(at, |gc| Some(gc.non_gc_objects().map(|it| it.take(40).count())));
        Asks GcScope::non_gc_heap_bounds = |at| gc(at, |gc| Some(gc.non_gc_heap_bounds()));
        Asks GcScope::threads = |at| gc(at, |gc| Some(gc.threads().map(|it| it.count())));
        Asks GcScope::runtime_information = |at| gc(at, |gc| Some(gc.runtime_information()));
        Asks GcScope::enumerate_object_references = |at| gc(at, |gc| {
            Some(gc.enumerate_object_references(object(at)?, |_| ControlFlow::Continue(())))
        });
        Asks GcScope::object = |at| gc(at, |gc| Some(gc.object(object(at)?)));
    }
}

fn metadata() -> Vec<Call> {
    const OPTION: DispenserOption = DispenserOption::ThreadSafety;
    const SIGNATURE: &[u8; 3] = &[0, 0, 1];
    calls! {
        Asks MetadataImport::is_valid_token = |at| at.with_metadata(|it| {
            used(Ok(it.is_valid_token(MethodDef::pick(at)?)))
        });
        Asks MetadataImport::method_impls = |at| at.with_metadata(|it| items(Ok(it.method_impls(TypeDef::pick(at)?))));
        Asks MetadataImport::signature = |at| at.with_metadata(|it| used(it.signature(StandAloneSig::pick(at)?)));
        Asks MetadataImport::type_spec = |at| at.with_metadata(|it| used(it.type_spec(TypeSpec::pick(at)?)));
        Asks MetadataImport::user_string = |at| at.with_metadata(|it| used(it.user_string(UserString::pick(at)?)));
        Asks MetadataIter::total = |at| at.with_metadata(|it| used(it.type_defs().total()));
        Asks MetadataIter::reset = |at| at.with_metadata(|it| used(it.type_defs().reset(0)));
        Asks Metadata::attribute = |at| at.with_metadata(|it| {
            used(it.attribute(TypeDef::pick(at)?, "System.ObsoleteAttribute"))
        });
        Asks Metadata::attribute_with = |at| at.with_metadata(|it| {
            used(it.attribute_with(TypeDef::pick(at)?, "System.ObsoleteAttribute", |_| None))
        });
        Asks MetadataAssemblyImport::assembly_props = |at| at.with_metadata(|it| used(it.assembly_props(Assembly::pick(at)?)));
        Asks MetadataAssemblyImport::assembly_ref_props =
            |at| at.with_metadata(|it| used(it.assembly_ref_props(AssemblyRef::pick(at)?)));
        Asks MetadataAssemblyImport::find_assemblies_by_name =
            |at| at.with_metadata(|it| used(it.find_assemblies_by_name(Some("/nowhere/at/all"), None, "A")));
        Asks MetadataTables::coded_token_info = |at| at.with_metadata(|it| used(it.coded_token_info(u32::pick(at)?)));
        Asks MetadataTables::row = |at| at.with_metadata(|it| used(it.row(2, u32::pick(at)?)));
        Asks MetadataTables2::metadata_storage = |at| at.with_metadata(|it| used(it.metadata_storage()));
        Asks MetadataTables2::metadata_stream = |at| at.with_metadata(|it| used(it.metadata_stream(u32::pick(at)?)));
        Asks MetadataValidate::validator_init = |at| at.with_metadata(|it| {
            used(it.validator_init(1, &MetadataHandler::new(Events)))
        });
        Asks ProfilerInfo::metadata_dispenser = |at| used(at.info.metadata_dispenser());
        Asks MetadataDispenser::define_scope = |at| used(at.info.metadata_dispenser().and_then(|it| it.define_scope()));
        Asks MetadataDispenser::open_scope =
            |at| used(at.info.metadata_dispenser().and_then(|it| it.open_scope(Path::new("/nowhere/at/all"))));
        Asks MetadataDispenser::open_scope_for_writing = |at| used(
            at.info.metadata_dispenser().and_then(|it| it.open_scope_for_writing(Path::new("/nowhere/at/all")))
        );
        Asks MetadataDispenser::open_scope_on_memory =
            |at| used(at.info.metadata_dispenser().and_then(|it| it.open_scope_on_memory(&[1, 2, 3])));
        Changes MetadataDispenserEx::set_option =
            |at| used(at.info.metadata_dispenser().and_then(|it| it.set_option(OPTION, 1)));
        Asks MetadataDispenserEx::option =
            |at| used(at.info.metadata_dispenser().and_then(|it| it.option(OPTION)));
        Writes MetadataEmit::set_handler =
            |at| at.with_writer(|it| used(it.set_handler(Some(&MetadataHandler::new(Events)))));
        Writes MetadataEmit::merge = |at| at.with_writer(|it| used(it.merge(it, None, None)));
        Writes MetadataEmit::apply_edit_and_continue = |at| at.with_writer(|it| used(it.apply_edit_and_continue(it)));
        Writes MetadataEmit::define_import_type =
            |at| at.with_writer(|it| used(it.define_import_type(it, &[], TypeDef::pick(at)?)));
        Writes MetadataEmit::define_import_member = |at| at.with_writer(|it| {
            used(it.define_import_member(it, &[], MethodDef::pick(at)?, TypeDef::pick(at)?))
        });
        Writes MetadataEmit::define_user_string = |at| at.with_writer(|it| used(it.define_user_string("probed")));
        Writes MetadataEmit::translate_sig_with_scope =
            |at| at.with_writer(|it| used(it.translate_sig_with_scope::<MethodSig>(it, &[], SIGNATURE)));
        Writes MetadataEmit::define_security_attribute_set =
            |at| at.with_writer(|it| used(it.define_security_attribute_set(TypeDef::pick(at)?, &[])));
        Writes MetadataEmit::save_to_stream = |at| at.with_writer(|it| used(it.save_to_stream(&mut Vec::new())));
        Writes MetadataEmit::save_to_memory = |at| at.with_writer(|it| used(it.save_to_memory().map(|it| it.len())));
        Writes MetadataEmit2::save_delta_to_stream =
            |at| at.with_writer(|it| used(it.save_delta_to_stream(&mut Vec::new())));
        Writes MetadataEmit2::save_delta_to_memory =
            |at| at.with_writer(|it| used(it.save_delta_to_memory().map(|it| it.len())));
    }
}

fn cee_gen() -> Vec<Call> {
    calls! {
        Writes CeeGen::emit_string = |at| cee!(at, |it| it.emit_string("text"));
        Writes CeeGen::string = |at| cee!(at, |it| it.string(1));
        Writes CeeGen::allocate_method_buffer = |at| cee!(at, |it| it.allocate_method_buffer(2));
        Writes CeeGen::method_buffer = |at| cee!(at, |it| it.method_buffer(1));
        Writes CeeGen::token_map = |at| cee!(at, |it| it.token_map());
        Writes TokenMap::map = |at| {
            let method = MethodDef::pick(at)?;
            cee!(at, |it| it.token_map().and_then(|map| map.map(method, method)))
        };
        Writes CeeGen::generate_cee_file = |at| cee!(at, |it| it.generate_cee_file());
        Writes CeeGen::il_section = |at| cee!(at, |it| it.il_section());
        Writes CeeGen::string_section = |at| cee!(at, |it| it.string_section());
        Writes CeeGen::add_section_reloc = |at| cee!(at, |it| {
            let section = it.il_section()?;
            it.add_section_reloc(section, 0, it.string_section()?, 3)
        });
        Writes CeeGen::section_create = |at| cee!(at, |it| it.section_create(".sdata", 0x40));
        Writes CeeGen::section_data_len = |at| cee!(at, |it| it.section_data_len(it.il_section()?));
        Writes CeeGen::section_block = |at| cee!(at, |it| it.section_block(it.il_section()?, 2, 4));
        Writes CeeGen::truncate_section = |at| cee!(at, |it| it.truncate_section(it.il_section()?, 1));
        Writes CeeGen::generate_cee_memory_image = |at| cee!(at, |it| it.generate_cee_memory_image());
        Writes CeeGen::compute_pointer = |at| cee!(at, |it| it.compute_pointer(it.il_section()?, 1));
    }
}
