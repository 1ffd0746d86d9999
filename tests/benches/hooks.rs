//! The cost of the component's fast hooks, compared with hooks written in C: the CPU time of a program
//! that only calls a function, on .NET 8.
//!
//! ```sh
//! cargo bench -p clr_profiler_tests --bench hooks            # 15 runs of each
//! cargo bench -p clr_profiler_tests --bench hooks -- 40
//! ```
//!
//! Needs `cc`, and Linux on x86-64. Each round runs all of them in turn, without hooks, with hooks in
//! C, with those of the component, with the same reading the processor's counter each time, and with those of the
//! example `call_counter`; the ratio is that of the medians, minus the time of the program without hooks.

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod usage;

use std::process::ExitCode;

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
fn main() -> ExitCode {
    let runs = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok());
    match measure::run(runs.unwrap_or(15)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("hooks: error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
fn main() -> ExitCode {
    eprintln!("hooks: error: the hooks in C are for Linux on x86-64");
    ExitCode::FAILURE
}

#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
mod measure {
    use std::error::Error;
    use std::path::{Path, PathBuf};
    use std::process::Command;

    use clr_profiler_launcher::{DotnetHost, Launch, ProfilerLibrary, find_library};
    use clr_profiler_tests::{clsid, profilee};
    use examples_support::{Pinned, runtime};

    use crate::usage::Usage;

    type Result<T> = std::result::Result<T, Box<dyn Error>>;

    const CALLS: u64 = 100_000_000;
    /// The library of the hooks that do almost nothing, and of `call_counter`, with their class ids.
    const FAST: (&str, &str) = ("scenarios", "Measures");
    const COUNTER: (&str, &str) = ("call_counter", "5C0B3F6E-7F0D-4C38-9E0A-6D2F4B8A1E57");

    pub(super) fn run(runs: usize) -> Result<()> {
        let host = DotnetHost::at(runtime::fetch(&Pinned::NET_8)?)?;
        let scratch = std::env::temp_dir().join(format!("hooks-{}", std::process::id()));
        std::fs::create_dir_all(&scratch)?;
        let in_c = compile(&scratch)?;
        let log = scratch.join("log");
        let results = scratch.join("calls.txt");
        let stacks = scratch.join("calls.folded");
        let command =
            |profiler: Option<(&str, &str)>, variable: Option<(&str, &Path)>| -> Result<Command> {
                let mut launch = Launch::new(profilee("Hooked"));
                launch.dotnet(host.clone());
                launch.args(["bench".to_owned(), CALLS.to_string()]);
                launch.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
                launch.env("DOTNET_TieredCompilation", "0");
                launch.env("SCENARIO_LOG", &log);
                launch.env("CALL_COUNTER_OUTPUT", &results);
                launch.env("CALL_COUNTER_METHODS", "**.CountBench");
                if let Some((library, profiler)) = profiler {
                    launch.profiler(ProfilerLibrary::new(
                        find_library(library)?,
                        clsid(profiler),
                    )?);
                }
                if let Some((name, value)) = variable {
                    launch.env(name, value);
                }
                Ok(launch.command()?)
            };
        let mut commands = [
            ("no hooks", command(None, None)?),
            (
                "hooks in C",
                command(Some(FAST), Some(("HOOKS_LIBRARY", &in_c)))?,
            ),
            ("fast hooks", command(Some(FAST), None)?),
            (
                "fast hooks and a clock",
                command(Some(FAST), Some(("HOOKS_READ_CLOCK", Path::new("1"))))?,
            ),
            (
                "call_counter --no-times",
                command(
                    Some(COUNTER),
                    Some(("CALL_COUNTER_NO_TIMES", Path::new("1"))),
                )?,
            ),
            (
                "the same, by stack",
                command(
                    Some(COUNTER),
                    Some(("CALL_COUNTER_NO_TIMES", Path::new("1"))),
                )?,
            ),
            ("call_counter", command(Some(COUNTER), None)?),
        ];
        let [.., by_stack, _] = &mut commands;
        by_stack.1.env("CALL_COUNTER_OUTPUT", &stacks);
        let mut times = vec![Vec::new(); commands.len()];
        // The first round reads files into memory.
        for round in 0..=runs {
            for (index, (_, command)) in commands.iter_mut().enumerate() {
                let time = Usage::of(command, 5)?.user;
                if round > 0 {
                    times[index].push(time.as_secs_f64() * 1e9 / CALLS as f64);
                }
            }
        }
        let counted = std::fs::read_to_string(&log).unwrap_or_default();
        let table = std::fs::read_to_string(&results).unwrap_or_default();
        if !table.contains(&format!("\n{CALLS} calls of 1 methods")) {
            return Err(format!("call_counter did not count {CALLS}: {table}").into());
        }
        let folded = std::fs::read_to_string(&stacks).unwrap_or_default();
        if !folded
            .trim_end()
            .ends_with(&format!("CountBench(int, int) {CALLS}"))
        {
            return Err(format!("call_counter did not count {CALLS} by stack: {folded}").into());
        }
        std::fs::remove_dir_all(&scratch)?;
        let expected = format!("{CALLS} {CALLS}");
        if counted.lines().count() != 3 * (runs + 1) || counted.lines().any(|line| line != expected)
        {
            return Err(format!("the hooks did not count {expected}: {counted}").into());
        }
        println!(
            "{CALLS} calls on {}, {runs} runs of each",
            Pinned::NET_8.name
        );
        let figures: Vec<[f64; 3]> = times.iter().map(|times| quartiles(times)).collect();
        for ((name, _), [low, middle, high]) in commands.iter().zip(&figures) {
            println!("{name:24}{middle:>8.3} ns a call{low:>9.3} -{high:>7.3}");
        }
        let [none, in_c, ours, reading, counting, by_stack, timing] = figures[..] else {
            return Err("there are seven commands".into());
        };
        for (name, with) in [
            ("fast hooks and a clock", reading),
            ("call_counter --no-times", counting),
            ("call_counter --no-times, by stack", by_stack),
            ("call_counter", timing),
        ] {
            let added = with[1] - none[1];
            println!(
                "{name}: {:.2} times the cost of fast hooks, {:.2} times that of hooks in C",
                added / (ours[1] - none[1]),
                added / (in_c[1] - none[1])
            );
        }
        println!(
            "fast hooks / hooks in C: {:.3} of all the time",
            ours[1] / in_c[1]
        );
        println!(
            "fast hooks / hooks in C: {:.3} of the added time",
            (ours[1] - none[1]) / (in_c[1] - none[1])
        );
        Ok(())
    }

    /// Builds the library of the hooks in C.
    fn compile(into: &Path) -> Result<PathBuf> {
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/hooks.c");
        let library = into.join("libhooks_in_c.so");
        let status = Command::new("cc")
            .args(["-O2", "-shared", "-fPIC", "-o"])
            .arg(&library)
            .arg(source)
            .status()?;
        if !status.success() {
            return Err(format!("cc: {status}").into());
        }
        Ok(library)
    }

    fn quartiles(times: &[f64]) -> [f64; 3] {
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        [1, 2, 3].map(|quarter| sorted[(sorted.len() - 1) * quarter / 4])
    }
}
