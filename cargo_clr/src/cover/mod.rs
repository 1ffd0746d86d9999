//! `cover` and `cover-merge`: which lines and branches of a program run.

mod outputs;
mod reading;
mod sources;

use std::ffi::OsString;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::SystemTime;

use clap::{ArgGroup, Args};
use clr_profiler_tools::coverage::Coverage;

use crate::cli::{Methods, Profile, Subject};
use crate::outcome::{self, Failure, Result};
use crate::tool::{self, Status, Tool};
use crate::verbs::patterns;

use outputs::Outputs;

/// The exit code if a threshold was missed.
const MISSED: u8 = 3;

#[derive(Debug, Args)]
#[command(after_help = "\
Covered are the assemblies with a PDB, and with --methods those of the patterns, also without a PDB if a pattern has the name of the \
assembly. The program, its output and its files stay as they are; processes that it starts are measured, too.

Examples:
  cargo clr cover -o cover.lcov -- App.dll
  cargo clr cover -o cover.xml --html cover --threshold 80 -- dotnet test --no-build
  cargo clr cover -p 4711 --duration 60 -o cover.json")]
pub(crate) struct Cover {
    #[command(flatten)]
    methods: Methods,
    /// Count how often lines run, which costs more; otherwise they are covered or not
    #[arg(long)]
    counts: bool,
    /// Tell the hits of each test apart (xUnit, NUnit, MSTest), which must not run at the same time: for lcov and JSON
    #[arg(long, conflicts_with_all = ["counts", "process", "contexts"])]
    per_test: bool,
    /// The same for each call of these methods instead of tests, or those in a file: @FILE
    #[arg(long, value_name = "PATTERNS", conflicts_with_all = ["counts", "process"])]
    contexts: Option<String>,
    #[command(flatten)]
    reports: Reports,
}

/// The reports in addition to the one of `-o`.
#[derive(Debug, Args)]
pub(crate) struct Reports {
    /// Write a report to this file, too; its ending is the format
    #[arg(long, value_name = "FILE")]
    also: Vec<PathBuf>,
    /// Write a report for browsers into this folder
    #[arg(long, value_name = "FOLDER")]
    html: Option<PathBuf>,
    /// End with exit code 3 below this percentage of lines; `branches=70` and `methods=90` are for those
    #[arg(long, value_name = "PERCENT", value_parser = outputs::threshold)]
    threshold: Vec<outputs::Threshold>,
}

#[derive(Debug, Args)]
#[command(group(ArgGroup::new("required").required(true).args(["runs"])))]
#[command(after_help = "\
A run is a JSON file that `cargo clr cover -o run.json` has written.

Example:
  cargo clr cover-merge -o all.lcov first.json second.json")]
pub(crate) struct CoverMerge {
    /// Write the sum to this file; its ending is the format: .lcov, .info, .xml (Cobertura), .json
    #[arg(short, long, value_name = "FILE", default_value = OUTPUT)]
    output: PathBuf,
    #[command(flatten)]
    reports: Reports,
    /// The results of the runs
    #[arg(value_name = "RUN")]
    runs: Vec<PathBuf>,
}

/// The file of the results without an option.
const OUTPUT: &str = "cover.lcov";

/// The attributes of tests.
const TESTS: &str = "\
    [Xunit.Fact] **; [Xunit.Theory] **; [NUnit.Framework.Test] **; [NUnit.Framework.TestCase] **; \
    [NUnit.Framework.TestCaseSource] **; [NUnit.Framework.Theory] **; \
    [Microsoft.VisualStudio.TestTools.UnitTesting.TestMethod] **; \
    [Microsoft.VisualStudio.TestTools.UnitTesting.DataTestMethod] **";

/// Measures a program.
pub(crate) fn run(profile: &Profile<Cover>) -> Result<i32> {
    let (options, subject) = (&profile.options, &profile.subject);
    let output = subject.output.as_deref().unwrap_or(Path::new(OUTPUT));
    let outputs = Outputs::new(output, &options.reports, Some(subject))?;
    let folder = HitsFolder::new(outputs.first(), subject)?;
    let mut tool = Tool::new(
        "cover",
        "3D5B5A9C-3C5E-4D0B-9B57-5F0C0E6A2D19",
        ("COVERAGE_FOLDER", ""),
    )
    .set("COVERAGE_METHODS", patterns(&options.methods)?)
    .set("COVERAGE_CONTEXTS", contexts(options)?)
    .flag("COVERAGE_COUNTS", options.counts);
    tool.follows_children = true;
    let nothing = match &options.methods.methods {
        Some(patterns) => {
            format!("no method matches `{patterns}`, or its assembly was not loaded")
        }
        None => "no assembly with a PDB was loaded. Build with `DebugType` portable or embedded, or have the IL blocks of assemblies \
                 without one measured by `--methods 'App!**'`"
            .to_owned(),
    };
    let report =
        |status: &Status, code: i32| report(&folder.0, &outputs, (subject, &nothing), status, code);
    match subject.target.process {
        Some(process) => tool::attach_with(&tool, subject, process, &folder.0, |status| {
            report(status, 0)
        }),
        None => tool::start_with(&tool, subject, &folder.0, report),
    }
}

/// The patterns of methods whose hits are told apart.
fn contexts(options: &Cover) -> Result<Option<OsString>> {
    match options.per_test {
        true => Ok(Some(TESTS.into())),
        false => patterns(&Methods {
            methods: options.contexts.clone(),
        }),
    }
}

/// Writes the reports, and returns the exit code.
fn report(
    folder: &Path,
    outputs: &Outputs,
    (subject, nothing): (&Subject, &str),
    status: &Status,
    code: i32,
) -> Result<i32> {
    let mut said = status.said();
    // Several processes may have said the same.
    said.sort();
    said.dedup();
    let (mut coverage, problems) = reading::read(folder)?;
    said.extend(problems);
    said.extend(located(&mut coverage));
    said.extend(tests(&coverage));
    let missed = outputs.misses(&coverage);
    let ended = code;
    let code = match (ended, missed.is_empty()) {
        (0, false) => i32::from(MISSED),
        _ => ended,
    };
    if let Some(error) = status.error() {
        say(&[format!("the tool could not start: {error}")]);
        return Ok(code);
    }
    let is_empty = coverage.files.is_empty() && coverage.blocks.is_empty();
    if is_empty && !status.has_started() && ended != 0 {
        said.push(format!(
            "nothing was measured: the program ended with {ended} before the runtime loaded the tool. If it does not say why, `cargo clr \
             doctor -p PID` does while it runs"
        ));
    } else if is_empty && !status.has_started() {
        said.push(
            "nothing was measured, because no .NET runtime has loaded the tool; `cargo clr doctor -p PID` says why while the program runs"
                .to_owned(),
        );
    } else if is_empty && said.is_empty() {
        said.push(format!("nothing was measured: {nothing}"));
    } else if is_empty {
        said.push("nothing was measured".to_owned());
    }
    outputs.write(&coverage)?;
    said.extend(missed);
    let stays = status.stays_loaded();
    said.extend(stays.map(|reason| format!("the tool stays loaded in the process{reason}")));
    if subject.json.json {
        crate::print(outputs.json(&coverage, &said, code))?;
    } else {
        // If stderr is closed, the files are there all the same.
        let _ = write!(io::stderr(), "{}", outputs.table(&coverage));
        say(&said);
    }
    Ok(code)
}

/// Finds the source files of deterministic builds; a line about those that are missing.
fn located(coverage: &mut Coverage) -> Option<String> {
    let folder = std::env::current_dir().unwrap_or_default();
    sources::locate(coverage, &folder);
    sources::missing(coverage)
}

/// A line about the contexts that are told apart, if that was asked for.
fn tests(coverage: &Coverage) -> Option<String> {
    if coverage.contexts.is_empty() {
        return None;
    }
    let tests = coverage.contexts.keys().filter(|name| !name.is_empty());
    Some(match tests.count() {
        0 => "no method with the attribute of a test has run: `--contexts` names other methods, by an attribute \
              (`[MyFact] **`) or by name (`Shop.Tests!Shop.Checks.*`)"
            .to_owned(),
        number => format!("the hits of {number} tests are told apart"),
    })
}

fn say(lines: &[String]) {
    for line in lines {
        let _ = writeln!(io::stderr(), "cover: {line}");
    }
}

/// Adds runs up.
pub(crate) fn merge(options: &CoverMerge) -> Result<ExitCode> {
    let outputs = Outputs::new(&options.output, &options.reports, None)?;
    let mut coverage = Coverage::default();
    for run in &options.runs {
        let text = fs::read_to_string(run).map_err(outcome::io("read", run))?;
        let of_run = clr_profiler_tools::coverage::report::from_json(&text)
            .map_err(|error| Failure::usage(format!("`{}`: {error}.", run.display())))?;
        coverage.merge(of_run);
    }
    let mut said = Vec::from_iter(located(&mut coverage));
    outputs.write(&coverage)?;
    let missed = outputs.misses(&coverage);
    said.extend_from_slice(&missed);
    let _ = write!(io::stderr(), "{}", outputs.table(&coverage));
    say(&said);
    Ok(ExitCode::from(if missed.is_empty() { 0 } else { MISSED }))
}

/// The folder of the files of hits, which ends with the command.
struct HitsFolder(PathBuf);

impl HitsFolder {
    fn new(output: &Path, subject: &Subject) -> Result<Self> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.unwrap_or_default().as_nanos();
        let name = format!(".cover-{}-{now}", std::process::id());
        let folder = output.with_file_name(name);
        fs::create_dir(&folder).map_err(outcome::io("make the folder", &folder))?;
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let process = subject.target.process;
            let is_other = process.is_some_and(|process| !tool::is_ours(process));
            let mode = if is_other { 0o1777 } else { 0o700 };
            fs::set_permissions(&folder, fs::Permissions::from_mode(mode))
                .map_err(outcome::io("share", &folder))?;
        }
        #[cfg(not(unix))]
        let _ = subject;
        Ok(Self(folder))
    }
}

impl Drop for HitsFolder {
    fn drop(&mut self) {
        let removed = fs::remove_dir_all(&self.0);
        if cfg!(windows) && removed.is_err() && self.0.exists() {
            say(&[format!(
                "the folder `{}` can be removed when the program has ended: until then Windows keeps files that are mapped",
                self.0.display()
            )]);
        }
    }
}
