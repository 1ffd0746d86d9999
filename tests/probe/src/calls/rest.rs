//! The functions of the library beyond native calls: names, objects, rewriting, components, `Setup`.

use std::fmt::Debug;
use std::sync::OnceLock;
use std::time::Duration;

use clr_profiler::exceptions::ExceptionEvents;
use clr_profiler::heap::{AllocationTicks, HeapRecorder};
use clr_profiler::hooks::{CallHooksWithInfo, Unwinding};
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::symbol::MethodSymbol;
use clr_profiler::info::Object;
use clr_profiler::instrumentation::{Instrumentation, MethodState};
use clr_profiler::prelude::*;
use clr_profiler::rejit::{Rejit, RejitOptions};
use clr_profiler::rewrite::{HelperAssembly, NativeCall, NewField, NewType};
use clr_profiler::sampling::{CpuSampler, Sampler, SamplerOptions};

use super::{Call, calls};
use crate::at::{At, Pick};

/// The components that `initialize` has attached.
#[derive(Default)]
pub struct Parts {
    pub rejit: OnceLock<std::sync::Arc<Rejit>>,
    pub sampler: OnceLock<std::sync::Arc<Sampler>>,
    pub cpu_sampler: OnceLock<std::sync::Arc<CpuSampler>>,
    pub heap: OnceLock<std::sync::Arc<HeapRecorder>>,
    pub instrumentation: OnceLock<std::sync::Arc<Instrumentation>>,
    /// Another one, which is removed.
    pub removed: OnceLock<std::sync::Arc<Instrumentation>>,
}

pub static PARTS: Parts = Parts {
    rejit: OnceLock::new(),
    sampler: OnceLock::new(),
    cpu_sampler: OnceLock::new(),
    heap: OnceLock::new(),
    instrumentation: OnceLock::new(),
    removed: OnceLock::new(),
};

fn used<T: Debug>(given: Result<T>) -> Option<Result<()>> {
    Some(given.map(|given| drop(format!("{given:?}"))))
}

/// A call on the method of a function.
fn method<T: Debug>(at: &At<'_>, ask: impl FnOnce(&Method<'_>) -> Result<T>) -> Option<Result<()>> {
    used(
        at.info
            .method(FunctionId::pick(at)?)
            .and_then(|method| ask(&method)),
    )
}

/// A call on an object.
fn object<T: Debug>(at: &At<'_>, ask: impl FnOnce(&Object<'_>) -> Result<T>) -> Option<Result<()>> {
    let object = at.object?;
    if at.ids == crate::plan::Ids::Moved {
        let _ = at.info.modules();
    }
    used(at.info.object(object).and_then(|object| ask(&object)))
}

/// A function that rewritten code could call.
fn nothing() {}

fn helper() -> Result<HelperAssembly> {
    HelperAssembly::open(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../profilees/helper/Helper.dll"
    ))
}

fn done() -> Option<Result<()>> {
    Some(Ok(()))
}

struct Hooks;

impl CallHooksWithInfo for Hooks {
    type Function = ();
}

pub fn calls() -> Vec<Call> {
    let mut calls = calls! {
        Asks ProfilerInfo::version = |at| used(Ok(at.info.version()));
        Asks ProfilerInfo::core_library = |at| used(Ok(at.info.core_library()));
        Asks ProfilerInfo::as_raw = |at| used(Ok(at.info.as_raw()));
        Asks ProfilerInfo::method = |at| used(at.info.method(FunctionId::pick(at)?));
        Asks ProfilerInfo::overhead = |at| used(Ok(at.info.overhead()));
        Asks ProfilerInfo::callback_time = |at| used(Ok(at.info.callback_time()));
        Asks ProfilerInfo::is_hot_reload_enabled =
            |at| used(at.info.is_hot_reload_enabled(ModuleId::pick(at)?));
        Asks ProfilerInfo::source_location = |at| used(at.info.source_location(FunctionId::pick(at)?, 7));
        Asks ProfilerInfo::source_location_from_ip =
            |at| used(at.info.source_location_from_ip(usize::pick(at)?));
        Asks ProfilerInfo::module_pdb = |at| used(at.info.module_pdb(ModuleId::pick(at)?));
        Asks Method::source_name = |at| method(at, |method| method.source_name());
        Asks Method::first_source_location = |at| method(at, |method| method.first_source_location());
        Asks Method::il_names = |at| method(at, |method| {
            let names = method.il_names()?;
            Ok(clr_profiler::il::symbol::Names::name(&names, method.token().into()))
        });
        Asks ProfilerInfo::class_full_name = |at| used(at.info.class_full_name(ClassId::pick(at)?));
        Asks ProfilerInfo::object = |at| object(at, |object| Ok(object.class()));
        Asks ProfilerInfo::with_static_field =
            |at| used(at.info.with_static_field(ClassId::pick(at)?, "Name", |value| format!("{value:?}")));
        Writes ProfilerInfo::define_type = |at| {
            let module = ModuleId::pick(at)?;
            used(at.info.define_type(module, "Probed.New", NewType::Class, |new| {
                new.field("field", "int", NewField::Static).map(drop)
            }))
        };
        Writes ProfilerInfo::extend_type = |at| {
            let (module, class) = (ModuleId::pick(at)?, TypeDef::pick(at)?);
            used(at.info.extend_type(module, class, |new| {
                new.method("Probed", "void ()", |_, _| Ok(())).map(drop)
            }))
        };
        Asks GcScope::version = |at| used(Ok(at.gc?.version()));
        Asks Method::metadata = |at| method(at, |method| method.metadata().map(drop));
        Asks Method::props = |at| method(at, |method| method.props());
        Asks Method::name = |at| method(at, |method| method.name());
        Asks Method::full_name = |at| method(at, |method| method.full_name());
        Asks Method::assembly_name = |at| method(at, |method| method.assembly_name());
        Asks Method::declaring_type = |at| method(at, |method| method.declaring_type());
        Asks Method::type_name = |at| method(at, |method| method.type_name());
        Asks Method::namespace = |at| method(at, |method| method.namespace());
        Asks Method::parameter_types = |at| method(at, |method| method.parameter_types());
        Asks Method::il_body = |at| method(at, |method| method.il_body());
        Writes Method::set_il_body = |at| method(at, |method| method.set_il_body(&method.il_body()?));
        Writes Method::rewrite = |at| method(at, |method| {
            let write = MethodSymbol::new("[System.Runtime]System.GC", "KeepAlive", "void (object)");
            method.rewrite(|body, cx| {
                cx.import_type("[System.Runtime]System.Object")?;
                body.prologue(Fragment::new().ldnull().call(&write))?;
                Ok(())
            })
        });
        Writes ProfilerInfo::prepare_rewriting = |at| {
            let module = ModuleId::pick(at)?;
            used(at.info.prepare_rewriting(module))
        };
        Writes ProfilerInfo::rewrite_method = |at| {
            let (module, method) = (ModuleId::pick(at)?, MethodDef::pick(at)?);
            used(at.info.rewrite_method(module, method, |body, _| {
                body.prologue(Fragment::new().nop())?;
                Ok(())
            }))
        };
        Writes ProfilerInfo::rewrite_method_again = |at| {
            let (module, method) = (ModuleId::pick(at)?, MethodDef::pick(at)?);
            used(at.info.rewrite_method_again(module, method, |body, _| {
                body.prologue(Fragment::new().nop().nop())?;
                Ok(())
            }))
        };
        Writes RewriteContext::everything = |at| method(at, |method| {
            method.rewrite(|body, cx| {
                let _ = (cx.shape().map(drop), cx.type_sig("int").map(drop), cx.import_type("int").map(drop));
                let _ = (cx.this_type().map(drop), cx.own_type().map(drop), cx.return_type().map(drop));
                let _ = (cx.own_field("field", "int").map(drop), cx.own_method("M", "void ()", &[]).map(drop));
                let _ = (cx.own_token().map(drop), cx.completion(body).map(drop), cx.box_this().map(drop));
                let _ = (cx.box_argument(0).map(drop), cx.arguments_array().map(drop));
                let _ = (cx.typed_arguments().map(drop), cx.can_suppress_transitions().map(drop));
                let _ = cx.call_native(&NativeCall::new(nothing)).map(drop);
                Err(Error::other("as it was told to"))
            })
        });
        Writes HelperAssembly::load_into = |at| {
            let module = ModuleId::pick(at)?;
            used(helper().and_then(|it| it.load_into(at.info, module)))
        };
        Asks HelperAssembly::method = |_at| used(helper().and_then(|it| it.method("Logger", "Enter", "void (string)")));
        Asks HelperAssembly::check = |at| used(helper().and_then(|it| it.check(at.info)));
        Asks Object::string = |at| object(at, |object| object.string());
        Asks Object::array = |at| object(at, |object| Ok(object.array()?.map(|array| {
            array.iter().take(9).map(|value| format!("{value:?}")).collect::<Vec<_>>()
        })));
        Asks Object::unboxed = |at| object(at, |object| Ok(object.unboxed()?.map(|value| format!("{value:?}"))));
        Asks Object::field = |at| object(at, |object| Ok(object.field("_message")?.map(|value| format!("{value:?}"))));
        Asks Object::fields = |at| object(at, |object| Ok(format!("{:?}", object.fields()?)));
    };
    calls.extend(components());
    calls.extend(setup());
    calls
}

/// These only queue a request, and the module can be unloaded before its turn, or leave methods alone that they do not know:
/// there is no answer for unloaded ones.
pub const QUEUED: &[&str] = &["Instrumentation::renew", "Rejit::request", "Rejit::revert"];

/// Calls on components that `initialize` has attached, at the moments for that.
fn components() -> Vec<Call> {
    calls! {
        Changes Rejit::request = |at| {
            PARTS.rejit.get()?.request([(ModuleId::pick(at)?, MethodDef::pick(at)?)]);
            done()
        };
        Changes Rejit::request_pattern = |_at| {
            PARTS.rejit.get()?.request_pattern(&"Probe.Program.Hot".parse().ok()?);
            done()
        };
        Changes Rejit::revert = |at| {
            PARTS.rejit.get()?.revert([(ModuleId::pick(at)?, MethodDef::pick(at)?)]);
            done()
        };
        Changes Rejit::revert_pattern = |_at| {
            PARTS.rejit.get()?.revert_pattern(&"Probe.Program.Hot".parse().ok()?);
            done()
        };
        Changes Rejit::revert_all = |_at| {
            PARTS.rejit.get()?.revert_all();
            done()
        };
        Asks Rejit::wait = |_at| used(Ok(PARTS.rejit.get()?.wait(Duration::from_millis(5))));
        Asks Rejit::outcomes = |_at| used(Ok(PARTS.rejit.get()?.outcomes()));
        Asks Rejit::patterns = |_at| used(Ok(PARTS.rejit.get()?.patterns()));
        Asks Rejit::inliners = |_at| used(Ok(PARTS.rejit.get()?.inliners()));
        Asks Instrumentation::outcomes = |_at| {
            let outcomes = PARTS.instrumentation.get()?.outcomes();
            used(Ok((outcomes.to_string(), outcomes.to_json())))
        };
        Asks Instrumentation::in_state = |_at| {
            let instrumentation = PARTS.instrumentation.get()?;
            used(Ok(instrumentation.in_state(MethodState::Instrumented, 9)))
        };
        Asks Instrumentation::problems =
            |_at| used(Ok(PARTS.instrumentation.get()?.problems()));
        Asks Instrumentation::rejit = |_at| used(Ok(PARTS.instrumentation.get()?.rejit()));
        Changes Instrumentation::off = |_at| used(PARTS.instrumentation.get()?.off());
        Changes Instrumentation::remove = |_at| used(PARTS.removed.get()?.remove());
        Changes Instrumentation::on = |_at| used(PARTS.instrumentation.get()?.on());
        Changes Instrumentation::renew = |at| {
            let method = (ModuleId::pick(at)?, MethodDef::pick(at)?);
            used(PARTS.instrumentation.get()?.renew(&[method]))
        };
        Asks Sampler::totals = |_at| used(Ok(PARTS.sampler.get()?.totals()));
        Asks Sampler::wait_for_delivery =
            |_at| used(PARTS.sampler.get()?.wait_for_delivery());
        Asks CpuSampler::check = |_at| used(CpuSampler::check());
        Asks CpuSampler::totals = |_at| used(Ok(PARTS.cpu_sampler.get()?.totals()));
        Asks CpuSampler::wait_for_delivery =
            |_at| used(PARTS.cpu_sampler.get()?.wait_for_delivery());
        Changes HeapRecorder::record = |at| used(PARTS.heap.get()?.record(at.info).map(drop));
        Changes Sampler::stop = |_at| used(PARTS.sampler.get()?.stop());
        Changes CpuSampler::stop = |_at| used(PARTS.cpu_sampler.get()?.stop());
        Changes Rejit::stop = |_at| used(PARTS.rejit.get()?.stop());
    }
}

/// Calls that only `initialize` can make.
fn setup() -> Vec<Call> {
    calls! {
        Asks Setup::events = |at| used(Ok(at.setup.borrow().as_ref()?.events()));
        Changes Setup::add_events = |at| {
            at.setup.borrow_mut().as_mut()?.add_events(EventMask::all());
            done()
        };
        Changes Setup::remove_events = |at| {
            at.setup.borrow_mut().as_mut()?.remove_events(EventMask::all());
            done()
        };
        Changes Setup::on_failure = |at| {
            at.setup.borrow_mut().as_mut()?.on_failure(|_| panic!("as it was told to"));
            done()
        };
        Changes Setup::panic_limit = |at| {
            at.setup.borrow_mut().as_mut()?.panic_limit(0);
            done()
        };
        Changes Setup::hooks_with_info =
            |at| used(at.setup.borrow_mut().as_mut()?.hooks_with_info(Hooks, |_, _| Ok(Some(()))).map(drop));
        Changes Setup::attach = |at| {
            let mut setup = at.setup.borrow_mut();
            let setup = setup.as_mut()?;
            used(attach(setup, false))
        };
        Changes Setup::attach_tracing = |at| {
            let mut setup = at.setup.borrow_mut();
            let setup = setup.as_mut()?;
            used(setup
                .attach(AllocationTicks::new(|_, _| Ok(())))
                .and_then(|_| setup.attach(ExceptionEvents::new(|_, _| Ok(()))))
                .map(drop))
        };
        Changes Setup::attach_unwinding = |at| used(
            at.setup.borrow_mut().as_mut()?.attach(Unwinding::new(|_| ())).map(drop)
        );
    }
}

/// Attaches the components whose functions are called; those that need ReJIT only if the profiler need not be
/// able to detach.
pub fn attach(setup: &mut Setup, detaches: bool) -> Result<()> {
    let sampler = setup.attach(Sampler::new(SamplerOptions::default(), |info, sample| {
        for frame in sample.frames {
            if let Some(function) = frame.function {
                let _ = info.method(function).and_then(|method| method.full_name());
            }
        }
    }))?;
    PARTS.sampler.get_or_init(|| sampler);
    let cpu_sampler = setup.attach(CpuSampler::builder().rate(1000).build(|info, sample| {
        for function in sample.frames.iter().filter_map(|frame| frame.function()) {
            let _ = info.method(function).and_then(|method| method.full_name());
        }
    }))?;
    PARTS.cpu_sampler.get_or_init(|| cpu_sampler);
    let heap = setup.attach(HeapRecorder::new())?;
    PARTS.heap.get_or_init(|| heap);
    if detaches {
        return Ok(());
    }
    let edit = |info: &ProfilerInfo, module, method, control: &FunctionControl<'_>| {
        control.set_il_function_body(&info.il_function_body(module, method)?)
    };
    let rejit = setup.attach(Rejit::new(RejitOptions::default(), edit))?;
    PARTS.rejit.get_or_init(|| rejit);
    for part in [&PARTS.instrumentation, &PARTS.removed] {
        let instrumentation = Instrumentation::new().edit("Probe!Probe.Program.Hot", |body, _| {
            body.prologue(Fragment::new().nop())?;
            Ok(())
        });
        let instrumentation = setup.attach(instrumentation)?;
        part.get_or_init(|| instrumentation);
    }
    Ok(())
}
