//! The share of rewriting in the time in which a program is compiled: every method that the runtime
//! compiles gets a prologue and an epilogue, and both the rewriting and the compilation are timed, by
//! the thread's clock.
//!
//! ```sh
//! cargo bench -p clr_profiler_tests --bench jit_share            # 5 runs of each
//! cargo bench -p clr_profiler_tests --bench jit_share -- 15
//! ```
//!
//! The program has 3000 methods of the core library compiled; because no precompiled code is used
//! (`ReadyToRun=0`), its start-up code is compiled, too. Once nothing is optimised (tier 0, without
//! tier-up), once everything is from the beginning (`TieredCompilation=0`). The compilation is the time between
//! the end of `JITCompilationStarted` and the beginning of `JITCompilationFinished`.
//!
//! "edit" is to decode, edit and encode; "check" to verify the encoded body, with a resolver that
//! costs nothing; "metadata" the additional time with the library's resolver, which has all references in its cache;
//! "first" the additional time of the first of these verifications: references that are not in the cache yet, and
//! code and data that the processor has to load, because each method follows a compilation. These are of every
//! other method. For the other half, "calls" is the additional time of `Method::rewrite`: its native calls
//! about the method, its body, and setting the new one; and "map" the additional time for the map
//! of IL offsets. "all" is the share of all of this in the compilation, "share" that of edit and check.
//! "name" is the time of `info.method(function)?.full_name()`, and of a repetition. It is not part of the rewrite.
//!
//! `Method::rewrite` reuses its memory, as in `again`; `new` is the time that this saves.

use std::error::Error;
use std::path::Path;
use std::process::{ExitCode, Stdio};

use clr_profiler_launcher::{ProfilerLibrary, find_library};
use clr_profiler_tests::{Runtime, clsid, matrix, profilee};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const PROFILER: &str = "JitShare";

/// The settings of each way to compile.
const WAYS: [(&str, &[(&str, &str)]); 2] = [
    (
        "tier 0",
        &[
            ("TieredCompilation", "1"),
            ("TC_QuickJitForLoops", "1"),
            ("TC_CallCounting", "0"),
        ],
    ),
    ("full opt", &[("TieredCompilation", "0")]),
];

fn main() -> ExitCode {
    let runs = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok());
    match run(runs.unwrap_or(5)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("jit_share: error: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(runs: usize) -> Result<()> {
    let log = std::env::temp_dir().join(format!("jit_share-{}", std::process::id()));
    println!("microseconds a method; medians of {runs} runs");
    println!(
        "{:64}{:>8}{:>7}{:>8}{:>8}{:>10}{:>8}{:>8}{:>8}{:>13}{:>8}{:>8}{:>8}{:>8}",
        "",
        "methods",
        "bytes",
        "edit",
        "check",
        "metadata",
        "first",
        "calls",
        "map",
        "compilation",
        "share",
        "all",
        "name",
        "again"
    );
    for runtime in matrix() {
        for ((name, settings), memory) in WAYS
            .iter()
            .flat_map(|way| ["new", "again"].map(|memory| (*way, memory)))
        {
            let mut figures = Vec::new();
            for _ in 0..runs {
                figures.push(once(runtime, settings, memory, &log)?);
            }
            let median = |of: fn(&Figures) -> f64| {
                let mut values: Vec<_> = figures.iter().map(of).collect();
                values.sort_by(f64::total_cmp);
                values[values.len() / 2]
            };
            println!(
                "{:64}{:>8}{:>7.0}{:>8.2}{:>8.2}{:>10.2}{:>8.2}{:>8.2}{:>8.2}{:>13.1}{:>7.2}%{:>7.2}%{:>8.2}{:>8.2}",
                format!("{}, {name}, {memory}", runtime.name),
                median(|one| one.methods),
                median(|one| one.bytes),
                median(|one| one.edit),
                median(|one| one.check),
                median(|one| one.metadata),
                median(|one| one.first),
                median(|one| one.calls),
                median(|one| one.map),
                median(|one| one.compilation),
                median(|one| 100.0 * (one.edit + one.check) / one.compilation),
                median(|one| {
                    let check = one.check + one.metadata + one.first;
                    100.0 * (one.edit + check + one.calls + one.map) / one.compilation
                }),
                median(|one| one.name),
                median(|one| one.name_again),
            );
        }
    }
    Ok(())
}

/// The number of methods, and the average microseconds for one of them.
struct Figures {
    methods: f64,
    bytes: f64,
    edit: f64,
    check: f64,
    metadata: f64,
    first: f64,
    calls: f64,
    map: f64,
    compilation: f64,
    name: f64,
    name_again: f64,
}

fn once(runtime: &Runtime, settings: &[(&str, &str)], memory: &str, log: &Path) -> Result<Figures> {
    let library = find_library("scenarios")?;
    let mut launch = runtime.launch(&profilee("Compiles"), &["3000"]);
    for prefix in ["COMPlus", "DOTNET"] {
        for (name, value) in settings.iter().chain(&[("ReadyToRun", "0")]) {
            launch.env(format!("{prefix}_{name}"), value);
        }
    }
    launch.env("SCENARIO_LOG", log);
    launch.env("MEMORY", memory);
    launch.profiler(ProfilerLibrary::new(library, clsid(PROFILER))?);
    let _ = std::fs::remove_file(log);
    let status = launch.command()?.stdout(Stdio::null()).status()?;
    let text = std::fs::read_to_string(log);
    let _ = std::fs::remove_file(log);
    let text = text?;
    if !status.success() {
        return Err(format!("{}: {status}: {text}", runtime.name).into());
    }
    let sums = text.lines().find_map(|line| line.strip_prefix("sums "));
    let sums = sums.ok_or_else(|| format!("no sums: {text}"))?;
    let sums = sums.split(' ').map(str::parse);
    let sums = sums.collect::<std::result::Result<Vec<f64>, _>>()?;
    let [
        methods,
        refused,
        in_parts,
        whole,
        mapped,
        bytes,
        edit,
        check,
        metadata,
        first,
        name,
        name_again,
        rewrite,
        rewrite_mapped,
        compilation,
    ] = sums[..]
    else {
        return Err(format!("{} sums", sums.len()).into());
    };
    // Some methods end in tail calls; if there were many, the figures would be meaningless.
    if methods < 2500.0 || refused > methods / 20.0 {
        return Err(format!("{methods} methods, {refused} refused: {text}").into());
    }
    let each = |nanoseconds: f64, methods: f64| nanoseconds / methods / 1000.0;
    let parts = [edit, check, metadata, first, name, name_again];
    let [edit, check, metadata, first, name, name_again] = parts.map(|part| each(part, in_parts));
    Ok(Figures {
        methods,
        bytes: bytes / methods,
        edit,
        check,
        metadata,
        first,
        calls: each(rewrite, whole) - edit - check - metadata - first,
        map: each(rewrite_mapped, mapped) - each(rewrite, whole),
        compilation: each(compilation, methods),
        name,
        name_again,
    })
}
