//! When calls are made: in callbacks, in closures that the library calls, on threads of the profiler.

use std::cell::RefCell;
use std::ops::ControlFlow;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{self, Sender};
use std::thread;
use std::time::{Duration, Instant};

use clr_profiler::hooks::{CallHooksWithInfo, EnterCall, LeaveCall};
use clr_profiler::il::token::Token;
use clr_profiler::info::{HandleKind, SnapshotOptions};
use clr_profiler::prelude::*;
use clr_profiler::rewrite::NativeCall;

use crate::at::{At, Own, provider};
use crate::batch::{batch, here, place, turn};
use crate::calls::rest;
use crate::plan::{Ids, Plan, journal};
use crate::pool::{self, keep, pool};
use crate::profiler::{Handed, events_of, info};

/// Moments that are not callbacks. Those of the second list occur while the program waits in its middle.
pub const IN_CALLBACKS: &[&str] = &[
    "initialize",
    "initialize_for_attach",
    "shutdown",
    "after_shutdown",
    "mapper",
    "hook_enter",
    "hook_leave",
    "failure",
    "rewrite",
    "native_call",
    "stack_walk",
    "object_walk",
    "handle_object",
    "static_field",
];
pub const AT_THE_GATE: &[&str] = &[
    "thread",
    "thread_initialized",
    "thread_exit",
    "suspended",
    "suspended_stack_walk",
    "heap_walk",
    "provider_changed",
    "detaching",
    "detached",
    "drop",
];

/// At such a moment components are attached, and their functions called.
pub const WITH_PARTS: &str = "parts/";

/// Before the program's own module is loaded, after that, after a first module was unloaded.
pub static PHASE: AtomicUsize = AtomicUsize::new(0);
static PROGRAM: OnceLock<ModuleId> = OnceLock::new();
static HOT: OnceLock<MethodDef> = OnceLock::new();
static DETACHED: AtomicBool = AtomicBool::new(false);

type Job = Box<dyn FnOnce(&'static ProfilerInfo) + Send>;
static WORKER: OnceLock<Sender<Job>> = OnceLock::new();

thread_local! {
    static AT_EXIT: RefCell<Option<AtExit>> = const { RefCell::new(None) };
}

/// Makes calls when its thread ends.
struct AtExit(&'static ProfilerInfo);

impl Drop for AtExit {
    fn drop(&mut self) {
        batch(here(self.0));
    }
}

/// Whether the heap is walked in a process of this moment, for which the program leaves something out.
pub fn walks_heap(moment: &str) -> bool {
    let is_asked_for = events_of(moment).intersects(EventMask::MONITOR_GC);
    is_asked_for || moment.starts_with("initialize") || moment.starts_with(WITH_PARTS)
}

/// The moment, without its prefix.
fn moment() -> &'static str {
    let moment = &Plan::get().moment;
    moment.strip_prefix(WITH_PARTS).unwrap_or(moment)
}

fn is(name: &str) -> bool {
    moment() == name
}

/// The work of `initialize`.
pub fn initialize(info: &ProfilerInfo, setup: &mut Setup, name: &str) -> Result<()> {
    let plan = Plan::get();
    let mut events = EventMask::MONITOR_MODULE_LOADS
        | EventMask::MONITOR_ASSEMBLY_LOADS
        | EventMask::MONITOR_CLASS_LOADS
        | EventMask::MONITOR_JIT_COMPILATION
        | EventMask::MONITOR_THREADS
        | EventMask::ENABLE_REJIT
        | EventMask::ENABLE_STACK_SNAPSHOT
        | EventMask::HIGH_MONITOR_DYNAMIC_FUNCTION_UNLOADS
        | events_of(moment());
    if info.version() >= 12 {
        events |= EventMask::HIGH_MONITOR_EVENT_PIPE;
    }
    events |= match moment() {
        "object_walk" => events_of("object_allocated"),
        "handle_object" | "static_field" => events_of("exception_thrown"),
        _ => EventMask::empty(),
    };
    let detaches = ["detaching", "detached", "drop"].contains(&moment())
        || plan
            .calls
            .contains("CorProfilerInfo3::request_profiler_detach");
    if detaches {
        // A profiler with this event cannot detach.
        events -= EventMask::ENABLE_REJIT;
    }
    setup.remove_events(EventMask::all()).add_events(events);
    setup.on_failure(|failure| {
        journal(&format!("! {failure}"));
        if let Some(info) = crate::profiler::info().filter(|_| is("failure")) {
            batch(here(info));
        }
    });
    if ["mapper", "hook_enter", "hook_leave"].contains(&moment()) {
        setup.hooks_with_info(Hooks, |info, function| {
            if is("mapper") {
                batch(place(
                    info,
                    Own {
                        function: Some(function),
                        ..Own::default()
                    },
                ));
            }
            Ok((PHASE.load(SeqCst) > 0).then_some(()))
        })?;
    }
    if plan.moment.starts_with(WITH_PARTS) {
        rest::attach(setup, detaches)?;
    }
    if plan.ids == Ids::Elsewhere || AT_THE_GATE.contains(&moment()) || needs_a_push() {
        start_worker();
    }
    if !(AT_THE_GATE.contains(&moment()) || needs_a_push()) {
        plan.open_gate();
    }
    if is(name) {
        let at = here(info);
        if let Some(at) = &at {
            at.setup.replace(Some(setup));
        }
        batch(at);
    }
    Ok(())
}

/// Callbacks that occur only after a request of the profiler.
fn needs_a_push() -> bool {
    moment().contains("rejit") || is("event_pipe_event_delivered")
}

fn start_worker() {
    let (send, jobs) = mpsc::channel::<Job>();
    WORKER.get_or_init(|| send);
    thread::spawn(move || {
        let mut is_first = true;
        for job in jobs {
            let Some(info) = info() else { continue };
            let is_bare = ["thread", "thread_exit", "detached", "detaching"].contains(&moment());
            if std::mem::take(&mut is_first) && !is_bare {
                let _ = info.initialize_current_thread();
            }
            job(info);
        }
    });
}

fn give_worker(job: impl FnOnce(&'static ProfilerInfo) + Send + 'static) {
    if let Some(worker) = WORKER.get() {
        let _ = worker.send(Box::new(job));
    }
}

/// A callback occurred.
pub fn came(name: &str, handed: Handed<'_>) {
    let Some(info) = info() else { return };
    let own = handed.own;
    learn(info, name, &own);
    if is(name) {
        if Plan::get().ids == Ids::Elsewhere {
            if let Some(turn) = turn() {
                // A provider is valid only on this thread.
                let own = Own {
                    provider: None,
                    ..own
                };
                give_worker(move |info| batch(Some(At::new(info, Ids::Elsewhere, own, turn))));
            }
        } else {
            let at = place(info, own).map(|at| At {
                gc: handed.gc,
                object: handed.object,
                control: handed.control,
                references: handed.references,
                ..at
            });
            batch(at);
        }
    }
    within(info, name, &handed);
    match name {
        "thread_destroyed" => own.thread.into_iter().for_each(pool::thread_is_gone),
        "profiler_detach_succeeded" => DETACHED.store(true, SeqCst),
        "jit_compilation_started" => compiling(info, &own),
        _ => {}
    }
}

/// Keeps the ids that a callback passes.
fn learn(info: &ProfilerInfo, name: &str, own: &Own<'_>) {
    match (name, own) {
        (
            "module_load_finished",
            Own {
                module: Some(module),
                ..
            },
        ) => {
            pool::see_module(info, *module, Plan::get().ids == Ids::Stale);
            let name = info.module_info(*module).map(|module| module.name);
            if name.is_ok_and(|name| name.ends_with("Probe.dll")) && PROGRAM.set(*module).is_ok() {
                PHASE.store(1, SeqCst);
            }
        }
        (
            "assembly_load_started",
            Own {
                assembly: Some(assembly),
                ..
            },
        ) => pool::assembly_begins(*assembly),
        (
            "module_attached_to_assembly",
            Own {
                module: Some(module),
                assembly: Some(assembly),
                ..
            },
        ) => {
            pool::see_assembly(*module, *assembly);
        }
        (
            "module_unload_finished",
            Own {
                module: Some(module),
                ..
            },
        ) => {
            pool::module_is_gone(*module);
            PHASE.store(2, SeqCst);
        }
        (
            "class_load_finished",
            Own {
                class: Some(class), ..
            },
        ) => pool::see_class(info, *class),
        (
            "jit_compilation_finished",
            Own {
                function: Some(function),
                ..
            },
        ) => {
            pool::see_function(info, *function);
        }
        (
            "dynamic_method_jit_compilation_started",
            Own {
                function: Some(function),
                ..
            },
        ) => pool::dynamic_begins(*function),
        (
            "dynamic_method_jit_compilation_finished",
            Own {
                function: Some(function),
                ..
            },
        ) => {
            pool::see_dynamic(*function);
        }
        (
            "dynamic_method_unloaded",
            Own {
                function: Some(function),
                ..
            },
        ) => {
            pool::dynamic_is_gone(*function);
        }
        (
            "thread_created",
            Own {
                thread: Some(thread),
                ..
            },
        ) => pool::see_thread(info, *thread),
        (
            "rejit_compilation_finished",
            Own {
                rejit: Some(rejit), ..
            },
        ) => {
            keep(&mut pool().live.rejits, *rejit);
        }
        _ => {}
    }
}

/// Moments inside of calls that are made in a callback.
fn within(info: &ProfilerInfo, name: &str, handed: &Handed<'_>) {
    let own = handed.own;
    match (moment(), name, handed.object) {
        ("stack_walk", "jit_compilation_started", _) => {
            let _ = info.do_stack_snapshot(None, SnapshotOptions::default(), |frame| {
                let at = place(
                    info,
                    Own {
                        function: frame.function,
                        ..own
                    },
                );
                batch(at.map(|at| At {
                    frame: frame.frame,
                    ..at
                }));
                ControlFlow::Break(())
            });
        }
        ("object_walk", "object_allocated", Some(object)) => {
            let _ = info.enumerate_object_references(object, |reference| {
                batch(place(info, own).map(|at| At {
                    object: Some(reference.target),
                    ..at
                }));
                ControlFlow::Break(())
            });
        }
        ("handle_object", "exception_thrown", Some(object)) => {
            if let Ok(handle) = info.create_handle(object, HandleKind::Weak) {
                let _ = info.with_object_of_handle(&handle, |object| {
                    batch(place(info, own).map(|at| At { object, ..at }));
                });
            }
        }
        ("static_field", "exception_thrown", object) => {
            let classes = pool().live.classes.clone();
            for class in classes {
                let _ = info.with_static_field(class, "Name", |_| {
                    batch(place(info, own).map(|at| At { object, ..at }));
                });
            }
        }
        _ => {}
    }
}

/// A function is about to be compiled: two methods of the program mark its progress.
fn compiling(info: &ProfilerInfo, own: &Own<'_>) {
    let Some(function) = own.function.filter(|_| PHASE.load(SeqCst) > 0) else {
        return;
    };
    let Ok(method) = info.method(function) else {
        return;
    };
    if Some(&method.module()) != PROGRAM.get() {
        return;
    }
    match method.name().as_deref() {
        Ok("Hot") => {
            let _ = HOT.set(method.token());
            let rewritten = match moment() {
                "rewrite" => method.rewrite(|_, _| {
                    batch(place(
                        info,
                        Own {
                            function: Some(function),
                            ..Own::default()
                        },
                    ));
                    Ok(())
                }),
                "native_call" => method.rewrite(|body, cx| {
                    let call = cx.call_native(&NativeCall::new(called))?;
                    body.prologue(&call)?;
                    Ok(())
                }),
                _ => return,
            };
            if let Err(error) = rewritten {
                journal(&format!("! {error}"));
            }
        }
        // The values of the main thread are dropped when the process ends, after the shutdown.
        Ok("Gate") if is("after_shutdown") => AT_EXIT.set(crate::profiler::info().map(AtExit)),
        Ok("Gate") => give_worker(at_the_gate),
        _ => {}
    }
}

/// The function that rewritten code calls.
fn called() {
    if let Some(info) = info() {
        batch(here(info));
    }
}

/// The work while the program waits in its middle.
fn at_the_gate(info: &'static ProfilerInfo) {
    let done = match moment() {
        "thread" | "thread_initialized" => {
            batch(here(info));
            batch(here(info));
            batch(here(info));
            Ok(())
        }
        "thread_exit" => {
            let _ = thread::spawn(move || AT_EXIT.set(Some(AtExit(info)))).join();
            Ok(())
        }
        "suspended" => info.with_suspended_runtime(|suspended| {
            batch(here(info).map(|at| At {
                suspended: Some(suspended),
                ..at
            }));
            Ok(())
        }),
        "suspended_stack_walk" => info.with_suspended_runtime(|suspended| {
            let threads: Vec<_> = suspended.threads()?.flatten().collect();
            for thread in threads {
                let _ = info.do_stack_snapshot(Some(thread), SnapshotOptions::default(), |frame| {
                    let own = Own {
                        function: frame.function,
                        ..Own::default()
                    };
                    batch(place(info, own).map(|at| At {
                        frame: frame.frame,
                        ..at
                    }));
                    ControlFlow::Break(())
                });
            }
            Ok(())
        }),
        "heap_walk" => info.enumerate_gc_heap_objects(|gc, object| {
            let at = place(info, Own::default());
            batch(at.map(|at| At {
                gc: Some(gc),
                object: Some(object),
                ..at
            }));
            ControlFlow::Continue(())
        }),
        "provider_changed" => info
            .event_pipe_create_provider2("Probe-Asked", |_| called())
            .and_then(|made| {
                keep(&mut pool().live.providers, made);
                let asked = clr_profiler::events::EventPipeProviderConfig::all("Probe-Asked");
                info.event_pipe_start_session(&[asked], false).map(drop)
            }),
        "event_pipe_event_delivered" => info
            .event_pipe_start_session(&[provider()], false)
            .map(drop),
        "detaching" => info
            .request_profiler_detach(Duration::from_millis(20))
            .map(|()| batch(here(info))),
        "detached" | "drop" => info
            .request_profiler_detach(Duration::from_millis(20))
            .map(|()| {
                until(|| DETACHED.load(SeqCst));
                // The other one makes its calls when the profiler is dropped.
                batch(here(info).filter(|_| is("detached")));
            }),
        "rejit_error" => request(info, |_| MethodDef::try_from(Token::new(0x06FF_FFFE)).ok()),
        _ => request(info, Some),
    };
    if let Err(error) = done {
        journal(&format!("! {error}"));
    }
    Plan::get().open_gate();
}

/// Requests ReJIT of the method that the program calls repeatedly, or of another one.
fn request(info: &ProfilerInfo, which: impl Fn(MethodDef) -> Option<MethodDef>) -> Result<()> {
    let (Some(program), Some(hot)) = (PROGRAM.get(), HOT.get()) else {
        return Ok(());
    };
    let methods = which(*hot).map(|method| (*program, method));
    info.request_rejit(methods.as_slice())
}

/// Waits, with a time limit.
fn until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() && begun.elapsed() < Duration::from_secs(3) {
        thread::sleep(Duration::from_millis(1));
    }
}

/// The error of a callback, if the moment is the hook of failures.
pub fn fails(name: &str) -> Result<()> {
    if is("failure") && name == "jit_compilation_started" && PHASE.load(SeqCst) > 0 {
        return Err(Error::other("as it was told to"));
    }
    Ok(())
}

struct Hooks;

impl CallHooksWithInfo for Hooks {
    type Function = ();

    fn enter(&self, call: &EnterCall<'_, ()>) -> Result<()> {
        if is("hook_enter") {
            let _ = call.arguments().map(|value| format!("{value:?}")).count();
            let own = Own {
                function: Some(call.function().id()),
                ..Own::default()
            };
            batch(place(call.info(), own));
        }
        Ok(())
    }

    fn leave(&self, call: &LeaveCall<'_, ()>) -> Result<()> {
        if is("hook_leave") {
            let _ = call.returned().map(|value| format!("{value:?}"));
            let own = Own {
                function: Some(call.function().id()),
                ..Own::default()
            };
            batch(place(call.info(), own));
        }
        Ok(())
    }
}
