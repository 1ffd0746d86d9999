//! Storms: each component of the library while a program compiles, allocates, throws, loads, unloads and collects on
//! many threads, and a thread of the profiler orders it about at random.
//!
//! `STORM_SECONDS` is the length of each storm, and `STORM_SEED` chooses another order of events.
//!
//! Each guard of this table was taken out once, to see a storm fail:
//!
//! | guard | storm | failure without it |
//! |---|---|---|
//! | the record of unloaded modules (`profiler/unload_observer.rs`) | rewriting and ReJIT | the process dies by a signal on 3.1, 8 and 10 within seconds |
//! | `Rejit` drops the requests of a module at its unload | rewriting and ReJIT | rows of unloaded modules on 3.1, 8 and 10 within 4 s |
//! | an unload waits for the delivery of samples | samples | functions without names on 3.1, 8 and 10 within 4 s |
//! | an unload waits until a graph has its names | the heap | types without names in five of seven runs of 10 s on 3.1 and 10, in one of them the process died by a signal |
//! | the ID of a thread ends with it (`lifetimes/threads.rs`) | samples | threads with the IDs of ended ones on 3.1, 8 and 10 within 2 s |
//! | `loses_exceptions`: no callbacks of exceptions on .NET 9 and 10 | exceptions alone | the process dies in four of four runs of 4 s |
//! | wide copies of stacks whose frame pointers lead nowhere, and of stacks without bounds (`sampling/cpu/signal.rs`) | interrupts | 2 to 4 % of the stacks are broken on 8 |
//! | an unload waits for calls about the module (`info/departures.rs`) | modules are read | the process dies by a signal on 8, 9 and 10 within 6 s |
//! | the store of rewritten bodies drops the data of a module at its unload (`rewrite/store.rs`) | rewriting and ReJIT | 2.5 kB stay of each unloaded module on 3.1, 8, 9 and 10 |
//! | an unload during a detach changes no events (`profiler/unload_observer.rs`) | interrupts until a detach | a failure is reported on 9 with the second seed |
//!
//! No storm fails without one more. Hooks are disabled at the shutdown: the runtime called none of them within 300 ms
//! after it, though threads of the program continued to call methods.

mod interrupts;
mod readers;
#[cfg(target_os = "linux")]
mod signals;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use clr_profiler::exceptions::{ExceptionEvent, ExceptionEvents};
use clr_profiler::heap::{AllocationTicks, HeapRecorder};
use clr_profiler::hooks::{CallHooks, HookedFunction};
use clr_profiler::prelude::*;
use clr_profiler::rejit::{Rejit, RejitOptions};
use clr_profiler::rewrite::NativeCall;
use clr_profiler::sampling::{CpuSampler, Sample, Sampler, SamplerOptions};
use scenario_support::{clsid, log};

/// Attaches the components that `STORM` names, separated by commas, and uses them from the thread name `begin` to the
/// thread name `end`.
pub(crate) struct Storms {
    shared: Arc<Shared>,
    sampler: Option<Arc<Sampler>>,
    interrupts: Option<Arc<CpuSampler>>,
    /// The handler of the shared signal before the sampler's.
    handler: usize,
    /// The driver and the readers.
    threads: Mutex<Vec<JoinHandle<()>>>,
    count: NativeCall,
}

/// The part that threads share.
#[derive(Default)]
struct Shared {
    rejit: Option<Arc<Rejit>>,
    heap: Option<Arc<HeapRecorder>>,
    /// The methods of the program that were compiled, those of unloaded modules included.
    methods: Mutex<Vec<(ModuleId, MethodDef, FunctionId)>>,
    /// Those of modules that are not unloaded.
    live: Mutex<HashMap<FunctionId, ModuleId>>,
    /// The module that the host has loaded; those of contexts have the same content.
    first: OnceLock<ModuleId>,
    /// The method `Answer` of each module, which is requested when the module is loaded.
    answers: Mutex<HashMap<ModuleId, MethodDef>>,
    /// The modules whose unload has begun: nobody requests their `Answer` anymore. Their IDs are not used again: 1,800
    /// unloads on 3.1, 8 and 10 had no such ID.
    leaving: Mutex<HashSet<ModuleId>>,
    /// The newest thread of each number, and the threads whose numbers were used again.
    threads: Mutex<(HashMap<usize, ThreadId>, Vec<ThreadId>)>,
    /// The bytes that the library holds after each unload.
    held: Mutex<Vec<usize>>,
    is_over: AtomicBool,
    counts: Counts,
}

#[derive(Default)]
struct Counts {
    hooks: AtomicU64,
    thrown: AtomicU64,
    ticks: AtomicU64,
    graphs: AtomicU64,
    requests: AtomicU64,
    rewritten: AtomicU64,
    unloaded: AtomicU64,
    /// The refused calls with IDs of ended threads.
    ended: AtomicU64,
    /// The functions of the program in samples whose names were there.
    named: AtomicU64,
    /// The answers about modules and methods to the readers, and the refusals.
    reads: AtomicU64,
    refused: AtomicU64,
}

/// The calls of rewritten methods.
static CALLS: AtomicU64 = AtomicU64::new(0);

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Enters(Arc<Shared>);

// SAFETY: the hook touches an atomic.
unsafe impl CallHooks for Enters {
    type Function = ();

    fn enter(&self, _function: &'static HookedFunction<()>) {
        count(&self.0.counts.hooks);
    }
}

fn has(component: &str) -> bool {
    let storm = std::env::var("STORM").unwrap_or_default();
    storm.split(',').any(|one| one == component)
}

/// Counts exceptions by callbacks, where runtimes do not lose them by that.
struct Exceptions(Arc<Shared>);

#[component]
impl Component for Exceptions {
    fn exception_thrown(&self, _info: &ProfilerInfo, _thrown: ObjectId<'_>) -> Result<()> {
        count(&self.0.counts.thrown);
        Ok(())
    }
}

#[profiler(clsid = clsid("Storms"))]
impl Profiler for Storms {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(format_args!("failure: {failure}")));
        let counter = NativeCall::new(|| count(&CALLS));
        let mut shared = Shared::default();
        if has("rejit") {
            let counter = counter.clone();
            let edit = move |info: &ProfilerInfo, module, method, control: &FunctionControl<'_>| {
                control.rewrite(info, module, method, |body, cx| {
                    let counter = cx.call_native(&counter)?;
                    body.before_ret(&counter)?;
                    Ok(())
                })?;
                Ok(())
            };
            shared.rejit = Some(setup.attach(Rejit::new(RejitOptions::default(), edit))?);
        }
        if has("heap") {
            shared.heap = Some(setup.attach(HeapRecorder::new())?);
        }
        let shared = Arc::new(shared);
        let sampler = if has("sampler") {
            let mut options = SamplerOptions::default();
            options.idle_threads = true;
            let shared = Arc::clone(&shared);
            let deliver = move |info: &ProfilerInfo, sample: &Sample<'_>| {
                let functions = sample.frames.iter().filter_map(|frame| frame.function);
                for function in functions {
                    let Some(module) = lock(&shared.live).get(&function).copied() else {
                        continue;
                    };
                    if shared.first.get() != Some(&module) {
                        // Time to unload the module, which has to wait for this delivery.
                        thread::sleep(Duration::from_millis(60));
                    }
                    match info.method(function).and_then(|method| method.full_name()) {
                        Ok(_) => count(&shared.counts.named),
                        Err(error) => log::line(format_args!("failure: sampler: {error}")),
                    }
                }
            };
            Some(setup.attach(Sampler::new(options, deliver))?)
        } else {
            None
        };
        let handler = crate::interrupts::handler();
        let interrupts = match has("interrupts") {
            true => Some(interrupts::attach(setup, &shared)?),
            false => None,
        };
        if has("hooks") {
            setup.hooks(Enters(Arc::clone(&shared)), |info, function| {
                let name = info.method(function).and_then(|method| method.full_name());
                Ok(name
                    .is_ok_and(|name| name.starts_with("Stress."))
                    .then_some(()))
            })?;
        }
        if has("exceptions") {
            if !info.runtime_information()?.loses_exceptions() {
                setup.attach(Exceptions(Arc::clone(&shared)))?;
            }
            let shared = Arc::clone(&shared);
            setup.attach(ExceptionEvents::instead_of_callbacks(move |_, event| {
                if let ExceptionEvent::Thrown(_) = event {
                    count(&shared.counts.thrown);
                }
                Ok(())
            }))?;
        }
        // .NET Core 3.1 has no events of EventPipe.
        if has("ticks") && info.version() >= 12 {
            let shared = Arc::clone(&shared);
            setup.attach(AllocationTicks::new(move |_, _| {
                count(&shared.counts.ticks);
                Ok(())
            }))?;
        }
        Ok(Self {
            shared,
            sampler,
            interrupts,
            handler,
            threads: Mutex::default(),
            count: counter,
        })
    }

    fn thread_name_changed(&self, info: &ProfilerInfo, _: ThreadId, name: &str) -> Result<()> {
        let mut threads = lock(&self.threads);
        match name {
            "begin" => {
                if has("readers") {
                    *threads = readers::start(&self.shared, info);
                }
                let (shared, info) = (Arc::clone(&self.shared), info.clone());
                threads.push(thread::spawn(move || shared.drive(&info)));
            }
            "end" => {
                self.shared.is_over.store(true, Ordering::Release);
                for thread in threads.drain(..) {
                    thread
                        .join()
                        .map_err(|_| Error::other("a thread of the storm panicked"))?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn thread_created(&self, _info: &ProfilerInfo, thread: ThreadId) -> Result<()> {
        let mut threads = lock(&self.shared.threads);
        let (newest, ended) = &mut *threads;
        match newest.insert(thread.raw(), thread) {
            Some(earlier) if earlier == thread => {
                log::line(format_args!(
                    "failure: {thread:?} is also the ID of an ended thread"
                ));
            }
            Some(earlier) => ended.push(earlier),
            None => {}
        }
        Ok(())
    }

    // Inlining at the moment of a request deadlocks .NET Core 3.1, and ends .NET 8.
    fn jit_inlining(&self, info: &ProfilerInfo, _: FunctionId, callee: FunctionId) -> Result<bool> {
        Ok(!is_of_program(info, callee))
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        if !is_of_program(info, function) {
            return Ok(());
        }
        let method = info.method(function)?;
        lock(&self.shared.methods).push((method.module(), method.token(), function));
        lock(&self.shared.live).insert(function, method.module());
        if has("rewrite") {
            method.rewrite(|body, cx| {
                let counter = cx.call_native(&self.count)?;
                body.prologue(&counter)?;
                Ok(())
            })?;
            count(&self.shared.counts.rewritten);
        }
        Ok(())
    }

    /// Requests `Answer` of each module of the program before it is called for the first time.
    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        status: Hresult,
    ) -> Result<()> {
        if !status.is_ok() {
            return Ok(());
        }
        let metadata = info.module_metadata(module)?;
        let Ok(class) = metadata.find_type_def_by_name("Stress.Program", None) else {
            return Ok(());
        };
        if has("rewrite") {
            info.prepare_rewriting(module)?;
        }
        let Some(answer) = metadata
            .methods_with_name(class, "Answer")?
            .flatten()
            .next()
        else {
            return Ok(());
        };
        let _ = self.shared.first.set(module);
        lock(&self.shared.answers).insert(module, answer);
        if let Some(rejit) = &self.shared.rejit {
            rejit.request([(module, answer)]);
        }
        Ok(())
    }

    fn module_unload_started(&self, _info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        count(&self.shared.counts.unloaded);
        lock(&self.shared.leaving).insert(module);
        Ok(())
    }

    /// Until now the names of its functions were there for samples that are being delivered.
    fn module_unload_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _status: Hresult,
    ) -> Result<()> {
        if has("rewrite") {
            lock(&self.shared.held).push(info.overhead().held_bytes);
        }
        lock(&self.shared.live).retain(|_, of| *of != module);
        Ok(())
    }

    fn profiler_detach_succeeded(&self, _info: &ProfilerInfo) -> Result<()> {
        crate::interrupts::installed("after", self.handler);
        self.interrupts
            .iter()
            .for_each(|sampler| interrupts::tell(sampler));
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        if let Some(sampler) = &self.interrupts {
            sampler.stop()?;
            crate::interrupts::installed("after", self.handler);
            interrupts::tell(sampler);
        }
        let read = |name: &str, counter: &AtomicU64| {
            log::line(format_args!("{name} {}", counter.load(Ordering::Relaxed)));
        };
        let counts = &self.shared.counts;
        read("unloaded", &counts.unloaded);
        if has("rewrite") {
            read("rewritten", &counts.rewritten);
            read("calls", &CALLS);
            let held = lock(&self.shared.held);
            log::line(format_args!("held {:?}", *held));
        }
        if let Some(rejit) = &self.shared.rejit {
            rejit.stop()?;
            read("requests", &counts.requests);
            let (answers, leaving) = (lock(&self.shared.answers), lock(&self.shared.leaving));
            let outcomes = rejit.outcomes().into_iter();
            let kept = outcomes.filter(|outcome| {
                leaving.contains(&outcome.module)
                    && answers.get(&outcome.module) == Some(&outcome.method)
            });
            for outcome in kept {
                log::line(format_args!("failure: kept after the unload: {outcome:?}"));
            }
        }
        if self.shared.heap.is_some() {
            read("graphs", &counts.graphs);
        }
        if let Some(sampler) = &self.sampler {
            sampler.stop()?;
            log::line(format_args!("samples {}", sampler.totals().samples));
            read("named", &counts.named);
        }
        let others = [
            ("hooks", &counts.hooks),
            ("exceptions", &counts.thrown),
            ("ticks", &counts.ticks),
            ("threads", &counts.ended),
            ("readers", &counts.reads),
            ("readers", &counts.refused),
        ];
        for (name, counter) in others.into_iter().filter(|(name, _)| has(name)) {
            read(name, counter);
        }
        Ok(())
    }
}

fn is_of_program(info: &ProfilerInfo, function: FunctionId) -> bool {
    let name = info
        .method(function)
        .and_then(|method| method.assembly_name());
    name.is_ok_and(|name| name == "Stress")
}

impl Shared {
    /// Orders the components about until it is over.
    fn drive(&self, info: &ProfilerInfo) {
        let seed = std::env::var("STORM_SEED")
            .ok()
            .and_then(|seed| seed.parse().ok());
        let mut random: u64 = 0x9E37_79B9_7F4A_7C15 ^ (1 + seed.unwrap_or(0));
        let mut below = move |end: usize| {
            random ^= random << 13;
            random ^= random >> 7;
            random ^= random << 17;
            (random >> 16) as usize % end.max(1)
        };
        #[cfg(target_os = "linux")]
        let others = has("others").then(signals::Others::start);
        let detach = Instant::now() + Duration::from_millis(200 + below(600) as u64);
        while !self.is_over.load(Ordering::Acquire) {
            #[cfg(target_os = "linux")]
            if others.is_some() {
                signals::fork();
            }
            if has("detach") && Instant::now() >= detach {
                // The other timers end first: none may be left.
                #[cfg(target_os = "linux")]
                drop(others);
                let answer = info.request_profiler_detach(Duration::from_millis(10));
                log::line(format_args!("detach {answer:?}"));
                return;
            }
            let methods = lock(&self.methods);
            let some: Vec<_> = match methods.len() {
                0 => Vec::new(),
                all => (0..1 + below(4)).map(|_| methods[below(all)]).collect(),
            };
            drop(methods);
            // The results differ; ids of unloaded modules must be refused.
            for (_, _, function) in &some {
                let name = info.method(*function).and_then(|method| method.full_name());
                if name.is_ok() {
                    let _ = info.code_info2(*function);
                }
            }
            let some = some.into_iter().map(|(module, method, _)| (module, method));
            let ended = lock(&self.threads).1.last().copied();
            if let Some(thread) = ended {
                match info.thread_info(thread) {
                    Ok(_) => log::line("failure: a call accepts the ID of an ended thread"),
                    Err(_) => count(&self.counts.ended),
                }
            }
            if let Some(rejit) = &self.rejit {
                let (answers, leaving) = (lock(&self.answers), lock(&self.leaving));
                let some = some.filter(|(module, method)| {
                    !leaving.contains(module) || answers.get(module) != Some(method)
                });
                match below(10) {
                    0 => rejit.revert_all(),
                    1..5 => rejit.revert(some),
                    _ => rejit.request(some),
                }
                count(&self.counts.requests);
            }
            if let Some(heap) = &self.heap
                && (self.rejit.is_none() || below(8) == 0)
            {
                match heap.record(info) {
                    Ok(graph) => {
                        count(&self.counts.graphs);
                        let nameless = graph
                            .classes()
                            .iter()
                            .filter(|class| class.name.contains('?'));
                        for class in nameless {
                            log::line(format_args!("failure: heap: {class:?} without a name"));
                        }
                    }
                    Err(error) => log::line(format_args!("failure: heap: {error}")),
                }
            }
            thread::sleep(Duration::from_micros(below(4000) as u64));
        }
    }
}
