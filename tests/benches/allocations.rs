//! The cost of `alloc_profiler` for a program that allocates: the CPU time of `Watched`, on .NET 8.
//!
//! ```sh
//! cargo bench -p clr_profiler_tests --bench allocations            # 7 runs of each
//! cargo bench -p clr_profiler_tests --bench allocations -- 20
//! ```
//!
//! Each round runs all in turn, without the profiler, with samples, exact, and exact with whole
//! stacks; the ratios are those of the medians. One program only allocates, the other one
//! uses the allocated objects.

#[cfg(target_os = "linux")]
mod usage;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let runs = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok());
    match measure::run(runs.unwrap_or(7)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("allocations: error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("allocations: error: CPU times are read as Linux tells them");
    ExitCode::FAILURE
}

#[cfg(target_os = "linux")]
mod measure {
    use std::error::Error;
    use std::process::Command;

    use clr_profiler_launcher::{DotnetHost, Launch, ProfilerLibrary, find_library};
    use clr_profiler_tests::profilee;
    use examples_support::{Pinned, runtime};

    use crate::usage::Usage;

    type Result<T> = std::result::Result<T, Box<dyn Error>>;

    const CLSID: &str = "E1A9C1D4-52F3-4B0B-A0C6-3B1F7C9D2E68";

    pub(super) fn run(runs: usize) -> Result<()> {
        let host = DotnetHost::at(runtime::fetch(&Pinned::NET_8)?)?;
        let scratch = std::env::temp_dir().join(format!("allocations-{}", std::process::id()));
        std::fs::create_dir_all(&scratch)?;
        // Exact takes so much longer that the work is reduced.
        for (work, rate, is_sampled) in [
            ("objects", 20_000, true),
            ("words", 300, true),
            ("objects", 100, false),
            ("words", 10, false),
        ] {
            let command = |file: Option<&str>| -> Result<Command> {
                let mut launch = Launch::new(profilee("Watched"));
                launch.dotnet(host.clone());
                launch.args(["hour", "return", &rate.to_string(), work]);
                launch.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
                if let Some(file) = file {
                    launch.profiler(ProfilerLibrary::new(
                        find_library("alloc_profiler")?,
                        CLSID,
                    )?);
                    launch.env("ALLOC_PROFILER_OUTPUT", scratch.join(file));
                    if is_sampled {
                        launch.env("ALLOC_PROFILER_SAMPLED", "1");
                    }
                }
                Ok(launch.command()?)
            };
            let how = if is_sampled { "sampled" } else { "exact" };
            let mut commands = [
                ("without", "", command(None)?),
                (how, "", command(Some("table"))?),
                (how, ", stacks", command(Some("stacks.folded"))?),
            ];
            let mut times = vec![Vec::new(); commands.len()];
            // The first round reads files into memory.
            for round in 0..=runs {
                for (index, (.., command)) in commands.iter_mut().enumerate() {
                    let usage = Usage::of(command, 0)?;
                    let time = (usage.user + usage.system).as_secs_f64();
                    if round > 0 {
                        times[index].push(time);
                    }
                }
            }
            println!("{} {work}, {runs} runs of each", 3600 * rate);
            let medians: Vec<f64> = times.iter_mut().map(|times| median(times)).collect();
            for ((name, stacks, _), time) in commands.iter().zip(&medians) {
                let name = format!("{name}{stacks}");
                println!("{name:18}{time:>9.3} s, {:.3} times", time / medians[0]);
            }
        }
        std::fs::remove_dir_all(&scratch)?;
        Ok(())
    }

    fn median(times: &mut [f64]) -> f64 {
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    }
}
