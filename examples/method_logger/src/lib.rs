//! Has the methods of a .NET program call a logger, which is written in C#.

mod log;
mod options;

use std::collections::HashMap;
use std::sync::Mutex;

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::signature::TypeSig;
use clr_profiler::il::symbol::{FieldSymbol, MethodSymbol};
use clr_profiler::il::wrap::{Caught, Wrap};
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{HelperAssembly, NewField, NewType, ReentrancyGuard, RewriteContext};
use report::helper::LineWriter;
use report::{Report, Selection, When, failures, is_framework, lock};

use options::Options;

/// The profiler.
struct MethodLogger {
    options: Options,
    helper: HelperAssembly,
    /// Keeps the logger from logging itself.
    guard: ReentrancyGuard,
    /// The methods of the program; those of the framework are left alone.
    selection: Selection,
    /// The call counters of the modules.
    counters: Mutex<HashMap<ModuleId, FieldSymbol>>,
    /// Writes the lines of the logger.
    writer: LineWriter,
    report: Report,
}

#[profiler(clsid = "35E0EACF-08F5-44B3-95BA-8B9FC4E5F2FF")]
impl Profiler for MethodLogger {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        failures::watch("method_logger", setup);
        let options = Options::from_environment()?;
        Ok(Self {
            helper: HelperAssembly::open(&options.helper)?,
            writer: log::open(options.output.clone())?,
            report: Report::start(When::default(), |_| Ok(()))?,
            guard: ReentrancyGuard::new()?,
            selection: Selection::default(),
            counters: Mutex::default(),
            options,
        })
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _: Hresult,
    ) -> Result<()> {
        let Some(assembly) = info.module_info(module)?.assembly else {
            return Ok(());
        };
        let name = info.assembly_info(assembly)?.name;
        if name == self.helper.props().name {
            self.writer.loaded(module);
            return Ok(());
        }
        if is_framework(&name) {
            return Ok(());
        }
        match self.options.count.then(|| add_counter(info, module)) {
            // A module that the program builds at run time accepts no added types.
            Some(Err(error)) if error.is(Hresult::CORPROF_E_MODULE_IS_DYNAMIC) => {
                let il = &self.options.il;
                il.say(format_args!("calls of {name} are not counted: {error}\n"));
            }
            // A module without types, such as a resource module, has no methods either.
            Some(Err(error)) => {
                let il = &self.options.il;
                il.say(format_args!("{name} is left alone: {error}\n"));
                failures::add("refused", format_args!("{name}: {error}"));
                return Ok(());
            }
            Some(Ok(counter)) => {
                lock(&self.counters).insert(module, counter);
            }
            None => {}
        }
        self.helper.load_into(info, module)?;
        self.selection.add(module);
        Ok(())
    }

    fn module_unload_started(&self, _info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        self.writer.unloaded(module);
        self.selection.remove(module);
        lock(&self.counters).remove(&module);
        Ok(())
    }

    // Precompiled code cannot be rewritten, and contains inlined copies of the methods of its own assembly.
    fn jit_cached_function_search_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
    ) -> Result<bool> {
        Ok(!self.selection.may_be_copied_into(info, function)?)
    }

    // The inlined copy of a method has the IL of that moment, which may be the original one.
    fn jit_inlining(
        &self,
        info: &ProfilerInfo,
        _caller: FunctionId,
        callee: FunctionId,
    ) -> Result<bool> {
        Ok(!self.is_logged(&info.method(callee)?)?)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if self.writer.compiled(&method)? || !self.is_logged(&method)? {
            return Ok(());
        }
        let name = method.full_name()?;
        let counter = lock(&self.counters).get(&method.module()).cloned();
        match method.rewrite(|body, cx| self.edit(body, cx, counter.as_ref())) {
            Ok(rewritten) if rewritten.is_first() => {
                self.options.il.say(format_args!(
                    "{name}\nbefore:\n{}\nafter:\n{}\n",
                    shown(rewritten.before()),
                    shown(rewritten.after()),
                ));
            }
            Ok(_) => {}
            Err(error) => {
                let il = &self.options.il;
                il.say(format_args!("{name}\nrefused: {error}\n"));
                failures::add("refused", format_args!("{name}: {error}"));
            }
        }
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.report.finish();
        Ok(())
    }
}

impl MethodLogger {
    fn is_logged(&self, method: &Method<'_>) -> Result<bool> {
        self.selection.has(method, |method| {
            let name = method.full_name()?;
            let filter = self.options.filter.as_ref();
            // The module's initialiser, which is in no type, loads the logger.
            Ok(filter.is_none_or(|part| name.contains(part)) && !name.starts_with(".."))
        })
    }

    fn edit(
        &self,
        body: &mut MethodBody,
        cx: &mut RewriteContext<'_>,
        counter: Option<&FieldSymbol>,
    ) -> Result<()> {
        cx.refer_to(&self.helper)?;
        let name = cx.full_name().to_owned();
        let enter = MethodSymbol::new("[Logger]Logger", "Enter", "void (int32, string, object)");
        let leave = MethodSymbol::new("[Logger]Logger", "Leave", "void (string)");
        let mut wrap = Wrap::new();

        // The arguments of Enter: a constant or a count, the name, and the first argument.
        let mut arguments = Fragment::new();
        match counter {
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

/// Adds the type to a module, before any of its types is loaded.
fn add_counter(info: &ProfilerInfo, module: ModuleId) -> Result<FieldSymbol> {
    info.define_type(module, COUNTER, NewType::Static, |class| {
        class.field("Calls", "int32", NewField::Static)
    })
}

/// Code that increments the counter and leaves the new count.
fn next_count(calls: &FieldSymbol) -> Fragment {
    let mut code = Fragment::new();
    code.ldsfld(calls).ldc_i4(1).add().dup().stsfld(calls);
    code
}

fn shown<E: std::fmt::Display>(body: std::result::Result<MethodBody, E>) -> String {
    body.map_or_else(|error| error.to_string(), |body| body.to_string())
}
