//! Has the methods of a .NET program call a logger, which is written in C#.

use std::sync::Arc;

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::signature::TypeSig;
use clr_profiler::il::symbol::MethodSymbol;
use clr_profiler::il::wrap::{Caught, Wrap};
use clr_profiler::instrumentation::Instrumentation;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{HelperAssembly, ReentrancyGuard, RewriteContext};
use clr_profiler_tools::report::helper::NativeMethods;
use clr_profiler_tools::report::rewriting::{ModuleCounters, outcomes, overhead};
use clr_profiler_tools::report::{Output, Report, Settings, failures, methods_or_all};

/// The profiler.
#[expect(
    missing_debug_implementations,
    reason = "public to be composed with others"
)]
pub struct MethodLogger {
    report: Report,
}

#[profiler(clsid = "35E0EACF-08F5-44B3-95BA-8B9FC4E5F2FF")]
impl Profiler for MethodLogger {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        failures::watch("method_logger", setup);
        let settings = Settings::from_environment();
        let methods = methods_or_all("METHOD_LOGGER_METHODS")?;
        // Next to this source, unless the profiler was moved.
        let helper = concat!(env!("CARGO_MANIFEST_DIR"), "/helper/Logger.dll");
        let helper = HelperAssembly::open(settings.path("METHOD_LOGGER_HELPER", helper))?;
        let output = Output::lines(settings.path("METHOD_LOGGER_OUTPUT", "calls.txt"))?;
        let output = Arc::new(output);
        let il = settings
            .get("METHOD_LOGGER_IL")
            .map(|path| Output::lines(path.into()));
        let il = il.transpose()?.map(Arc::new);
        // SAFETY: the logger pins a string, and passes its address and its length.
        setup.attach(unsafe { NativeMethods::lines(&helper, &output) })?;
        let counters = ModuleCounters::new("MethodLogger.Counter", &helper, il.clone());
        let is_counting = settings.is_set("METHOD_LOGGER_COUNT");
        let counters = is_counting.then(|| setup.attach(counters)).transpose()?;
        let logging = Logging::new(&settings, counters)?;
        setup.attach(
            Instrumentation::new()
                .helper(&helper)
                .edit(methods, move |body, cx| logging.edit(body, cx))
                .report(outcomes(il)),
        )?;
        Ok(Self {
            report: overhead(info, &output)?,
        })
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        self.report.finish();
        Ok(())
    }
}

register!(MethodLogger);

/// The code around a method.
struct Logging {
    /// Keeps the logger from logging itself.
    guard: ReentrancyGuard,
    counters: Option<Arc<ModuleCounters>>,
    time: bool,
    swallow: bool,
}

fn logger(method: &str, signature: &str) -> MethodSymbol {
    MethodSymbol::new("[Logger]Logger", method, signature)
}

impl Logging {
    fn new(settings: &Settings, counters: Option<Arc<ModuleCounters>>) -> Result<Self> {
        Ok(Self {
            guard: ReentrancyGuard::new()?,
            counters,
            time: settings.is_set("METHOD_LOGGER_TIME"),
            swallow: settings.is_set("METHOD_LOGGER_SWALLOW"),
        })
    }

    /// Calls `Enter` before the code, and `Leave` after it, however it ends.
    fn edit(&self, body: &mut MethodBody, cx: &mut RewriteContext<'_>) -> Result<()> {
        let name = cx.full_name().to_owned();
        let arguments = self.arguments(cx, &name)?;
        let enter = cx.guarded(body, &self.guard, |code| {
            code.append(&arguments)
                .call(logger("Enter", "void (int32, string, object)"));
        })?;
        let leave = cx.guarded(body, &self.guard, |code| {
            code.ldstr(&name).call(logger("Leave", "void (string)"));
        })?;
        let mut wrap = Wrap::new().before(move |code, _| {
            code.append(&enter);
        });
        if self.time {
            let start = body.add_local(TypeSig::I8)?;
            let took = cx.guarded(body, &self.guard, |code| {
                code.ldstr(&name)
                    .ldloc(start)
                    .call(logger("Took", "void (string, int64)"));
            })?;
            wrap = wrap
                .before(move |code, _| {
                    code.call(logger("Now", "int64 ()")).stloc(start);
                })
                .finally(move |code, _| {
                    code.append(&took);
                });
        }
        if self.swallow {
            let exception = "[corelib]System.Exception";
            wrap = wrap.on_exception(exception, Caught::Swallow, move |code, _, exception| {
                code.ldstr(&name)
                    .ldloc(exception)
                    .call(logger("Swallowed", "void (string, object)"));
            });
        }
        wrap = wrap.finally(move |code, _| {
            code.append(&leave);
        });
        body.wrap(&wrap, &cx.shape()?)?;
        Ok(())
    }

    /// The arguments of `Enter`: the number of the call, the name, and the method's first argument.
    fn arguments(&self, cx: &mut RewriteContext<'_>, name: &str) -> Result<Fragment> {
        let mut code = Fragment::new();
        let counters = self.counters.as_ref();
        match counters.and_then(|counters| counters.of(cx.module())) {
            Some(calls) => code.ldsfld(&calls).ldc_i4(1).add().dup().stsfld(&calls),
            None => code.ldc_i4(-1),
        };
        code.ldstr(name);
        match cx.signature().params.is_empty() {
            true => code.ldnull(),
            false => code.append(&cx.box_argument(u16::from(cx.signature().has_this))?.code),
        };
        Ok(code)
    }
}
