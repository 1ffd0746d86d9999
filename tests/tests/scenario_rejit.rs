//! Methods that run get other IL and back, and what has inlined them follows.

use clr_profiler_tests::Scenario;

#[test]
fn methods_and_their_inliners_change_and_change_back() {
    let scenario = Scenario::new("Rejit")
        .profiler("RejitSteps")
        // Inlining is of optimised code.
        .env("COMPlus_TieredCompilation", "0");
    scenario.on_each_runtime(|_, profiled| {
        assert_eq!(
            profiled.output(),
            (Some(6), "41 151\n42 152\n41 151\n42 151\n", ""),
            "{}",
            profiled.log
        );
        let same = |count| vec!["true"; count].join(", ");
        // Steps and compilations come from several threads: only lines of one thread have an order.
        let lines = profiled.log.lines();
        let (code, mut others): (Vec<_>, Vec<_>) = lines.partition(|line| line.starts_with("code"));
        assert_eq!(
            code,
            [
                format!("code of [41], the same [{}]", same(10)),
                format!("code of [42], the same [{}]", same(7)),
                format!("code of [42], the same [{}]", same(7)),
            ]
        );
        others.sort_unstable();
        assert_eq!(
            others,
            [
                "ask Ok(())",
                "change Ok(())",
                "change again Ok(())",
                "ids 3",
                "inlining Rejit.Program.Small()",
                "map of Say Ok(())",
                // Not of what has inlined a changed method: that keeps its IL.
                "parameters of Constant",
                "parameters of Constant",
                "parameters of Small",
                "revert Ok(())",
                "reverted [S_OK (0x00000000), S_OK (0x00000000)]",
            ]
        );
    });
}
