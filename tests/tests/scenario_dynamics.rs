//! Methods and modules that no file holds, and what is unloaded.

use std::fs;

use clr_profiler_tests::{Folder, Scenario};

const DYNAMIC: &str = "failed with CORPROF_E_MODULE_IS_DYNAMIC (0x8013137A): the module is being \
     built at run time and has no file layout";
const INVALID: &str = "ICorProfilerInfo7::ReadInMemorySymbols failed with E_INVALIDARG (0x80070057): \
     an id or a token that this runtime does not know, or flags that do not go together";

/// What is told of one load context, from its module's load to its assembly's end.
fn unloaded<'line>(tells_beginning: bool) -> impl Iterator<Item = &'line str> {
    [
        "attached a module that can go",
        "unload assembly Dynamic",
        "its metadata is still there",
        "unload module Dynamic",
        // Only types that were used are there.
        "unload class Dynamic.Guest",
        "unloaded class Dynamic.Guest S_OK (0x00000000)",
        "unloaded module Dynamic S_OK (0x00000000)",
        "unloaded assembly Dynamic S_OK (0x00000000)",
    ]
    .into_iter()
    .filter(move |line| tells_beginning || *line != "unload assembly Dynamic")
}

#[test]
fn what_no_file_holds_is_told_and_goes_again() {
    let scenario = Scenario::new("Dynamic")
        .profiler("Dynamics")
        .env("COMPlus_TieredCompilation", "0");
    scenario.on_each_runtime(|runtime, profiled| {
        let output = (Some(10), "made 42\nbuilt 7\nagain 5\nunloaded 3\n", "");
        assert_eq!(profiled.output(), output, "{}", profiled.log);
        let length = format!("ICorProfilerInfo7::GetInMemorySymbolsLength {DYNAMIC}");
        let read = format!("ICorProfilerInfo7::ReadInMemorySymbols {DYNAMIC}");
        let (without, behind) = (format!("without: {INVALID}"), format!("behind: {INVALID}"));
        let mut expected = vec![
            // A static method of a number and a string that returns a number; ldarg.0, dup, add, ret.
            "compiling TwiceAdded [0, 2, 8, 8, e, 0] [2, 25, 58, 2a], dynamic true, module true",
            // The token of no method.
            "MethodDef(0x06000000) true",
            "compiled S_OK (0x00000000), found by its code true true",
            "gone TwiceAdded",
            "compiling Sums.Add(int, int), dynamic false, of a module that is built true",
            "built None",
            &length,
            &read,
            "defined Err(CORPROF_E_MODULE_IS_DYNAMIC (0x8013137A))",
            "extended Err(CORPROF_E_MODULE_IS_DYNAMIC (0x8013137A))",
            // The request is taken; what is wrong with the method comes as a callback.
            "rejit: CORPROF_E_MODULE_IS_DYNAMIC (0x8013137A), function false",
            "requested Ok(())",
            // Loaded from memory: without a path, the name stands for it.
            "symbols announced, path \"Dynamic.dll\"",
            &without,
            "symbols 300, as given true, the end 2 Some([42, 43]), on disk false",
            &behind,
            "without symbols true",
        ];
        for _ in 0..3 {
            expected.extend(unloaded(runtime.major >= 5));
        }
        let lines: Vec<&str> = profiled.log.lines().collect();
        assert_eq!(lines, expected);
    });
}

#[test]
fn calls_are_counted_where_types_can_be_added() {
    let folder = Folder::new();
    let il = folder.path("il");
    let calls = folder.path("calls");
    let scenario = Scenario::new("Dynamic")
        .library("method_logger")
        .profiler("35E0EACF-08F5-44B3-95BA-8B9FC4E5F2FF")
        .env("METHOD_LOGGER_OUTPUT", calls.to_str().unwrap())
        .env("METHOD_LOGGER_IL", il.to_str().unwrap())
        .env("METHOD_LOGGER_COUNT", "1");
    scenario.compare(|plain, profiled| {
        assert_eq!(profiled.stdout, plain.stdout);
        assert_eq!(profiled.status, plain.status);
        // Before .NET 9, no metadata can be added to what the program builds: one method is refused.
        let refused = "method_logger: 1 refused: Sums.Add(int, int)";
        let stderr = &profiled.stderr;
        assert!(stderr.is_empty() || stderr.starts_with(refused), "{stderr}");
        let said = fs::read_to_string(&il).unwrap();
        assert!(said.contains("calls of Built are not counted: "), "{said}");
        let logged = fs::read_to_string(&calls).unwrap();
        assert!(logged.contains("> #1 Dynamic.Program.Main()"), "{logged}");
    });
}
