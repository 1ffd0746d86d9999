//! Kept ids are valid while their targets exist, and refused afterwards.
//!
//! The profiler keeps every id that it sees, and three threads continuously make calls about them, while the
//! program unloads modules and ends threads.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use clr_profiler::il::token::Token;
use clr_profiler::info::SnapshotOptions;
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// How many ids of a kind are kept: the latest.
const KEPT: usize = 4096;

/// The ids of one kind.
struct Kept<T>(Mutex<(Vec<T>, usize)>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<T: Copy> Kept<T> {
    fn keep(&self, id: T) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (ids, next) = &mut *kept;
        match ids.get_mut(*next % KEPT) {
            Some(old) => *old = id,
            None => ids.push(id),
        }
        *next += 1;
    }

    fn any(&self, random: u64) -> Option<T> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (ids, _) = &*kept;
        ids.get(random as usize % ids.len().max(1)).copied()
    }

    fn all(&self) -> Vec<T> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.0.clone()
    }
}

#[derive(Default)]
struct Ids {
    modules: Kept<ModuleId>,
    assemblies: Kept<AssemblyId>,
    classes: Kept<ClassId>,
    functions: Kept<FunctionId>,
    threads: Kept<ThreadId>,
    /// The assembly whose unload began last.
    going: Mutex<Option<AssemblyId>>,
    over: AtomicBool,
    answered: AtomicU64,
    refused: AtomicU64,
    failed: AtomicU64,
}

/// Keeps ids, and makes calls about them.
pub(crate) struct KeepsIds {
    ids: Arc<Ids>,
    callers: Mutex<Vec<JoinHandle<()>>>,
}

#[profiler(clsid = clsid("KeepsIds"))]
impl Profiler for KeepsIds {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        setup.add_events(EventMask::ENABLE_STACK_SNAPSHOT);
        let ids = Arc::new(Ids::default());
        let callers = (0..3).map(|number| {
            let (ids, info) = (Arc::clone(&ids), info.clone());
            std::thread::spawn(move || call_all_the_time(&info, &ids, number))
        });
        Ok(Self {
            callers: Mutex::new(callers.collect()),
            ids,
        })
    }

    fn module_load_finished(&self, _: &ProfilerInfo, module: ModuleId, _: Hresult) -> Result<()> {
        self.ids.modules.keep(module);
        Ok(())
    }

    fn module_attached_to_assembly(
        &self,
        _: &ProfilerInfo,
        _: ModuleId,
        assembly: AssemblyId,
    ) -> Result<()> {
        self.ids.assemblies.keep(assembly);
        Ok(())
    }

    fn module_unload_started(&self, info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        // Here calls about it still succeed.
        log::line(format_args!(
            "unloads {}",
            info.module_info(module).is_ok() && info.module_metadata(module).is_ok()
        ));
        Ok(())
    }

    fn module_unload_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _: Hresult,
    ) -> Result<()> {
        log::line(format_args!("unloaded {}", name(info.module_info(module))));
        Ok(())
    }

    fn assembly_unload_started(&self, info: &ProfilerInfo, assembly: AssemblyId) -> Result<()> {
        self.ids.assemblies.keep(assembly);
        *self
            .ids
            .going
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Some(assembly);
        log::line(format_args!(
            "assembly unloads {}",
            name(info.assembly_info(assembly))
        ));
        Ok(())
    }

    fn assembly_unload_finished(
        &self,
        info: &ProfilerInfo,
        assembly: AssemblyId,
        _: Hresult,
    ) -> Result<()> {
        let going = *self
            .ids
            .going
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        log::line(format_args!(
            "assembly unloaded {}, kept {}",
            name(info.assembly_info(assembly)),
            going.map_or("unknown", |id| name(info.assembly_info(id)))
        ));
        Ok(())
    }

    fn class_load_finished(&self, _: &ProfilerInfo, class: ClassId, _: Hresult) -> Result<()> {
        self.ids.classes.keep(class);
        Ok(())
    }

    fn class_unload_started(&self, info: &ProfilerInfo, class: ClassId) -> Result<()> {
        self.ids.classes.keep(class);
        // Arrays have no definition of their own.
        let answers = info
            .array_class_info(class)
            .is_ok_and(|array| array.is_some() || info.class_id_info2(class).is_ok());
        log::line(format_args!("class unloads {answers}"));
        Ok(())
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _: bool,
    ) -> Result<()> {
        self.ids.functions.keep(function);
        let facts = info.function_info2(function)?;
        for class in facts.class.into_iter().chain(facts.type_arguments) {
            self.ids.classes.keep(class);
        }
        Ok(())
    }

    fn thread_created(&self, _: &ProfilerInfo, thread: ThreadId) -> Result<()> {
        self.ids.threads.keep(thread);
        Ok(())
    }

    fn thread_destroyed(&self, info: &ProfilerInfo, thread: ThreadId) -> Result<()> {
        log::line(format_args!(
            "thread ends {}",
            info.thread_info(thread).is_ok()
        ));
        Ok(())
    }

    fn shutdown(&self, info: &ProfilerInfo) -> Result<()> {
        let ids = &self.ids;
        ids.over.store(true, Ordering::Relaxed);
        let callers =
            std::mem::take(&mut *self.callers.lock().unwrap_or_else(PoisonError::into_inner));
        for caller in callers {
            let _ = caller.join();
        }
        say("modules", ids.modules.all(), |id| {
            info.module_info(id).map(drop)
        });
        say("assemblies", ids.assemblies.all(), |id| {
            info.assembly_info(id).map(drop)
        });
        say("classes", ids.classes.all(), |id| {
            info.class_layout(id).map(drop)
        });
        say("functions", ids.functions.all(), |id| {
            info.function_info(id).map(drop)
        });
        say("threads", ids.threads.all(), |id| {
            info.thread_info(id).map(drop)
        });
        let count = |count: &AtomicU64| count.load(Ordering::Relaxed) > 0;
        log::line(format_args!(
            "answered {} refused {} failed {}",
            count(&ids.answered),
            count(&ids.refused),
            count(&ids.failed)
        ));
        Ok(())
    }
}

/// Counts the objects of each collection, and logs only that.
#[derive(Default)]
pub(crate) struct WalksObjects(AtomicU64);

#[profiler(clsid = clsid("WalksObjects"))]
impl Profiler for WalksObjects {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self::default())
    }

    fn initialize_for_attach(info: &ProfilerInfo, setup: &mut Setup, _: &[u8]) -> Result<Self> {
        Self::initialize(info, setup)
    }

    fn object_references(
        &self,
        _: &GcScope,
        _: ObjectId<'_>,
        _: Option<ClassId>,
        _: ObjectIds<'_>,
    ) -> Result<()> {
        self.0.fetch_add(1, Ordering::Relaxed);
        Ok(())
    }

    fn shutdown(&self, info: &ProfilerInfo) -> Result<()> {
        log::line(format_args!(
            "walked {}",
            self.0.load(Ordering::Relaxed) > 0
        ));
        let again = info.set_event_mask2(EventMask::MONITOR_GC);
        log::line(format_args!("again {}", again.is_ok()));
        // Refused once modules were unloaded.
        log::line(format_args!("all code {}", info.jitted_functions().is_ok()));
        Ok(())
    }
}

/// Logs how many ids are valid, and how many are refused.
fn say<T>(what: &str, ids: Vec<T>, ask: impl Fn(T) -> Result<()>) {
    let (mut good, mut refused) = (0, 0);
    for id in ids {
        match ask(id) {
            Err(error) if is_refused(&error) => refused += 1,
            _ => good += 1,
        }
    }
    log::line(format_args!("{what}: good {good} refused {refused}"));
}

fn is_refused(error: &Error) -> bool {
    let text = error.to_string();
    text.contains(" is no longer valid, because") || text.contains(" is not valid yet")
}

fn name<T>(answer: Result<T>) -> &'static str {
    match answer {
        Ok(_) => "answered",
        Err(error) if is_refused(&error) => "refused",
        Err(_) => "failed",
    }
}

/// Makes all calls, in an order that differs from thread to thread.
fn call_all_the_time(info: &ProfilerInfo, ids: &Ids, number: u64) {
    let mut random = number + 1;
    let _ = info.initialize_current_thread();
    while !ids.over.load(Ordering::Relaxed) {
        random = random
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let pick = random >> 33;
        let answers = [
            ids.modules.any(pick).map(|id| of_module(info, id, pick)),
            ids.assemblies
                .any(pick)
                .map(|id| info.assembly_info(id).map(drop)),
            ids.classes.any(pick).map(|id| of_class(info, id, pick)),
            ids.functions
                .any(pick)
                .map(|id| of_function(info, id, pick)),
            ids.threads.any(pick).map(|id| of_thread(info, id, pick)),
        ];
        for answer in answers.into_iter().flatten() {
            let count = match answer {
                Ok(()) => &ids.answered,
                Err(error) if is_refused(&error) => &ids.refused,
                Err(_) => &ids.failed,
            };
            count.fetch_add(1, Ordering::Relaxed);
        }
    }
}

fn of_module(info: &ProfilerInfo, module: ModuleId, pick: u64) -> Result<()> {
    let method = MethodDef::try_from(Token::new(0x0600_0001)).map_err(Error::other)?;
    match pick % 5 {
        0 => info.module_info(module).map(drop),
        1 => info.module_info2(module).map(drop),
        2 => info.il_function_body(module, method).map(drop),
        3 => info.function_from_token(module, method).map(drop),
        _ => {
            let metadata = info.module_metadata(module)?;
            // While it is held, the module can be unloaded.
            std::thread::yield_now();
            metadata.type_defs().count();
            metadata.scope_props().map(drop)
        }
    }
}

fn of_class(info: &ProfilerInfo, class: ClassId, pick: u64) -> Result<()> {
    match pick % 4 {
        0 => info.class_id_info2(class).map(drop),
        1 => info.class_layout(class).map(drop),
        2 => info.array_class_info(class).map(drop),
        _ => info.class_id_info(class).map(drop),
    }
}

fn of_function(info: &ProfilerInfo, function: FunctionId, pick: u64) -> Result<()> {
    match pick % 5 {
        0 => info.function_info2(function).map(drop),
        1 => info.code_info2(function).map(drop),
        2 => info.function_info(function).map(drop),
        3 => info.method(function)?.full_name().map(drop),
        _ => info.token_and_metadata_from_function(function).map(drop),
    }
}

fn of_thread(info: &ProfilerInfo, thread: ThreadId, pick: u64) -> Result<()> {
    match pick % 4 {
        0 => info.thread_info(thread).map(drop),
        1 => info.thread_app_domain(thread).map(drop),
        2 => info.handle_from_thread(thread).map(drop),
        // The thread runs: a walk succeeds only by chance.
        _ => info.do_stack_snapshot(Some(thread), SnapshotOptions::default(), |_| {
            std::ops::ControlFlow::Continue(())
        }),
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::{KeepsIds, WalksObjects};

    /// How many contexts are unloaded and threads end; many more with `KEPT_IDS`.
    fn count() -> String {
        std::env::var("KEPT_IDS").unwrap_or_else(|_| "30".to_owned())
    }

    #[test]
    fn no_runtime_goes_through_a_heap_that_it_cannot_read() {
        let scenario = Scenario::new("KeptIds")
            .arg("10")
            .profiled_by::<WalksObjects>();
        let plain = scenario.clone();
        scenario.on_each_runtime(|runtime, profiled| {
            let plain = plain.run_plain(runtime);
            assert_eq!(profiled.output(), plain.output(), "{}", profiled.log);
            let log = &profiled.log;
            assert!(profiled.logged("walked true"), "{log}");
            let is_8 = runtime.major == 8;
            assert_eq!(
                log.contains("no callback that needs `MONITOR_GC`"),
                is_8,
                "{log}"
            );
            assert_eq!(profiled.logged("again false"), is_8, "{log}");
        });
    }

    #[test]
    fn kept_ids_are_refused_when_they_are_no_good() {
        let scenario = Scenario::new("KeptIds")
            .arg(&count())
            .profiled_by::<KeepsIds>();
        let plain = scenario.clone();
        scenario.on_each_runtime(|runtime, profiled| {
            let plain = plain.run_plain(runtime);
            assert_eq!(plain.output(), (Some(6), "sum 9 alive 0\n", ""));
            assert_eq!(profiled.output(), plain.output(), "{}", profiled.log);
            let count: usize = count().parse().unwrap();
            let log = &profiled.log;
            assert!(
                profiled.logged("answered true refused true failed true"),
                "{log}"
            );
            for (kind, least) in [
                ("modules", count),
                ("assemblies", count),
                ("classes", count),
                ("functions", count),
                ("threads", count),
            ] {
                let line = log
                    .lines()
                    .find(|line| line.starts_with(&format!("{kind}: ")));
                let words: Vec<_> = line.unwrap_or_default().split(' ').collect();
                let [_, _, good, _, refused] = words[..] else {
                    panic!("{kind}: {log}");
                };
                let (good, refused): (usize, usize) =
                    (good.parse().unwrap(), refused.parse().unwrap());
                assert!(refused >= least.min(1000), "{kind} {line:?}");
                assert!(good >= 1, "{kind} {line:?}");
            }
            assert_eq!(
                log.lines().filter(|line| *line == "unloads true").count(),
                count
            );
            assert_eq!(
                log.lines()
                    .filter(|line| *line == "unloaded refused")
                    .count(),
                count
            );
            assert!(
                !log.contains("unloads false") && !log.contains("thread ends false"),
                "{log}"
            );
            assert!(log.contains("thread ends true"), "{log}");
            // .NET Core 3.1 reports no beginning of an assembly's unload.
            let begins = if runtime.major < 5 { 0 } else { count };
            let kept = if begins == 0 { "unknown" } else { "refused" };
            for (line, times) in [
                ("assembly unloads answered".to_owned(), begins),
                (format!("assembly unloaded refused, kept {kept}"), count),
            ] {
                let found = log.lines().filter(|it| it.starts_with(&line[..16])).count();
                assert_eq!(found, times, "{log}");
                assert_eq!(log.lines().filter(|it| *it == line).count(), times, "{log}");
            }
        });
    }
}
