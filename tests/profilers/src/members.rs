//! Add types and members to modules, and call them.

use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::signature::TypeSig;
use clr_profiler::il::symbol::{FieldSymbol, MethodSymbol};
use clr_profiler::prelude::*;
use clr_profiler::{NativeLibrary, NewField, NewType, TypeBuilder};

use crate::log;

/// What the program calls in this library.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn scenario_native_add(a: i32, b: i32) -> i32 {
    a + b
}

/// Adds types to the program and to the core library, members to a type of the program, and calls
/// them from methods of both.
pub(crate) struct AddsMembers;

#[profiler(clsid = crate::clsid("AddsMembers"))]
impl Profiler for AddsMembers {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        Ok(Self)
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _status: Hresult,
    ) -> Result<()> {
        let name = info.module_info(module)?.name;
        if name.ends_with("Members.dll") {
            add(info, module)?;
            log::line("added");
        }
        if name.ends_with("System.Private.CoreLib.dll") {
            let hit =
                info.define_type(module, "Injected.CoreCounter", NewType::Static, |class| {
                    counter(class)
                })?;
            log::line(format_args!("added {hit}"));
        }
        Ok(())
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        let code = match method.full_name()?.as_str() {
            "Members.Program.Answer()" => {
                let hit = MethodSymbol::new("Injected.Counter", "Hit", "void ()");
                let note = MethodSymbol::new("Injected.Counter", "Note", "void (string)");
                Fragment::new()
                    .call(&hit)
                    .ldstr("noted")
                    .call(&note)
                    .clone()
            }
            "Members.Program.Added()" => {
                let boxed = "Injected.Number";
                let new = MethodSymbol::new(boxed, ".ctor", "instance void (int)");
                let twice = MethodSymbol::new(boxed, "Twice", "instance int ()");
                Fragment::new()
                    .ldc_i4(21)
                    .newobj(&new)
                    .callvirt(&twice)
                    .ret()
                    .clone()
            }
            "Members.Program.Native(int, int)" => {
                let add = MethodSymbol::new("Injected.Native", "Add", "int (int, int)");
                Fragment::new().ldarg(0).ldarg(1).call(&add).ret().clone()
            }
            "Members.Program.Core()" => {
                let core = "[System.Private.CoreLib]Injected.CoreCounter";
                let hit = MethodSymbol::new(core, "Hit", "void ()");
                let hits = FieldSymbol::new(core, "Hits", "int");
                Fragment::new()
                    .ldc_i4(0)
                    .stsfld(&hits)
                    .call(&hit)
                    .ldsfld(&hits)
                    .ret()
                    .clone()
            }
            "Members.Plain.Value()" => {
                let calls = FieldSymbol::new("Members.Plain", "calls", "long");
                let count = MethodSymbol::new("Members.Plain", "Count", "instance void ()");
                Fragment::new()
                    .ldarg(0)
                    .ldarg(0)
                    .ldfld(&calls)
                    .ldc_i8(1)
                    .add()
                    .stfld(&calls)
                    .ldarg(0)
                    .call(&count)
                    .clone()
            }
            "System.Text.StringBuilder..ctor(int)" => {
                let hit = MethodSymbol::new("Injected.CoreCounter", "Hit", "void ()");
                Fragment::new().call(&hit).clone()
            }
            _ => return Ok(()),
        };
        method.rewrite(|body, cx| {
            body.prologue(&code)?;
            log::line(format_args!("calls from {}", cx.full_name()));
            Ok(())
        })?;
        Ok(())
    }
}

/// A counter and what counts it.
fn counter(class: &mut TypeBuilder<'_>) -> Result<MethodSymbol> {
    let hits = class.field("Hits", "int", NewField::Static)?;
    class.method("Hit", "void ()", |body, _| {
        body.append(
            Fragment::new()
                .ldsfld(&hits)
                .ldc_i4(1)
                .add()
                .stsfld(&hits)
                .ret(),
        )?;
        Ok(())
    })
}

fn add(info: &ProfilerInfo, module: ModuleId) -> Result<()> {
    let plain = info
        .module_metadata(module)?
        .find_type_def_by_name("Members.Plain", None)?;
    info.extend_type(module, plain, |class| {
        let calls = class.field("calls", "long", NewField::Instance)?;
        let all = class.field("all", "int", NewField::Static);
        log::line(format_args!(
            "static {}",
            all.err()
                .map_or_else(String::new, |error| error.to_string())
        ));
        class.method("Count", "instance void ()", |body, _| {
            body.append(
                Fragment::new()
                    .ldarg(0)
                    .ldarg(0)
                    .ldfld(&calls)
                    .ldc_i8(10)
                    .add()
                    .stfld(&calls)
                    .ret(),
            )?;
            Ok(())
        })
    })?;
    info.define_type(module, "Injected.Counter", NewType::Static, |class| {
        counter(class)?;
        let last = class.field("Last", "string", NewField::Static)?;
        class.method("Note", "void (string)", |body, cx| {
            let local = body.add_local(TypeSig::String)?;
            let concat = MethodSymbol::new(
                "[corelib]System.String",
                "Concat",
                "string (string, string)",
            );
            body.append(
                Fragment::new()
                    .ldarg(0)
                    .ldsfld(&last)
                    .call(&concat)
                    .stloc(local)
                    .ldloc(local)
                    .stsfld(&last)
                    .ret(),
            )?;
            log::line(format_args!("adding {}", cx.full_name()));
            Ok(())
        })?;
        let broken = class.method("Broken", "int ()", |body, _| {
            body.append(Fragment::new().ret())?;
            Ok(())
        });
        log::line(format_args!(
            "broken {}",
            broken
                .err()
                .map_or_else(String::new, |error| error.to_string())
        ));
        Ok(())
    })?;
    let pair = info.define_type(module, "Injected.Pair", NewType::Struct, |class| {
        Ok([
            class.field("First", "int", NewField::Instance)?,
            class.field("Second", "int", NewField::Instance)?,
        ])
    })?;
    info.define_type(module, "Injected.Number", NewType::Class, |class| {
        let held = class.field("held", "valuetype Injected.Pair", NewField::Instance)?;
        let base = MethodSymbol::new("object", ".ctor", "instance void ()");
        let [first, second] = &pair;
        class.method(".ctor", "instance void (int)", |body, _| {
            body.append(
                Fragment::new()
                    .ldarg(0)
                    .call(&base)
                    .ldarg(0)
                    .ldflda(&held)
                    .ldarg(1)
                    .stfld(first)
                    .ldarg(0)
                    .ldflda(&held)
                    .ldarg(1)
                    .stfld(second)
                    .ret(),
            )?;
            Ok(())
        })?;
        class.method("Twice", "instance int ()", |body, cx| {
            let pair = cx.type_sig("valuetype Injected.Pair")?;
            let local = body.add_local(pair)?;
            body.append(
                Fragment::new()
                    .ldarg(0)
                    .ldfld(&held)
                    .stloc(local)
                    .ldloc(local)
                    .ldfld(first)
                    .ldloc(local)
                    .ldfld(second)
                    .add()
                    .ret(),
            )?;
            Ok(())
        })
    })?;
    info.define_type(module, "Injected.Native", NewType::Static, |class| {
        class.native(
            "Add",
            "int (int, int)",
            NativeLibrary::Own,
            "scenario_native_add",
        )
    })?;
    let again = info.define_type(module, "Injected.Pair", NewType::Class, |_| Ok(()));
    log::line(format_args!(
        "again {}",
        again
            .err()
            .map_or_else(String::new, |error| error.to_string())
    ));
    Ok(())
}

/// Lets generic code use its own members and instances.
pub(crate) struct OwnInstances;

#[profiler(clsid = crate::clsid("OwnInstances"))]
impl Profiler for OwnInstances {
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
        if method.assembly_name()? != "Members" {
            return Ok(());
        }
        let said = MethodSymbol::new(
            "Members.Program",
            "Said",
            "void (valuetype [corelib]System.RuntimeMethodHandle, \
             valuetype [corelib]System.RuntimeTypeHandle)",
        );
        match method.name()?.as_str() {
            "Put" => method.rewrite(|body, cx| {
                let count = cx.own_field("count", "int")?;
                let last = cx.own_field("last", "!0")?;
                let this = cx.this_type()?;
                let (own, class) = (cx.own_token()?, cx.type_operand(&this)?);
                body.prologue(
                    Fragment::new()
                        .ldsfld(&count)
                        .ldc_i4(1)
                        .add()
                        .stsfld(&count)
                        .ldarg(0)
                        .ldarg(1)
                        .stfld(&last)
                        .ldtoken(own)
                        .ldtoken(class)
                        .call(&said),
                )?;
                Ok(())
            })?,
            "Echo" => method.rewrite(|body, cx| {
                let own = cx.own_token()?;
                let this = cx.this_type()?;
                let class = cx.type_operand(&this)?;
                let put = cx.own_method("Put", "instance string (!0, !!0)", &["int"])?;
                let list = "class [corelib]System.Collections.Generic.List`1<!!0>";
                let add = MethodSymbol::new(list, "Add", "instance void (!0)");
                let get = MethodSymbol::new(list, "get_Item", "instance !0 (int)");
                let new = MethodSymbol::new(list, ".ctor", "instance void ()");
                let local = body.add_local(cx.type_sig(list)?)?;
                let element = body.add_local(cx.type_sig("!!0")?)?;
                let mut code = Fragment::new();
                let deep = code.label();
                code.ldarg(1)
                    .brtrue(deep)
                    // Calls itself in the same instance, and gives what that gives, by way of a list.
                    .newobj(&new)
                    .stloc(local)
                    .ldloc(local)
                    .ldarg(0)
                    .ldc_i4(1)
                    .call((own, cx.signature()))
                    .callvirt(&add)
                    .ldloc(local)
                    .ldc_i4(0)
                    .callvirt(&get)
                    .stloc(element)
                    .ldtoken(own)
                    .ldtoken(class)
                    .call(&said)
                    .ldtoken(&put)
                    .pop()
                    .ldloc(element)
                    .starg(0)
                    .mark(deep);
                body.prologue(&code)?;
                Ok(())
            })?,
            "Get" => method.rewrite(|body, cx| {
                let calls = cx.own_field("calls", "int")?;
                body.prologue(
                    Fragment::new()
                        .ldarg(0)
                        .ldarg(0)
                        .ldfld(&calls)
                        .ldc_i4(1)
                        .add()
                        .stfld(&calls),
                )?;
                let held = cx.own_field("Held", "!1")?;
                let local = body.add_local(TypeSig::Var(1))?;
                body.before_ret(
                    Fragment::new()
                        .pop()
                        .ldarg(0)
                        .ldfld(&held)
                        .stloc(local)
                        .ldloc(local),
                )?;
                Ok(())
            })?,
            _ => return Ok(()),
        };
        Ok(())
    }
}
