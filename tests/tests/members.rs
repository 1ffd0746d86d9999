//! Types and members that a profiler adds, and generic code that uses its own instances.

use clr_profiler_tests::Scenario;

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
        // The core library comes precompiled, and would not be rewritten.
        .env("COMPlus_ReadyToRun", "0")
        .env("DOTNET_ReadyToRun", "0")
        .profiler("AddsMembers");
    scenario.compare(|plain, profiled| {
        assert_eq!(plain.stdout, PLAIN);
        let hits = "hits Int32 3, last String notednotednoted\n";
        let expected = PLAIN
            .replace("hits no type, last no type\n", hits)
            .replace("added 0", "added 42")
            .replace("native 0", "native 23")
            .replace("plain 33 no field no field", "plain 33 Int64 22 no field")
            .replace("from here 0", "from here 1");
        // The program makes one builder; how many its framework makes is not told.
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
    let scenario = Scenario::new("Members").profiler("OwnInstances");
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
