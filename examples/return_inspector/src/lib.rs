//! Shows the results of the methods of a .NET program.

mod native;
mod options;

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::symbol::MethodSymbol;
use clr_profiler::il::wrap::Wrap;
use clr_profiler::instrumentation::Instrumentation;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{HelperAssembly, ReentrancyGuard, RewriteContext};
use report::helper::NativeMethods;
use report::{Report, When, failures};

use options::Options;

/// The profiler.
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct ReturnInspector {
    helper: Option<HelperAssembly>,
    /// Writes the lines of the inspector.
    writer: NativeMethods,
    report: Report,
}

#[profiler(clsid = "A8656E35-9A04-449E-B8EA-C9B8FBA40D52")]
impl Profiler for ReturnInspector {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        failures::watch("return_inspector", setup);
        let options = Options::from_environment()?;
        // Without it, methods call this library directly.
        let helper = match options.native {
            true => None,
            false => Some(HelperAssembly::open(&options.helper)?),
        };
        let writer = native::start(info, &options)?;
        let mut instrumentation = Instrumentation::new().report(|outcome, _| {
            if let Some(problem) = &outcome.problem {
                failures::add("refused", format_args!("{}: {problem}", outcome.name));
            }
        });
        if options.framework {
            // Most of the framework is precompiled: otherwise its methods would be compiled one by one, when their
            // precompiled code is rejected.
            setup.add_events(EventMask::DISABLE_ALL_NGEN_IMAGES);
            instrumentation = instrumentation.framework();
        }
        let methods = options.methods;
        instrumentation = match helper.clone() {
            None => instrumentation.edit(methods, native::inspect),
            Some(helper) => {
                // Keeps the inspector from inspecting itself.
                let guard = ReentrancyGuard::new()?;
                let instrumentation = instrumentation.helper(&helper);
                instrumentation.edit(methods, move |body, cx| inspect(body, cx, &guard))
            }
        };
        setup.attach(instrumentation)?;
        Ok(Self {
            helper,
            writer,
            report: Report::start(When::default(), {
                let info = info.clone();
                move |_| {
                    native::end(&info.overhead());
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
        self.writer.find(info, module, self.helper.as_ref())?;
        Ok(())
    }

    fn module_unload_started(&self, _info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        self.writer.unloaded(module);
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

/// Passes the result to the helper as an object, whatever its type is.
fn inspect(
    body: &mut MethodBody,
    cx: &mut RewriteContext<'_>,
    guard: &ReentrancyGuard,
) -> Result<()> {
    let returned = cx.return_type()?;
    if returned.is_void() {
        return Ok(());
    }
    let inspect = MethodSymbol::new("[Inspector]Inspector", "Inspect", "void (string, object)");
    let name = cx.full_name().to_owned();
    let boxed = cx.box_value(&returned)?;
    // The result is on the stack, which has to be empty at the guard.
    let kept = body.add_local(returned)?;
    let guarded = cx.guarded(body, guard, |code| {
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

register!(ReturnInspector);
