//! Runs of the program, and their output.

use clr_profiler_launcher::Attach;
use clr_profiler_tests::{Runtime, Scenario};

/// A case of the program under a profiler of the library.
pub(crate) fn program(arguments: &[&str], profiler: &str) -> Scenario {
    plain(arguments).profiler(profiler)
}

/// A case of the program without a profiler.
pub(crate) fn plain(arguments: &[&str]) -> Scenario {
    of("RuntimeTests", arguments)
}

/// A case of another program.
pub(crate) fn of(name: &str, arguments: &[&str]) -> Scenario {
    let scenario = Scenario::new(name).library("runtime_tests");
    arguments
        .iter()
        .fold(scenario, |scenario, argument| scenario.arg(argument))
}

/// The program with the options that the runtime's tests of optimised code have.
pub(crate) fn optimized(scenario: Scenario) -> Scenario {
    scenario
        .env("COMPlus_TieredCompilation", "0")
        .env("COMPlus_JITMinOpts", "0")
}

/// The lines that the profiler wrote in a run in which the program printed this and its last line, and no check failed.
pub(crate) fn lines(scenario: &Scenario, runtime: &Runtime, stdout: &str) -> Vec<String> {
    let finished = scenario.run_on(runtime);
    let (code, printed, errors) = finished.output();
    let end = printed.find("end of ").unwrap_or(printed.len());
    assert_eq!(
        (code, &printed[..end], errors),
        (Some(100), stdout, ""),
        "{}",
        finished.log
    );
    all_right(&finished.log)
}

/// The lines of a log in which no check failed.
pub(crate) fn all_right(log: &str) -> Vec<String> {
    let failed = |line: &&str| line.starts_with("FAILED") || line.starts_with("clr_profiler");
    assert!(log.lines().find(failed).is_none(), "{log}");
    log.lines().map(str::to_owned).collect()
}

/// Attaches a profiler of the library to a process.
pub(crate) fn attach(
    process: u32,
    profiler: &str,
    data: &[u8],
) -> Result<(), clr_profiler_launcher::Error> {
    Attach::new(process)
        .profiler(plain(&[]).profiler_library(profiler))
        .client_data(data)
        .send()
}

/// The bytes that a hook has written for a structure.
pub(crate) struct Bytes(Vec<u8>);

impl Bytes {
    /// Those in the line that begins so.
    pub(crate) fn in_line(lines: &[String], start: &str) -> Self {
        let line = lines.iter().find(|line| line.starts_with(start));
        let line = line.unwrap_or_else(|| panic!("no line {start}: {lines:#?}"));
        let text = line[start.len()..].trim_matches(|c| "[]() ".contains(c));
        let bytes = text.split(", ").map(|byte| byte.parse());
        Self(
            bytes
                .collect::<Result<_, _>>()
                .unwrap_or_else(|error| panic!("{line}: {error}")),
        )
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    fn at<const N: usize>(&self, offset: usize) -> [u8; N] {
        self.0[offset..offset + N].try_into().unwrap()
    }

    pub(crate) fn int(&self, offset: usize) -> i32 {
        i32::from_le_bytes(self.at(offset))
    }

    pub(crate) fn float(&self, offset: usize) -> f32 {
        f32::from_le_bytes(self.at(offset))
    }

    pub(crate) fn double(&self, offset: usize) -> f64 {
        f64::from_le_bytes(self.at(offset))
    }
}
