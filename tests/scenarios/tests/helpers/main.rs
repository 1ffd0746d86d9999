//! Rewritten code calls managed code of a helper assembly.

#[cfg(test)]
mod faults;
#[cfg(test)]
mod tests;

use std::sync::OnceLock;

use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::symbol::{FieldSymbol, MethodSymbol};
use clr_profiler::il::wrap::Wrap;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{HelperAssembly, ReentrancyGuard};
use scenario_support::{clsid, log};

/// Makes all methods of the program call the helper, as the guide shows it; `HELPED` may break that.
pub(crate) struct HelpsAll {
    helper: HelperAssembly,
}

#[profiler(clsid = clsid("HelpsAll"))]
impl Profiler for HelpsAll {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let helper = HelperAssembly::open(variable("HELPER"))?;
        setup.attach(helper.loader(|info, module| {
            let is_program = info.module_info(module)?.name.ends_with("Helped.dll");
            Ok(is_program && variable("HELPED") != "forgets")
        }))?;
        Ok(Self { helper })
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.assembly_name()? != "Helped" {
            return Ok(());
        }
        let owner = match variable("HELPED").as_str() {
            "typo" => "[Helpr]Logger",
            _ => "[Helper]Logger",
        };
        let enter = MethodSymbol::new(owner, "Enter", "void (string)");
        method.rewrite(|body, cx| {
            cx.refer_to(&self.helper)?;
            body.prologue(Fragment::new().ldstr(cx.full_name()).call(&enter))?;
            Ok(())
        })?;
        Ok(())
    }
}

/// The mode that `HELPED` selects.
#[derive(Clone, Copy, PartialEq)]
enum Watch {
    /// Calls of `Outer` and `Inner`.
    Calls,
    /// Arguments of `Take`, which the helper prints by a method of the program that is instrumented, too.
    Arguments,
}

/// Finds the helper in the way that `HELPER_WAY` names, and makes the program's methods call it.
pub(crate) struct Helped {
    watch: Watch,
    helper: OnceLock<HelperAssembly>,
    guard: ReentrancyGuard,
}

fn variable(name: &str) -> String {
    std::env::var(name).unwrap_or_default()
}

#[profiler(clsid = clsid("Helped"))]
impl Profiler for Helped {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self {
            watch: if variable("HELPED").is_empty() {
                Watch::Calls
            } else {
                Watch::Arguments
            },
            helper: OnceLock::new(),
            guard: match variable("HELPED").as_str() {
                "field" => {
                    ReentrancyGuard::in_field(FieldSymbol::new("[Helper]Logger", "Inside", "int"))
                }
                _ => ReentrancyGuard::new()?,
            },
        })
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _: Hresult,
    ) -> Result<()> {
        let path = info.module_info(module)?.name;
        if !path.ends_with("Helped.dll") {
            return Ok(());
        }
        let helper = match variable("HELPER_WAY").as_str() {
            "load" => {
                let helper = HelperAssembly::open(variable("HELPER"))?;
                // The second time, the module has an initialiser already.
                helper.load_into(info, module)?;
                helper
            }
            "hook" => HelperAssembly::startup_hook("Helper")?,
            _ => HelperAssembly::next_to(&path, "Helper")?,
        };
        helper.load_into(info, module)?;
        let version = &helper.props().version;
        log::line(format_args!(
            "helper {} {}.{}.{}.{} key {}",
            helper.props().name,
            version.major,
            version.minor,
            version.build,
            version.revision,
            helper.props().public_key.len(),
        ));
        let _ = self.helper.set(helper);
        Ok(())
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let Some(helper) = self.helper.get() else {
            return Ok(());
        };
        let method = info.method(function)?;
        if method.assembly_name()? != "Helped" {
            return Ok(());
        }
        let name = method.name()?;
        match (self.watch, name.as_str()) {
            (_, "Main") => {
                log::line(format_args!(
                    "at Main loaded {}",
                    helper.check(info).is_ok()
                ));
            }
            (Watch::Calls, "Outer" | "Inner") => {
                let enter = MethodSymbol::new("[Helper]Logger", "Enter", "void (string)");
                let leave = MethodSymbol::new("[Helper]Logger", "Leave", "void (string)");
                let text = name.clone();
                let wrap = Wrap::new()
                    .before(move |code, _| {
                        code.ldstr(&name).call(&enter);
                    })
                    .finally(move |code, _| {
                        code.ldstr(&text).call(&leave);
                    });
                method.rewrite(|body, cx| {
                    cx.refer_to(helper)?;
                    body.wrap(&wrap, &cx.shape()?)?;
                    Ok(())
                })?;
            }
            (Watch::Arguments, "Take" | "ToString") => {
                let saw = MethodSymbol::new("[Helper]Logger", "Saw", "void (object)");
                method.rewrite(|body, cx| {
                    cx.refer_to(helper)?;
                    let mut code = Fragment::new();
                    code.ldarg(0).call(&saw);
                    let code = cx.guarded(body, &self.guard, |guarded| {
                        guarded.append(&code);
                    })?;
                    body.prologue(&code)?;
                    Ok(())
                })?;
            }
            _ => {}
        }
        Ok(())
    }
}
