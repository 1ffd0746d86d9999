//! Coverage: gives each line and each outcome of a branch a probe, which stores a byte into a file.

mod contexts;
// The mapping of files.
#[allow(unsafe_code)]
mod mapping;
mod modules;
mod vanish;

use std::collections::BTreeSet;
use std::sync::Arc;

use clr_profiler::il::pattern::{MethodPatterns, PatternError};
use clr_profiler::instrumentation::Instrumentation;
use clr_profiler::prelude::*;

use crate::coverage::ProbeKind;
use crate::report::{Session, Settings, Tool, failures, read_methods};

use contexts::Recorder;
use modules::Modules;

/// The profiler. Its files are read by [`coverage`](crate::coverage).
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct CoverageRecorder {
    modules: Arc<Modules>,
    /// Whether probes vanish.
    vanishes: bool,
    session: Session,
}

#[profiler(clsid = "3D5B5A9C-3C5E-4D0B-9B57-5F0C0E6A2D19")]
impl Profiler for CoverageRecorder {
    crate::start_as_tool!();

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        match self.vanishes {
            true => self.compiles(info, function, false),
            false => Ok(()),
        }
    }

    fn jit_inlining(
        &self,
        info: &ProfilerInfo,
        _caller: FunctionId,
        callee: FunctionId,
    ) -> Result<bool> {
        if self.vanishes {
            self.compiles(info, callee, true)?;
        }
        Ok(true)
    }

    fn module_unload_started(&self, _info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        self.modules.forget(module);
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        failures::tell();
        self.modules.say_unmatched();
        self.session.end();
        Ok(())
    }
}

/// Patterns for the lambdas, local functions and state machines in the assemblies of others. Those whose source methods are not
/// selected are left out later.
fn generated(patterns: &MethodPatterns) -> Result<MethodPatterns, PatternError> {
    let included = patterns.patterns().iter();
    let included = included.filter(|pattern| !pattern.is_exclusion());
    let generated = included.map(|pattern| match pattern.assembly() {
        Some(assembly) => format!("generated {assembly}!**\n"),
        None => "generated **\n".to_owned(),
    });
    let lines: BTreeSet<String> = generated.collect();
    MethodPatterns::parse(&lines.into_iter().collect::<String>())
}

impl CoverageRecorder {
    fn compiles(&self, info: &ProfilerInfo, function: FunctionId, is_copied: bool) -> Result<()> {
        // That of version 2 would allocate, for each inlining.
        let facts = info.function_info(function)?;
        let method = (facts.module, facts.token);
        self.modules.compiles(info, method, is_copied)
    }

    /// Has these methods be contexts. Without space for their file, coverage is measured without them.
    fn tell_apart(
        settings: &Settings,
        setup: &mut Setup,
        modules: &Arc<Modules>,
        patterns: Arc<MethodPatterns>,
    ) -> Result<Option<Arc<Recorder>>> {
        let recorder = match Recorder::start(modules) {
            Ok(recorder) => recorder,
            Err(error) => {
                let line = format!("the hits of tests are not told apart: {error}");
                Session::say(settings, line);
                return Ok(None);
            }
        };
        let generated = generated(&patterns).map_err(Error::other)?;
        let shared = Arc::clone(&recorder);
        setup.attach(contexts::instrumentation(patterns, generated, shared))?;
        Ok(Some(recorder))
    }
}

impl Tool for CoverageRecorder {
    fn build(info: &ProfilerInfo, setup: &mut Setup, settings: &Settings) -> Result<Self> {
        failures::watch("coverage", setup);
        // For an attached one this is done already.
        if settings.is_set("CLR_TOOL_STATUS") && !settings.is_attached() {
            let settings = settings.clone();
            failures::tell_to(move |line| Session::say(&settings, line.trim_end()));
        }
        let folder = settings.path("COVERAGE_FOLDER", ".");
        let folder = std::path::absolute(folder)?;
        let kind = match settings.is_set("COVERAGE_COUNTS") {
            true => ProbeKind::Count,
            false => ProbeKind::Hit,
        };
        let patterns = read_methods(settings, "COVERAGE_METHODS")?;
        let contexts = read_methods(settings, "COVERAGE_CONTEXTS")?;
        let modules = Arc::new(Modules::new(
            settings,
            folder,
            kind,
            patterns.clone(),
            contexts.is_some(),
        ));
        let patterns = match patterns {
            Some(patterns) => patterns,
            None => Arc::new("**".parse().map_err(Error::other)?),
        };
        let has_contexts = contexts.is_some();
        let of_compiler = generated(&patterns).map_err(Error::other)?;
        let instrumentation = Instrumentation::new()
            .at_first_use()
            .without_new_tokens()
            .without_locals()
            .choose({
                let modules = Arc::clone(&modules);
                move |info, module, selected| modules.choose(info, module, selected)
            })
            .choose_at_first_use(
                {
                    let modules = Arc::clone(&modules);
                    move |info, module| modules.choose_all(info, module)
                },
                {
                    let modules = Arc::clone(&modules);
                    move |module, method| modules.covers(module, method)
                },
            )
            .edit(patterns, {
                let modules = Arc::clone(&modules);
                move |body, cx| modules.insert(body, cx)
            })
            .edit(of_compiler, {
                let modules = Arc::clone(&modules);
                move |body, cx| {
                    // The patterns of the user may have selected it, too.
                    match body.has_insertions() {
                        true => Ok(()),
                        false => modules.insert(body, cx),
                    }
                }
            })
            .report_problems({
                let modules = Arc::clone(&modules);
                move |outcome| {
                    modules.refused(outcome);
                    if let Some(problem) = &outcome.problem {
                        failures::add("refused", format_args!("{}: {problem}", outcome.name));
                    }
                }
            });
        let instrumentation = setup.attach(instrumentation)?;
        // After that, so that a context begins before the first probe of its method.
        let recorder = match contexts {
            Some(patterns) => Self::tell_apart(settings, setup, &modules, patterns)?,
            None => None,
        };
        let measured = Arc::clone(&modules);
        let session = Session::start(settings, info, setup, move || {
            measured.say_unmatched();
            if let Some(recorder) = &recorder {
                recorder.stop();
            }
            if let Err(error) = instrumentation.remove() {
                failures::add("failed", error);
            }
            failures::tell();
        })?;
        Ok(Self {
            modules,
            // Methods that ReJIT has changed keep their probes.
            vanishes: kind == ProbeKind::Hit
                && !has_contexts
                && !settings.is_attached()
                && !settings.is_set("COVERAGE_KEEP_PROBES"),
            session,
        })
    }
}
