//! Methods are switched on and off by ReJIT while threads run them.

use std::env;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::pattern::MethodPattern;
use clr_profiler::prelude::*;
use clr_profiler::rejit::{Inliners, Precompiled, Rejit, RejitOptions};
use scenario_support::{clsid, log};

/// Methods of `Switched`, and the changes of their results.
const METHODS: [(&str, i32); 5] = [
    ("Switched!Switched.Program.Own()", 1000),
    ("Switched!Switched.Program.Small", 1000),
    ("Switched!Switched.Holder<T>.Get", 1000),
    ("System.Private.CoreLib!System.Version.GetHashCode()", 1000),
    // One of the four parts of a version is no longer written.
    ("**.Version.get_DefaultFormatFieldCount", -1),
];

/// The one in a module that is loaded late.
const LATE: &str = "Rejit!Rejit.Program.Constant";

/// How often methods are switched under load.
const TIMES: u32 = 50;

const PATIENCE: Duration = Duration::from_secs(30);

/// Switches when a thread of the program gets the name of a step. `SWITCHES` names options.
pub(crate) struct Switches {
    rejit: Arc<Rejit>,
}

fn patterns() -> Result<Vec<MethodPattern>> {
    let patterns = METHODS.iter().map(|(name, _)| MethodPattern::parse(name));
    Ok(patterns.collect::<std::result::Result<_, _>>()?)
}

/// The change of a method's result.
fn change(name: &str) -> i32 {
    match name.contains("get_DefaultFormatFieldCount") {
        true => -1,
        false => 1000,
    }
}

#[profiler(clsid = clsid("Switches"))]
impl Profiler for Switches {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let mut options = RejitOptions::default();
        match env::var("SWITCHES").as_deref() {
            Ok("keep") => options.inliners = Inliners::Keep,
            Ok("refuse") => options.precompiled = Precompiled::Refuse,
            Ok("images") => options.precompiled = Precompiled::DisableImages,
            _ => {}
        }
        // Two of the methods cannot be given their IL.
        let fails = env::var("SWITCHES").is_ok_and(|how| how == "fails");
        let rejit = setup.attach(Rejit::new(options, move |info, module, method, control| {
            control.rewrite(info, module, method, |body, cx| {
                let add = change(cx.full_name());
                let mut code = Fragment::new();
                match cx.props().name.as_str() {
                    "Own" if fails => return Err(Error::other("not this one")),
                    // Pops more from the stack than there is.
                    "Small" if fails => code.add(),
                    _ => code.ldc_i4(add).add(),
                };
                body.before_ret(&code)?;
                Ok(())
            })?;
            Ok(())
        }))?;
        rejit.request_pattern(&LATE.parse()?);
        Ok(Self { rejit })
    }

    fn thread_name_changed(&self, info: &ProfilerInfo, _: ThreadId, name: &str) -> Result<()> {
        let (rejit, info, name) = (Arc::clone(&self.rejit), info.clone(), name.to_owned());
        // The named thread waits here for the end of the step.
        let step = thread::spawn(move || step(&rejit, &info, &name));
        step.join().map_err(|_| Error::other("a step panicked"))?
    }

    fn rejit_error(
        &self,
        _info: &ProfilerInfo,
        _module: ModuleId,
        method: MethodDef,
        _function: Option<FunctionId>,
        status: Hresult,
    ) -> Result<()> {
        log::line(format_args!("error {method} {status}"));
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line(format_args!("stopped {:?}", self.rejit.stop()));
        Ok(())
    }
}

fn settled(rejit: &Rejit, step: &str) {
    if !rejit.wait(PATIENCE) {
        log::line(format_args!("{step}: the runtime was not told"));
    }
}

fn step(rejit: &Rejit, info: &ProfilerInfo, step: &str) -> Result<()> {
    let patterns = patterns()?;
    if step == "off" {
        tell(rejit, info, "before")?;
    }
    match step {
        "on" => patterns
            .iter()
            .for_each(|pattern| rejit.request_pattern(pattern)),
        "some on" => patterns[1..]
            .iter()
            .for_each(|pattern| rejit.request_pattern(pattern)),
        "off" => patterns
            .iter()
            .for_each(|pattern| rejit.revert_pattern(pattern)),
        "toggle" => {
            for _ in 0..TIMES {
                patterns
                    .iter()
                    .for_each(|pattern| rejit.request_pattern(pattern));
                settled(rejit, step);
                thread::sleep(Duration::from_millis(4));
                patterns
                    .iter()
                    .for_each(|pattern| rejit.revert_pattern(pattern));
                settled(rejit, step);
                thread::sleep(Duration::from_millis(4));
            }
        }
        "loaded" => {}
        "end" => rejit.revert_all(),
        _ => return Ok(()),
    }
    settled(rejit, step);
    tell(rejit, info, step)
}

fn tell(rejit: &Rejit, info: &ProfilerInfo, step: &str) -> Result<()> {
    info.initialize_current_thread()?;
    for outcome in rejit.outcomes() {
        let name = info
            .module_metadata(outcome.module)?
            .method_props(outcome.method)?
            .name;
        let (state, requests) = (outcome.state, outcome.requests);
        if let Some(problem) = outcome.problem {
            log::line(format_args!("{step}: {name} {state:?} {problem}"));
            continue;
        }
        let is_compiled = outcome.compilations > 0;
        log::line(format_args!(
            "{step}: {name} {state:?} requests {requests} compiled {is_compiled}"
        ));
    }
    for (module, method) in rejit.inliners() {
        let name = info.module_metadata(module)?.method_props(method)?.name;
        log::line(format_args!("{step}: inliner {name}"));
    }
    for named in rejit.patterns() {
        if let Some(problem) = named.problem {
            log::line(format_args!("{}: {problem}", named.pattern));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::{Finished, Runtime, Scenario, ways};

    use super::Switches;

    fn switched(how: &str, tiered: &str) -> Scenario {
        Scenario::new("Switched")
            .profiled_by::<Switches>()
            .env("SWITCHES", how)
            .env("COMPlus_TieredCompilation", tiered)
    }

    /// The results of the program's methods when nothing is on.
    const OFF: &str = "41 51 5 6 270544900 7";

    /// The program's lines, without the last, which has the times and is printed.
    fn lines<'a>(runtime: &Runtime, profiled: &'a Finished) -> Vec<&'a str> {
        let (lines, log) = (&profiled.stdout, &profiled.log);
        assert_eq!(profiled.status.code(), Some(9), "{lines}{log}");
        assert_eq!(profiled.stderr, "", "{log}");
        for bad in ["error", "told", "panicked", "failed"] {
            assert!(!log.contains(bad), "{log}");
        }
        assert!(log.ends_with("stopped Ok(())\n"), "{log}");
        let mut lines: Vec<&str> = lines.lines().collect();
        let times = lines.pop().unwrap();
        assert!(times.starts_with("times "), "{times}");
        println!("{}: ns before, on, and after: {times}", runtime.name);
        lines
    }

    /// The program's whole output, if everything requested is on.
    fn expected(on: &str, is_seen_on: impl Fn(usize) -> bool) -> Vec<String> {
        let (_, but_first) = on.split_once(' ').unwrap();
        let kinds = (0..6).map(|kind| {
            let seen = if is_seen_on(kind) { "True" } else { "False" };
            format!("kind {kind} True {seen}")
        });
        let mut lines = vec![
            format!("at first: {OFF}"),
            format!("on: {on}"),
            format!("off: {OFF}"),
        ];
        lines.extend(kinds);
        lines.extend([
            format!("after the work: {OFF}"),
            "wrong 0".to_owned(),
            format!("all but the first: 41 {but_first}"),
            format!("off: {OFF}"),
            "late 1041".to_owned(),
            "late 41".to_owned(),
        ]);
        lines
    }

    /// The states of the methods after a step, sorted.
    fn states<'a>(log: &'a str, step: &str) -> Vec<&'a str> {
        let mut states: Vec<&str> = log
            .lines()
            .filter_map(|line| line.strip_prefix(step)?.strip_prefix(": "))
            .filter(|line| !line.starts_with("inliner"))
            .collect();
        states.sort_unstable();
        states
    }

    #[test]
    fn each_method_is_reached_and_comes_back() {
        for (how, tiered) in ways(&[("", "0"), ("", "1"), ("images", "0")]) {
            switched(how, tiered).on_each_runtime(|runtime, profiled| {
                assert_eq!(
                    lines(runtime, profiled),
                    expected("1041 1051 1005 1006 270545900 5", |_| true),
                    "{}",
                    profiled.log
                );
                let log = &profiled.log;
                // 50 times under load, after the first. Whether the last was called is left to chance.
                let toggled = states(log, "toggle");
                let methods = [
                    "Get",
                    "GetHashCode",
                    "Own",
                    "Small",
                    "get_DefaultFormatFieldCount",
                ];
                assert_eq!(toggled.len(), methods.len(), "{log}");
                for (line, method) in toggled.iter().zip(methods) {
                    let ends = ["Reverted", "NeverCalled"]
                        .map(|state| format!("{method} {state} requests 51 compiled true"));
                    assert!(ends.iter().any(|end| end == line), "{log}");
                }
                let end = states(log, "end");
                assert!(
                    end.contains(&"Constant Reverted requests 1 compiled true"),
                    "{log}"
                );
                assert!(
                    end.contains(&"Small Reverted requests 52 compiled true"),
                    "{log}"
                );
            });
        }
    }

    #[test]
    fn precompiled_methods_are_left_alone_if_so_wanted() {
        switched("refuse", "0").on_each_runtime(|runtime, profiled| {
            assert_eq!(
                lines(runtime, profiled),
                expected("1041 1051 1005 1006 270544900 7", |kind| kind < 4),
                "{}",
                profiled.log
            );
            let end = states(&profiled.log, "end");
            assert!(
                end.contains(&"GetHashCode Refused requests 0 compiled false"),
                "{}",
                profiled.log
            );
        });
    }

    #[test]
    fn what_has_inlined_a_method_keeps_it_if_so_wanted() {
        switched("keep", "0").on_each_runtime(|runtime, profiled| {
            let lines = lines(runtime, profiled);
            // Precompiled methods may have been inlined or not.
            assert!(lines[1].starts_with("on: 1041 51 1005 1006 "), "{lines:?}");
            assert_eq!(lines[2], format!("off: {OFF}"));
            assert_eq!(lines[4], "kind 1 True False");
            assert!(
                states(&profiled.log, "end")
                    .contains(&"Small NeverCalled requests 52 compiled false"),
                "{}",
                profiled.log
            );
        });
    }

    #[test]
    fn what_could_not_be_rewritten_has_failed_and_says_why() {
        switched("fails", "0").on_each_runtime(|_, profiled| {
            let (stdout, log) = (&profiled.stdout, &profiled.log);
            assert_eq!(profiled.status.code(), Some(9), "{stdout}{log}");
            assert_eq!(profiled.stderr, "");
            // The others are on.
            assert!(
                stdout.contains("\non: 41 51 1005 1006 270545900 5\n"),
                "{stdout}{log}"
            );
            let before = states(log, "before");
            let failed = "Failed(E_FAIL (0x80004005)) Switched.Program";
            let own = format!("Own {failed}.Own() was not rewritten: not this one");
            assert!(before.contains(&&*own), "{log}");
            let small = format!("Small {failed}.Small() was not rewritten: ");
            assert!(before.iter().any(|line| line.starts_with(&small)), "{log}");
            let get = "Get Compiled requests 1 compiled true";
            assert!(before.contains(&get), "{log}");
            for line in before {
                let is_failed = line.starts_with("Own ") || line.starts_with("Small ");
                assert!(!is_failed || !line.contains("Compiled"), "{log}");
            }
        });
    }
}
