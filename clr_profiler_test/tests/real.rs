//! Profilers on real runtimes, which are fetched.

#![cfg(all(
    target_os = "linux",
    target_arch = "x86_64",
    not(target_env = "musl"),
    feature = "fetch"
))]

use std::fs;
use std::os::unix::fs::symlink;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

use clr_profiler_launcher::DotnetHost;
use clr_profiler_test::{AssemblyFile, Fetcher, Pinned, Runtime, Scenario};
use tested_profilers::{Logs, Noisy, Refuses};

/// A program that runs on all of the runtimes.
const SAMPLE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../examples/support/samples/Sample.dll"
);

/// All pinned runtimes, or those that can be fetched if this is not CI.
fn pinned() -> Vec<Runtime> {
    let fetched = Pinned::RUNTIMES.iter().map(Runtime::fetched);
    let runtimes: Vec<_> = match std::env::var_os("CI") {
        Some(_) => fetched.map(Result::unwrap).collect(),
        None => fetched.filter_map(Result::ok).collect(),
    };
    assert!(!runtimes.is_empty(), "there is no runtime to test on");
    runtimes
}

/// One of them.
fn eight() -> [Runtime; 1] {
    [Runtime::fetched(&Pinned::NET_8).unwrap()]
}

/// The message of a test that fails.
fn failure(test: impl FnOnce()) -> String {
    let payload = catch_unwind(AssertUnwindSafe(test)).expect_err("the test fails");
    *payload.downcast::<String>().expect("it has a message")
}

#[test]
fn a_quiet_profiler_passes_on_each_runtime() {
    let runtimes = pinned();
    let runs = Scenario::new(SAMPLE)
        .args(&["two words", "exit=7"])
        .profiler::<Logs>()
        .log("TESTED_LOG")
        .runtimes(runtimes.clone())
        .same_output();
    assert_eq!(runs.len(), runtimes.len());
    for run in runs {
        assert_eq!(run.plain.status.code(), Some(7));
        assert_eq!(run.profiled.status.code(), Some(7));
        assert!(run.plain.stdout.contains("arguments: two words\n"));
        assert_eq!(run.profiled.stdout, run.plain.stdout);
        assert!(run.profiled.started && !run.plain.started);
        assert_eq!(run.plain.log, "");
        assert!(run.profiled.logged("Shop.Program.Main(string[])"));
        assert_eq!(run.profiled.diagnostics, "");
        // .NET Core 3.1 says 4.
        let major = if run.runtime.major == 3 {
            4
        } else {
            run.runtime.major
        };
        assert!(run.profiled.logged(&format!("runtime {major}")));
    }
}

/// The names of methods that edits of a file see are those that a profiler sees.
#[test]
fn names_are_those_of_a_profiler() {
    let runs = Scenario::new(SAMPLE)
        .profiler::<Logs>()
        .log("TESTED_LOG")
        .runtimes(eight())
        .same_output();
    let edited = AssemblyFile::open(SAMPLE).unwrap().edit(|_, _| Ok(()));
    let names: Vec<&str> = edited.methods().iter().map(|it| &it.name[..]).collect();
    // Of generic methods a profiler sees instances.
    let log = runs[0].profiled.log.lines();
    let of_program: Vec<&str> = log
        .filter(|line| line.starts_with("Shop.") && !line.contains('`') && !is_generic(line))
        .collect();
    assert!(of_program.len() > 20, "{of_program:?}");
    for name in of_program {
        assert!(names.contains(&name), "{name} is none of {names:#?}");
    }
}

/// Whether a name has generic arguments of its type or method.
fn is_generic(name: &str) -> bool {
    let before = name.split('(').next().unwrap_or(name);
    // The names of compilers have angle brackets at the beginning of a part.
    before.replace("+<", "").replace(".<", "").contains('<')
}

#[test]
fn a_profiler_that_changes_the_output_fails() {
    let scenario = || Scenario::new(SAMPLE).profiler::<Noisy>().runtimes(eight());
    let message = failure(|| drop(scenario().env("TESTED_NOISE", "stdout").same_output()));
    for part in [
        "differs under the profiler",
        "stdout, line 1",
        "without: \"The shop opens.\"",
        "with:    \"[noisy] it runs\"",
    ] {
        assert!(message.contains(part), "{message}");
    }

    let message = failure(|| drop(scenario().same_output()));
    assert!(message.contains("stderr, line 1"), "{message}");
    let runs = scenario().own_lines("[noisy] ").same_output();
    assert_eq!(runs[0].profiled.stderr, "[noisy] it runs\n");
    let on_stdout = scenario().env("TESTED_NOISE", "stdout");
    let runs = on_stdout.own_lines("[noisy] ").same_output();
    assert!(runs[0].profiled.stdout.starts_with("[noisy] it runs\n"));
}

#[test]
fn a_profiler_that_does_not_start_fails() {
    let scenario = Scenario::new(SAMPLE)
        .profiler::<Refuses>()
        .runtimes(eight());
    // The output is the same, because the program runs without the profiler.
    let runs = scenario.on_each_runtime();
    assert_eq!(runs[0].plain.output(), runs[0].profiled.output());
    let message = failure(|| drop(scenario.same_output()));
    for part in ["the profiler did not start", "by design", "{7a60e5d3-"] {
        assert!(message.contains(part), "{message}");
    }
}

#[test]
fn a_profiler_by_the_name_of_its_crate() {
    let runs = Scenario::new(SAMPLE)
        .profiler_of_crate("tested-profilers", "F3B1A9C2-0D54-4C7B-9E61-5A0C2D8B7E10")
        .log("TESTED_LOG")
        .runtimes(eight())
        .same_output();
    assert!(runs[0].profiled.logged("Shop.Program.Main(string[])"));

    let unknown = Scenario::new(SAMPLE)
        .profiler_of_crate("no_such_crate", "F3B1A9C2-0D54-4C7B-9E61-5A0C2D8B7E10")
        .runtimes(eight());
    let message = failure(|| drop(unknown.same_output()));
    assert!(
        message.contains("has a library `no_such_crate`") && message.contains("tested_profilers"),
        "{message}"
    );
    let no_cdylib = Scenario::new(SAMPLE)
        .profiler_of_crate("clr_profiler_test", "F3B1A9C2-0D54-4C7B-9E61-5A0C2D8B7E10")
        .runtimes(eight());
    let message = failure(|| drop(no_cdylib.same_output()));
    assert!(
        message.contains("crate-type = [\"cdylib\", \"lib\"]"),
        "{message}"
    );
}

/// A folder of this test, removed at the end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("clr-test-{}-{name}", std::process::id()));
        fs::create_dir(&path).unwrap();
        Self(path)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn a_program_runs_on_the_runtimes_that_it_is_for() {
    let folder = Folder::new("needs");
    let program = folder.0.join("Sample.dll");
    fs::copy(SAMPLE, &program).unwrap();
    let needs = |version: &str| {
        let text = format!(
            "{{\"runtimeOptions\": {{\"framework\": {{\"name\": \"Microsoft.NETCore.App\", \"version\": \"{version}\"}}, \
             \"rollForward\": \"Major\"}}}}"
        );
        fs::write(program.with_extension("runtimeconfig.json"), text).unwrap();
    };
    let scenario = Scenario::new(&program)
        .profiler::<Logs>()
        .log("TESTED_LOG")
        .runtimes([Pinned::NET_CORE_3_1, Pinned::NET_8].map(|it| Runtime::fetched(&it).unwrap()));
    needs("8.0.0");
    let runs = scenario.same_output();
    let majors: Vec<u32> = runs.iter().map(|run| run.runtime.major).collect();
    assert_eq!(majors, [8]);

    needs("99.0.0");
    let message = failure(|| drop(scenario.same_output()));
    assert!(
        message.contains("no runtime runs") && message.contains(".NET 8.0.4: it needs .NET 99.0.0"),
        "{message}"
    );
}

#[test]
fn one_host_runs_the_program_on_each_of_its_runtimes() {
    // A folder as an installer makes it: the newest host, and two runtimes.
    let folder = Folder::new("host");
    let fetcher = Fetcher::from_env().unwrap();
    let shared = Path::new("shared/Microsoft.NETCore.App");
    fs::create_dir_all(folder.0.join(shared)).unwrap();
    for pinned in [Pinned::NET_CORE_3_1, Pinned::NET_8] {
        let root = fetcher.fetch(&pinned).unwrap().with_file_name("");
        let runtime = shared.join(pinned.version);
        symlink(root.join(&runtime), folder.0.join(&runtime)).unwrap();
        if pinned == Pinned::NET_8 {
            symlink(root.join("host"), folder.0.join("host")).unwrap();
            fs::copy(root.join("dotnet"), folder.0.join("dotnet")).unwrap();
        }
    }
    let runtimes = Runtime::of_host(&DotnetHost::at(&folder.0).unwrap()).unwrap();
    let runs = Scenario::new(SAMPLE)
        .profiler::<Logs>()
        .log("TESTED_LOG")
        .runtimes(runtimes)
        .same_output();
    let names: Vec<&str> = runs.iter().map(|run| &run.runtime.name[..]).collect();
    assert_eq!(names, [".NET 3.1.23", ".NET 8.0.4"]);
    assert!(
        runs[0].profiled.logged("runtime 4"),
        "{}",
        runs[0].profiled.log
    );
    assert!(
        runs[1].profiled.logged("runtime 8"),
        "{}",
        runs[1].profiled.log
    );
}

/// A program that works until it is told to end.
const WAITS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/profilees/Waits.dll");

#[test]
fn a_profiler_is_attached() {
    let [runtime] = eight();
    let mut program = Scenario::new(WAITS).log("TESTED_LOG").start(&runtime);
    assert_eq!(program.line(), "ready");
    program.attach::<Logs>(b"two words").unwrap();
    program.until_logged("attached with two words");
    let refused = program.attach::<Refuses>(b"").unwrap_err().to_string();
    assert!(
        refused.contains("CORPROF_E_PROFILER_ALREADY_ACTIVE"),
        "{refused}"
    );
    assert_eq!(program.ask("work 7"), "worked 777");
    assert_eq!(program.ask("end"), "ending");
    let finished = program.finish();
    assert!(finished.started && finished.logged("Waits.Program.Work7()"));
}

#[test]
fn a_test_talks_to_the_program() {
    let [runtime] = eight();
    let mut program = Scenario::new(WAITS)
        .profiler::<Logs>()
        .log("TESTED_LOG")
        .start(&runtime);
    assert_eq!(program.line(), "ready");
    program.until_logged("runtime 8");
    assert_eq!(program.ask("work 7"), "worked 777");
    assert_eq!(program.ask("end"), "ending");
    let finished = program.finish();
    assert_eq!(finished.status.code(), Some(5));
    assert!(finished.started && finished.logged("runtime 8"));
}

#[test]
fn the_command_of_a_run_is_adjusted() {
    let [runtime] = eight();
    let run = Scenario::new(SAMPLE)
        .profiler::<Logs>()
        .log("TESTED_LOG")
        .adjust_command(|command| {
            command.arg("adjusted");
        })
        .run_on(&runtime);
    assert!(run.started && run.stdout.contains("arguments: adjusted\n"));
}
