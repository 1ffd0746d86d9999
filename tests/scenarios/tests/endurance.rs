//! Much of the same: ReJIT on and off, profilers that attach and detach, contexts that are unloaded, a busy server.
//!
//! Some of that runs by default. `ENDURANCE=1` runs all of it, `ENDURANCE=0.1` a tenth, and adds the figures to
//! `target/endurance.md`; `.ci/full endurance` does so. `ENDURANCE_MINUTES` is how long the server runs under each
//! example, `ENDURANCE_PAUSE` the milliseconds for which a client waits after each answer.

#![cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "its tests are for Linux"))]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use std::{env, thread};

use clr_profiler::prelude::*;
use clr_profiler::rejit::{Rejit, RejitOptions, RejitState};
use scenario_support::{clsid, log};

/// Changes a method and changes it back, as often as `ENDURES_COUNT` says.
pub(crate) struct RejitsOften {
    rejit: Arc<Rejit>,
    is_driven: AtomicBool,
}

#[profiler(clsid = clsid("RejitsOften"))]
impl Profiler for RejitsOften {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let edit = |info: &ProfilerInfo, module, method, control: &FunctionControl<'_>| {
            control.rewrite(info, module, method, |body, _| {
                let mut code = clr_profiler::il::fragment::Fragment::new();
                code.ldc_i4(7).pop();
                body.prologue(&code)?;
                Ok(())
            })?;
            Ok(())
        };
        Ok(Self {
            rejit: setup.attach(Rejit::new(RejitOptions::default(), edit))?,
            is_driven: AtomicBool::new(false),
        })
    }

    fn jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.full_name()? != "Endures.Program.Changed(int)"
            || self.is_driven.swap(true, Ordering::AcqRel)
        {
            return Ok(());
        }
        let driver = Driver {
            info: info.clone(),
            rejit: Arc::clone(&self.rejit),
            function,
            method: (method.module(), method.token()),
        };
        thread::Builder::new()
            .spawn(move || {
                let outcome = driver.run();
                log::line(format_args!("driven {outcome:?}"));
            })
            .map(drop)
            .map_err(Error::other)
    }
}

struct Driver {
    info: ProfilerInfo,
    rejit: Arc<Rejit>,
    function: FunctionId,
    method: (ModuleId, MethodDef),
}

impl Driver {
    fn run(&self) -> Result<()> {
        let count = env::var("ENDURES_COUNT").unwrap_or_default();
        let count: u32 = count.parse().map_err(Error::other)?;
        self.info.initialize_current_thread()?;
        for number in 1..=count {
            self.rejit.request([self.method]);
            self.until(&[RejitState::Compiled])?;
            self.rejit.revert([self.method]);
            self.until(&[RejitState::Reverted, RejitState::NeverCalled])?;
            if number % (count / 10).max(1) == 0 {
                let versions = self.info.rejit_ids(self.function)?.len();
                let held = self.info.overhead().held_bytes;
                log::line(format_args!(
                    "after {number}: {versions} versions, {held} held"
                ));
            }
        }
        Ok(())
    }

    fn until(&self, states: &[RejitState]) -> Result<()> {
        let begun = Instant::now();
        while begun.elapsed() < Duration::from_secs(60) {
            let outcomes = self.rejit.outcomes();
            if outcomes
                .iter()
                .any(|outcome| states.contains(&outcome.state))
            {
                return Ok(());
            }
            thread::sleep(Duration::from_micros(100));
        }
        Err(Error::other(format!(
            "not {states:?}: {:?}",
            self.rejit.outcomes()
        )))
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fmt::Write as _;
    use std::fs::{self, File};
    use std::io::{self, Write as _};
    use std::path::Path;

    use clr_profiler_tests::{
        Example, Folder, Running, Runtime, Scenario, Started, profilee, runtimes, runtimes_where,
    };

    use super::*;

    /// The examples, all of which watch the server.
    const EXAMPLES: [&str; 11] = [
        "alloc_profiler",
        "call_counter",
        "cpu_sampler",
        "exception_logger",
        "gc_monitor",
        "heap_snapshot",
        "hot_patch",
        "jit_logger",
        "method_logger",
        "method_tracer",
        "return_inspector",
    ];

    /// This many of all, or some.
    fn share_of(all: u32, some: u32) -> u32 {
        let share = env::var("ENDURANCE").ok();
        let share = share.and_then(|share| share.parse::<f64>().ok());
        share.map_or(some, |share| (f64::from(all) * share).ceil() as u32)
    }

    /// The figures of a process at one moment.
    #[derive(Debug, Clone, Copy)]
    struct Figures {
        /// Operations, or minutes.
        at: f64,
        rss: f64,
        private: f64,
        threads: usize,
        descriptors: usize,
        versions: Option<usize>,
    }

    impl Figures {
        fn of(process: u32, at: f64, versions: Option<usize>) -> Self {
            Self::read(process, at, versions).unwrap()
        }

        /// An error if the process has ended.
        fn read(process: u32, at: f64, versions: Option<usize>) -> io::Result<Self> {
            let folder = Path::new("/proc").join(process.to_string());
            let kilobytes = |file: &str, name: &str| -> io::Result<f64> {
                let text = fs::read_to_string(folder.join(file))?;
                let lines = text.lines().filter_map(|line| line.strip_prefix(name));
                let numbers = lines.map(|line| line.trim().trim_end_matches(" kB").parse::<f64>());
                Ok(numbers.map(|number| number.unwrap()).sum())
            };
            let count = |what: &str| Ok::<_, io::Error>(fs::read_dir(folder.join(what))?.count());
            Ok(Self {
                at,
                rss: kilobytes("status", "VmRSS:")?,
                // Clean pages of files become private when another process that has them ends.
                private: kilobytes("smaps_rollup", "Private_Dirty:")?,
                threads: count("task")?,
                descriptors: count("fd")?,
                versions,
            })
        }
    }

    /// The slope of a straight line through the points, and half of its interval of 95 %.
    fn slope(points: impl Iterator<Item = (f64, f64)> + Clone) -> (f64, f64) {
        let count = points.clone().count() as f64;
        let mean = |of: fn(&(f64, f64)) -> f64| {
            points.clone().map(|point| of(&point)).sum::<f64>() / count
        };
        let (x, y) = (mean(|point| point.0), mean(|point| point.1));
        let squares: f64 = points.clone().map(|point| (point.0 - x).powi(2)).sum();
        let products = points.clone().map(|point| (point.0 - x) * (point.1 - y));
        let slope = products.sum::<f64>() / squares;
        let rests = points.map(|point| (point.1 - y - slope * (point.0 - x)).powi(2));
        let error = (rests.sum::<f64>() / (count - 2.0) / squares).sqrt();
        (slope, student(count as usize - 2) * error)
    }

    /// The quantile of Student's distribution for an interval of 95 %.
    fn student(freedom: usize) -> f64 {
        const QUANTILES: [f64; 14] = [
            12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179,
            2.160, 2.145,
        ];
        let found = QUANTILES.get(freedom.saturating_sub(1));
        found.copied().unwrap_or(2.0)
    }

    #[test]
    fn a_line_has_its_slope_and_no_error() {
        let line = (0..9).map(|x| (f64::from(x), f64::from(x) * 3.0 + 1.0));
        let (found, error) = slope(line);
        assert!((found - 3.0).abs() < 1e-9 && error < 1e-9);
        let alternating = (0..8).map(|x| (f64::from(x), f64::from(x % 2)));
        let (found, error) = slope(alternating);
        assert!(found.abs() < error && error > 0.1, "{found} {error}");
    }

    /// Appends the figures of a server to `target/endurance-minutes.csv`, if `ENDURANCE` is set.
    fn by_minute(under: &str, all: &[Figures]) {
        let mut rows = String::new();
        for one in all {
            let Figures { at, rss, private, threads, descriptors, .. } = one;
            writeln!(rows, "{under},{at},{rss},{private},{threads},{descriptors}").unwrap();
        }
        if env::var_os("ENDURANCE").is_some() {
            append("endurance-minutes.csv", &rows);
        }
    }

    fn append(name: &str, rows: &str) {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target").join(name);
        let mut file = File::options().append(true).create(true).open(path).unwrap();
        file.write_all(rows.as_bytes()).unwrap();
    }

    /// Adds a row to the figures, if these are wanted, and returns the slope of the private memory with its interval.
    fn report(what: &str, on: &str, unit: &str, all: &[Figures], begun: Instant) -> (f64, f64) {
        // The first is still that of the start.
        let all = &all[1.min(all.len().saturating_sub(3))..];
        let (first, last) = (all[0], all[all.len() - 1]);
        let (rss, rss_interval) = slope(all.iter().map(|one| (one.at, one.rss)));
        let (private, interval) = slope(all.iter().map(|one| (one.at, one.private)));
        let versions = match (first.versions, last.versions) {
            (Some(first), Some(last)) => format!("{first} to {last}"),
            _ => "-".to_owned(),
        };
        let mut row = String::new();
        writeln!(
            row,
            "| {what} | {on} | {} {unit} in {:.0} s | {:.1} to {:.1} MB | {rss:.3} ± {rss_interval:.3} | {:.1} to {:.1} MB | \
             {private:.3} ± {interval:.3} | {} to {} | {} to {} | {versions} |",
            last.at,
            begun.elapsed().as_secs_f64(),
            first.rss / 1024.0,
            last.rss / 1024.0,
            first.private / 1024.0,
            last.private / 1024.0,
            first.threads,
            last.threads,
            first.descriptors,
            last.descriptors,
        )
        .unwrap();
        print!("{row}");
        if env::var_os("ENDURANCE").is_some() {
            append("endurance.md", &row);
        }
        if unit != "minutes" {
            assert!(last.threads <= first.threads + 4, "{all:?}");
        }
        // In its first seconds, a server opens connections. Its thread pool grows while it gets little processor time, also
        // without a profiler.
        if unit != "minutes" || last.at >= 0.5 {
            assert!(last.descriptors <= first.descriptors + 4, "{all:?}");
        }
        (private, interval)
    }

    /// The number after these words.
    fn number(text: &str, before: &str) -> usize {
        let (_, after) = text.split_once(before).unwrap();
        let digits = after.split(|c: char| !c.is_ascii_digit()).next().unwrap();
        digits.parse().unwrap()
    }

    #[test]
    fn rejit_on_and_off() {
        let count = share_of(10_000, 50);
        for runtime in runtimes() {
            let begun = Instant::now();
            let scenario = Scenario::new("Endures")
                .arg("calls")
                .env("ENDURES_COUNT", &count.to_string())
                .profiled_by::<RejitsOften>();
            let mut program = scenario.start(runtime);
            assert_eq!(program.line(), "ready");
            let (mut all, mut held) = (Vec::new(), Vec::new());
            while all.len() < 10 {
                let at = (count / 10).max(1) * (all.len() as u32 + 1);
                let words = format!("after {at}: ");
                program.until(&words, |log| log.contains(&words));
                let log = program.log();
                let (_, line) = log.split_once(&words).unwrap();
                let versions = number(&format!("{words}{line}"), &words);
                held.push(number(line, "versions, "));
                all.push(Figures::of(program.id(), f64::from(at), Some(versions)));
            }
            program.until("its end", |log| log.contains("driven Ok(())\n"));
            let finished = program.finish();
            assert_eq!(finished.status.code(), Some(4), "{}", finished.log);
            // The runtime keeps each version of a method, the library one row for all.
            report("ReJIT on and off", &runtime.name, "times", &all, begun);
            assert!(held[9] <= held[1] + 4096, "{held:?}");
        }
    }

    /// Waits for the threads of the last detaches, which end some time after the profiler was dropped.
    fn threads_settle(program: &Started, first: Option<&Figures>) {
        let is_more = || {
            let now = Figures::of(program.id(), 0.0, None);
            first.is_some_and(|first| now.threads > first.threads)
        };
        let end = Instant::now() + Duration::from_secs(30);
        while is_more() && Instant::now() < end {
            std::thread::sleep(Duration::from_millis(100));
        }
    }

    #[test]
    fn attach_and_detach() {
        let count = share_of(1_000, 10);
        for runtime in runtimes() {
            let begun = Instant::now();
            let mut program = Scenario::new("Waits").start(runtime);
            assert_eq!(program.line(), "ready");
            let mut all = Vec::new();
            for number in 1..=count {
                program.attach("Detaches", b"").unwrap();
                for _ in 0..3 {
                    assert_eq!(program.ask("work 1"), "worked 111");
                }
                program.until("another drop", |log| {
                    log.lines().filter(|line| *line == "dropped").count() >= number as usize
                });
                if number == count {
                    threads_settle(&program, all.first());
                }
                if number % (count / 10).max(1) == 0 {
                    all.push(Figures::of(program.id(), f64::from(number), None));
                }
            }
            program.works_and_ends_well();
            let grown = report("attach and detach", &runtime.name, "times", &all, begun);
            if count >= 100 {
                assert!(grown.0 - grown.1 < 64.0, "kB each: {grown:?}");
            }
        }
    }

    /// Reads the program's output, and its figures at each line of progress.
    fn contexts(mut program: Running, count: u32) -> Vec<Figures> {
        assert_eq!(program.line(), "ready");
        let mut all = Vec::new();
        loop {
            let line = program.line();
            if let Some(number) = line.strip_prefix("unloaded ") {
                let at = number.parse().unwrap();
                // The program may have ended after its last line.
                all.extend(Figures::read(program.id(), at, None).ok());
            } else {
                assert_eq!(line, "alive 0", "of {count}");
                break;
            }
        }
        let finished = program.finish();
        assert_eq!(finished.status.code(), Some(4), "{finished:?}");
        all
    }

    #[test]
    fn contexts_that_are_unloaded() {
        let count = share_of(1_000, 20);
        let words = ["contexts", &count.to_string()];
        let program = profilee("Endures");
        for runtime in runtimes() {
            let begun = Instant::now();
            let example = Example(EXAMPLES[0]);
            let plain = contexts(
                Running::start(example.plain(runtime, &program, &words)),
                count,
            );
            let unit = "contexts";
            let plain = report("contexts, no profiler", &runtime.name, unit, &plain, begun);
            let seed = clr_profiler_tests::seed() % EXAMPLES.len();
            let examples = EXAMPLES.iter().enumerate();
            let is_all = env::var_os("ENDURANCE").is_some();
            for (_, name) in examples.filter(|(number, _)| is_all || *number == seed) {
                let folder = Folder::new();
                let file = folder.path("results");
                let options = ["--output", file.to_str().unwrap()];
                let begun = Instant::now();
                let command = Example(name).command(runtime, &options, &program, &words);
                let watched = contexts(Running::start(command), count);
                let what = format!("contexts, {name}");
                let grown = report(&what, &runtime.name, unit, &watched, begun);
                if count >= 100 {
                    let more = grown.0 - grown.1 - (plain.0 + plain.1);
                    assert!(
                        more < 32.0,
                        "{name}: kB each: {grown:?}, without it {plain:?}"
                    );
                }
            }
        }
    }

    /// The figures of a server by minute, and at least ten times, under an example or alone.
    fn served(runtime: &Runtime, name: Option<&'static str>, seconds: f64) {
        let pause = env::var("ENDURANCE_PAUSE").unwrap_or_else(|_| "0".to_owned());
        let words = ["serve", &seconds.to_string(), &pause];
        let program = profilee("Endures");
        let folder = Folder::new();
        let file = folder.path("results");
        let options = ["--output", file.to_str().unwrap()];
        let command = match name {
            Some(name) => Example(name).command(runtime, &options, &program, &words),
            None => Example(EXAMPLES[0]).plain(runtime, &program, &words),
        };
        let mut program = Running::start(command);
        assert_eq!(program.line(), "ready");
        let begun = Instant::now();
        let mut all = Vec::new();
        let pause = (seconds / 10.0).min(60.0);
        for number in 1..=(seconds / pause) as u32 {
            let at = pause * (f64::from(number) - 0.5);
            thread::sleep(Duration::from_secs_f64(at).saturating_sub(begun.elapsed()));
            all.push(Figures::of(program.id(), at / 60.0, None));
        }
        let end = Duration::from_secs_f64(seconds + 120.0);
        assert_eq!(program.line_within(end), "served");
        let finished = program.finish();
        assert_eq!(finished.status.code(), Some(4), "{finished:?}");
        let under = name.unwrap_or("no profiler");
        println!("{under}: {}", finished.stderr.trim());
        let what = format!("busy server, {under}");
        by_minute(under, &all);
        report(&what, &runtime.name, "minutes", &all, begun);
        assert!(name.is_none() || fs::metadata(file).is_ok_and(|about| about.len() > 0));
    }

    /// All examples at once, each on a server of its own: they take turns, and a minute is a minute.
    #[test]
    fn a_busy_server() {
        let minutes = env::var("ENDURANCE_MINUTES").ok();
        let minutes = minutes.map_or(0.05, |minutes| minutes.parse::<f64>().unwrap());
        let seconds = (minutes * 60.0).ceil();
        let seed = clr_profiler_tests::seed() % EXAMPLES.len();
        // The one that brings ASP.NET Core.
        for runtime in runtimes_where(|runtime| runtime.major == 9) {
            if minutes < 1.0 {
                served(runtime, Some(EXAMPLES[seed]), seconds);
                continue;
            }
            thread::scope(|scope| {
                for name in EXAMPLES.map(Some).into_iter().chain([None]) {
                    scope.spawn(move || served(runtime, name, seconds));
                }
            });
        }
    }
}
