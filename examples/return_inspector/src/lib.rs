//! Shows the results of the methods of a .NET program.

use std::sync::Arc;

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::symbol::MethodSymbol;
use clr_profiler::il::wrap::Wrap;
use clr_profiler::instrumentation::Instrumentation;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{HelperAssembly, ReentrancyGuard, RewriteContext};
use clr_profiler_tools::report::helper::NativeMethods;
use clr_profiler_tools::report::rewriting::{native_results, outcomes, overhead};
use clr_profiler_tools::report::{Output, Report, Settings, failures, methods_or_all};

/// The profiler.
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct ReturnInspector {
    report: Report,
}

#[profiler(clsid = "A8656E35-9A04-449E-B8EA-C9B8FBA40D52")]
impl Profiler for ReturnInspector {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        failures::watch("return_inspector", setup);
        let settings = Settings::from_environment();
        let methods = methods_or_all("RETURN_INSPECTOR_METHODS")?;
        let output = settings.path("RETURN_INSPECTOR_OUTPUT", "returns.txt");
        let output = Arc::new(Output::lines(output)?);
        let is_native = settings.is_set("RETURN_INSPECTOR_NATIVE");
        let mut instrumentation = Instrumentation::new().report(outcomes(None));
        if settings.is_set("RETURN_INSPECTOR_FRAMEWORK") {
            if !is_native {
                return Err(Error::other(
                    "--framework needs --native: the core library cannot call a helper assembly",
                ));
            }
            // Most of the framework is precompiled: otherwise its methods would be compiled one by one, when their
            // precompiled code is rejected.
            setup.add_events(EventMask::DISABLE_ALL_NGEN_IMAGES);
            instrumentation = instrumentation.framework();
        }
        instrumentation = match is_native {
            // Methods call this library directly.
            true => instrumentation.edit(methods, native_results(info, &output)?),
            false => {
                // Next to this source, unless the profiler was moved.
                let helper = concat!(env!("CARGO_MANIFEST_DIR"), "/helper/Inspector.dll");
                let helper = settings.path("RETURN_INSPECTOR_HELPER", helper);
                let helper = HelperAssembly::open(helper)?;
                // SAFETY: the inspector pins a string, and passes its address and its length.
                setup.attach(unsafe { NativeMethods::lines(&helper, &output) })?;
                // Keeps the inspector from inspecting itself.
                let guard = ReentrancyGuard::new()?;
                let instrumentation = instrumentation.helper(&helper);
                instrumentation.edit(methods, move |body, cx| inspect(body, cx, &guard))
            }
        };
        setup.attach(instrumentation)?;
        let report = overhead(info, &output)?;
        Ok(Self { report })
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
