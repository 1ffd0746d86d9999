//! Has the methods of a .NET program call a logger, which is written in C#.

mod log;
mod options;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::signature::TypeSig;
use clr_profiler::il::symbol::{FieldSymbol, MethodSymbol};
use clr_profiler::il::wrap::{Caught, Wrap};
use clr_profiler::instrumentation::{Instrumentation, MethodOutcome};
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{
    HelperAssembly, NewField, NewType, ReentrancyGuard, RewriteContext, Rewritten,
};
use report::helper::NativeMethods;
use report::{Report, When, failures, is_framework, lock};

use options::Options;

/// The profiler.
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct MethodLogger {
    helper: HelperAssembly,
    logging: Arc<Logging>,
    /// Writes the lines of the logger.
    writer: NativeMethods,
    report: Report,
}

/// How methods are changed.
struct Logging {
    options: Options,
    /// Keeps the logger from logging itself.
    guard: ReentrancyGuard,
    /// The call counters of the modules.
    counters: Mutex<HashMap<ModuleId, FieldSymbol>>,
}

#[profiler(clsid = "35E0EACF-08F5-44B3-95BA-8B9FC4E5F2FF")]
impl Profiler for MethodLogger {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        failures::watch("method_logger", setup);
        let options = Options::from_environment()?;
        let helper = HelperAssembly::open(&options.helper)?;
        let writer = log::open(options.output.clone())?;
        let methods = Arc::clone(&options.methods);
        let logging = Arc::new(Logging {
            options,
            guard: ReentrancyGuard::new()?,
            counters: Mutex::default(),
        });
        let (edits, tells) = (Arc::clone(&logging), Arc::clone(&logging));
        setup.attach(
            Instrumentation::new()
                .helper(&helper)
                .edit(methods, move |body, cx| edits.edit(body, cx))
                .report(move |outcome, rewritten| tells.tell(outcome, rewritten)),
        )?;
        Ok(Self {
            helper,
            logging,
            writer,
            report: Report::start(When::default(), {
                let info = info.clone();
                move |_| {
                    log::end(&info.overhead());
                    Ok(())
                }
            })?,
        })
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _: Hresult,
    ) -> Result<()> {
        match self.writer.find(info, module, Some(&self.helper))? {
            true => Ok(()),
            false => self.logging.add_counter(info, module),
        }
    }

    fn module_unload_started(&self, _info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        self.writer.unloaded(module);
        lock(&self.logging.counters).remove(&module);
        Ok(())
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        self.writer.compiled(&info.method(function)?)?;
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.report.finish();
        Ok(())
    }
}

impl Logging {
    /// Adds the type with the counter to a module of the program, before any of its types is loaded.
    fn add_counter(&self, info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        let assembly = info.module_info(module)?.assembly;
        let Some(assembly) = assembly.filter(|_| self.options.count) else {
            return Ok(());
        };
        let name = info.assembly_info(assembly)?.name;
        if is_framework(&name) {
            return Ok(());
        }
        let counter = info.define_type(module, COUNTER, NewType::Static, |class| {
            class.field("Calls", "int32", NewField::Static)
        });
        match counter {
            Ok(counter) => {
                lock(&self.counters).insert(module, counter);
            }
            // A module that the program builds at run time accepts no added types, nor does one without types.
            Err(error) => {
                let il = &self.options.il;
                il.say(format_args!("calls of {name} are not counted: {error}\n"));
                if !error.is(Hresult::CORPROF_E_MODULE_IS_DYNAMIC) {
                    failures::add("refused", format_args!("{name}: {error}"));
                }
            }
        }
        Ok(())
    }

    /// Lists the IL of a method, or why it was refused.
    fn tell(&self, outcome: &MethodOutcome, rewritten: Option<&Rewritten>) {
        let name = &outcome.name;
        if let Some(rewritten) = rewritten {
            self.options.il.say(format_args!(
                "{name}\nbefore:\n{}\nafter:\n{}\n",
                shown(rewritten.before()),
                shown(rewritten.after()),
            ));
        }
        if let Some(problem) = &outcome.problem {
            self.options
                .il
                .say(format_args!("{name}\nrefused: {problem}\n"));
            failures::add("refused", format_args!("{name}: {problem}"));
        }
    }

    fn edit(&self, body: &mut MethodBody, cx: &mut RewriteContext<'_>) -> Result<()> {
        let counter = lock(&self.counters).get(&cx.module()).cloned();
        let name = cx.full_name().to_owned();
        let enter = MethodSymbol::new("[Logger]Logger", "Enter", "void (int32, string, object)");
        let leave = MethodSymbol::new("[Logger]Logger", "Leave", "void (string)");
        let mut wrap = Wrap::new();

        // The arguments of Enter: a constant or a count, the name, and the first argument.
        let mut arguments = Fragment::new();
        match &counter {
            Some(calls) => arguments.append(&next_count(calls)),
            None => arguments.ldc_i4(-1),
        };
        arguments.ldstr(&name);
        let first = u16::from(cx.signature().has_this);
        match cx.signature().params.is_empty() {
            true => arguments.ldnull(),
            false => arguments.append(&cx.box_argument(first)?.code),
        };
        let entered = cx.guarded(body, &self.guard, |code| {
            code.append(&arguments).call(&enter);
        })?;
        let left = cx.guarded(body, &self.guard, |code| {
            code.ldstr(&name).call(&leave);
        })?;

        if self.options.time {
            let now = MethodSymbol::new("[Logger]Logger", "Now", "int64 ()");
            let took = MethodSymbol::new("[Logger]Logger", "Took", "void (string, int64)");
            let start = body.add_local(TypeSig::I8)?;
            let ended = cx.guarded(body, &self.guard, |code| {
                code.ldstr(&name).ldloc(start).call(&took);
            })?;
            wrap = wrap
                .before(move |code, _| {
                    code.append(&entered).call(&now).stloc(start);
                })
                .finally(move |code, _| {
                    code.append(&ended);
                });
        } else {
            wrap = wrap.before(move |code, _| {
                code.append(&entered);
            });
        }
        if self.options.swallow {
            let swallowed =
                MethodSymbol::new("[Logger]Logger", "Swallowed", "void (string, object)");
            wrap = wrap.on_exception(
                "[corelib]System.Exception",
                Caught::Swallow,
                move |code, _, exception| {
                    code.ldstr(&name).ldloc(exception).call(&swallowed);
                },
            );
        }
        wrap = wrap.finally(move |code, _| {
            code.append(&left);
        });
        body.wrap(&wrap, &cx.shape()?)?;
        Ok(())
    }
}

register!(MethodLogger);

/// The type with the call counter of a module.
const COUNTER: &str = "MethodLogger.Counter";

/// Code that increments the counter and leaves the new count.
fn next_count(calls: &FieldSymbol) -> Fragment {
    let mut code = Fragment::new();
    code.ldsfld(calls).ldc_i4(1).add().dup().stsfld(calls);
    code
}

fn shown<E: std::fmt::Display>(body: std::result::Result<MethodBody, E>) -> String {
    body.map_or_else(|error| error.to_string(), |body| body.to_string())
}
