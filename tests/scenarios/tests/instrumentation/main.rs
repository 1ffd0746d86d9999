//! Methods are changed by a description, at load time, and while the program runs.

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::env;
use std::sync::{Arc, Mutex};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clr_profiler::il::body::MethodBody;
use clr_profiler::il::fragment::Fragment;
use clr_profiler::il::opcode::Opcode;
use clr_profiler::il::symbol::MethodSymbol;
use clr_profiler::il::wrap::Wrap;
use clr_profiler::instrumentation::{Instrumentation, MethodState};
use clr_profiler::prelude::*;
use clr_profiler::rejit::{Rejit, RejitOptions};
use clr_profiler::rewrite::{HelperAssembly, RewriteContext};
use scenario_support::{clsid, log};

/// The methods of `Switched` whose results become larger by 1000.
const ADD: &str = "Switched!Switched.Program.Own()
    Switched!Switched.Program.Small; Rejit!Rejit.Program.Constant
    Switched.Holder<T>.Get
    System.Private.CoreLib!System.Version.GetHashCode()";

/// Those of modules that are selected as a whole.
const AMONG_ALL: [&str; 4] = [
    "Rejit.Program.Constant()",
    "Switched.Holder<T>.Get()",
    "Switched.Program.Own()",
    "Switched.Program.Small()",
];

/// One of the four parts of a version is no longer written.
const FEWER: &str = "*!System.Version.get_DefaultFormatFieldCount";

/// A method that all of its callers in precompiled code have inlined.
const MIXES: &str = "System.Private.CoreLib!System.HashCode.MixFinal";

/// Methods of `Inlines` that print into which method they were inlined.
const SMALL: &str = "Inlines!Inlines.Program.Free; Inlines.Program.Kept";

/// How often methods are switched under load.
const TIMES: u32 = 20;

const PATIENCE: Duration = Duration::from_secs(60);

/// The methods of `Switched` and of the core library that the rules change.
const SWITCHED: usize = 5;

/// Whether methods are deferred: until `Switched` has called each once.
static IS_DEFERRED: AtomicBool = AtomicBool::new(true);

/// Whether the program has reached its step `change`.
static IS_CHANGED: AtomicBool = AtomicBool::new(false);

/// The methods that get a longer body.
const LONGER: &str = "Getters!Getters.Changed.*; Lines!Lines.Program.Throws";

/// The changed methods whose new code was compiled.
static COMPILED: Mutex<BTreeSet<(ModuleId, MethodDef)>> = Mutex::new(BTreeSet::new());

/// The time in which threads that call a method over and over have called its new code.
const SOON: Duration = Duration::from_millis(500);

fn is_deferred() -> bool {
    env::var("INSTRUMENTED").is_ok_and(|how| matches!(&*how, "deferred" | "late, deferred"))
}

fn add(number: i32) -> impl Fn(&mut MethodBody, &mut RewriteContext<'_>) -> Result<()> {
    move |body, _| {
        body.before_ret(Fragment::new().ldc_i4(number).add())?;
        Ok(())
    }
}

/// Changes the methods of [`ADD`] and [`FEWER`], whose modules are selected as a whole.
fn among_all(instrumentation: Instrumentation) -> Instrumentation {
    instrumentation
        .select_late()
        .edit("Switched!**; Rejit!**", |body, cx| {
            match AMONG_ALL.contains(&cx.full_name()) {
                true => add(1000)(body, cx),
                false => Ok(()),
            }
        })
        .edit("System.Private.CoreLib!System.Version.GetHashCode()", add(1000))
        .edit(FEWER.replace('*', "System.Private.CoreLib").as_str(), add(-1))
}

fn replace_text(body: &mut MethodBody, _: &mut RewriteContext<'_>) -> Result<()> {
    // With one byte more, .NET Core 3.1 would not inline them.
    let text = body.instructions().find(|one| one.opcode() == Opcode::Ldstr);
    let text = text.ok_or_else(|| Error::other("it has no text"))?.id();
    body.replace(text, Fragment::new().ldstr(";"))?;
    Ok(())
}

/// Chooses the methods of [`SMALL`], of a module that is selected as a whole.
fn chosen(instrumentation: Instrumentation) -> Instrumentation {
    let small: Arc<Mutex<BTreeSet<(ModuleId, MethodDef)>>> = Arc::default();
    let opened = Arc::clone(&small);
    let open = move |info: &ProfilerInfo, module: ModuleId| {
        let metadata = info.module_metadata(module)?;
        let program = metadata.find_type_def_by_name("Inlines.Program", None)?;
        for method in metadata.methods(program) {
            let method = method?;
            let name = metadata.method_props(method)?.name;
            if SMALL.split("; ").any(|one| one.ends_with(&format!(".{name}"))) {
                opened.lock().unwrap().insert((module, method));
            }
        }
        Ok(true)
    };
    instrumentation
        .choose(|_, _, _| Err(Error::other("it is chosen at first use")))
        .choose_at_first_use(open, move |module, method| {
            Ok(small.lock().unwrap().contains(&(module, method)))
        })
}

/// Changes methods of `Switched`; `INSTRUMENTED` names options.
pub(crate) struct Instruments {
    instrumentation: Arc<Instrumentation>,
}

impl Instruments {
    fn start(setup: &mut Setup, how: &str) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let mut instrumentation = Instrumentation::new();
        if how != "fails, and reports nothing" {
            instrumentation = instrumentation.report(|outcome, rewritten| {
                let is_changed = rewritten.map(|rewritten| rewritten.is_changed());
                let (state, name) = (outcome.state.name(), &outcome.name);
                log::line(format_args!("{state} {name} {is_changed:?}"));
            });
        }
        match how {
            "none" | "one without new tokens" => {}
            "uses" | "uses a mistake" => {
                let console = "[System.Console]System.Console";
                let declared = |class, name, signature| MethodSymbol::new(class, name, signature);
                instrumentation = instrumentation.edit(ADD, add(1000)).edit(FEWER, add(-1)).uses([
                    declared(console, "WriteLine", "void (string)"),
                    // Of a facade, and generic.
                    declared("[System.Runtime]System.String", "Concat", "string (string, string)"),
                    declared("[corelib]System.Environment", "get_TickCount", "int ()"),
                    declared("[System.Collections]System.Collections.Generic.List`1<int>", "Nothing", "void ()"),
                    // Perhaps inherited.
                    declared("[corelib]System.IO.FileStream", "Inherited", "instance void ()"),
                    declared("[Nowhere]Nobody", "Nothing", "void ()"),
                    declared(console, "WriteLin", "void (string)"),
                    declared(console, "Beep", "void (string)"),
                    declared("[System.Runtime]System.Strong", "Concat", "string (string, string)"),
                ]);
                if how == "uses a mistake" {
                    instrumentation = instrumentation.uses([declared(console, "Beep", "void (")]);
                }
            }
            "small" | "small at load" | "small at first use" => {
                instrumentation = instrumentation.edit(SMALL, replace_text);
            }
            "chosen at first use" => {
                instrumentation = chosen(instrumentation)
                    .edit("Inlines!**", replace_text)
                    .edit("generated Inlines!**", |_, _| Ok(()));
            }
            "removed" | "removed at load" | "removed at first use" | "off" => {
                instrumentation = instrumentation.edit(LONGER, |body, cx| {
                    // Longer than the original IL, so that an offset that is not mapped is in another line.
                    for _ in 0..20 {
                        body.prologue(Fragment::new().ldc_i4(7).pop())?;
                    }
                    if cx.props().name == "get_Number" {
                        body.before_ret(Fragment::new().ldc_i4(1000).add())?;
                    }
                    Ok(())
                });
            }
            "lines deferred" | "lines renewed" => {
                let is_deferred = || !IS_CHANGED.load(Ordering::SeqCst);
                let is_renewed = how == "lines renewed";
                instrumentation = instrumentation.edit(LONGER, move |body, _| {
                    let count = if is_renewed && is_deferred() { 40 } else { 20 };
                    for _ in 0..count {
                        body.prologue(Fragment::new().ldc_i4(7).pop())?;
                    }
                    Ok(())
                });
                if !is_renewed {
                    instrumentation = instrumentation.defer(is_deferred);
                }
            }
            "late" | "late, deferred" => {
                instrumentation = among_all(instrumentation);
            }
            "mixes" => {
                instrumentation = instrumentation.edit(MIXES, |body, _| {
                    body.before_ret(Fragment::new().pop().ldc_i4(42))?;
                    Ok(())
                });
            }
            _ => {
                instrumentation = instrumentation.edit(ADD, add(1000)).edit(FEWER, add(-1));
            }
        }
        if how.ends_with("at load") {
            instrumentation = instrumentation.at_module_load();
        }
        if how.ends_with("at first use") {
            instrumentation = instrumentation.at_first_use();
        }
        let missing = |body: &mut MethodBody, _: &mut RewriteContext<'_>| {
            let missing = ("[corelib]System.Runtime.GCSettings", "get_IsServerGC", "bool ()");
            let missing = MethodSymbol::new(missing.0, missing.1, missing.2);
            body.prologue(Fragment::new().call(&missing).pop())?;
            Ok(())
        };
        if how.starts_with("without new tokens") {
            instrumentation = instrumentation
                .without_new_tokens()
                .edit("Switched!**.Small", missing);
        }
        if how == "one without new tokens" {
            instrumentation = instrumentation
                .edit("Switched!**.Small", missing)
                .edit_without_new_tokens("Switched!**.Own", missing);
        }
        if matches!(how, "deferred" | "late, deferred") {
            instrumentation = instrumentation.defer(|| IS_DEFERRED.load(Ordering::SeqCst));
        }
        if how == "switchable" || how == "off" {
            instrumentation = instrumentation.switchable();
        }
        if how.starts_with("fails") {
            instrumentation = instrumentation
                .edit("**.Own; Switched.Program.Nothing", |_, _| {
                    Err(Error::other("not this one"))
                })
                .edit("**.Small", |body, _| {
                    body.before_ret(Fragment::new().add())?;
                    Ok(())
                });
        }
        let instrumentation = setup.attach(instrumentation)?;
        Ok(Self { instrumentation })
    }
}

#[profiler(clsid = clsid("Instruments"))]
impl Profiler for Instruments {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        Self::start(setup, &env::var("INSTRUMENTED").unwrap_or_default())
    }

    fn initialize_for_attach(_: &ProfilerInfo, setup: &mut Setup, _: &[u8]) -> Result<Self> {
        Self::start(setup, "attached")
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.assembly_name()? == "System.Private.CoreLib" {
            log::line(format_args!("compiled {}", method.full_name()?));
        }
        if method.full_name()? == "Switched.Program.Time()" {
            IS_DEFERRED.store(false, Ordering::SeqCst);
        }
        Ok(())
    }

    fn jit_compilation_finished(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _status: Hresult,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if is_deferred() {
            let key = (method.module(), method.token());
            let (_, changed) = self.instrumentation.in_state(MethodState::Instrumented, SWITCHED);
            if changed.iter().any(|of| (of.module, of.method) == key) {
                COMPILED.lock().unwrap().insert(key);
            }
        }
        if method.full_name()? == "Getters.Changed.Throws(int)" {
            let mapping = info.il_to_native_mapping(function)?;
            let offsets = mapping.iter().map(|entry| format!("{:?}", entry.il));
            let offsets: Vec<String> = offsets.collect();
            log::line(format_args!("offsets of Throws {}", offsets.join(" ")));
        }
        Ok(())
    }

    fn thread_name_changed(&self, _: &ProfilerInfo, _: ThreadId, name: &str) -> Result<()> {
        let instrumentation = Arc::clone(&self.instrumentation);
        let name = name.to_owned();
        // The named thread waits here for the end of the step.
        let step = thread::spawn(move || step(&instrumentation, &name));
        step.join().map_err(|_| Error::other("a step panicked"))?
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        let outcomes = self.instrumentation.outcomes();
        log::line(&outcomes);
        log::line(outcomes.to_json());
        Ok(())
    }
}

fn step(instrumentation: &Instrumentation, step: &str) -> Result<()> {
    if step == "change" && env::var("INSTRUMENTED").is_ok_and(|how| how.starts_with("lines ")) {
        IS_CHANGED.store(true, Ordering::SeqCst);
        let (_, changed) = instrumentation.in_state(MethodState::Instrumented, 1);
        let keys: Vec<_> = changed.iter().map(|of| (of.module, of.method)).collect();
        let renewed = instrumentation.renew(&keys)?;
        assert_eq!(renewed, keys);
        return Ok(());
    }
    if step == "change" && instrumentation.rejit().is_none() {
        instrumentation.remove()?;
        // A second call changes nothing.
        return instrumentation.remove();
    }
    if step == "toggle" && is_deferred() {
        let deadline = Instant::now() + PATIENCE;
        let tiers = env::var("COMPlus_TieredCompilation").is_ok_and(|is_on| is_on == "1");
        while tiers && COMPILED.lock().unwrap().len() < SWITCHED && Instant::now() < deadline {
            thread::sleep(Duration::from_millis(2));
        }
        thread::sleep(SOON);
        return Ok(());
    }
    let Some(rejit) = instrumentation.rejit() else {
        if let Err(error) = instrumentation.off() {
            log::line(format_args!("{step}: {error}"));
        }
        return Ok(());
    };
    let settle = || {
        if !rejit.wait(PATIENCE) {
            log::line(format_args!("{step}: the runtime was not told"));
        }
    };
    match step {
        "on" | "some on" | "end" => instrumentation.on()?,
        "off" | "change" => instrumentation.off()?,
        "toggle" => {
            for _ in 0..TIMES {
                instrumentation.on()?;
                settle();
                thread::sleep(Duration::from_millis(4));
                instrumentation.off()?;
                settle();
                thread::sleep(Duration::from_millis(4));
            }
        }
        _ => {}
    }
    settle();
    let off = instrumentation.outcomes().count(MethodState::Off);
    log::line(format_args!("{step}: {off} off"));
    Ok(())
}

/// Changes methods of `Switched`, of which another component rejits one before its first call.
pub(crate) struct RejitsFirst {
    instrumentation: Arc<Instrumentation>,
    rejit: Arc<Rejit>,
}

#[profiler(clsid = clsid("RejitsFirst"))]
impl Profiler for RejitsFirst {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let rejit = Rejit::new(RejitOptions::default(), |info, module, method, control| {
            control.rewrite(info, module, method, |body, cx| add(20_000)(body, cx))?;
            Ok(())
        });
        let instrumentation = match env::var("INSTRUMENTED").as_deref() {
            Ok("late") => among_all(Instrumentation::new()),
            _ => Instrumentation::new().edit(ADD, add(1000)).edit(FEWER, add(-1)),
        };
        // Whose ReJIT precedes, or follows.
        let is_first = env::var_os("REJITS_FIRST").is_some();
        let (rejit, instrumentation) = match is_first {
            true => {
                let rejit = setup.attach(rejit)?;
                (rejit, setup.attach(instrumentation)?)
            }
            false => {
                let instrumentation = setup.attach(instrumentation)?;
                (setup.attach(rejit)?, instrumentation)
            }
        };
        rejit.request_pattern(&"Switched!Switched.Program.Own".parse()?);
        Ok(Self {
            instrumentation,
            rejit,
        })
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        if info.method(function)?.full_name()?.starts_with("Switched.Program.Main(")
            && !self.rejit.wait(PATIENCE)
        {
            log::line("the runtime was not told");
        }
        Ok(())
    }

    fn thread_name_changed(&self, _: &ProfilerInfo, _: ThreadId, name: &str) -> Result<()> {
        if name == "off" {
            self.rejit.revert_all();
            let rejit = Arc::clone(&self.rejit);
            let waits = thread::spawn(move || rejit.wait(PATIENCE));
            let _ = waits.join();
        }
        Ok(())
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line(self.instrumentation.outcomes());
        Ok(())
    }
}

/// Makes methods of `Helped` call the helper.
pub(crate) struct InstrumentsHelped {
    instrumentation: Arc<Instrumentation>,
}

#[profiler(clsid = clsid("InstrumentsHelped"))]
impl Profiler for InstrumentsHelped {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let helper = match env::var("HELPER").unwrap_or_default().as_str() {
            "memory" => {
                HelperAssembly::in_memory(include_bytes!("../../../profilees/helper/Helper.dll"))?
            }
            path => HelperAssembly::open(path)?,
        };
        let enter = helper.method("Logger", "Enter", "void (string)")?;
        let leave = helper.method("Logger", "Leave", "void (string)")?;
        let instrumentation = Instrumentation::new()
            .helper(&helper)
            .wrap_each("Helped.Program.*; -**.Main; **.Item..ctor", move |cx| {
                let name = cx.props().name.clone();
                let (enter, leave) = (enter.clone(), leave.clone());
                let text = name.clone();
                let wrap = Wrap::new().before(move |code, _| {
                    code.ldstr(&name).call(&enter);
                });
                Ok(wrap.finally(move |code, _| {
                    code.ldstr(&text).call(&leave);
                }))
            })
            // All of them, without the module's initialiser and the helper itself.
            .edit("**", |_, cx| {
                log::line(format_args!("edits {}", cx.full_name()));
                Ok(())
            });
        let instrumentation = setup.attach(instrumentation)?;
        Ok(Self { instrumentation })
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line(self.instrumentation.outcomes());
        Ok(())
    }
}

/// Changes methods of modules that come late, and may go.
pub(crate) struct InstrumentsLate {
    instrumentation: Arc<Instrumentation>,
}

#[profiler(clsid = clsid("InstrumentsLate"))]
impl Profiler for InstrumentsLate {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let patterns = "Built!Sums.Add; Unloads.Program.Answer";
        let mut instrumentation = Instrumentation::new().edit(patterns, add(1000));
        if let Ok(helper) = env::var("HELPER") {
            let enter = MethodSymbol::new("[Helper]Logger", "Enter", "void (string)");
            instrumentation = instrumentation.helper(&HelperAssembly::open(helper)?).edit(
                "Sums.Add; Unloads.**.Answer",
                move |body, cx| {
                    let name = &cx.props().name;
                    body.prologue(Fragment::new().ldstr(name).call(&enter))?;
                    Ok(())
                },
            );
        }
        let instrumentation = setup.attach(instrumentation)?;
        Ok(Self { instrumentation })
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line(self.instrumentation.outcomes());
        Ok(())
    }
}

/// Makes methods of `Waits`, which runs when it is attached, call a helper: that of `HELPER`, whose file is missing when
/// the runtime looks for it if it has `gone` in its path.
pub(crate) struct AttachesHelped {
    instrumentation: Arc<Instrumentation>,
}

#[profiler(clsid = clsid("AttachesHelped"))]
impl Profiler for AttachesHelped {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let helper = match env::var("HELPER").unwrap_or_default().as_str() {
            "memory" => {
                HelperAssembly::in_memory(include_bytes!("../../../profilees/helper/Helper.dll"))?
            }
            path => HelperAssembly::open(path)?,
        };
        let enter = helper.method("Logger", "Enter", "void (string)")?;
        if let Some(path) = helper.path()
            && path.ends_with("gone/Helper.dll")
        {
            std::fs::remove_file(path)?;
        }
        let instrumentation = Instrumentation::new()
            .helper(&helper)
            .edit("Waits.Program.Work*(); **.Version.GetHashCode", move |body, cx| {
                body.prologue(Fragment::new().ldstr(&cx.props().name).call(&enter))?;
                Ok(())
            })
            .framework()
            .report(|outcome, _| {
                log::line(format_args!("now {} {}", outcome.state.name(), outcome.name));
            });
        let instrumentation = setup.attach(instrumentation)?;
        Ok(Self { instrumentation })
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line(self.instrumentation.outcomes());
        Ok(())
    }
}

/// Changes methods of `Waits`, whose methods `Work5` and `Work6` switch the changes off and on.
pub(crate) struct AttachesInstruments {
    instrumentation: Arc<Instrumentation>,
}

#[profiler(clsid = clsid("AttachesInstruments"))]
impl Profiler for AttachesInstruments {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let instrumentation = Instrumentation::new()
            .edit("Waits.Program.Work*(); -**.Work5", add(1000))
            .edit("Waits.Program.Catch", add(0));
        let instrumentation = setup.attach(instrumentation)?;
        Ok(Self { instrumentation })
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        match info.method(function)?.name()?.as_str() {
            "Work5" => self.instrumentation.off(),
            "Work6" => self.instrumentation.on(),
            "Work3" => {
                log::line(self.instrumentation.outcomes());
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        log::line(self.instrumentation.outcomes());
        Ok(())
    }
}
