//! Shows the results of the methods of a .NET program.

mod native;
mod options;

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::symbol::MethodSymbol;
use clr_profiler::il::wrap::Wrap;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{HelperAssembly, ReentrancyGuard, RewriteContext};
use report::helper::LineWriter;
use report::{Report, Selection, When, failures, is_framework};

use options::Options;

/// The profiler.
struct ReturnInspector {
    options: Options,
    /// Without it, methods call this library directly.
    helper: Option<HelperAssembly>,
    /// Keeps the inspector from inspecting itself.
    guard: ReentrancyGuard,
    selection: Selection,
    /// Writes the lines of the inspector.
    writer: LineWriter,
    report: Report,
}

#[profiler(clsid = "A8656E35-9A04-449E-B8EA-C9B8FBA40D52")]
impl Profiler for ReturnInspector {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        failures::watch("return_inspector", setup);
        let options = Options::from_environment()?;
        if options.framework {
            // Most of the framework is precompiled: otherwise its methods would never be compiled
            // here, and never be rewritten.
            setup.add_events(EventMask::DISABLE_ALL_NGEN_IMAGES);
        }
        let helper = match options.native {
            true => None,
            false => Some(HelperAssembly::open(&options.helper)?),
        };
        Ok(Self {
            writer: native::start(info, &options)?,
            report: Report::start(When::default(), |_| Ok(()))?,
            options,
            helper,
            guard: ReentrancyGuard::new()?,
            selection: Selection::default(),
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
        if is_framework(&name) && !self.options.framework {
            return Ok(());
        }
        if let Some(helper) = &self.helper {
            if name == helper.props().name {
                self.writer.loaded(module);
                return Ok(());
            }
            helper.load_into(info, module)?;
        }
        self.selection.add(module);
        Ok(())
    }

    fn module_unload_started(&self, _info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        self.writer.unloaded(module);
        self.selection.remove(module);
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
        Ok(!self.is_inspected(&info.method(callee)?)?)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if self.writer.compiled(&method)? || !self.is_inspected(&method)? {
            return Ok(());
        }
        let rewritten = method.rewrite(|body, cx| match &self.helper {
            Some(helper) => self.inspect(body, cx, helper),
            None => native::inspect(body, cx),
        });
        if let Err(error) = rewritten {
            failures::add("refused", format_args!("{}: {error}", method.full_name()?));
        }
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.report.finish();
        Ok(())
    }
}

impl ReturnInspector {
    fn is_inspected(&self, method: &Method<'_>) -> Result<bool> {
        self.selection.has(method, |method| {
            let name = method.full_name()?;
            let filter = self.options.filter.as_ref();
            // The module's initialiser, which is in no type, loads the inspector.
            Ok(filter.is_none_or(|part| name.contains(part)) && !name.starts_with(".."))
        })
    }

    /// Passes the result to the helper as an object, whatever its type is.
    fn inspect(
        &self,
        body: &mut MethodBody,
        cx: &mut RewriteContext<'_>,
        helper: &HelperAssembly,
    ) -> Result<()> {
        let returned = cx.return_type()?;
        if returned.is_void() {
            return Ok(());
        }
        cx.refer_to(helper)?;
        let inspect = MethodSymbol::new("[Inspector]Inspector", "Inspect", "void (string, object)");
        let name = cx.full_name().to_owned();
        let boxed = cx.box_value(&returned)?;
        // The result is on the stack, which has to be empty at the guard.
        let kept = body.add_local(returned)?;
        let guarded = cx.guarded(body, &self.guard, |code| {
            code.ldstr(&name)
                .ldloc(kept)
                .append(&boxed.code)
                .call(&inspect);
        })?;
        let wrap = Wrap::new().replace_result(move |code, _, result| {
            code.ldloc(result)
                .stloc(kept)
                .append(&guarded)
                .ldloc(result);
        });
        body.wrap(&wrap, &cx.shape()?)?;
        Ok(())
    }
}

register!(ReturnInspector);
