//! Calls of many threads while a program does everything at once.
//!
//! Many threads of the profiler make every legal call, while callbacks occur
//! on all threads of the program; each result is compared with recorded facts.
//! `SCENARIO_STRESS_SECONDS` makes it a longer run, on .NET 8 alone.

mod calls;
mod functions;
mod metadata;
mod modules;
mod references;
mod tally;
#[cfg(test)]
mod tests;
mod world;

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use clr_profiler::exceptions::{ExceptionEvent, ExceptionEvents};
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

use calls::{CALLS, Random};
use references::References;
use tally::Tally;
use world::World;

/// The number of calling threads.
const THREADS: u64 = 32;

/// Begins when a thread is named `begin`, and has ended when one is named `end`.
pub(crate) struct Stress {
    world: Arc<World>,
    running: Mutex<Option<Running>>,
    callbacks: Arc<Callbacks>,
}

struct Running {
    since: Instant,
    references: References,
    workers: Vec<JoinHandle<Tally>>,
}

/// The kinds of callbacks that are counted.
const KINDS: [&str; 8] = [
    "compiled",
    "made",
    "class",
    "module",
    "unloaded",
    "thread",
    "thrown",
    "collection",
];

#[profiler(clsid = clsid("Stress"))]
impl Profiler for Stress {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(format_args!("failure: {failure}")));
        let callbacks: Arc<Callbacks> = Arc::default();
        setup.attach(ExceptionEvents::instead_of_callbacks({
            let callbacks = Arc::clone(&callbacks);
            move |info, event| {
                match event {
                    ExceptionEvent::Thrown(thrown) if thrown.type_name == "Stress.Thrown" => {
                        callbacks.count("thrown");
                    }
                    ExceptionEvent::Thrown(thrown) => return Err(Error::other(thrown.type_name)),
                    ExceptionEvent::CatchBegins(function) => {
                        info.function_info(function)?;
                    }
                    _ => {}
                }
                Ok(())
            }
        }))?;
        Ok(Self {
            world: Arc::default(),
            running: Mutex::default(),
            callbacks,
        })
    }

    fn thread_name_changed(&self, info: &ProfilerInfo, _: ThreadId, name: &str) -> Result<()> {
        match name {
            "begin" => self.begin(info),
            "end" => self.end(info),
            _ => Ok(()),
        }
    }

    fn jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        status: Hresult,
        _: bool,
    ) -> Result<()> {
        self.count("compiled");
        if status.is_ok() {
            self.world.function_compiled(info, function)?;
        }
        Ok(())
    }

    fn dynamic_method_jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _: Hresult,
        _: bool,
    ) -> Result<()> {
        self.count("made");
        // As valid as the callback lasts.
        if !info.is_function_dynamic(function)? {
            return Err(Error::other("a dynamic method is none"));
        }
        let name = info.dynamic_function_info(function)?.name;
        if name.is_empty() {
            return Err(Error::other("a dynamic method has no name"));
        }
        Ok(())
    }

    fn class_load_finished(
        &self,
        info: &ProfilerInfo,
        class: ClassId,
        status: Hresult,
    ) -> Result<()> {
        self.count("class");
        if status.is_ok() {
            self.world.class_loaded(info, class);
        }
        Ok(())
    }

    fn module_attached_to_assembly(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        assembly: AssemblyId,
    ) -> Result<()> {
        self.count("module");
        self.world.module_loaded(info, module, assembly)
    }

    fn module_unload_started(&self, _info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        self.count("unloaded");
        self.world.module_unloads(module);
        Ok(())
    }

    fn thread_created(&self, _info: &ProfilerInfo, _: ThreadId) -> Result<()> {
        self.count("thread");
        Ok(())
    }

    fn exception_thrown(&self, info: &ProfilerInfo, thrown: ObjectId<'_>) -> Result<()> {
        self.count("thrown");
        let class = info.class_from_object(thrown)?;
        let facts = info.class_id_info2(class)?;
        if facts.module.is_none() || info.object_size2(thrown)? < 3 * size_of::<usize>() {
            return Err(Error::other("the exception is not an object of a class"));
        }
        Ok(())
    }

    fn garbage_collection_started(&self, _: &GcScope, _: GenerationSet, _: GcReason) -> Result<()> {
        self.count("collection");
        Ok(())
    }
}

/// How often each kind of callback occurred.
#[derive(Default)]
struct Callbacks([AtomicU64; KINDS.len()]);

impl Callbacks {
    fn count(&self, kind: &str) {
        if let Some(place) = KINDS.iter().position(|known| *known == kind) {
            self.0[place].fetch_add(1, Ordering::Relaxed);
        }
    }
}

impl Stress {
    fn count(&self, kind: &str) {
        self.callbacks.count(kind);
    }

    fn begin(&self, info: &ProfilerInfo) -> Result<()> {
        self.world.settle(info)?;
        let references = References::count(info, &self.world.lasting())?;
        let workers = (0..THREADS)
            .map(|number| {
                let (info, world) = (info.clone(), Arc::clone(&self.world));
                thread::spawn(move || work(&info, &world, number))
            })
            .collect();
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        *running = Some(Running {
            since: Instant::now(),
            references,
            workers,
        });
        Ok(())
    }

    fn end(&self, info: &ProfilerInfo) -> Result<()> {
        let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(running) = running.take() else {
            return Err(Error::other("it has not begun"));
        };
        self.world.stop();
        let mut tally = Tally::new();
        for worker in running.workers {
            match worker.join() {
                Ok(more) => tally.add(more),
                Err(_) => log::line("failure: a worker panicked"),
            }
        }
        tally.log(running.since.elapsed());
        for (kind, count) in KINDS.iter().zip(&self.callbacks.0) {
            log::line(format_args!(
                "callbacks {kind} {}",
                count.load(Ordering::Relaxed)
            ));
        }
        running.references.compare(info)
    }
}

fn work(info: &ProfilerInfo, world: &World, number: u64) -> Tally {
    let mut random = Random::new(number);
    let mut tally = Tally::new();
    while !world.is_over() {
        world.take_in();
        // Recorded modules stay loaded during a check.
        let state = world.state();
        for _ in 0..16 {
            let index = random.below(CALLS.len());
            let call = &CALLS[index];
            if call.rarely && random.below(200) != 0 {
                continue;
            }
            if let Some(outcome) = (call.run)(info, &state, &mut random) {
                tally.enter(index, outcome);
            }
        }
    }
    tally
}
