//! Rewritten IL of a running program: the program's behaviour, and the refusals.

mod again;
#[cfg(test)]
mod tests;

use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::symbol::{FieldSymbol, MethodSymbol};
use clr_profiler::il::wrap::{Caught, Wrap};
use clr_profiler::prelude::*;
use clr_profiler::rewrite::RewriteError;
use scenario_support::{clsid, log};

pub(crate) use again::RewritesAgain;

/// Inserts code into `Rewrites.Program.Answer` that writes fields and calls methods, of the program
/// and of the framework.
pub(crate) struct Announces;

#[profiler(clsid = clsid("Announces"))]
impl Profiler for Announces {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.full_name()? != "Rewrites.Program.Answer()" {
            return Ok(());
        }
        let program = "Rewrites.Program";
        let calls = FieldSymbol::new(program, "Calls", "int");
        let remember = MethodSymbol::new("[Rewrites]Rewrites.Program", "Remember", "void (string)");
        let write = MethodSymbol::new(
            "[System.Console]System.Console",
            "WriteLine",
            "void (string)",
        );
        // The program refers neither to the type nor to its members.
        let builder = "[corelib]System.Text.StringBuilder";
        let new = MethodSymbol::new(builder, ".ctor", "instance void (string)");
        let append = MethodSymbol::new(
            builder,
            "Append",
            "instance class [System.Runtime]System.Text.StringBuilder (char, int32)",
        );
        let text = MethodSymbol::new("object", "ToString", "instance string ()");
        let mut empty = MethodSymbol::new("[corelib]System.Array", "Empty", "!!0[] ()");
        empty
            .type_arguments
            .push("valuetype [corelib]System.DateTime".into());
        let list = "class [System.Collections]System.Collections.Generic.List`1<string>";
        let new_list = MethodSymbol::new(list, ".ctor", "instance void ()");
        let count = MethodSymbol::new(list, "get_Count", "instance int32 ()");
        let rewritten = method.rewrite(|body, cx| {
            log::line(format_args!("editing {}", cx.full_name()));
            // A facade that the program neither refers to nor has loaded.
            cx.assume_loadable("System.Collections")?;
            let builder = cx.type_sig("class [corelib]System.Text.StringBuilder")?;
            let local = body.add_local(builder)?;
            body.prologue(
                Fragment::new()
                    .ldstr("from the profiler: \u{e4}\u{1F600}")
                    .call(&write)
                    .ldstr("remembered")
                    .call(&remember)
                    .ldstr("built ")
                    .newobj(&new)
                    .stloc(local)
                    .ldloc(local)
                    .ldc_i4(i32::from(b'!'))
                    .ldc_i4(3)
                    .callvirt(&append)
                    .callvirt(&text)
                    .call(&write)
                    .call(&empty)
                    .ldlen()
                    .conv_i4()
                    .newobj(&new_list)
                    .call(&count)
                    .add()
                    .ldsfld(&calls)
                    .add()
                    .ldc_i4(10)
                    .add()
                    .stsfld(&calls),
            )?;
            Ok(())
        })?;
        let text = |body: std::result::Result<clr_profiler::il::body::MethodBody, _>| {
            body.map_or_else(|error| format!("{error}"), |body| body.to_string())
        };
        log::line(format_args!("before\n{}", text(rewritten.before())));
        log::line(format_args!("after\n{}", text(rewritten.after())));
        let names = method.il_names()?;
        let named = |body: std::result::Result<clr_profiler::il::body::MethodBody, _>| {
            body.map_or_else(|error| format!("{error}"), |body| body.named(&names).to_string())
        };
        log::line(format_args!("named before\n{}", named(rewritten.before())));
        let names = method.il_names()?.without_lines();
        let named = |body: std::result::Result<clr_profiler::il::body::MethodBody, _>| {
            body.map_or_else(|error| format!("{error}"), |body| body.named(&names).to_string())
        };
        log::line(format_args!("named after\n{}", named(rewritten.after())));
        let same = method.il_body()? == rewritten.after_bytes();
        log::line(format_args!("the runtime has it {same}"));
        let again = method.rewrite(|_, _| Err(Error::other("asked twice")))?;
        let equal = again.after_bytes() == rewritten.after_bytes();
        log::line(format_args!("again {} {equal}", again.is_first()));
        Ok(())
    }
}

/// Wraps all methods of the program in code without effect; with `WRAP=everything`, those of
/// the framework, too.
pub(crate) struct WrapsAll {
    everything: bool,
}

#[profiler(clsid = clsid("WrapsAll"))]
impl Profiler for WrapsAll {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let wrap = std::env::var_os("WRAP");
        Ok(Self {
            everything: wrap.is_some_and(|wrap| wrap == "everything"),
        })
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if !self.everything && method.assembly_name()? != "Rewrites" {
            return Ok(());
        }
        log::line(format_args!("compiling {}", method.full_name()?));
        let neutral = |local: u16| {
            let mut code = Fragment::new();
            code.nop().ldloc(local).ldc_i4(1).add().stloc(local);
            code
        };
        let wrap = Wrap::new()
            .local(clr_profiler::il::signature::TypeSig::I4)
            .before(move |code, cx| {
                code.append(&neutral(cx.local(0)));
            })
            .on_return(move |code, cx| {
                code.append(&neutral(cx.local(0)));
            })
            .on_exception(
                "[corelib]System.Exception",
                Caught::Rethrow,
                move |code, cx, _| {
                    code.append(&neutral(cx.local(0)));
                },
            )
            .finally(move |code, cx| {
                code.append(&neutral(cx.local(0)));
            });
        let rewritten = method.rewrite(|body, cx| {
            log::line(format_args!("editing {}", cx.full_name()));
            body.wrap(&wrap, &cx.shape()?)?;
            Ok(())
        })?;
        log::line(format_args!(
            "{} {}",
            if rewritten.is_first() {
                "wrapped"
            } else {
                "found wrapped"
            },
            method.props()?.name,
        ));
        Ok(())
    }
}

/// Changes the result of `Rewrites.Program.Answer`.
pub(crate) struct Changes;

#[profiler(clsid = clsid("Changes"))]
impl Profiler for Changes {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.full_name()? == "Rewrites.Program.Answer()" {
            let wrap = Wrap::new().replace_result(|code, _, result| {
                code.ldloc(result).ldc_i4(1).add();
            });
            method.rewrite(|body, cx| {
                body.wrap(&wrap, &cx.shape()?)?;
                Ok(())
            })?;
        }
        Ok(())
    }
}

/// Changes a method of a module that is loaded and unloaded again and again.
pub(crate) struct ChangesEach;

#[profiler(clsid = clsid("ChangesEach"))]
impl Profiler for ChangesEach {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.full_name()? != "Unloads.Program.Answer()" {
            return Ok(());
        }
        let write = MethodSymbol::new(
            "[System.Console]System.Console",
            "WriteLine",
            "void (string)",
        );
        method.rewrite(|body, cx| {
            // The handle shows for how many modules something is remembered.
            log::line(format_args!("{:?}", cx.info()));
            let local = body.add_local(clr_profiler::il::signature::TypeSig::I8)?;
            body.prologue(
                Fragment::new()
                    .ldstr("asked")
                    .call(&write)
                    .ldc_i8(0)
                    .stloc(local),
            )?;
            body.before_ret(Fragment::new().ldc_i4(1).add())?;
            Ok(())
        })?;
        Ok(())
    }
}

/// Tries edits that must be refused.
pub(crate) struct Breaks;

#[profiler(clsid = clsid("Breaks"))]
impl Profiler for Breaks {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.assembly_name()? != "Rewrites" {
            return Ok(());
        }
        let name = method.name()?;
        // The last one, when all types are loaded.
        if name == "Pointer" {
            return without_il(info, method.module());
        }
        let edit = match name.as_str() {
            "Answer" => {
                // Pops a value from an empty stack.
                |body: &mut clr_profiler::il::body::MethodBody| {
                    body.prologue(Fragment::new().pop()).map_err(Error::from)
                }
            }
            "Shared" => |body: &mut clr_profiler::il::body::MethodBody| {
                let missing = MethodSymbol::new("Rewrites.Program", "Missing", "void ()");
                body.prologue(Fragment::new().call(&missing))
                    .map_err(Error::from)
            },
            "Largest" => |body: &mut clr_profiler::il::body::MethodBody| {
                let missing = MethodSymbol::new("[corelib]System.Gone", "Missing", "void ()");
                body.prologue(Fragment::new().call(&missing))
                    .map_err(Error::from)
            },
            "Catch" => |body: &mut clr_profiler::il::body::MethodBody| {
                let wrong = MethodSymbol::new("[corelib]System.GC", "KeepAlive", "void (string)");
                body.prologue(Fragment::new().ldnull().call(&wrong))
                    .map_err(Error::from)
            },
            "Switch" => |_: &mut clr_profiler::il::body::MethodBody| Err(Error::other("no wish")),
            "Throw" => |_: &mut clr_profiler::il::body::MethodBody| panic!("on purpose"),
            _ => return Ok(()),
        };
        let mut edits = 0;
        let first = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            method.rewrite(|body, _| {
                edits += 1;
                edit(body)
            })
        }));
        if let Ok(Err(error)) = &first {
            log::line(error);
            if let Some(listing) = RewriteError::of(error).and_then(RewriteError::listing) {
                log::line(format_args!("listing\n{listing}"));
            }
        }
        let again = method.rewrite(|_, _| {
            edits += 1;
            Ok(())
        });
        let remembered = match (&first, &again) {
            (Ok(Err(first)), Err(again)) => first.to_string() == again.to_string(),
            (Err(_), Err(again)) => again.to_string().contains("panicked"),
            _ => false,
        };
        log::line(format_args!(
            "{} edits {edits}, remembered {remembered}",
            method.name()?
        ));
        Ok(())
    }
}

/// Tries to rewrite methods without IL.
fn without_il(info: &ProfilerInfo, module: ModuleId) -> Result<()> {
    let metadata = info.module_metadata(module)?;
    for row in 1.. {
        let Some(token) = MethodDef::from_row(row) else {
            break;
        };
        let Ok(props) = metadata.method_props(token) else {
            break;
        };
        if !["Native", "Internal", "None", "Invoke"].contains(&props.name.as_str()) {
            continue;
        }
        let function = info.function_from_token(module, token)?;
        let rewritten = info.method(function)?.rewrite(|_, _| {
            log::line("edited a missing body");
            Ok(())
        });
        match rewritten {
            Ok(_) => log::line("rewritten"),
            Err(error) => {
                log::line(&error);
                let reason = RewriteError::of(&error).and_then(RewriteError::reason);
                log::line(format_args!("{} {reason:?}", props.name));
            }
        }
    }
    Ok(())
}
