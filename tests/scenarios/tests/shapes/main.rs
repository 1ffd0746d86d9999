//! A program of methods of every shape, all of them rewritten as tools do it: it behaves as before.
//!
//! The runtime's settings of compilation are combined in pairs; with `SHAPES_FULL` set, in all ways,
//! and with and without inlining.
//!
//! The profilers rewrite every method of `Shapes` and `ShapesIL`, or of the assemblies that
//! `SHAPES_ASSEMBLIES` names, each as one kind of tool does.

/// A profiler that rewrites every method of the program when it is compiled, by `edit`;
/// `helper` is whether the code calls the helper assembly. The counts of the methods have to be
/// as `adds_up` requires.
macro_rules! rewrites_shapes {
    (
        $(#[doc = $doc:literal])*
        #[profiler($($class:tt)*)]
        impl Profiler for $name:ident, helper: $helper:literal, $edit:expr, adds_up: $adds_up:expr
    ) => {
        $(#[doc = $doc])*
        pub(crate) struct $name {
            census: super::census::Census,
            helper: Option<clr_profiler::rewrite::HelperAssembly>,
        }

        #[profiler($($class)*)]
        impl Profiler for $name {
            fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
                setup.on_failure(|failure| scenario_support::log::line(failure));
                Ok(Self {
                    census: super::census::Census::new(),
                    helper: $helper.then(super::helper).transpose()?,
                })
            }

            fn module_load_finished(
                &self,
                info: &ProfilerInfo,
                module: ModuleId,
                _: Hresult,
            ) -> Result<()> {
                match &self.helper {
                    Some(helper) if self.census.take(info, module)? => helper.load_into(info, module),
                    Some(_) => Ok(()),
                    None => self.census.take(info, module).map(drop),
                }
            }

            fn jit_inlining(
                &self,
                info: &ProfilerInfo,
                _caller: FunctionId,
                callee: FunctionId,
            ) -> Result<bool> {
                self.census.may_inline(info, callee)
            }

            fn jit_compilation_started(
                &self,
                info: &ProfilerInfo,
                function: FunctionId,
                _is_safe_to_block: bool,
            ) -> Result<()> {
                self.census.rewrite(info, function, |body, cx| {
                    if let Some(helper) = &self.helper {
                        cx.refer_to(helper)?;
                    }
                    $edit(body, cx)
                })
            }

            fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
                self.census.report();
                counts::report($adds_up);
                Ok(())
            }
        }
    };
}

mod census;
mod counts;
mod inspects;
mod logs;
mod rejits;
#[cfg(test)]
mod tests;
mod wraps;

use clr_profiler::il::symbol::MethodSymbol;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::HelperAssembly;

pub(crate) use inspects::InspectsShapes;
pub(crate) use logs::LogsShapes;
pub(crate) use rejits::RejitsShapes;
pub(crate) use wraps::WrapsShapes;

/// The helper assembly of the scenarios.
fn helper() -> Result<HelperAssembly> {
    HelperAssembly::open(variable("SHAPES_HELPER"))
}

/// A method of the helper's `Logger`.
fn logger(name: &str, signature: &str) -> MethodSymbol {
    MethodSymbol::new("[Helper]Logger", name, signature)
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}
