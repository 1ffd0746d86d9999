//! The memory that `heap_snapshot` takes for a program with millions of objects, on .NET 8, and the time for which the
//! program is suspended.
//!
//! ```sh
//! cargo bench -p clr_profiler_tests --bench heap            # 3 runs of each
//! cargo bench -p clr_profiler_tests --bench heap -- 5
//! ```
//!
//! The largest resident memory of the program with a file for Chrome and with a table, minus that without the profiler, as a multiple of
//! the graph, which has 8 bytes an object and 6 a reference. Medians; the time is the least one.

#[cfg(target_os = "linux")]
mod usage;

use std::process::ExitCode;

#[cfg(target_os = "linux")]
fn main() -> ExitCode {
    let runs = std::env::args()
        .skip(1)
        .find_map(|argument| argument.parse().ok());
    match measure::run(runs.unwrap_or(3)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("heap: error: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(not(target_os = "linux"))]
fn main() -> ExitCode {
    eprintln!("heap: error: memory is read as Linux tells it");
    ExitCode::FAILURE
}

#[cfg(target_os = "linux")]
mod measure {
    use std::error::Error;
    use std::path::Path;
    use std::process::Command;

    use clr_profiler_launcher::{Clsid, DotnetHost, Launch, ProfilerLibrary, find_library};
    use clr_profiler_tests::profilee;
    use examples_support::{Pinned, runtime};

    use crate::usage::Usage;

    type Result<T> = std::result::Result<T, Box<dyn Error>>;

    const CLSID: &str = "4B0B7D1B-6F0E-4E0C-9E5B-6E9C6A9A1D42";

    pub(super) fn run(runs: usize) -> Result<()> {
        let host = DotnetHost::at(runtime::fetch(&Pinned::NET_8)?)?;
        let scratch = std::env::temp_dir().join(format!("heap-{}", std::process::id()));
        std::fs::create_dir_all(&scratch)?;
        for (name, links, branches) in [
            ("a list, half of it arrays", "1500000", "0"),
            ("a tree", "0", "2000000"),
        ] {
            let command = |file: Option<&Path>| -> Result<Command> {
                let mut launch = Launch::new(profilee("Graph"));
                launch.dotnet(host.clone());
                launch.args(["return", links, branches]);
                launch.env("DOTNET_SYSTEM_GLOBALIZATION_INVARIANT", "1");
                if let Some(file) = file {
                    let library = find_library("heap_snapshot")?;
                    launch.profiler(ProfilerLibrary::new(library, CLSID.parse::<Clsid>()?)?);
                    launch.env("HEAP_SNAPSHOT_OUTPUT", file);
                }
                Ok(launch.command()?)
            };
            let table = scratch.join("heap.txt");
            let mut commands = [
                command(None)?,
                command(Some(&scratch.join("heap.heapsnapshot")))?,
                command(Some(&table))?,
            ];
            let mut all = [const { Vec::new() }; 3];
            let mut took = f64::INFINITY;
            for _ in 0..runs {
                for (memory, command) in all.iter_mut().zip(&mut commands) {
                    memory.push(Usage::of(command, 0)?.memory);
                }
                took = took.min(number_before(
                    &std::fs::read_to_string(&table)?,
                    " s of which",
                )?);
            }
            let [plain, chrome, with_table] = all.map(|mut memory| {
                memory.sort_unstable();
                memory[memory.len() / 2] as f64
            });
            let text = std::fs::read_to_string(&table)?;
            let objects = number_before(&text, " objects of ")?;
            let references = number_before(&text, " references")?;
            println!(
                "{name}: {objects} objects, {references} references, suspended for {took:.2} s"
            );
            println!("  {:.0} MB without the profiler", plain / 1e6);
            let graph = objects * 8.0 + references * 6.0;
            for (name, memory) in [("a file for Chrome", chrome), ("a table", with_table)] {
                let more = memory - plain;
                println!(
                    "  {:.0} MB more with {name}: {:.2} graphs of {:.0} MB, {:.1} bytes an object",
                    more / 1e6,
                    more / graph,
                    graph / 1e6,
                    more / objects
                );
            }
        }
        std::fs::remove_dir_all(&scratch)?;
        Ok(())
    }

    /// The number in front of the first such text.
    fn number_before(table: &str, end: &str) -> Result<f64> {
        let before = table.split_once(end).ok_or("the table has no totals")?.0;
        let number = before.rsplit([' ', '\n']).next().unwrap_or("");
        Ok(number.parse()?)
    }
}
