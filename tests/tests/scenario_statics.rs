//! Static fields, threads and types are where and what the program made them.

use clr_profiler_tests::Scenario;

/// How calls end that ask for a field of another kind.
const OTHER_KIND: &str = "failed with E_INVALIDARG (0x80070057): an id or a token that this runtime \
     does not know, or flags that do not go together";

#[test]
fn statics_of_all_kinds_are_found() {
    let scenario = Scenario::new("Statics").profiler("Statics");
    scenario.compare(|plain, profiled| {
        assert_eq!(profiled.output(), plain.output());
        assert_eq!(plain.output(), (Some(3), "3 66\n17 True 7 kept\n", ""));
        let log = &profiled.log;
        let (loads, facts): (Vec<&str>, Vec<&str>) = log
            .lines()
            .partition(|line| line.starts_with("started ") || line.starts_with("finished "));
        assert_eq!(
            facts,
            [
                "modules true, core true",
                "count StaticKind(APP_DOMAIN)",
                "count is 17",
                &format!("ICorProfilerInfo2::GetThreadStaticAddress {OTHER_KIND}"),
                &format!("ICorProfilerInfo2::GetRVAStaticAddress {OTHER_KIND}"),
                "ICorProfilerInfo2::GetContextStaticAddress failed with E_NOTIMPL (0x80004001)",
                "ratio StaticKind(APP_DOMAIN)",
                // Each thread has its own.
                "perThread StaticKind(THREAD)",
                "perThread is 8 true true and 7",
                // A constant is not a field in memory.
                &format!("Literal ICorProfilerInfo2::GetStaticFieldInfo {OTHER_KIND}"),
                "kept StaticKind(APP_DOMAIN)",
                "image StaticKind(RVA) [11, 22, 33, 44, 55, 66, 77]",
                "threads true true true",
                "main true, other apart true",
                "one domain true, one context true",
                "assembly Statics true true",
                "module of a file true, built false",
                "domains true true",
            ]
        );
        // Every load that began has ended well, and right after it began.
        for pair in loads.chunks(2) {
            let begun = pair[0].strip_prefix("started ").expect(log);
            assert_eq!(
                pair[1],
                format!("finished {begun} S_OK (0x00000000)"),
                "{log}"
            );
        }
        // A type is loaded once, however often it is used.
        let count = |line: &str| loads.iter().filter(|loaded| **loaded == line).count();
        assert_eq!(count("started Statics.Known 0"), 1, "{log}");
        assert_eq!(count("started Statics.Program 0"), 1, "{log}");
        // Boxes of numbers have code of their own; references share it, with a type for the sharing.
        assert!(count("started Statics.Box`1 1") >= 3, "{log}");
    });
}
