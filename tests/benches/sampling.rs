//! The cost of 100 samples a second of each thread's processor time, and the known split of `Spins` as they find it.
//!
//! ```sh
//! cargo bench -p clr_profiler_tests --bench sampling                      # 5 pairs of runs of each program
//! SCENARIO_RUNTIMES=8 cargo bench -p clr_profiler_tests --bench sampling -- 3 64 compiler-40
//! ```
//!
//! The programs are `Spins` on a number of threads, by default as many as there are processors, and 64; and a compiler of C# on .NET 8,
//! which compiles seven files once, or as often as the number says.
//! Each pair is a run without the sampler and one with it. The cost is that of the handler and of the sampler's own thread by their clocks,
//! as a part of the processor time of the process. The second line is the processor time of the process in both runs (medians), which has
//! the start of the profiler in it, too, and the noise of the machine.

#[cfg(target_os = "linux")]
mod usage;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    match measure::run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sampling: error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("sampling: error: the sampler that interrupts threads is for Linux");
    ExitCode::FAILURE
}

#[cfg(target_os = "linux")]
mod measure {
    use std::error::Error;
    use std::path::Path;
    use std::{env, fs, thread};

    use clr_profiler_launcher::{Clsid, ProfilerLibrary, find_library};
    use clr_profiler_tests::{Folder, Runtime, profilee, runtimes};
    use examples_support::{Pinned, runtime};

    use crate::usage::Usage;

    type Result<T> = std::result::Result<T, Box<dyn Error>>;

    const CLSID: &str = "B859E288-AEB7-4E25-98DD-4D6A1B242B70";

    /// The rounds of all threads of `Spins` together: some 20 s of processor time.
    const ROUNDS: &str = "6400";

    const PARTS: [(&str, f64); 3] = [
        ("Spins.Program+Hot<int>.Seventy()", 70.0),
        ("Spins.Program.Twenty()", 20.0),
        ("Spins.Program.Ten()", 10.0),
    ];

    pub(super) fn run() -> Result<()> {
        let arguments: Vec<String> = env::args()
            .skip(1)
            .filter(|word| !word.starts_with('-'))
            .collect();
        let (runs, programs) = match arguments.split_first() {
            Some((runs, programs)) => (runs.parse()?, programs.to_vec()),
            None => (5, Vec::new()),
        };
        let programs = match programs.is_empty() {
            true => vec![
                thread::available_parallelism()?.to_string(),
                "64".to_owned(),
                "compiler-1".to_owned(),
                "compiler-40".to_owned(),
            ],
            false => programs,
        };
        for runtime in runtimes() {
            for program in &programs {
                match program.strip_prefix("compiler-") {
                    Some(_) if runtime.major != 8 => {}
                    Some(times) => compiler(runtime, runs, times.parse()?)?,
                    None => spins(runtime, runs, program)?,
                }
            }
        }
        Ok(())
    }

    fn spins(runtime: &Runtime, runs: usize, threads: &str) -> Result<()> {
        let mut own = [0.0; PARTS.len()];
        let what = format!("Spins on {threads} threads, {}", runtime.name);
        pairs(
            &what,
            runtime,
            runs,
            (&profilee("Spins"), &[threads, ROUNDS], 0),
            |table| {
                for (own, (name, _)) in own.iter_mut().zip(PARTS) {
                    *own += milliseconds(table, name);
                }
            },
        )?;
        let all: f64 = own.iter().sum();
        for (own, (name, share)) in own.into_iter().zip(PARTS) {
            println!("  {:5.2} % of {share} % in {name}", own / all * 100.0);
        }
        Ok(())
    }

    fn compiler(runtime: &Runtime, runs: usize, times: usize) -> Result<()> {
        let compiler = runtime::fetch(&Pinned::ROSLYN)?.with_file_name("");
        let mut arguments = vec![compiler.display().to_string()];
        let names = [
            "Small", "Stress", "Rewrites", "Objects", "Members", "Hot", "Basics",
        ];
        for name in names.repeat(times) {
            arguments.push(profilee(name).with_extension("cs").display().to_string());
        }
        let arguments: Vec<&str> = arguments.iter().map(|argument| &**argument).collect();
        let what = format!(
            "a compiler of C#, its files {times} times, {}",
            runtime.name
        );
        pairs(
            &what,
            runtime,
            runs,
            (&profilee("Compiler"), &arguments, 8),
            |_| {},
        )
    }

    /// Runs a program, which ends with a code, without and with the sampler, as often as wanted, and prints the cost. `look` gets each
    /// table.
    fn pairs(
        what: &str,
        runtime: &Runtime,
        runs: usize,
        (program, arguments, code): (&Path, &[&str], i32),
        mut look: impl FnMut(&str),
    ) -> Result<()> {
        let folder = Folder::new();
        let file = folder.path("cpu.txt");
        let mut plain = runtime.launch(program, arguments).command()?;
        let mut launch = runtime.launch(program, arguments);
        launch.profiler(ProfilerLibrary::new(
            find_library("cpu_sampler")?,
            CLSID.parse::<Clsid>()?,
        )?);
        launch.env("CPU_SAMPLER_OUTPUT", &file);
        launch.env("CPU_SAMPLER_INTERVAL", "10000");
        let mut sampled = launch.command()?;
        let (mut without, mut with) = (Vec::new(), Vec::new());
        let [mut samples, mut handler, mut walks] = [0.0; 3];
        for _ in 0..runs {
            for (seconds, command) in [(&mut without, &mut plain), (&mut with, &mut sampled)] {
                let usage = Usage::of(command, code)?;
                seconds.push((usage.user + usage.system).as_secs_f64());
            }
            let table = fs::read_to_string(&file)?;
            samples += number(&table, " s in ")?;
            handler += number(&table, "the handler took ")?;
            walks += number(&table, ", the walks ")?;
            look(&table);
        }
        let all = with.iter().sum::<f64>();
        let [without, with] = [without, with].map(median);
        println!("{what}: {samples} samples in {all:.1} s of processor time, {runs} pairs of runs");
        println!(
            "  {:.3} % of it in the handler ({:.1} us a sample) and {:.3} % on the sampler's thread ({:.1} us a sample)",
            handler / all / 10.0,
            handler / samples * 1e3,
            walks / all / 10.0,
            walks / samples * 1e3,
        );
        println!(
            "  {with:.3} s of processor time instead of {without:.3} s: {:+.2} %",
            (with / without - 1.0) * 100.0
        );
        Ok(())
    }

    fn median(mut numbers: Vec<f64>) -> f64 {
        numbers.sort_by(f64::total_cmp);
        numbers.get(numbers.len() / 2).copied().unwrap_or(f64::NAN)
    }

    /// The number that follows a text in the table.
    fn number(table: &str, before: &str) -> Result<f64> {
        let (_, rest) = table
            .split_once(before)
            .ok_or_else(|| format!("no `{before}` in {table}"))?;
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        Ok(rest.get(..end).unwrap_or_default().parse()?)
    }

    /// The own time of a method in the table.
    fn milliseconds(table: &str, method: &str) -> f64 {
        let row = table
            .lines()
            .find(|line| line.ends_with(&format!("  {method}")));
        // 69.76 %      3700      888        69.76 %  NAME
        let own = row.and_then(|row| row.split_whitespace().nth(2)?.parse().ok());
        own.unwrap_or(0.0)
    }
}
