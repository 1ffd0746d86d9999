//! A program that computes, with coverage in several ways and without it.

use clr_profiler_tests::{Folder, runtimes};

use crate::command::{clr_on, stderr};
use crate::compiled::compile;

const SOURCE: &str = include_str!("Cost.cs");

/// How often the program repeats its work.
const ROUNDS: &str = "30";

/// Its name, the words of the command if there is one, and variables. One without a command is compared with those after it.
type Way<'a> = (&'a str, Option<&'a [&'a str]>, &'a [(&'a str, &'a str)]);

/// The milliseconds of all rounds and of the second half of them, and the greatest memory in kilobytes.
fn figures(stderr: &str) -> [f64; 3] {
    let line = stderr.lines().find_map(|line| line.strip_prefix("took "));
    let line = line.unwrap_or_else(|| panic!("{stderr}"));
    let numbers: Vec<f64> = line.split(' ').map(|text| text.parse().unwrap()).collect();
    numbers.try_into().unwrap()
}

fn least(runs: &[[f64; 3]]) -> [f64; 3] {
    let column = |at: usize| runs.iter().map(|run| run[at]).fold(f64::MAX, f64::min);
    [column(0), column(1), column(2)]
}

pub(super) fn measure(count: usize) {
    let Some(program) = compile("Cost", SOURCE, &["-optimize+"]) else {
        return;
    };
    println!("runtime  coverage          all rounds  second half  memory");
    for runtime in runtimes() {
        let folder = Folder::new();
        let lcov = folder.path("cover.lcov");
        let measured = ["cover", "-o", lcov.to_str().unwrap()];
        let counted = [&measured[..], &["--counts"]].concat();
        let keeps = [("COVERAGE_KEEP_PROBES", "1")];
        let once = [
            ("DOTNET_TieredCompilation", "0"),
            ("COMPlus_TieredCompilation", "0"),
        ];
        let ways: [Way<'_>; 6] = [
            ("none", None, &[]),
            ("hits", Some(&measured), &[]),
            ("probes stay", Some(&measured), &keeps),
            ("counts", Some(&counted), &[]),
            ("once: none", None, &once),
            ("once: hits", Some(&measured), &once),
        ];
        let mut runs = vec![Vec::new(); ways.len()];
        for _ in 0..count {
            for ((_, words, variables), runs) in ways.iter().zip(&mut runs) {
                let mut command = match words {
                    None => runtime.launch(program.path(), &[ROUNDS]).command().unwrap(),
                    Some(words) => clr_on(runtime, words, program.path(), &[ROUNDS]),
                };
                command.envs(variables.iter().copied());
                runs.push(figures(&stderr(&command.output().unwrap())));
            }
        }
        let mut plain = least(&runs[0]);
        for ((name, words, _), runs) in ways.iter().zip(&runs) {
            if words.is_none() {
                plain = least(runs);
            }
            let [all, half, memory] = least(runs);
            println!(
                ".NET {:<3} {name:<14} {:>9.2} x {:>10.2} x {:>+7.1} MB",
                runtime.major,
                all / plain[0],
                half / plain[1],
                (memory - plain[2]) / 1024.0,
            );
        }
    }
}
