//! The cost of a profiler at the start of a program: the CPU time of the whole process, from the
//! runtime's start to its end, of a program that prints one line, on .NET 8.
//!
//! ```sh
//! cargo bench -p clr_profiler_tests --bench startup            # 100 runs of each
//! cargo bench -p clr_profiler_tests --bench startup -- 300
//! ```
//!
//! Without a profiler, with one that does nothing, and with `jit_logger` writing to a file. Each
//! round runs all three in a random order, so that other activity of the machine affects all alike. The
//! ratio is that of the medians; its range contains 95 of 100 ratios of resampled runs (bootstrap).

#[cfg(unix)]
mod usage;

use std::process::ExitCode;

#[cfg(unix)]
fn main() -> ExitCode {
    let runs = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok());
    match measure::run(runs.unwrap_or(100)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("startup: error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(unix))]
fn main() -> ExitCode {
    eprintln!("startup: error: the CPU time of a process is read on Unix only");
    ExitCode::FAILURE
}

#[cfg(unix)]
mod measure {
    use std::error::Error;
    use std::process::Command;

    use clr_profiler_launcher::{DotnetHost, Launch, ProfilerLibrary, find_library};
    use clr_profiler_tests::{clsid, profilee};
    use examples_support::{Pinned, runtime};

    use crate::usage::Usage;

    type Result<T> = std::result::Result<T, Box<dyn Error>>;

    pub(super) fn run(runs: usize) -> Result<()> {
        let host = DotnetHost::at(runtime::fetch(&Pinned::NET_8)?)?;
        let log = std::env::temp_dir().join(format!("startup-{}", std::process::id()));
        let profilers = [
            ("no profiler", None),
            ("null profiler", Some(("scenarios", "Null"))),
            (
                "jit_logger",
                Some(("jit_logger", "DF63A541-5A33-4611-8829-F4E495985EE3")),
            ),
        ];
        let mut commands = Vec::new();
        for (_, profiler) in profilers {
            let mut launch = Launch::new(profilee("Hello"));
            launch.dotnet(host.clone());
            launch.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
            launch.env("JIT_LOGGER_OUTPUT", &log);
            if let Some((library, profiler)) = profiler {
                launch.profiler(ProfilerLibrary::new(
                    find_library(library)?,
                    clsid(profiler),
                )?);
            }
            commands.push(launch.command()?);
        }
        let measured = alternate(&mut commands, runs);
        let lines = std::fs::read_to_string(&log).unwrap_or_default();
        let _ = std::fs::remove_file(&log);
        let measured = measured?;

        println!(
            "CPU time of Hello on {}, {runs} runs of each",
            Pinned::NET_8.name
        );
        println!(
            "{:16}{:>10}{:>18}{:>8}{:>16}",
            "", "median", "quartiles", "ratio", "95 %"
        );
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for ((name, _), times) in profilers.iter().zip(&measured) {
            let [low, middle, high] = [1, 2, 3].map(|quarter| quartile(times, quarter));
            let ratio = middle / quartile(&measured[0], 2);
            let [from, to] = range_of_ratio(times, &measured[0], &mut random);
            println!(
                "{name:16}{middle:>7.2} ms{low:>9.2} -{high:>7.2}{ratio:>8.3}{from:>9.3} -{to:>5.3}",
            );
        }
        let logged = lines.lines().count() / (runs + WARM_UP);
        println!("jit_logger wrote {logged} lines in each run");
        Ok(())
    }

    /// Runs that are not counted: they read files into memory.
    const WARM_UP: usize = 3;

    /// The CPU times of each command in milliseconds.
    fn alternate(commands: &mut [Command], runs: usize) -> Result<Vec<Vec<f64>>> {
        let mut random = Random(u64::from(std::process::id()) + 1);
        let mut measured = vec![Vec::with_capacity(runs); commands.len()];
        let mut order: Vec<usize> = (0..commands.len()).collect();
        for round in 0..runs + WARM_UP {
            for left in (1..order.len()).rev() {
                order.swap(left, random.below(left + 1));
            }
            for &index in &order {
                let usage = Usage::of(&mut commands[index], 0)?;
                let time = usage.user + usage.system;
                if round >= WARM_UP {
                    measured[index].push(time.as_secs_f64() * 1000.0);
                }
            }
        }
        Ok(measured)
    }

    fn quartile(times: &[f64], quarter: usize) -> f64 {
        let mut sorted = times.to_vec();
        sorted.sort_by(f64::total_cmp);
        sorted[(sorted.len() - 1) * quarter / 4]
    }

    /// The range of the ratios of medians of resampled runs.
    fn range_of_ratio(times: &[f64], base: &[f64], random: &mut Random) -> [f64; 2] {
        let mut resampled = |times: &[f64]| {
            let picked: Vec<f64> = times
                .iter()
                .map(|_| times[random.below(times.len())])
                .collect();
            quartile(&picked, 2)
        };
        let mut ratios: Vec<f64> = (0..1000)
            .map(|_| resampled(times) / resampled(base))
            .collect();
        ratios.sort_by(f64::total_cmp);
        [ratios[25], ratios[974]]
    }

    /// Marsaglia's xorshift: good enough to shuffle.
    struct Random(u64);

    impl Random {
        fn below(&mut self, end: usize) -> usize {
            self.0 ^= self.0 << 13;
            self.0 ^= self.0 >> 7;
            self.0 ^= self.0 << 17;
            (self.0 % end as u64) as usize
        }
    }
}
