//! `hot_patch`: its patch is switched on and off by its control file.

use std::fs::{self, File};
use std::io::Write;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use clr_profiler_tests::{
    Example, Finished, Folder, Running, Runtime, Scenario, profilee, runtimes,
};

const EXAMPLE: Example = Example("hot_patch");

const PATIENCE: Duration = Duration::from_secs(60);

/// Calls and state of a method in the results.
fn row(results: &str, method: &str) -> Option<(u64, String)> {
    let line = results.lines().find(|line| line.ends_with(method))?;
    let mut words = line.split_whitespace();
    let (calls, _longest) = (words.next()?.parse().ok()?, words.next()?);
    let state: Vec<&str> = words.take_while(|word| !method.starts_with(word)).collect();
    Some((calls, state.join(" ")))
}

const METHODS: [&str; 3] = [
    "Hot.Program.Own()",
    "Hot.Program.Small()",
    "System.Version.CompareTo(System.Version)",
];

const PATTERNS: &str = "Hot.Program.Own; Hot.Program.Small; \
                        System.Private.CoreLib!System.Version.CompareTo(System.Version)";

fn until<T>(file: &Path, what: &str, mut find: impl FnMut(&str) -> Option<T>) -> T {
    let end = Instant::now() + PATIENCE;
    loop {
        let results = fs::read_to_string(file).unwrap_or_default();
        if let Some(found) = find(&results) {
            return found;
        }
        assert!(Instant::now() < end, "{what}: {results}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn say(control: &Path, line: &str) {
    let file = File::options().append(true).create(true).open(control);
    file.unwrap().write_all(line.as_bytes()).unwrap();
}

fn switch(control: &Path, output: &Path, command: &str) {
    say(control, &format!("{command}\n"));
    let line = format!("\nswitched {command}\n");
    until(output, command, |results| {
        results.ends_with(&line).then_some(())
    });
}

/// The program, which runs its work at each line, and its counts. The patch is off at first.
fn follow(runtime: &Runtime, mut program: Running, control: &Path, output: &Path) {
    let run = |program: &mut Running| {
        let line = program.ask("run");
        let (result, time) = line.split_once(" in ").unwrap();
        assert_eq!(result, "ran 93100300");
        time.parse::<f64>().unwrap()
    };
    let counts_are = |results: &str, count: u64, state: &str| {
        METHODS
            .iter()
            .all(|method| row(results, method) == Some((count, state.to_owned())))
            .then_some(())
    };
    until(output, "all are found", |results| {
        results.contains("\n3 methods are selected\n").then_some(())
    });
    // So that everything that can be inlined is.
    let before = (0..5).map(|_| run(&mut program)).fold(f64::MAX, f64::min);
    switch(control, output, "on");
    let on = run(&mut program);
    // 100,000 calls of each in a run; no others.
    until(output, "all are counted", |results| {
        counts_are(results, 100_000, "instrumented")
    });
    switch(control, output, "off");
    let after = (0..5).map(|_| run(&mut program)).fold(f64::MAX, f64::min);
    println!(
        "{}: {before:.3} ms, on {on:.3} ms, off again {after:.3} ms",
        runtime.name
    );
    assert_eq!(program.ask("end"), "ending");
    let finished: Finished = program.finish();
    assert_eq!(finished.status.code(), Some(3), "{finished:?}");
    assert_eq!(finished.stderr, "");
    let results = fs::read_to_string(output).unwrap();
    assert!(counts_are(&results, 100_000, "off").is_some(), "{results}");
}

/// Starts the program under the example, and follows it.
fn started(runtime: &Runtime, program: &Path) {
    let folder = Folder::new();
    let (control, output) = (folder.path("control"), folder.path("results"));
    say(&control, "off\n");
    let options = [
        "--methods",
        PATTERNS,
        "--control",
        control.to_str().unwrap(),
        "--output",
        output.to_str().unwrap(),
    ];
    let mut command = EXAMPLE.command(runtime, &options, program, &[]);
    command.env("COMPlus_TieredCompilation", "0");
    let mut program = Running::start(command);
    assert_eq!(program.line(), "ready");
    follow(runtime, program, &control, &output);
}

#[test]
fn calls_are_counted_while_it_is_said_so() {
    for runtime in runtimes() {
        started(runtime, &profilee("Hot"));
    }
}

/// On .NET 8 and newer, the call that counts refers to a type that is newer than these.
#[test]
fn calls_are_counted_in_programs_that_refer_to_facades() {
    for runtime in runtimes() {
        for facade in ["mscorlib", "netstandard"] {
            started(runtime, &profilee(&format!("{facade}/Hot")));
        }
    }
}

/// The runtime has no memory for the signature of the call that the patch inserts.
#[test]
fn a_method_that_could_not_be_patched_has_failed() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let output = folder.path("results");
        let method = METHODS[0];
        let scenario = Scenario::new("Hot")
            .library("hot_patch")
            .profiler("7A4E2B9C-61D0-4F0B-9C83-2E5B7C1D9A46")
            .env("HOT_PATCH_METHODS", method)
            .env(
                "HOT_PATCH_CONTROL",
                folder.path("control").to_str().unwrap(),
            )
            .env("HOT_PATCH_OUTPUT", output.to_str().unwrap())
            .fault("IMetaDataEmit::GetTokenFromSig", "8007000e", 1);
        let mut program = scenario.start(runtime);
        assert_eq!(program.line(), "ready");
        assert!(program.ask("run").starts_with("ran 93100300 in "));
        let results = until(&output, "it has failed", |results| {
            (row(results, method)? == (0, "failed".to_owned())).then(|| results.to_owned())
        });
        let problem = "\n                           Hot.Program.Own() was not rewritten: ";
        let problem = results.split_once(problem).expect(&results).1;
        let problem = problem.lines().next().unwrap();
        assert!(problem.contains("E_OUTOFMEMORY"), "{results}");
        assert_eq!(program.ask("end"), "ending");
        let finished = program.finish();
        assert_eq!(finished.status.code(), Some(3));
        let told = "hot_patch: 1 failed: Hot.Program.Own(): ";
        assert!(finished.stderr.starts_with(told), "{}", finished.stderr);
        assert!(
            finished.stderr.contains("E_OUTOFMEMORY"),
            "{}",
            finished.stderr
        );
    }
}

#[test]
#[cfg(target_os = "linux")]
fn it_can_be_attached() {
    for runtime in runtimes() {
        let folder = Folder::new();
        let (control, output) = (folder.path("control"), folder.path("results"));
        say(&control, "off\n");
        let mut command = EXAMPLE.plain(runtime, &profilee("Hot"), &[]);
        command.env("COMPlus_TieredCompilation", "0");
        let mut program = Running::start(command);
        assert_eq!(program.line(), "ready");
        let attached = Command::new(EXAMPLE.executable())
            .args(["--attach", &program.id().to_string()])
            .args(["--methods", PATTERNS, "--control"])
            .arg(&control)
            .arg("--output")
            .arg(&output)
            .output()
            .unwrap();
        assert!(attached.status.success(), "{attached:?}");
        follow(runtime, program, &control, &output);
    }
}
