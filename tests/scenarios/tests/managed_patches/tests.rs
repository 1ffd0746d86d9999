use std::time::{Duration, Instant};

use clr_profiler_tests::{Finished, Scenario, Started, full_path};

use super::{ManagedPatched, ManagedSwitched};

const PATIENCE: Duration = Duration::from_secs(60);

/// The lines of the program without a profiler.
const PLAIN: &str = "\
price 21
greet hello you in shop, hello you times 2
greet hello nobody in shop
fields open 5 10 shop
total 10
set 5 base
twice 8
secret 5
fill 2 filled 4 4
move 11 2 18
fails 0 System.InvalidOperationException: number 1 System.InvalidOperationException: number 2 System.InvalidOperationException: number 3
never System.NotImplementedException: never
ordered 2
skipped 1000 2000
renamed 12
depth 20
echo text 5 6
swap 4 four lid
numbers 0,0,
paint 1
length 3
wrong 1
all 1oneRed
year now now 
file System.IO.DirectoryNotFoundException: Could not find a part of the path '/nowhere/settings.json'.
root 7
called one2 1 1-2
host shop
inherits secret731shared1 7
wrong 0
";

/// Those with the patches of `Annotated.cs`.
const ANNOTATED: &str = "\
price 53024
greet hello you in shop for you True, hello you times 2
greet skipped for all False
fields open 48 11 shop base
total 20
set 210 patched
twice 12
secret 15
fill 20 filled! 104 4
move 21 -1 42046
fails 107 41 System.TimeoutException: instead of number 2 System.InvalidOperationException: number 3
never 5
ordered 100038
skipped 10 7071
renamed 36
depth 21020
echo other 505 506
swap 4 four-five-Swap-True lid of Lid
numbers 2,2,
paint 2
length 2
wrong 1
all 2one 3 Green
year 2000 2000 
file contents of /nowhere/settings.json by ReadAllText
root 3
called one0!2 7 2-3
host shop
inherits secret!839both1 14
wrong 0
";

pub(super) fn path(file: &str) -> String {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../profilees/ManagedPatched");
    format!("{folder}/{file}")
}

fn patched(file: &str, patches: &str) -> Scenario {
    Scenario::new("ManagedPatched")
        .profiled_by::<ManagedPatched>()
        .env("PATCHES_FILE", &path(file))
        .env("PATCHES", patches)
}

fn prints(profiled: &Finished, name: &str, expected: &str) {
    let log = &profiled.log;
    let file = format!("'{}'", full_path("/nowhere/settings.json"));
    let expected = expected.replace("'/nowhere/settings.json'", &file);
    assert_eq!(profiled.stdout, expected, "{name} {log}");
    assert_eq!(profiled.stderr, "", "{name} {log}");
    assert_eq!(profiled.status.code(), Some(6), "{name} {log}");
}

#[test]
fn classes_with_attributes_work_as_they_are_written() {
    for scenario in patched("Annotated.dll", "").in_modes() {
        scenario.on_each_runtime(|runtime, profiled| {
            let log = &profiled.log;
            prints(profiled, &runtime.name, ANNOTATED);
            assert!(!log.contains("failed") && !log.contains("problem"), "{log}");
        });
    }
}

/// Targets that code of the patches names; it is read, not run.
#[test]
fn targets_that_code_names_are_patched() {
    let mut expected = PLAIN.to_owned();
    for (plain, patched) in [
        ("price 21\n", "price 1121\n"),
        ("greet hello you in shop, hello", "greet hello you in shop!, hello"),
        ("nobody in shop\n", "nobody in shop!\n"),
        ("total 10\n", "total 20\n"),
        ("set 5 base\n", "set 210 patched\n"),
        ("twice 8\n", "twice 28\n"),
        ("secret 5\n", "secret 15\n"),
        ("ordered 2\n", "ordered 12\n"),
        ("skipped 1000 2000\n", "skipped 2000 3000\n"),
        ("renamed 12\n", "renamed 5012\n"),
        ("root 7\n", "root 8\n"),
    ] {
        assert!(expected.contains(plain), "{plain}");
        expected = expected.replace(plain, patched);
    }
    for scenario in patched("Targets.dll", "").in_modes() {
        scenario.on_each_runtime(|runtime, profiled| {
            let log = &profiled.log;
            prints(profiled, &runtime.name, &expected);
            assert!(!log.contains("failed") && !log.contains("no method has matched"), "{log}");
            for name in ["Store.Fields()", "Methods.Fill(", "Methods.Paint("] {
                assert!(log.contains(&format!("instrumented ManagedPatched.{name}")), "{name} {log}");
            }
        });
    }
}

#[test]
fn code_that_is_optimised_at_once_has_the_patches_too() {
    let scenario = patched("Annotated.dll", "").env("COMPlus_TC_QuickJitForLoops", "0");
    scenario.on_each_runtime(|runtime, profiled| prints(profiled, &runtime.name, ANNOTATED));
}

/// Patches without attributes: their classes are public, so the runtime loads the file itself, or its bytes.
#[test]
fn classes_without_attributes_get_patterns() {
    let patterns = "\
Plain.Greeting ManagedPatched.Store.Greet(string)
Plain.Everything ManagedPatched.Store.Price; ManagedPatched.Store.Greet
Plain.Counted ManagedPatched.Methods.Renamed; ManagedPatched.Methods.Paint
Plain.Greeting ManagedPatched.Store.Gret
Plain.Other calls ManagedPatched.Store..ctor
Plain.Root calls System.Math.Sqr";
    let scenario = patched("Plain.dll", patterns);
    let expected = PLAIN
        .replace("hello you in", "hello YOU in")
        .replace("renamed 12", "renamed 7012")
        .replace("set 5 base", "set 5 made");
    let problem = "the parameter `__result` of the patch Plain.Counted.Postfix does not bind to \
                   ManagedPatched.Methods.Paint(ManagedPatched.Color): it is `ref int`, and the value is short: \
                   declare it as `ref short`, or as `ref object`";
    let in_memory = scenario.clone().env("PATCHES_IN_MEMORY", "1");
    for scenario in [scenario.in_modes(), in_memory.in_modes()].concat() {
        scenario.on_each_runtime(|runtime, profiled| {
            prints(profiled, &runtime.name, &expected);
            let log = &profiled.log;
            assert!(log.contains(&format!("problem {problem}\n")), "{log}");
            // Targets that matched nothing.
            for line in [
                "no method has matched `ManagedPatched.Store.Gret`: ",
                "no call has matched `System.Math.Sqr`: no method with such a call was compiled, or",
            ] {
                assert!(log.contains(line), "{line} {log}");
            }
            // Reported when the module was loaded, before any method was changed.
            let reported = log.lines().position(|line| line.contains("component") && line.contains(problem));
            let changed = log.lines().position(|line| line.starts_with("instrumented"));
            assert!(reported.is_some() && reported < changed, "{log}");
        });
    }
}

#[test]
fn patches_of_several_assemblies_have_one_order() {
    let expected = ANNOTATED
        .replace("ordered 100038", "ordered 100154")
        .replace("wrong 1\n", "wrong 9\n")
        .replace("year 2000 2000", "year 2001 2001");
    let scenario = patched("Annotated.dll", "").env("PATCHES_SECOND", &path("Second.dll"));
    for scenario in scenario.in_modes() {
        scenario.on_each_runtime(|runtime, profiled| {
            let log = &profiled.log;
            prints(profiled, &runtime.name, &expected);
            assert!(!log.contains("failed") && !log.contains("problem"), "{log}");
        });
    }
}

#[test]
fn two_assemblies_of_patches_have_different_names() {
    let scenario = patched("Annotated.dll", "").env("PATCHES_SECOND", &path("Annotated.dll"));
    scenario.on_each_runtime(|runtime, profiled| {
        prints(profiled, &runtime.name, PLAIN);
        let log = &profiled.log;
        assert!(log.contains("two assemblies are called Annotated, and the program can load one"), "{log}");
    });
}

/// Each class of `Unbound.cs` with a method to which it does not bind, and the reason.
const UNBOUND: &[(&str, &str, &str)] = &[
    (
        "NoArgument",
        "Store.Price",
        "the parameter `cuont` of the patch NoArgument.Prefix does not bind to ManagedPatched.Store.Price(int, string): the \
         method has the parameters `count` (int), `item` (string); other names are `__instance`, `__result`",
    ),
    ("NoNumber", "Store.Price", "`__2` of the patch NoNumber.Prefix does not bind to"),
    (
        "OtherType",
        "Store.Price",
        "it is `string`, and the value is int: declare it as `int`, or as `object`",
    ),
    (
        "OtherRef",
        "Store.Price",
        "it is `ref long`, and the value is int: declare it as `ref int`, or as `ref object`",
    ),
    (
        "Derived",
        "Store.Price",
        "it is `System.Exception`, and the value is ManagedPatched.Store: declare it as `ManagedPatched.Store`, or as `object`",
    ),
    ("NoInstance", "Methods.Wrong", "the method is static, and has no instance"),
    (
        "RefInstance",
        "Store.Price",
        "`this` of a class cannot be replaced: declare it as `ManagedPatched.Store`, by value",
    ),
    ("NoResult", "Store.set_Total", "the method returns nothing"),
    (
        "OtherResult",
        "Store.Price",
        "it is `ref long`, and the value is int: declare it as `ref int`, or as `ref object`",
    ),
    (
        "NoThrough",
        "Store.Price",
        "it is string, and the result that the patch gets and returns is int",
    ),
    (
        "NoField",
        "Store.Price",
        "its type has no field `totl`; there are `___opened`, `___Sign`, `___name`, `___total`, `___Kind`, `___level`, `___shared`, \
         `___secret`",
    ),
    (
        "OtherField",
        "Store.Price",
        "it is `ref long`, and the value is int: declare it as `ref int`, or as `ref object`",
    ),
    (
        "StaticField",
        "Store.Secrets",
        "the field total belongs to an instance, and the method is static",
    ),
    (
        "HiddenStatic",
        "Store.Price",
        "the field hidden is static, and private in ManagedPatched.Base: a patch of a method of that type gets it",
    ),
    ("ReadOnlyField", "Store.Price", "the field Sign is `static readonly`"),
    ("EarlyException", "Store.Price", "only a finalizer gets the exception"),
    ("OtherException", "Store.Price", "declare it as `System.Exception`, by value"),
    (
        "OtherOriginal",
        "Store.Price",
        "declare it as `System.Reflection.MethodBase` or `System.Reflection.MethodInfo`, by value",
    ),
    ("OtherArguments", "Store.Price", "declare it as `object[]`, by value"),
    ("RefRun", "Store.Price", "declare it as `bool`, by value"),
    ("RefResult", "Store.Price", "results by reference are not replaced"),
    (
        "Generic",
        "Methods.Echo",
        "it is `string`, and the value is !!0: declare it as `object`",
    ),
    (
        "Stack",
        "Methods.Length",
        "does not bind to ManagedPatched.Methods.Length(System.Span<int>): no object can have the value: the type is \
         restricted to the stack",
    ),
    (
        "TwoStates",
        "Store.Price",
        "`__state` is int in the patch TwoStates.Prefix, and string in the patch TwoStates.Postfix: the patches of a class \
         share it",
    ),
    (
        "OneOfTwo",
        "Methods.Wrong",
        "it is `ref string`, and the value is int",
    ),
];

/// Those of the core library at their calls, those of other assemblies of .NET by their names.
#[test]
fn methods_of_the_framework_are_patched_by_patterns() {
    let patterns = "\
Plain.Root calls System.Math.Sqrt
Plain.Host System.Private.Uri!System.Uri.get_Host";
    for scenario in patched("Plain.dll", patterns).in_modes() {
        scenario.on_each_runtime(|runtime, profiled| {
            let expected = PLAIN.replace("root 7", "root 8").replace("host shop", "host shop!");
            prints(profiled, &runtime.name, &expected);
            let log = &profiled.log;
            for line in [
                "ways method instrumented System.Uri.get_Host()",
                "ways calls instrumented ManagedPatched.Program+<>c.",
                "patched 1 calls of System.Math.Sqrt",
            ] {
                assert!(log.contains(line), "{line} {log}");
            }
        });
    }
}

#[test]
fn patches_that_do_not_bind_are_named_and_change_nothing() {
    let lines = UNBOUND.iter().map(|(class, method, _)| format!("{class} ManagedPatched.{method}"));
    let lines: Vec<String> = lines.collect();
    patched("Unbound.dll", &lines.join("\n")).on_each_runtime(|runtime, profiled| {
        prints(profiled, &runtime.name, PLAIN);
        let log = &profiled.log;
        for (class, _, reason) in UNBOUND {
            assert!(log.contains(reason), "{} {class}: {reason}\n{log}", runtime.name);
            // In the outcome once.
            let lines = log.lines().filter(|line| line.starts_with("problem "));
            let lines = lines.filter(|line| line.contains(&format!(" {class}.")));
            assert!(lines.count() <= 1, "{} {class}\n{log}", runtime.name);
        }
        assert!(!log.contains("instrumented "), "{log}");
    });
}

/// To the hook for failures, and in the outcomes; one is found when the module is loaded, the other when the method is compiled.
#[test]
fn a_patch_that_does_not_bind_is_reported_once() {
    let patterns = "NoArgument ManagedPatched.Store.Price\nStack ManagedPatched.Methods.Length";
    let scenario = patched("Unbound.dll", patterns).env("PATCHES_UNREPORTED", "1");
    scenario.on_each_runtime(|runtime, profiled| {
        let (log, name) = (&profiled.log, &runtime.name);
        prints(profiled, name, PLAIN);
        for (part, outcome) in [("the patch NoArgument.Prefix", "problem "), ("restricted to the stack", "ways ")] {
            let lines = log.lines().filter(|line| line.contains(part));
            let (told, reported): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with(outcome));
            assert_eq!((told.len(), reported.len()), (1, 1), "{name} {part} {log}");
        }
    });
}

/// The runtime prefers a file of the program to the copy in memory. In an application there is no folder of the program.
#[test]
fn private_patches_in_the_folder_of_the_program_are_refused() {
    let scenario = patched("../Hidden.dll", "Hidden ManagedPatched.Methods.Renamed");
    scenario.on_each_runtime_where(
        |runtime| runtime.application().is_none(),
        |runtime, profiled| {
            prints(profiled, &runtime.name, PLAIN);
            let reason = "Renamed(int, int) was not rewritten: Hidden is internal";
            assert!(profiled.log.contains(reason), "{}", profiled.log);
        },
    );
}

#[test]
fn a_mistaken_assembly_is_refused_whole() {
    patched("Mistaken.dll", "").on_each_runtime(|runtime, profiled| {
        prints(profiled, &runtime.name, PLAIN);
        assert!(!profiled.log.contains("instrumented "), "{}", profiled.log);
    });
}

fn until_worked(program: &mut Started, number: u32, result: &str) {
    let deadline = Instant::now() + PATIENCE;
    let (ask, expected) = (format!("work {number}"), format!("worked {result}"));
    while program.ask(&ask) != expected {
        assert!(Instant::now() < deadline, "{expected}: {}", program.log());
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn patches_in_csharp_are_switched_while_the_program_runs() {
    let scenario = Scenario::new("Waits").profiled_by::<ManagedSwitched>();
    let scenario = scenario.env("PATCHES_FILE", &path("Plain.dll"));
    scenario.waiting_on_each_runtime(|_, mut program| {
        assert_eq!(program.ask("work 1"), "worked 1111");
        // Compiled for the first time, `Work5` switches the patches off, and `Work6` on.
        program.ask("work 5");
        until_worked(&mut program, 1, "111");
        assert_eq!(program.ask("work 2"), "worked 222");
        program.ask("work 6");
        until_worked(&mut program, 1, "1111");
        until_worked(&mut program, 2, "1222");
        assert_eq!(program.ends_well(), "");
    });
}

#[test]
fn an_attached_profiler_patches_methods_in_csharp() {
    let scenario = Scenario::new("Waits").env("PATCHES_FILE", &path("Plain.dll"));
    scenario.waiting_on_each_runtime(|_, mut program| {
        assert_eq!(program.ask("work 1"), "worked 111");
        let profiler = clr_profiler_tests::name_of::<ManagedSwitched>();
        program.attach(profiler, b"").unwrap();
        until_worked(&mut program, 1, "1111");
        until_worked(&mut program, 2, "1222");
        program.ask("work 5");
        until_worked(&mut program, 1, "111");
        program.ask("work 6");
        until_worked(&mut program, 1, "1111");
        assert_eq!(program.ends_well(), "");
    });
}

#[test]
fn an_attached_profiler_loads_several_assemblies_of_patches() {
    let scenario = Scenario::new("Waits").env("PATCHES_FILE", &path("Plain.dll"));
    let scenario = scenario.env("PATCHES_SECOND", &path("Third.dll"));
    scenario.waiting_on_each_runtime(|_, mut program| {
        assert_eq!(program.ask("work 1"), "worked 111");
        let profiler = clr_profiler_tests::name_of::<ManagedSwitched>();
        program.attach(profiler, b"").unwrap();
        until_worked(&mut program, 2, "1222");
        until_worked(&mut program, 1, "1001111");
        program.ask("work 5");
        until_worked(&mut program, 1, "111");
        assert_eq!(program.ends_well(), "");
    });
}
