//! Writes `register!` with each example, and with each pair of examples.

use std::path::PathBuf;
use std::{env, fs, io};

/// The types of the examples' profilers.
const PROFILERS: [&str; 11] = [
    "alloc_profiler::AllocProfiler",
    "call_counter::CallCounter",
    "cpu_sampler::CpuSampler",
    "exception_logger::ExceptionLogger",
    "gc_monitor::GcMonitor",
    "heap_snapshot::HeapSnapshot",
    "hot_patch::HotPatch",
    "jit_logger::JitLogger",
    "method_logger::MethodLogger",
    "method_tracer::MethodTracer",
    "return_inspector::ReturnInspector",
];

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    // Each example exports the entry points of a profiler's library, too. Those of this library come first.
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|os| os == "linux") {
        println!("cargo::rustc-cdylib-link-arg=-Wl,--allow-multiple-definition");
    }
    let mut all = PROFILERS
        .map(|profiler| format!("    {profiler},\n"))
        .concat();
    for (number, one) in PROFILERS.iter().enumerate() {
        for other in &PROFILERS[number + 1..] {
            let crates = [one, other].map(|path| path.split(':').next().unwrap_or_default());
            let name = crates.join("+");
            all += &format!(
                "    compose(clsid = scenario_support::clsid(\"{name}\"), {one}, {other}),\n"
            );
        }
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").unwrap_or_default());
    fs::write(out.join("pairs.rs"), format!("register!(\n{all});\n"))
}
