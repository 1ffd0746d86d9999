mod deferred;

use std::collections::BTreeSet;

use clr_profiler_tests::{Finished, Scenario, compiles_twice, profilee};

use super::{Instruments, InstrumentsHelped, InstrumentsLate, RejitsFirst};

/// The results of the methods of `Switched` that the rules change, without and with the changes.
const OFF: &str = "41 51 5 6 270544900 7";
const ON: &str = "1041 1051 1005 1006 270545900 5";

fn switched(how: &str, tiered: &str) -> Scenario {
    Scenario::new("Switched")
        .profiled_by::<Instruments>()
        .env("INSTRUMENTED", how)
        .env("COMPlus_TieredCompilation", tiered)
}

/// The program's lines without the last, which has times.
fn lines(profiled: &Finished) -> Vec<&str> {
    let (stdout, log) = (&profiled.stdout, &profiled.log);
    assert_eq!(profiled.status.code(), Some(9), "{stdout}{log}");
    assert_eq!(profiled.stderr, "", "{log}");
    let mut lines: Vec<&str> = stdout.lines().collect();
    let times = lines.pop().unwrap();
    assert!(times.starts_with("times "), "{times}");
    lines
}

/// The lines of the program, given its results at each moment and those that its threads see.
fn expected(moments: [&str; 6], seen: &str, late: [&str; 2]) -> Vec<String> {
    let [first, on, off, worked, some, last] = moments;
    let mut lines = vec![
        format!("at first: {first}"),
        format!("on: {on}"),
        format!("off: {off}"),
    ];
    lines.extend((0..6).map(|kind| format!("kind {kind} {seen}")));
    lines.extend([
        format!("after the work: {worked}"),
        "wrong 0".to_owned(),
        format!("all but the first: {some}"),
        format!("off: {last}"),
    ]);
    lines.extend(late.map(|result| format!("late {result}")));
    lines
}

/// The lines that begin so, without their beginnings.
fn with<'a>(log: &'a str, start: &str) -> BTreeSet<&'a str> {
    let lines = log.lines();
    lines.filter_map(|line| line.strip_prefix(start)).collect()
}

const METHODS: [&str; 6] = [
    "Rejit!Rejit.Program.Constant()",
    "Switched!Switched.Holder<T>.Get()",
    "Switched!Switched.Program.Own()",
    "Switched!Switched.Program.Small()",
    "System.Private.CoreLib!System.Version.GetHashCode()",
    "System.Private.CoreLib!System.Version.get_DefaultFormatFieldCount()",
];

/// That each selected method was changed from its first call on, and is in the table.
fn all_are_changed(profiled: &Finished) {
    let log = &profiled.log;
    let expected = expected([ON; 6], "False True", ["1041"; 2]);
    assert_eq!(lines(profiled), expected, "{log}");
    let in_table = with(log, "instrumented  ");
    assert_eq!(in_table.into_iter().collect::<Vec<_>>(), METHODS, "{log}");
}

#[test]
fn each_selected_method_is_changed_from_its_first_call_on() {
    for (how, tiered) in [("", "0"), ("", "1"), ("at load", "0"), ("at load", "1")] {
        switched(how, tiered).on_each_runtime(|_, profiled| {
            let log = &profiled.log;
            all_are_changed(profiled);
            // Once each.
            let reported = log.lines().filter(|line| line.ends_with(" Some(true)"));
            assert_eq!(reported.count(), METHODS.len(), "{log}");
            let counts = "6 methods: 6 instrumented, 0 not compiled, 0 unchanged, 0 refused, \
                          0 failed, 0 off; 0 in unloaded modules\n";
            assert!(log.contains(counts) && !log.contains("matched"), "{log}");
            let refused =
                "on: Instrumentation::off was not called: it is not attached, or not switchable";
            assert!(log.contains(refused), "{log}");
        });
    }
}

#[test]
fn the_changes_are_switched_off_and_on_while_threads_run_the_methods() {
    for tiered in ["0", "1"] {
        switched("switchable", tiered).on_each_runtime(|_, profiled| {
            let log = &profiled.log;
            // The late module is compiled first while the rules are off.
            let moments = [ON, ON, OFF, OFF, ON, OFF];
            let expected = expected(moments, "True True", ["41", "1041"]);
            assert_eq!(lines(profiled), expected, "{log}");
            assert!(!log.contains("told") && !log.contains("failed "), "{log}");
            for step in ["off: 5 off", "on: 0 off", "loaded: 6 off", "end: 0 off"] {
                assert!(log.contains(step), "{step}: {log}");
            }
        });
    }
}

#[test]
fn only_precompiled_code_with_copies_is_compiled_again() {
    let copies = |how: &str| {
        Scenario::new("Copies")
            .profiled_by::<Instruments>()
            .env("INSTRUMENTED", how)
            // Without tiers, nothing precompiled is compiled again because it is called often.
            .env("COMPlus_TieredCompilation", "0")
    };
    copies("mixes").on_each_runtime(|runtime, profiled| {
        let log = &profiled.log;
        assert_eq!(profiled.output(), (Some(3), "42 True\n", ""), "{log}");
        let plain = copies("none").run_on(runtime);
        assert_eq!(plain.output(), (Some(3), "42 False\n", ""), "{}", plain.log);
        let (compiled, before) = (with(log, "compiled "), with(&plain.log, "compiled "));
        let more: Vec<_> = compiled.difference(&before).collect();
        for method in [
            "System.HashCode.ToHashCode()",
            "System.HashCode.MixFinal(uint)",
        ] {
            assert!(more.contains(&&method), "{more:?}");
        }
        // All of CoreLib are thousands, and all that such a program calls are hundreds.
        assert!(
            more.iter().all(|name| name.starts_with("System.HashCode.")),
            "{more:?}"
        );
        assert!(
            !before.contains("System.HashCode.ToHashCode()"),
            "{}",
            plain.log
        );
    });
}

#[test]
fn methods_that_are_changed_at_load_are_inlined() {
    for (how, expected) in [
        ("none", "CallsFree,! CallsKept,! CallsBoth,CallsBoth,!"),
        ("small", "Free;! Kept;! Free;Kept;!"),
        (
            "small at load",
            "CallsFree;! CallsKept;! CallsBoth;CallsBoth;!",
        ),
        // The first copy is refused. It is for the first code of a method, so that the other one gets its body, too.
        (
            "small at first use",
            "Free;! CallsKept;! CallsBoth;CallsBoth;!",
        ),
        (
            "chosen at first use",
            "Free;! CallsKept;! CallsBoth;CallsBoth;!",
        ),
    ] {
        let scenario = Scenario::new("Inlines")
            .profiled_by::<Instruments>()
            .env("INSTRUMENTED", how)
            // Only optimised code is inlined.
            .env("COMPlus_TieredCompilation", "0");
        scenario.on_each_runtime(|runtime, profiled| {
            let (log, expected) = (&profiled.log, format!("{expected}\n{expected}\n"));
            let (code, stdout, stderr) = profiled.output();
            let mut stdout = stdout.to_owned();
            if compiles_twice(runtime) && how.ends_with("at first use") {
                // The second compilation has copies, which are changed, too.
                stdout = stdout.replace("CallsFree;! ", "Free;! ");
            }
            assert_eq!((code, &*stdout, stderr), (Some(8), &*expected, ""), "{log}");
            let instrumented = with(log, "instrumented  Inlines!Inlines.Program.");
            assert_eq!(
                instrumented.len(),
                if how == "none" { 0 } else { 2 },
                "{log}"
            );
        });
    }
}

#[test]
fn a_method_that_another_component_rejits_before_its_first_call_is_changed() {
    let orders = [None, Some("REJITS_FIRST")];
    for (order, how) in orders.into_iter().flat_map(|order| [(order, ""), (order, "late")]) {
        let mut scenario = Scenario::new("Switched").profiled_by::<RejitsFirst>();
        scenario = scenario.env("INSTRUMENTED", how);
        if let Some(order) = order {
            scenario = scenario.env(order, "1");
        }
        scenario.on_each_runtime(|_, profiled| {
            let log = &profiled.log;
            let lines = lines(profiled);
            let rejitted = ON.replace("1041 ", "21041 ");
            assert_eq!(lines[0], format!("at first: {rejitted}"), "{log}");
            // Reverted, to the IL of the instrumentation.
            assert_eq!(lines[2], format!("off: {ON}"), "{log}");
            assert!(!log.contains("failed ") && !log.contains("told"), "{log}");
            assert!(log.contains("instrumented  Switched!Switched.Program.Own()"), "{log}");
        });
    }
}

/// The lines of the log that begin so, in their order.
fn in_order<'a>(log: &'a str, start: &str) -> Vec<&'a str> {
    let lines = log.lines();
    lines.filter_map(|line| line.strip_prefix(start)).collect()
}

#[test]
fn a_body_that_was_set_at_load_is_mapped_like_one_set_at_its_compilation() {
    for runtime in clr_profiler_tests::runtimes() {
        let [none, jit, load] = ["none", "removed", "removed at load"].map(|how| {
            // The last tier alone: the changes are removed too late.
            let scenario = Scenario::new("Getters").profiled_by::<Instruments>();
            let scenario = scenario.env("INSTRUMENTED", how).env("COMPlus_TieredCompilation", "0");
            let run = scenario.arg("quick").run_on(runtime);
            let lines: Vec<String> = run.stdout.lines().map(|line| {
                line.rsplit(' ').next().unwrap_or_default().to_owned()
            }).collect();
            let offsets = in_order(&run.log, "offsets of Throws ").first().map(|of| (*of).to_owned());
            (lines, offsets.expect("it was compiled"))
        });
        // The lines that the runtime shows in stack traces, and the offsets that a debugger gets.
        assert_eq!(jit.0, none.0);
        assert_eq!(load.0, none.0);
        assert_eq!(load.1, jit.1, "plain {}", none.1);
    }
}

#[test]
fn each_code_of_a_method_has_its_lines_whichever_body_it_is_of() {
    for how in ["lines deferred", "lines renewed", "removed", "removed at load"] {
        let scenario = Scenario::new("Lines").profiled_by::<Instruments>();
        let scenario = scenario.env("INSTRUMENTED", how).env("COMPlus_TieredCompilation", "0");
        scenario.compare(|plain, profiled| {
            assert_eq!(plain.output().0, Some(8));
            assert_eq!(profiled.output(), plain.output(), "{how}\n{}", profiled.log);
        });
    }
}

#[test]
fn methods_that_are_declared_are_looked_up_before_any_is_changed() {
    switched("uses", "1").on_each_runtime(|_, profiled| {
        let log = &profiled.log;
        assert_eq!(lines(profiled)[0], format!("at first: {ON}"), "{log}");
        let reported = log.lines().position(|line| line.contains("declared methods are missing: "));
        let first = log.lines().position(|line| line.starts_with("instrumented "));
        assert!(reported.is_some() && reported < first, "{log}");
        let problem = "declared methods are missing: void [System.Console]System.Console::WriteLin(string): \
                       there is no method WriteLin of System.Console in System.Console; \
                       void [System.Console]System.Console::Beep(string): \
                       the method Beep of System.Console is not `void (string)` but `void ()` or \
                       `void (int, int)` in System.Console; \
                       string [System.Runtime]System.Strong::Concat(string, string): \
                       there is no type System.Strong in System.Private.CoreLib\n";
        let table = format!("\nfailed        {problem}");
        assert!(log.contains(&table), "{log}");
    });
}

#[test]
fn a_mistake_in_a_declared_method_keeps_the_profiler_from_starting() {
    switched("uses a mistake", "1").on_each_runtime(|_, profiled| {
        let log = &profiled.log;
        assert_eq!(lines(profiled)[0], format!("at first: {OFF}"), "{log}");
    });
}

/// The getters of a program that were called a few times, and then lose their new IL.
fn getters(how: &str) -> Scenario {
    Scenario::new("Getters")
        .profiled_by::<Instruments>()
        .env("INSTRUMENTED", how)
        .env("COMPlus_TieredCompilation", "1")
        .args(&["early"])
}

#[test]
fn changes_are_removed_with_the_next_tier_and_methods_inlined_again() {
    for how in ["removed", "removed at load", "removed at first use"] {
        getters(how).compare(|plain, profiled| {
            let log = &profiled.log;
            let [first, last] = plain.stdout.lines().collect::<Vec<_>>()[..] else {
                panic!("{}", plain.stdout);
            };
            // Only the last tier inlines. On .NET Core 3.1, it also shows another line.
            let line = first.strip_prefix("41 Frame,! ").unwrap();
            assert!(last.starts_with("41 CallsFrame,! "), "{last}");
            let expected = format!("1041 Frame,! {line}\n{last}\n");
            assert_eq!(profiled.output(), (Some(6), &*expected, ""), "{log}");
            let off = with(log, "off           Getters!Getters.Changed.");
            assert!(off.contains("get_Number()"), "{log}");
        });
    }
}

#[test]
fn a_method_that_cannot_be_changed_keeps_its_il_and_says_why() {
    switched("fails", "1").on_each_runtime(|_, profiled| {
        let log = &profiled.log;
        let on = ON.replace("1041 1051", "41 51");
        assert_eq!(lines(profiled)[0], format!("at first: {on}"), "{log}");
        let failed = with(log, "failed        ");
        let failed: Vec<_> = failed.into_iter().collect();
        assert_eq!(
            failed,
            [
                "Switched!Switched.Program.Own()",
                "Switched!Switched.Program.Small()"
            ],
            "{log}"
        );
        let own = "Switched.Program.Own() was not rewritten: not this one";
        assert!(with(log, "              ").contains(own), "{log}");
        assert!(
            log.contains("\nmatched none  Switched.Program.Nothing\n"),
            "{log}"
        );
        let end = "no method has matched `Switched.Program.Nothing`: ";
        assert!(log.contains(end), "{log}");
        let json = "{\"assembly\":\"Switched\",\"method\":\"Switched.Program.Own()\",\"token\":";
        assert!(log.contains(json), "{log}");
    });
}

#[test]
fn an_edit_that_needs_a_new_token_is_refused_where_none_were_promised() {
    for how in ["without new tokens", "without new tokens at load"] {
        switched(how, "1").on_each_runtime(|_, profiled| {
            let log = &profiled.log;
            // Both rules of `Small` failed with it.
            let on = ON.replace("1041 1051", "1041 51");
            assert_eq!(lines(profiled)[0], format!("at first: {on}"), "{log}");
            let failed: Vec<_> = with(log, "failed        ").into_iter().collect();
            assert_eq!(failed, ["Switched!Switched.Program.Small()"], "{log}");
            let reason = "get_IsServerGC(): it needs a new token";
            assert!(log.contains(reason), "{log}");
        });
    }
}

#[test]
fn a_rule_without_new_tokens_gets_none_among_others() {
    switched("one without new tokens", "1").on_each_runtime(|_, profiled| {
        let log = &profiled.log;
        let failed: Vec<_> = with(log, "failed        ").into_iter().collect();
        assert_eq!(failed, ["Switched!Switched.Program.Own()"], "{log}");
        let reason = "get_IsServerGC(): it needs a new token";
        assert!(log.contains(reason), "{log}");
    });
}

#[test]
fn methods_that_could_not_be_changed_are_a_failure_at_the_end() {
    switched("fails, and reports nothing", "1").on_each_runtime(|_, profiled| {
        let log = &profiled.log;
        let end = "2 methods could not be rewritten, the first Switched.Program.Own(): ";
        assert!(log.contains(end), "{log}");
        assert!(log.contains("not this one"), "{log}");
    });
    switched("fails", "1").on_each_runtime(|_, profiled| {
        assert!(!profiled.log.contains("could not be rewritten"));
    });
}

#[test]
fn methods_call_a_helper_that_their_modules_load() {
    for helper in [profilee("helper/Helper").to_str().unwrap(), "memory"] {
        let scenario = Scenario::new("Helped").profiled_by::<InstrumentsHelped>();
        helped(&scenario.env("HELPER", helper));
    }
}

fn helped(scenario: &Scenario) {
    scenario.compare(|plain, profiled| {
        let log = &profiled.log;
        assert_eq!(profiled.output(), plain.output(), "{log}");
        let calls: Vec<_> = log.lines().filter(|line| line.contains("Outer")).collect();
        assert_eq!(
            calls[..3],
            ["edits Helped.Program.Outer(int)", "> Outer", "< Outer"],
            "{log}"
        );
        assert!(log.contains("\n > Take\n < Take\n"), "{log}");
        let edited = with(log, "edits ");
        assert!(
            edited.iter().all(|name| !name.starts_with("Logger.")),
            "{log}"
        );
        assert!(
            edited.contains("Helped.Program.Main()") && !log.contains("> Main"),
            "{log}"
        );
        assert!(!log.contains("failed "), "{log}");
        let instrumented = with(log, "instrumented  Helped!");
        assert_eq!(instrumented.len(), 5, "{log}");
        assert!(
            log.contains("\nunchanged     Helped!Helped.Program.Main()\n"),
            "{log}"
        );
    });
}

/// The program's results become larger by 1000, with a helper's calls in between or without.
fn late(program: &str, helped: bool, method: &str, expected: &[(&str, &str)]) {
    let mut scenario = Scenario::new(program).profiled_by::<InstrumentsLate>();
    if helped {
        scenario = scenario.env("HELPER", profilee("helper/Helper").to_str().unwrap());
    }
    scenario.compare(|plain, profiled| {
        let (mut stdout, log) = (plain.stdout.clone(), &profiled.log);
        for (before, after) in expected {
            assert!(stdout.contains(before), "{stdout}");
            stdout = stdout.replace(before, after);
        }
        assert_eq!(profiled.stdout, stdout, "{log}");
        assert_eq!(profiled.status.code(), plain.status.code(), "{log}");
        assert_eq!(log.contains(&format!("> {method}")), helped, "{log}");
        // One of the patterns is for the other program.
        let failures = log.lines().filter(|line| line.contains("failed"));
        let failures: Vec<_> = failures.collect();
        assert!(
            failures.len() == 2 && failures[1].contains("has matched"),
            "{log}"
        );
    });
}

#[test]
fn methods_that_the_program_builds_are_changed() {
    late("Dynamic", false, "Add", &[("built 7", "built 1007")]);
}

#[test]
fn collectible_modules_are_changed_and_unloaded() {
    for helped in [false, true] {
        late("Unloads", helped, "Answer", &[("answer 41", "answer 1041")]);
    }
}

/// Repeats a command until the program answers so.
fn until_answered(program: &mut clr_profiler_tests::Started, command: &str, answer: &str) {
    let deadline = std::time::Instant::now() + super::PATIENCE;
    loop {
        let answered = program.ask(command);
        if answered == answer {
            return;
        }
        if std::time::Instant::now() >= deadline {
            // The profiler then logs the outcomes.
            program.ask("work 3");
            panic!("{answered}: {}", program.log());
        }
    }
}

#[test]
fn an_attached_profiler_changes_methods_by_rejit() {
    let scenario = Scenario::new("Waits");
    scenario.waiting_on_each_runtime(|_, mut program| {
        assert_eq!(program.ask("work 1"), "worked 111");
        let profiler = clr_profiler_tests::name_of::<super::AttachesInstruments>();
        program.attach(profiler, b"").unwrap();
        until_answered(&mut program, "work 1", "worked 1111");
        // Of a method that was never compiled before.
        until_answered(&mut program, "work 2", "worked 1222");
        // The profiler reacts to the compilation.
        program.ask("work 5");
        until_answered(&mut program, "work 1", "worked 111");
        program.ask("work 6");
        until_answered(&mut program, "work 1", "worked 1111");
        // Modules that are loaded now are changed when they are compiled. Afterwards, .NET Core 3.1 requests no ReJIT.
        assert_eq!(program.ask("unload"), "unloaded");
        let log = program.ends_well();
        assert!(log.contains("in unloaded modules"), "{log}");
        assert!(!log.contains("; 0 in unloaded modules"), "{log}");
        assert!(
            log.contains("instrumented  Waits!Waits.Program.Work1()"),
            "{log}"
        );
    });
}

/// A running program under a profiler whose helper is this.
fn helped_at_attach(
    helper: &str,
    test: impl Fn(&clr_profiler_tests::Runtime, clr_profiler_tests::Started),
) {
    let scenario = Scenario::new("Waits").env("HELPER", helper);
    scenario.waiting_on_each_runtime(|runtime, mut program| {
        assert_eq!(program.ask("work 1"), "worked 111");
        if helper.contains("gone") {
            std::fs::copy(profilee("helper/Helper"), helper).unwrap();
        }
        let profiler = clr_profiler_tests::name_of::<super::AttachesHelped>();
        program.attach(profiler, b"").unwrap();
        test(runtime, program);
    });
}

#[test]
fn methods_that_run_already_load_the_helper_and_call_it() {
    for helper in [profilee("helper/Helper").to_str().unwrap(), "memory"] {
        helped_at_attach(helper, |_, mut program| {
            let deadline = std::time::Instant::now() + super::PATIENCE;
            while !program.log().contains("> Work1\n") {
                assert_eq!(program.ask("work 1"), "worked 111");
                if std::time::Instant::now() >= deadline {
                    panic!("{}", program.ends_well());
                }
            }
            // It was never called before.
            assert_eq!(program.ask("work 2"), "worked 222");
            let log = program.ends_well();
            assert!(log.contains("> Work2\n"), "{log}");
            assert!(log.contains("instrumented  Waits!Waits.Program.Work1()"), "{log}");
            assert!(!log.contains("failed "), "{log}");
        });
    }
}

#[test]
fn methods_that_run_already_keep_their_il_without_the_helper() {
    let folder = clr_profiler_tests::Folder::new();
    let file = folder.path("gone/Helper.dll");
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    helped_at_attach(file.to_str().unwrap(), |_, mut program| {
        let deadline = std::time::Instant::now() + super::PATIENCE;
        while !program.log().contains("now failed Waits.Program.Work1()\n") {
            assert_eq!(program.ask("work 1"), "worked 111");
            assert!(std::time::Instant::now() < deadline, "{}", program.log());
        }
        let log = program.ends_well();
        let why = "the runtime has not loaded the helper assembly Helper: it refuses";
        assert!(log.contains(why), "{log}");
    });
}

/// The duration of a call of a changed getter in a loop, as a multiple of that of one that was left alone.
fn ratio(runtime: &clr_profiler_tests::Runtime, how: &str, moment: &str) -> f64 {
    let scenario = Scenario::new("Getters").profiled_by::<Instruments>();
    let scenario = scenario.env("INSTRUMENTED", how).env("COMPlus_TieredCompilation", "1");
    let run = scenario.args(&[moment, "measure"]).run_on(runtime);
    let ratio = run.stdout.rsplit(' ').next().unwrap_or_default();
    let ratio = ratio.trim().parse();
    let ratio = ratio.unwrap_or_else(|_| panic!("{}{}", run.stdout, run.log));
    println!("{} {how} {moment}: {ratio:.1}", runtime.name);
    ratio
}

#[test]
#[ignore = "measures times, which needs a machine that does nothing else: `.ci/full benchmark`"]
fn getters_are_as_fast_as_before_after_a_removal_and_not_after_rejit() {
    for runtime in clr_profiler_tests::runtimes() {
        let removed = ratio(runtime, "removed", "quick");
        let switched = ratio(runtime, "off", "quick");
        // On a busy machine 0.4 to 4.6, and 2.4 to 25.
        assert!(removed * 1.5 < switched, "{removed} {switched}");
        // The loop has its last tier.
        ratio(runtime, "removed", "late");
    }
}
