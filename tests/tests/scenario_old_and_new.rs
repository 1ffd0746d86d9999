//! Calls agree with those that took their place, and enumerators go through the same items in
//! every way.

use clr_profiler_tests::Scenario;

#[test]
fn older_and_newer_calls_agree() {
    let scenario = Scenario::new("Statics")
        .profiler("OldAndNew")
        // One code for each function.
        .env("COMPlus_TieredCompilation", "0");
    scenario.on_each_runtime(|runtime, profiled| {
        assert_eq!(
            profiled.output(),
            (Some(3), "3 66\n17 True 7 kept\n", ""),
            "{}",
            profiled.log
        );
        let runtime_says = match runtime.major {
            // As .NET Core 3.1 calls itself.
            3 => "runtime Core 4".to_owned(),
            major => format!("runtime Core {major}"),
        };
        let ways =
            "true, total true, second true, rest true, cloned true, again true, after all true";
        let mut expected = vec![
            "mask EventMask(MONITOR_THREADS) EventMask(MONITOR_THREADS)".to_owned(),
            "rejit true".to_owned(),
            "code true true, new ones agree true".to_owned(),
            "owner true true true".to_owned(),
            "mapping several entries, within true, all agree true".to_owned(),
            "function true true true".to_owned(),
            "class true true".to_owned(),
            "ICorProfilerInfo::GetFunctionFromIP failed with E_FAIL (0x80004005)".to_owned(),
            "ICorProfilerInfo8::GetFunctionFromIP3 failed with E_FAIL (0x80004005)".to_owned(),
            // Behind the type: 32 bits of length, then the characters.
            "strings true 8 12".to_owned(),
            "frozen true 0".to_owned(),
            "domain \"clrhost\"".to_owned(),
            "native thread true".to_owned(),
            runtime_says,
            format!("modules {ways}"),
            format!("threads {ways}"),
            format!("functions {ways}"),
            format!("functions2 {ways}"),
        ];
        if runtime.major >= 8 {
            expected.push("objects true, total true, cloned true, again true".to_owned());
        }
        expected.push("masks true true true".to_owned());
        let lines: Vec<&str> = profiled.log.lines().collect();
        assert_eq!(lines, expected);
    });
}
