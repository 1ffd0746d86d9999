//! Methods that the runtime itself makes asynchronous (.NET 10 with `DOTNET_RuntimeAsync=1`): their
//! declared result is a task, and their body returns the task's value.

use std::fs;
use std::time::{Duration, Instant};

use clr_profiler_tests::{
    Example, Finished, Folder, Running, Runtime, Scenario, profilee, runtimes_where,
};
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(60);

const ON: (&str, &str) = ("DOTNET_RuntimeAsync", "1");

/// The output of the program for tasks that are already complete.
const DONE: &str = "done Give 42\ndone Sum 42\ndone Together 3\ndone Same text 1.5\n\
                    done Caught 5\ndone Fail failed done\n";

/// Calls in a run of the program, and how many of them throw.
const CALLS: [(&str, usize, usize); 7] = [
    ("Methods.Give(System.Threading.Tasks.Task, int)", 10, 0),
    ("Methods.Nothing(System.Threading.Tasks.Task)", 2, 0),
    ("Methods.Sum(System.Threading.Tasks.Task, int, int)", 2, 0),
    ("Methods.Idle(System.Threading.Tasks.Task)", 2, 0),
    ("Methods.Same<T>(System.Threading.Tasks.Task, T)", 4, 0),
    ("Methods.Caught(System.Threading.Tasks.Task, string)", 2, 0),
    ("Methods.Fail(System.Threading.Tasks.Task, string)", 4, 4),
];

fn output() -> String {
    DONE.to_owned() + &DONE.replace("done", "later")
}

/// The runtimes that have such methods.
fn capable() -> Vec<&'static Runtime> {
    runtimes_where(|runtime| runtime.major >= 10)
}

/// Runs the program under an example and returns the results.
fn under(example: &'static str, runtime: &Runtime, options: &[&str]) -> String {
    let folder = Folder::new();
    let file = folder.path("results");
    let mut all = options.to_vec();
    all.extend(["--output", file.to_str().unwrap()]);
    let mut command = Example(example).command(runtime, &all, &profilee("RuntimeAsync"), &[]);
    command.env(ON.0, ON.1);
    let finished = Finished::of(command);
    println!("on {}: {finished:?}", runtime.name);
    assert_eq!(
        finished.output(),
        (Some(17), &*output(), ""),
        "under {example}"
    );
    fs::read_to_string(file).unwrap()
}

#[test]
fn wraps_begin_and_end_once_for_each_call() {
    for runtime in capable() {
        let scenario = Scenario::new("RuntimeAsync")
            .env(ON.0, ON.1)
            .profiler("Everything");
        let finished = scenario.run_on(runtime);
        assert_eq!(finished.output(), (Some(17), &*output(), ""));
        assert!(
            !finished.log.contains("RuntimeAsync"),
            "refused: {}",
            finished.log
        );
    }
}

#[test]
fn results_are_those_of_the_tasks() {
    for runtime in capable() {
        let returns = under("return_inspector", runtime, &["--methods", "**.*Methods.*"]);
        let mut lines: Vec<&str> = returns.lines().collect();
        let overhead = lines.pop().unwrap();
        assert!(overhead.starts_with("overhead: "), "{returns}");
        lines.sort_unstable();
        let give = "Methods.Give(System.Threading.Tasks.Task, int) = ";
        let mut expected: Vec<String> = [1, 1, 2, 2, 2, 2, 40, 40, 42, 42]
            .iter()
            .map(|value| format!("{give}{value}"))
            .collect();
        for line in [
            "Methods.Caught(System.Threading.Tasks.Task, string) = 5",
            "Methods.Same<T>(System.Threading.Tasks.Task, T) = \"text\"",
            "Methods.Same<T>(System.Threading.Tasks.Task, T) = 1.5",
            "Methods.Sum(System.Threading.Tasks.Task, int, int) = 42",
        ] {
            expected.extend([line.to_owned(), line.to_owned()]);
        }
        expected.sort_unstable();
        assert_eq!(lines, expected);
    }
}

#[test]
fn hooks_see_each_entry() {
    for runtime in capable() {
        let calls = under("call_counter", runtime, &[]);
        for (name, number, _) in CALLS {
            // Instances are functions of their own.
            let name = name.replace("<T>(System.Threading.Tasks.Task, T)", "<");
            let rows = calls.lines().filter(|line| line.contains(&name));
            let counted: usize = rows
                .map(|row| row.split_whitespace().next().unwrap())
                .map(|calls| calls.parse::<usize>().unwrap())
                .sum();
            // The runtime's own method, which creates the task, is entered as well, and so is the method
            // when it continues after a wait.
            assert!(counted >= number, "{name}: {counted} in {calls}");
        }
    }
}

#[test]
fn spans_last_until_the_method_is_done() {
    for runtime in capable() {
        let trace: Value =
            serde_json::from_str(&under("method_tracer", runtime, &["--budget", "100"]))
                .expect("JSON");
        let begun: Vec<&Value> = trace["traceEvents"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|event| matches!(event["ph"].as_str(), Some("X" | "b")))
            .collect();
        let named = |name: &str| -> Vec<&&Value> {
            begun.iter().filter(|event| event["name"] == name).collect()
        };
        for (name, calls, errors) in CALLS {
            let spans = named(name);
            let failed = spans
                .iter()
                .filter(|span| span["args"]["exception"].is_string());
            assert_eq!((spans.len(), failed.count()), (calls, errors), "{name}");
            // They may overlap with others on their thread.
            assert!(spans.iter().all(|span| span["ph"] == "b"), "{name}");
        }
        // Nested calls, before and after a wait.
        for (inner, outer, number) in [(0, 2, 4), (6, 5, 2)] {
            let outer: Vec<&Value> = named(CALLS[outer].0)
                .iter()
                .map(|span| &span["args"]["span"])
                .collect();
            let within = named(CALLS[inner].0)
                .into_iter()
                .filter(|span| outer.contains(&&span["args"]["parent"]));
            assert_eq!(within.count(), number, "{}", CALLS[inner].0);
        }
    }
}

#[test]
fn the_sampler_leaves_them_alone() {
    for runtime in capable() {
        let stacks = under("cpu_sampler", runtime, &[]);
        assert!(stacks.lines().count() > 1, "{stacks}");
    }
}

/// .NET 10 says that it compiled their new IL, and calls the original: the library refuses.
#[test]
fn rejit_fails_and_says_so() {
    for runtime in capable() {
        let folder = Folder::new();
        let (control, output) = (folder.path("switches"), folder.path("results"));
        fs::write(&control, "off\n").unwrap();
        let methods = ["Methods.Give", "Methods.Same<T>"];
        let options = [
            "--methods",
            &methods.join("; "),
            "--control",
            control.to_str().unwrap(),
            "--output",
            output.to_str().unwrap(),
        ];
        let mut command =
            Example("hot_patch").command(runtime, &options, &profilee("RuntimeAsync"), &["lines"]);
        command.env(ON.0, ON.1);
        let mut program = Running::start(command);
        assert_eq!(program.ask("run"), "ran");
        fs::write(&control, "off\non\n").unwrap();
        let end = Instant::now() + PATIENCE;
        loop {
            // The result of the request is known when the method is called the next time.
            assert_eq!(program.ask("run"), "ran");
            let table = fs::read_to_string(&output).unwrap_or_default();
            let is_told = |method: &&str| {
                let row = table.lines().find(|line| line.contains(*method));
                row.is_some_and(|row| row.contains("  refused  ") || row.contains("  failed  "))
            };
            if methods.iter().all(is_told) {
                break;
            }
            assert!(Instant::now() < end, "{table}");
        }
        let finished = program.finish();
        assert_eq!(finished.status.code(), Some(17), "{finished:?}");
    }
}
