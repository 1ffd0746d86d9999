//! Traces the calls of configured methods of a .NET program, asynchronous ones to the completion of
//! their tasks.

mod budget;
mod compilations;
mod context;
mod conventions;
mod events;
mod http;
mod iterators;
mod keys;
mod methods;
// The functions that the helper calls read its strings, and traced methods call others without a transition.
#[allow(unsafe_code)]
mod native;
mod notes;
mod options;
mod pauses;
mod samples;
mod small;
mod summary;
mod values;

use std::io;
use std::sync::{Arc, LazyLock};
use std::thread;
use std::time::{Duration, Instant};

use clr_profiler::il::token::MethodDef;
use clr_profiler::instrumentation::{Instrumentation, MethodState};
use clr_profiler::prelude::*;
use clr_profiler::rewrite::HelperAssembly;

use crate::otlp::{self, Exporter};
use crate::report::helper::NativeMethods;
use crate::report::{Moment, Output, Report, Session, Settings, Tool, When, failures, masks};
use crate::spans::{Spans, TraceFile, threads};

use budget::Budget;
use conventions::Conventions;
use events::Events;
use notes::About;
use options::Options;
use samples::Samples;

/// How often spans are taken and written.
const INTERVAL: Duration = Duration::from_millis(50);
/// How often they are taken out of the rings of threads, and how often if that has found only a few.
const OFTEN: Duration = Duration::from_millis(10);
const SELDOM: Duration = Duration::from_millis(20);
const FEW: usize = 100;
/// The time between two checks of the budget, and the number of spans after which it is checked at once.
const CHECK: Duration = Duration::from_millis(50);
const BURST: usize = 1_000;
/// Writing the summary takes at most this part of the time.
const SUMMARY: u32 = 200;

/// The assembly that traced methods call.
static HELPER: &[u8] = include_bytes!("helper/MethodTracer.dll");

/// The spans of the process: rewritten code calls functions, not objects.
static SPANS: LazyLock<Arc<Spans>> = LazyLock::new(|| Arc::new(Spans::of_threads()));

/// The profiler.
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct MethodTracer {
    instrumentation: Arc<Instrumentation>,
    conventions: Arc<Conventions>,
    samples: Option<Arc<Samples>>,
    events: Vec<Arc<Events>>,
    report: Arc<Report>,
    session: Session,
}

#[profiler(clsid = "C2B8E5F1-7D34-4A96-8E07-51F3A9D26B48")]
impl Profiler for MethodTracer {
    crate::start_as_tool!();

    fn jit_compilation_started(
        &self,
        _info: &ProfilerInfo,
        _function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        compilations::begin();
        Ok(())
    }

    fn jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        compilations::end(|| {
            let facts = info.function_info(function)?;
            Ok((facts.module, facts.token))
        })
    }

    // The samples that are delivered now may contain functions of the module, which are then forgotten.
    fn module_unload_started(&self, info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        keys::forget(module);
        self.events.iter().for_each(|events| events.forget(info));
        let samples = self.samples.as_ref();
        samples.map_or(Ok(()), |samples| samples.forget(module))
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        note_problems(&self.instrumentation);
        self.conventions.note_unmatched();
        let samples = self.samples.as_ref();
        let stopped = samples.map_or(Ok(()), |samples| samples.stop());
        self.report.finish();
        self.session.end();
        stopped
    }
}

impl Tool for MethodTracer {
    fn build(info: &ProfilerInfo, setup: &mut Setup, settings: &Settings) -> Result<Self> {
        failures::watch("method_tracer", setup);
        notes::forget();
        compilations::forget();
        let options = Options::read(settings)?;
        let exporter = match exporter(options.otlp.as_deref(), settings)? {
            Some(options) => Some(Exporter::start(&SPANS, options, "method_tracer")?),
            None => None,
        };
        let helper = HelperAssembly::in_memory(HELPER)?;
        let has_iterators = options.values.iterators;
        values::record(options.values);
        // Spans that nobody collects need no context elsewhere.
        let contexts = exporter.as_ref().map(Exporter::contexts);
        let contexts = contexts.filter(|_| http::is_on());
        let known = (exporter.is_some(), contexts.is_some());
        let conventions = Arc::new(Conventions::read(settings, known)?);
        let mut instrumentation = Instrumentation::new().helper(&helper).select_late();
        // With rules, only the methods that are named have spans.
        if !(options.is_all && conventions.has_own()) {
            instrumentation = instrumentation.edit(options.patterns, {
                let conventions = Arc::clone(&conventions);
                move |body, cx| match conventions.has_span(cx)? {
                    true => Ok(()),
                    false => {
                        compilations::rewrite(cx.module(), cx.token());
                        methods::trace(body, cx, true, None)
                    }
                }
            });
            // Methods of rules have their spans from the first call on.
            if options.budget.is_some() {
                instrumentation = instrumentation.defer(compilations::are_too_dear);
            }
        }
        if options.is_all {
            let conventions = Arc::clone(&conventions);
            instrumentation = instrumentation.except(move |method| {
                let is_kept = || has_iterators && iterators::selects(method);
                !conventions.selects(method) && !is_kept() && small::is_small(method)
            });
        }
        iterators::forget();
        if has_iterators {
            instrumentation = iterators::follow(instrumentation);
        }
        if !conventions.is_empty() {
            let rules = Arc::clone(&conventions);
            instrumentation =
                instrumentation.edit_where_present(conventions.patterns(), move |body, cx| {
                    compilations::rewrite(cx.module(), cx.token());
                    rules.edit(body, cx)
                });
        }
        http::forget();
        let instrumentation = match contexts {
            Some(contexts) => http::follow(instrumentation, contexts),
            None => instrumentation,
        };
        let instrumentation = context::follow(instrumentation, info)?.report_problems(|outcome| {
            if let Some(problem) = &outcome.problem {
                notes::add(About::Refused, &outcome.name, problem);
            }
        });
        let trace = TraceFile::create(options.output, options.limit)?;
        let sent = exporter
            .as_ref()
            .map(|exporter| Arc::clone(exporter.contexts()));
        let spanned = samples::spanned(sent);
        let mut events = Vec::new();
        for profile in options.profiles {
            let spanned = Arc::clone(&spanned);
            events.push(Events::start(info, setup, settings, profile, spanned)?);
        }
        let start = |output| Samples::start(info, setup, settings, output, spanned);
        let samples = options.samples.map(start).transpose()?.map(Arc::new);
        let report = Arc::new(report(
            info.clone(),
            trace,
            options.summary,
            exporter,
            (samples.clone(), events.clone()),
            settings,
        )?);
        // .NET Core 3.1 reports version 4.
        let can_suppress_transitions = info.runtime_information()?.major >= 5;
        setup.attach(NativeMethods::new(&helper, move |method| {
            native::of(method, can_suppress_transitions)
                .or_else(|| http::of(method))
                .or_else(|| conventions::of(method))
        }))?;
        let instrumentation = setup.attach(instrumentation)?;
        let budget = options.budget;
        let budget = budget.map(|share| Budget::new(info.clone(), share, can_suppress_transitions));
        if budget.is_some() {
            setup.add_events(EventMask::ENABLE_REJIT);
        }
        drain(info.clone(), budget, Arc::clone(&instrumentation))?;
        let session = Session::start(settings, info, setup, {
            let (instrumentation, report) = (Arc::clone(&instrumentation), Arc::clone(&report));
            let (conventions, samples) = (Arc::clone(&conventions), samples.clone());
            move || {
                SPANS.close();
                let stopped = samples.as_ref().map_or(Ok(()), |samples| samples.stop());
                if let Err(error) = stopped {
                    failures::add("failed", error);
                }
                if let Err(error) = instrumentation.remove() {
                    failures::add("failed", error);
                }
                note_problems(&instrumentation);
                conventions.note_unmatched();
                report.finish();
            }
        })?;
        Ok(Self {
            instrumentation,
            conventions,
            samples,
            events,
            report,
            session,
        })
    }
}

/// The options of the exporter, if there is a collector: one that the user names, or that of the program's environment.
fn exporter(url: Option<&str>, settings: &Settings) -> Result<Option<otlp::Options>> {
    if url.is_none() && settings.is_attached() {
        return Ok(None);
    }
    match otlp::Options::from_environment(url) {
        Ok(options) => {
            for problem in options.iter().flat_map(otlp::Options::problems) {
                failures::add("settings ignored", problem);
            }
            Ok(options)
        }
        Err(error) if url.is_some() => Err(error.into()),
        Err(error) => {
            failures::add("settings ignored", error);
            Ok(None)
        }
    }
}

/// Notes the methods that have waited for spans, and the assemblies whose methods are not traced.
fn note_problems(instrumentation: &Instrumentation) {
    let (count, methods) = instrumentation.in_state(MethodState::Deferred, notes::NAMED_DEFERRED);
    let names = methods.into_iter().map(|method| method.name).collect();
    notes::set_deferred(count as u64, names);
    for problem in instrumentation.problems() {
        let (assembly, reason) = problem.split_once(": ").unwrap_or(("", &problem));
        notes::add(About::Refused, assembly, reason);
    }
}

/// Starts the thread that takes spans out of the rings of threads, and checks the budget.
fn drain(
    info: ProfilerInfo,
    mut budget: Option<Budget>,
    instrumentation: Arc<Instrumentation>,
) -> io::Result<()> {
    let run = move || {
        let (mut pause, mut passed, mut spans) = (OFTEN, Duration::ZERO, 0);
        threads::take_here();
        while !SPANS.is_closed() {
            let began = Instant::now();
            // A thread with many spans at once does not wait for the end of the pause.
            thread::park_timeout(pause);
            let drained = budget::charged(|| SPANS.drain());
            spans += drained;
            passed += began.elapsed();
            // A program that waits is not woken up for nothing.
            pause = match drained > FEW {
                true => OFTEN,
                false => (2 * pause).min(SELDOM),
            };
            let is_due = passed >= CHECK || spans > BURST;
            if let Some(budget) = budget.as_mut().filter(|_| is_due) {
                (passed, spans) = (Duration::ZERO, 0);
                let changed = budget.watch();
                let asked = keys::of(&changed.renewed);
                match instrumentation.renew(&asked) {
                    Ok(renewed) => keys::renew(&asked, renewed),
                    Err(error) => failures::add("failed", error),
                }
                match instrumentation.rejit() {
                    // An attached tracer has given methods their IL by ReJIT, and now asks for that of before.
                    Some(rejit) => rejit.request(keys::of(&changed.replaced)),
                    None => replace(&info, keys::renewed_of(&changed.replaced)),
                }
            }
        }
    };
    masks::spawning(|| thread::Builder::new().name("spans".to_owned()).spawn(run))?;
    Ok(())
}

/// Has the code of methods replaced that would stay otherwise. They are not inlined from then on, so that this is only for those that are
/// called too often even so, and whose code would no longer count.
fn replace(info: &ProfilerInfo, methods: Vec<(ModuleId, MethodDef)>) {
    for key in methods {
        // If it fails, as for modules that can be unloaded, the code keeps counting.
        let _ = info
            .initialize_current_thread()
            .and_then(|()| info.request_rejit(&[key]));
    }
}

/// Takes the spans periodically, and passes them to the trace and the collector.
fn report(
    info: ProfilerInfo,
    mut trace: TraceFile,
    summary: Option<Output>,
    exporter: Option<Exporter>,
    (samples, events): (Option<Arc<Samples>>, Vec<Arc<Events>>),
    settings: &Settings,
) -> Result<Report> {
    let settings = settings.clone();
    let mut told = None;
    let mut summary_after = Instant::now();
    let mut is_changed = false;
    let about = info.clone();
    let mut write = move |moment: Moment| {
        let ended = SPANS.take();
        if let Some(exporter) = &exporter {
            exporter.add(&ended);
            if moment != Moment::Meanwhile {
                exporter.finish();
            }
        }
        let sent = exporter.as_ref().map(Exporter::sent);
        let written = trace.write(&SPANS, &ended, moment, || summary::json(sent));
        // Spans beyond the limit of the trace are in the summary.
        let began = Instant::now();
        is_changed |= !matches!(written, Ok(false));
        let is_due = is_changed && began >= summary_after;
        match &summary {
            Some(summary)
                if moment == Moment::End
                    || summary.is_replaceable() && (is_due || moment != Moment::Meanwhile) =>
            {
                let text = summary::text(sent, &about.overhead());
                let replaced = summary.replace(|file| file.write_all(text.as_bytes()));
                summary_after = Instant::now() + SUMMARY * began.elapsed();
                replaced?;
                is_changed = false;
            }
            _ => {}
        }
        let omitted = summary::omitted(moment == Moment::End);
        if omitted != told
            && let Some(words) = &omitted
        {
            Session::say_so_far(&settings, words);
            told = omitted;
        }
        written.map(drop)
    };
    let report = Report::start(When::every(INTERVAL), move |moment| {
        let written = budget::charged(|| write(moment));
        // The price of profiles is none of spans.
        let samples = samples.as_ref();
        let sampled = samples.map_or(Ok(()), |samples| samples.write(moment));
        let profiles = events.iter().map(|events| events.write(&info, moment));
        // Each is written, also after one that cannot be.
        let profiles = profiles.fold(Ok(()), io::Result::and);
        written.and(sampled).and(profiles)
    });
    Ok(report?)
}
