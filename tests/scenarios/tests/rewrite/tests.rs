use clr_profiler_tests::{Finished, Scenario};

use super::{Announces, Breaks, Changes, ChangesEach, RewritesAgain, WrapsAll};

fn count(finished: &Finished, line: &str) -> usize {
    finished
        .log
        .lines()
        .filter(|logged| *logged == line)
        .count()
}

/// The lines of a log between a line and the next line of another kind.
fn listing<'a>(finished: &'a Finished, title: &str) -> Vec<&'a str> {
    let lines = finished.log.lines().skip_while(|line| *line != title);
    let starts = [".", "IL_", "// "];
    let listed = lines
        .skip(1)
        .take_while(|line| starts.iter().any(|start| line.starts_with(start)));
    listed.collect()
}

#[test]
fn code_before_a_method_calls_what_it_names() {
    let scenario = Scenario::new("Rewrites").profiled_by::<Announces>();
    scenario.compare(|plain, profiled| {
        let (first, rest) = plain.stdout.split_once("note none 0\n").unwrap();
        assert_eq!(first, "answer 41\nanswer again 41\n");
        // `Remember` counts one call, the inserted code eleven.
        let said = "from the profiler: \u{e4}\u{1F600}\nbuilt !!!\n";
        assert_eq!(
            profiled.stdout,
            format!("{said}answer 41\n{said}answer again 41\nnote remembered 22\n{rest}"),
            "{}",
            profiled.log
        );
        assert_eq!(profiled.stderr, plain.stderr);
        assert_eq!(profiled.status.code(), Some(7));
        assert_eq!(count(profiled, "editing Rewrites.Program.Answer()"), 1);
        assert!(
            profiled.logged("the runtime has it true"),
            "{}",
            profiled.log
        );
        assert!(profiled.logged("again false true"), "{}", profiled.log);
        assert_eq!(
            listing(profiled, "before"),
            [".maxstack 8", "IL_0000:  ldc.i4.s   41", "IL_0002:  ret"]
        );
        let after = listing(profiled, "after");
        assert!(after.len() > 20, "{}", profiled.log);
        assert!(after[1].starts_with(".locals 0x11"), "{}", profiled.log);
        assert!(
            after[2].starts_with("IL_0000:  ldstr      0x70"),
            "{}",
            profiled.log
        );
        // With names, and the line of the program's own code.
        let named = listing(profiled, "named before");
        assert_eq!(
            [named[0], named[2], named[3]],
            [".maxstack 8", "IL_0000:  ldc.i4.s   41", "IL_0002:  ret"]
        );
        let line = named[1].strip_prefix("// ");
        assert!(
            line.is_some_and(|line| line.ends_with("/Rewrites.cs:142")),
            "{named:?}"
        );
        let named = listing(profiled, "named after");
        assert_eq!(named.len(), after.len());
        assert!(!named.iter().any(|line| line.contains(" 0x")), "{named:?}");
        for part in [
            ".locals (System.Text.StringBuilder)",
            "ldstr      \"from the profiler: \u{e4}\u{1F600}\"",
            "call       System.Console.WriteLine(string)",
            "call       Rewrites.Program.Remember(string)",
            "newobj     System.Text.StringBuilder..ctor(string)",
            "callvirt   System.Text.StringBuilder.Append(char, int)",
            "call       System.Array.Empty<System.DateTime>()",
            "newobj     System.Collections.Generic.List<string>..ctor()",
        ] {
            assert!(
                named.iter().any(|line| line.contains(part)),
                "{part}: {named:?}"
            );
        }
    });
}

#[test]
fn a_program_that_is_wrapped_all_over_does_what_it_did() {
    let scenario = Scenario::new("Rewrites").profiled_by::<WrapsAll>();
    scenario.compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output(), "{}", profiled.log);
        assert_eq!(profiled.status.code(), Some(7), "{}", profiled.log);
        let wrapped = profiled
            .log
            .lines()
            .filter(|line| line.starts_with("wrapped "));
        assert!(wrapped.count() >= 25, "{}", profiled.log);
        assert!(!profiled.log.contains("failed"), "{}", profiled.log);
        assert!(!profiled.log.contains("panicked"), "{}", profiled.log);
        for method in [
            "Main", ".ctor", "Catch", "Throw", "Largest", "MoveNext", "Switch", "Pointer",
        ] {
            assert!(
                profiled.logged(&format!("wrapped {method}")),
                "{}",
                profiled.log
            );
        }
        // Eight threads meet in `Shared`.
        let mut edits: Vec<_> = profiled
            .log
            .lines()
            .filter(|line| line.starts_with("editing "))
            .collect();
        let all = edits.len();
        edits.sort_unstable();
        edits.dedup();
        assert_eq!(edits.len(), all, "{}", profiled.log);
        // Code of `string` and `object` is shared, `int` has code of its own for `double` and `char`.
        assert_eq!(
            count(profiled, "editing Rewrites.Box<T>.Show<U>(U)"),
            1,
            "{}",
            profiled.log
        );
        assert_eq!(count(profiled, "wrapped Show"), 1, "{}", profiled.log);
        assert_eq!(count(profiled, "found wrapped Show"), 2, "{}", profiled.log);
    });
}

#[test]
fn a_framework_that_is_wrapped_all_over_does_what_it_did() {
    let scenario = Scenario::new("Rewrites")
        .env("WRAP", "everything")
        // No precompiled code is used.
        .env("COMPlus_ReadyToRun", "0")
        .env("DOTNET_ReadyToRun", "0")
        .profiled_by::<WrapsAll>();
    scenario.compare(|plain, profiled| {
        let failed: Vec<_> = profiled
            .log
            .lines()
            .filter(|line| line.contains("failed") || line.contains("panicked"))
            .collect();
        assert_eq!(profiled.output(), plain.output(), "{failed:#?}");
        let wrapped = profiled.log.lines();
        let wrapped = wrapped.filter(|line| line.starts_with("wrapped "));
        let wrapped = wrapped.count();
        assert!(wrapped > 1000, "{wrapped}");
        // Only methods that are known to be impossible to wrap.
        for line in failed {
            let known = line.contains(" System.Object..ctor() was not rewritten: ")
                || line.ends_with("not instrumentable: the method has no code of its own");
            assert!(known, "{line}");
        }
    });
}

#[test]
fn a_result_is_replaced() {
    let scenario = Scenario::new("Rewrites").profiled_by::<Changes>();
    scenario.compare(|plain, profiled| {
        assert!(plain.stdout.starts_with("answer 41\nanswer again 41\n"));
        let expected = plain.stdout.replace(" 41\n", " 42\n");
        assert_eq!(profiled.stdout, expected, "{}", profiled.log);
    });
}

#[test]
fn what_would_break_the_program_is_refused_once_and_for_all() {
    let scenario = Scenario::new("Rewrites").profiled_by::<Breaks>();
    scenario.compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output(), "{}", profiled.log);
        for line in [
            "Rewrites.Program.Answer() was not rewritten: IL_0000: 1 values are taken from a stack of \
             0",
            "Rewrites.Program.Shared(int) was not rewritten: there is no token for \
             void Rewrites.Program::Missing(): the type is defined by the module and has no Missing \
             with this signature",
            "Rewrites.Program.Largest(int[]) was not rewritten: there is no token for void \
             [corelib]System.Gone::Missing(): the assembly System.Runtime has no type \
             System.Gone",
            "Rewrites.Program.Catch(int) was not rewritten: there is no token for void \
             [corelib]System.GC::KeepAlive(string): System.GC has no KeepAlive with the signature \
             `void (string)`; it has `void (object)`",
            "Rewrites.Program.Switch(int) was not rewritten: no wish",
            "Answer edits 1, remembered true",
            "Shared edits 1, remembered true",
            "Switch edits 1, remembered true",
            "Throw edits 1, remembered true",
            "Rewrites.Program+Abstract.None() was not rewritten: not instrumentable: the method is \
             abstract",
            "Native Some(PInvoke)",
            "Internal Some(InternalCall)",
            "None Some(Abstract)",
            "Invoke Some(Runtime)",
        ] {
            assert_eq!(count(profiled, line), 1, "{line}\n{}", profiled.log);
        }
        assert_eq!(
            listing(profiled, "listing"),
            [
                ".maxstack 8",
                "IL_0000:  pop",
                "// /_/tests/profilees/Rewrites.cs:142",
                "IL_0001:  ldc.i4.s   41",
                "IL_0003:  ret"
            ]
        );
    });
}

#[test]
fn a_running_method_is_changed_reverted_and_changed_again() {
    let scenario = Scenario::new("Rewrites")
        .arg("rejit")
        .profiled_by::<RewritesAgain>();
    scenario.on_each_runtime(|_, profiled| {
        assert_eq!(
            profiled.stdout, "at first 41\nchanged True\nreverted True\nchanged again True 3\n",
            "{}",
            profiled.log
        );
        assert_eq!(profiled.status.code(), Some(8));
        assert_eq!(
            count(profiled, "editing Rewrites.Program.Answer()"),
            2,
            "{}",
            profiled.log
        );
        assert_eq!(count(profiled, "refused true"), 2, "{}", profiled.log);
        // Both times from the original IL.
        assert_eq!(
            count(profiled, "from [0e, 1f, 29, 2a]"),
            2,
            "{}",
            profiled.log
        );
        assert!(!profiled.log.contains("error"), "{}", profiled.log);
    });
}

#[test]
fn a_module_that_is_loaded_once_more_is_rewritten_once_more() {
    let scenario = Scenario::new("Unloads").profiled_by::<ChangesEach>();
    scenario.compare(|plain, profiled| {
        assert_eq!(plain.stdout, "answer 41\nunloaded True\n".repeat(8));
        assert_eq!(
            profiled.stdout,
            "asked\nanswer 42\nunloaded True\n".repeat(8),
            "{}",
            profiled.log
        );
        // The data of a module is removed when it is unloaded, if not always before the next one.
        let remembered: Vec<usize> = profiled
            .log
            .lines()
            .filter_map(|line| {
                let (_, count) = line.split_once("rewritten_modules: ")?;
                count.split(',').next()?.parse().ok()
            })
            .collect();
        assert_eq!(remembered.len(), 8, "{}", profiled.log);
        assert!(remembered.iter().all(|count| *count <= 3), "{remembered:?}");
    });
}
