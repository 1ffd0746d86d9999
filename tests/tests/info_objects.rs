//! What is in objects, static fields, stacks and the environment, against what the program made.

use clr_profiler_tests::Scenario;

#[test]
fn objects_hold_what_the_program_put_there() {
    let scenario = Scenario::new("Objects").profiler("ReadsObjects");
    scenario.compare(|plain, profiled| {
        assert!(
            plain.stdout.starts_with("variable none\n"),
            "{}",
            plain.stdout
        );
        assert_eq!(
            profiled.stdout,
            plain.stdout.replace("variable none\n", "variable välue\n")
        );
        assert_eq!(profiled.status.code(), Some(3));
        for line in [
            "variable None Some(\"välue\") true None",
            "message \"carried\"",
            "Text \"text ä𝄞\"",
            "Empty \"\"",
            "Nothing null",
            "hidden \"of the holder\"",
            "Number Some(I8(1234605616436508552))",
            "Ratio Some(R8(2.5))",
            "Flag Some(Bool(true))",
            "Letter Some(Char(223))",
            "inherited Some(I4(7))",
            "absent false",
            "Numbers [3] Some(I4(10)) Some(I4(-20)) Some(I4(30))",
            "Grid [2, 3] Some(I2(1)) Some(I2(2)) Some(I2(3)) Some(I2(4)) Some(I2(5)) Some(I2(6))",
            "Words [3] \"one\" null \"three\"",
            "Boxed Some(I4(42))",
            "Enumeration Some(I2(-2))",
            "Pair Some(I2(-5)) \"second\"",
            // Text, Empty, hidden twice, Numbers, Points, Grid, Words, Boxed, Enumeration, Pair.
            "references 11 1",
            "frozen false, sizes agree true",
            "static Name \"static text\"",
            "static Count Some(I4(18))",
            "static perThread Some(I4(23))",
            "static none is not there",
            "frame Objects.Program.Inner(int) true Some(true)",
            "frame Objects.Program.Outer(int) true Some(true)",
            "frame Objects.Program.Main() true Some(true)",
            "panic came back true",
            "clause true true",
        ] {
            assert!(profiled.logged(line), "{line} not in {}", profiled.log);
        }
        let points = profiled
            .log
            .lines()
            .find(|line| line.starts_with("Points [2] "));
        let points = points.unwrap_or_default();
        for field in ["(\"Tag\", U1(4))", "(\"X\", I4(5))", "(\"Y\", I8(-6))"] {
            assert!(points.contains(field), "{points}");
        }
        let origin = profiled
            .log
            .lines()
            .find(|line| line.starts_with("static Origin "));
        assert!(
            origin.unwrap_or_default().contains("(\"X\", I4(8))"),
            "{origin:?}"
        );
        let refused = profiled
            .log
            .lines()
            .find(|line| line.starts_with("refused "));
        assert!(
            refused.is_some_and(|line| line.matches("may have moved it").count() == 2),
            "{}",
            profiled.log
        );
        assert!(!profiled.log.contains("handle false"));
        assert!(!profiled.logged("an element beyond the end was read"));
    });
}

#[test]
fn a_stopped_runtime_shows_stacks_and_heap_and_events_come_back() {
    let scenario = Scenario::new("Objects").profiler("WalksHeap");
    scenario.on_each_runtime(|runtime, profiled| {
        let log = &profiled.log;
        assert_eq!(profiled.status.code(), Some(3));
        assert!(
            profiled.stdout.ends_with("outer 6\n"),
            "{}",
            profiled.stdout
        );
        assert!(profiled.logged("frame Objects.Program.Main()"), "{log}");
        assert!(
            log.contains("again: ICorProfilerInfo10::SuspendRuntime was not called"),
            "{log}"
        );
        assert!(
            log.contains("this thread has suspended the runtime; remember"),
            "{log}"
        );
        assert!(profiled.logged("threshold 85000"), "{log}");
        let event =
            "event Scenario-Provider 7 Some(-9) Some(\"heard ä\") Some(true) 0, activity true";
        assert_eq!(profiled.logged(event), runtime.major >= 5, "{log}");
        assert!(!log.contains("too late"), "{log}");
        assert_eq!(
            profiled.logged("objects that stay true"),
            runtime.major >= 8,
            "{log}"
        );
        if runtime.major >= 9 {
            assert!(profiled.logged("3 of Objects.Holder"), "{log}");
            assert!(profiled.logged("visited 5"), "{log}");
        } else {
            assert!(
                log.contains("needs ICorProfilerInfo15 (.NET 9 or newer)"),
                "{log}"
            );
        }
    });
}

#[test]
fn objects_are_refused_once_they_may_have_moved() {
    let moved = "the collector may have moved";
    let walk = "this thread walks the references of an object";
    let preemptive = "the collector can move objects on this thread at any time";
    let scenario = Scenario::new("Objects").profiler("KeepsObjects");
    scenario.on_each_runtime(|runtime, profiled| {
        assert_eq!(profiled.status.code(), Some(3), "{}", profiled.log);
        let handles = [
            ("with a handle", None),
            ("after a handle", Some(moved)),
            ("its fields", Some(moved)),
            ("of the handle", None),
            ("in a handle", Some(moved)),
            ("fields in a handle", Some(moved)),
            ("no place for handles", Some(preemptive)),
            ("no managed thread", Some(preemptive)),
        ];
        let others = [
            ("moving in a walk", Some(walk)),
            ("after a walk", None),
            ("a frame", None),
            ("a frame later", Some(moved)),
            ("in a static field", Some(moved)),
            ("of a static field", None),
            ("of a static field later", Some(moved)),
            ("static field", None),
            ("after a static field", Some(moved)),
            ("Name", Some(preemptive)),
            ("Count", None),
            ("Origin", Some(preemptive)),
        ];
        let handles = handles.into_iter().filter(|_| runtime.major >= 7);
        let mut expected = 0;
        for (what, refusal) in handles.chain(others) {
            let start = format!("{what}: ");
            let lines: Vec<&str> = profiled
                .log
                .lines()
                .filter_map(|line| line.strip_prefix(&start))
                .collect();
            let [line] = lines.as_slice() else {
                panic!("{what} in {}", profiled.log);
            };
            match refusal {
                Some(why) => assert!(line.contains(why), "{what}: {line}"),
                None => assert_eq!(*line, "answered", "{what}"),
            }
            expected += 1;
        }
        assert_eq!(profiled.log.lines().count(), expected, "{}", profiled.log);
    });
}
