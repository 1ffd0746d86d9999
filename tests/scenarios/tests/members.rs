//! Types and members that a profiler adds, and generic code that uses its own instances.

use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::signature::TypeSig;
use clr_profiler::il::symbol::{FieldSymbol, MethodSymbol};
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{NativeLibrary, NewField, NewType, TypeBuilder};
use scenario_support::{clsid, log};

/// The function of this library that the program calls.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn scenario_native_add(a: i32, b: i32) -> i32 {
    a + b
}

/// Adds types to the program and to the core library, members to a type of the program, and calls
/// them from methods of both.
pub(crate) struct AddsMembers;

#[profiler(clsid = clsid("AddsMembers"))]
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

/// A counter and the method that increments it.
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

#[profiler(clsid = clsid("OwnInstances"))]
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
                    // Calls itself in the same instance, and returns its result, through a list.
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

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::{AddsMembers, OwnInstances};

    const PLAIN: &str = "answers 41 41 41
hits no type, last no type
added 0
native 0
plain 33 no field no field
core no type
from here 0
a/1 b/c 0 
1/x 0 0
echo e 5 o
nested 44 0
nested h 0
";

    #[test]
    fn a_program_calls_and_reads_what_was_added() {
        let scenario = Scenario::new("Members")
            // The core library is precompiled, and would not be rewritten.
            .env("COMPlus_ReadyToRun", "0")
            .env("DOTNET_ReadyToRun", "0")
            .profiled_by::<AddsMembers>();
        scenario.compare(|plain, profiled| {
        assert_eq!(plain.stdout, PLAIN);
        let hits = "hits Int32 3, last String notednotednoted\n";
        let expected = PLAIN
            .replace("hits no type, last no type\n", hits)
            .replace("added 0", "added 42")
            .replace("native 0", "native 23")
            .replace("plain 33 no field no field", "plain 33 Int64 22 no field")
            .replace("from here 0", "from here 1");
        // The program creates one builder; the number of its framework is not fixed.
        let core = profiled.stdout.lines().find(|line| line.starts_with("core "));
        let core = core.unwrap_or_default();
        let expected = expected.replace("core no type", core);
        assert_eq!(profiled.stdout, expected, "{}{}", profiled.stderr, profiled.log);
        let hits = core.strip_prefix("core Int32 ").and_then(|hits| hits.parse().ok());
        assert!(hits.is_some_and(|hits: u32| hits >= 1), "{core} {}", profiled.log);
        assert_eq!(profiled.status.code(), Some(6));
        for line in [
            "added",
            "added void Injected.CoreCounter::Hit()",
            "adding Injected.Counter.Note(string)",
            "calls from System.Text.StringBuilder..ctor(int)",
            "static the static field all was not added: it must be one of a new type",
            "again the module has a type Injected.Pair",
            "broken int Injected.Counter::Broken() was not added: IL_0000: 1 values are taken from a \
             stack of 0",
        ] {
            assert!(profiled.logged(line), "{line}\n{}", profiled.log);
        }
        assert!(!profiled.log.contains("failed"), "{}", profiled.log);
    });
    }

    #[test]
    fn generic_code_names_its_own_instances() {
        let scenario = Scenario::new("Members").profiled_by::<OwnInstances>();
        scenario.compare(|_, profiled| {
            let put = |class: &str, with: &str, item: &str| {
                let short = with.trim_start_matches("System.");
                format!("said Members.Box`1[{class}] System.String Put[{short}]({item}, {with})\n")
            };
            let echo = |class: &str, value: &str| {
                let short = value.trim_start_matches("System.");
                format!("said Members.Box`1[{class}] {value} Echo[{short}]({value}, Int32)\n")
            };
            let expected = PLAIN
                .replace(
                    "a/1 b/c 0 \n",
                    &(put("System.String", "Int32", "System.String")
                        + &put("System.String", "System.String", "System.String")
                        + "a/1 b/c 2 b\n"),
                )
                .replace(
                    "1/x 0 0\n",
                    &(put("System.Int32", "Char", "Int32") + "1/x 1 1\n"),
                )
                .replace(
                    "echo",
                    &(echo("System.String", "System.String")
                        + &echo("System.Int32", "Int32")
                        + &echo("System.Object", "System.String")
                        + "echo"),
                )
                .replace("nested 44 0", "nested 44 2")
                .replace("nested h 0", "nested h 1");
            assert_eq!(
                profiled.stdout, expected,
                "{}{}",
                profiled.stderr, profiled.log
            );
            assert_eq!(profiled.status.code(), Some(6));
            assert!(!profiled.log.contains("failed"), "{}", profiled.log);
        });
    }
}
