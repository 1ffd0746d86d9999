//! Patches in C# of methods of the core library: for all callers, by addresses, and at the calls in the program.

use std::time::{Duration, Instant};

use clr_profiler_tests::{Runtime, Scenario, Started};

use super::tests::path;
use super::{ManagedPatched, ManagedSwitched};

/// The program without a profiler.
const PLAIN: &str = "\
times now now now now now
files DirectoryNotFoundException, DirectoryNotFoundException, DirectoryNotFoundException, DirectoryNotFoundException
read text
variables  %CORE_PATCHED%
parsed FormatException FormatException 7
days 2034-10-20 2034-10-20
appended abcmarkermarker
resized 77 77
capacity 1234
wrong 0
";

/// All callers get the patches: also .NET itself, delegates and reflection.
const FOR_ALL: &str = "\
times 2001 2001 2001 2001 2001
files contents by ReadAllText of /nowhere/a none False, contents by ReadAllText of /nowhere/a none False, \
contents by ReadAllText of /nowhere/a none False, contents by ReadAllText of /nowhere/a none False
read text of file text True
variables patched patched
parsed -1 -1 7
days 2002-01-03 2002-01-03
appended abcmark3mark8
resized 3 5
capacity 5003
wrong 0
";

/// The calls in the program get them.
const AT_CALLS: &str = "\
times 2001 now now now now
files contents by ReadAllText of /nowhere/a none False, DirectoryNotFoundException, DirectoryNotFoundException, \
DirectoryNotFoundException
read text of file text True
variables patched %CORE_PATCHED%
parsed FormatException FormatException 7
days 2034-10-20 2034-10-20
appended abcmarkermarker
resized 77 77
capacity 1234
wrong 0
";

/// Classes without attributes.
const PATTERNS: &str = "\
Core.Parse System.Private.CoreLib!System.Int32.Parse(string); System.Private.CoreLib!System.Int32.Parse(string, System.IFormatProvider)
Core.Days System.Private.CoreLib!System.DateTime.AddDays
Core.Append System.Private.CoreLib!System.Text.StringBuilder.Append(string)
Core.Resize System.Private.CoreLib!System.Array.Resize
Core.Capacity System.Private.CoreLib!System.Text.StringBuilder.get_Capacity";

fn patched(patterns: &str) -> Scenario {
    Scenario::new("CorePatched")
        .profiled_by::<ManagedPatched>()
        .env("PATCHES_FILE", &path("Core.dll"))
        .env("PATCHES", patterns)
}

#[test]
fn methods_of_the_core_library_are_patched_for_all_callers() {
    let scenario = patched(PATTERNS).env("PATCHES_FOR_ALL_CALLERS", "1");
    for scenario in scenario.in_modes() {
        scenario.on_each_runtime(|runtime, profiled| {
            let (log, name) = (&profiled.log, &runtime.name);
            let mut expected = FOR_ALL.to_owned();
            if cfg!(windows) {
                // There the system expands variables, and does not call the method.
                expected = expected.replace("variables patched patched", "variables patched %CORE_PATCHED%");
            }
            assert_eq!(profiled.output(), (Some(6), &*expected, ""), "{name} {log}");
            assert!(!log.contains("failed") && !log.contains("problem"), "{name} {log}");
            // On .NET Core 3.1, an assembly that can refer to others.
            let of_files = if runtime.major < 5 { "method" } else { "slot" };
            for line in [
                "ways slot instrumented System.DateTime.get_UtcNow() ".to_owned(),
                format!("ways {of_files} instrumented System.IO.File.ReadAllText(string) "),
                "ways slot instrumented System.Int32.Parse(string) ".to_owned(),
            ] {
                assert!(profiled.logged(&line), "{name} {line} {log}");
            }
        });
    }
}

#[test]
fn methods_of_the_core_library_are_patched_at_calls() {
    for scenario in patched("").in_modes() {
        scenario.on_each_runtime(|runtime, profiled| {
            let (log, name) = (&profiled.log, &runtime.name);
            assert_eq!(profiled.output(), (Some(6), AT_CALLS, ""), "{name} {log}");
            for line in [
                "ways calls instrumented CorePatched.Program.Times() ",
                "patched 1 calls of System.DateTime.get_UtcNow",
            ] {
                assert!(profiled.logged(line), "{name} {line} {log}");
            }
            assert!(!log.contains("ways slot"), "{name} {log}");
        });
    }
}

#[test]
fn structs_that_the_core_library_cannot_name_are_refused() {
    let pattern = "Core.Stamped System.Private.CoreLib!System.Text.StringBuilder.get_Capacity";
    patched(pattern).on_each_runtime(|runtime, profiled| {
        let (log, name) = (&profiled.log, &runtime.name);
        let problem = "the parameter `__state` of the patch Core.Stamped.Prefix does not bind to \
                       System.Text.StringBuilder.get_Capacity(): the core library cannot name the struct Core.Stamp: use a \
                       class, or a type of the core library";
        assert!(log.contains(problem), "{name} {log}");
        assert_eq!(profiled.output(), (Some(6), AT_CALLS, ""), "{name} {log}");
        assert!(!log.contains("System.Text.StringBuilder.get_Capacity() \n"), "{name} {log}");
    });
}

/// Asks until all callers get the time of the patch.
fn until_patched(program: &mut Started) {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let times = program.ask("times");
        if times == "2001 2001 2001 2001 2001" {
            return;
        }
        assert!(Instant::now() < deadline, "{times} {}", program.log());
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn waiting() -> Scenario {
    Scenario::new("CorePatched")
        .arg("waits")
        .env("PATCHES_FILE", &path("Core.dll"))
        .env("PATCHES_OF_TIMES", "1")
}

#[test]
fn a_program_without_patches_is_plain() {
    let scenario = Scenario::new("CorePatched");
    scenario.on_each_runtime(|runtime, plain| {
        assert_eq!(plain.output(), (Some(6), PLAIN, ""), "{}", runtime.name);
    });
}

#[test]
fn patches_of_the_core_library_can_be_switched() {
    let scenario = waiting().profiled_by::<ManagedSwitched>();
    scenario.waiting_on_each_runtime(|_: &Runtime, mut program| {
        assert_eq!(program.ask("times"), "2001 2001 2001 2001 2001");
        assert_eq!(program.ends_well(), "");
    });
}

#[test]
fn an_attached_profiler_patches_the_core_library() {
    for scenario in waiting().in_modes() {
        scenario.waiting_on_each_runtime(|_, mut program| {
            assert_eq!(program.ask("times"), "now now now now now");
            let profiler = clr_profiler_tests::name_of::<ManagedSwitched>();
            program.attach(profiler, b"").unwrap();
            until_patched(&mut program);
            assert_eq!(program.ends_well(), "");
        });
    }
}
