//! Methods are switched on and off by ReJIT while threads run them.

use clr_profiler_tests::{Finished, Runtime, Scenario};

fn switched() -> Scenario {
    Scenario::new("Switched").profiler("C0DE0000-0000-4000-8000-0000000000F0")
}

fn print(runtime: &Runtime, profiled: &Finished) {
    println!("{}\n{}\n{}", runtime.name, profiled.stdout, profiled.log);
}

#[test]
fn look() {
    for how in ["", "keep", "refuse", "images"] {
        for tiered in ["0", "1"] {
            println!("========== {how} tiered {tiered}");
            let scenario = switched()
                .env("SWITCHES", how)
                .env("COMPlus_TieredCompilation", tiered);
            scenario.on_each_runtime(print);
        }
    }
}
