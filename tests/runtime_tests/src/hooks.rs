//! Hooks that read arguments and results, transitions to and from native code, and inlining.

use std::collections::BTreeSet;
use std::sync::Mutex;

use clr_profiler::hooks::{CallHooksWithInfo, EnterCall, HookFailure, LeaveCall};
use clr_profiler::info::ObjectValue;
use clr_profiler::prelude::*;

use crate::common::{check, clsid, locked, log, method_name, report_failures};

/// A value as text: strings by their characters, structures by their bytes.
fn show(info: &ProfilerInfo, value: &ObjectValue<'_>) -> Result<String> {
    Ok(match value {
        ObjectValue::Reference(Some(object)) => format!("{:?}", info.object(*object)?.string()?),
        ObjectValue::Struct(value) => format!("{:?}", value.bytes()?),
        value => format!("{value:?}"),
    })
}

/// The methods with hooks, by the beginning of their names.
fn named(info: &ProfilerInfo, function: FunctionId, start: &str) -> Result<Option<String>> {
    // Methods without names are those of the runtime's stubs.
    let name = method_name(info, function).unwrap_or_default();
    Ok(name.strip_prefix(start).map(str::to_owned))
}

struct Enters;

impl CallHooksWithInfo for Enters {
    type Function = String;

    fn enter(&self, call: &EnterCall<'_, String>) -> Result<()> {
        let mut text = Vec::new();
        for argument in call.arguments() {
            text.push(show(call.info(), &argument?)?);
        }
        let name = call.function().data();
        log::line(format_args!("enter {name}({})", text.join(", ")));
        Ok(())
    }

    fn on_failure(&self, failure: &HookFailure) {
        log::line(format_args!("FAILED {failure}"));
    }
}

/// Reads the arguments of the methods of `Values`.
pub(crate) struct ReadsArguments;

#[profiler(clsid = clsid("ReadsArguments"))]
impl Profiler for ReadsArguments {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        setup.hooks_with_info(Enters, |info, function| {
            named(info, function, "RuntimeTests.Values.")
        })?;
        Ok(Self)
    }
}

struct Leaves;

impl CallHooksWithInfo for Leaves {
    type Function = String;

    fn leave(&self, call: &LeaveCall<'_, String>) -> Result<()> {
        let name = call.function().data();
        match call.returned() {
            Ok(Some(value)) => {
                let value = show(call.info(), &value)?;
                log::line(format_args!("leave {name} {value}"));
            }
            Ok(None) => log::line(format_args!("leave {name}")),
            Err(error) => log::line(format_args!("refused: {name}: {error}")),
        }
        Ok(())
    }

    fn on_failure(&self, failure: &HookFailure) {
        log::line(format_args!("FAILED {failure}"));
    }
}

/// Reads the results of the methods of `Values`.
pub(crate) struct ReadsResults;

#[profiler(clsid = clsid("ReadsResults"))]
impl Profiler for ReadsResults {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        setup.hooks_with_info(Leaves, |info, function| {
            named(info, function, "RuntimeTests.Values.")
        })?;
        Ok(Self)
    }
}

/// The methods that are called from or by native code.
const IN_TRANSITION: [&str; 3] = [".Search", ".Compare", "+Compare"];

fn transits(name: &str) -> bool {
    IN_TRANSITION.iter().any(|part| name.contains(part))
}

fn transition(
    info: &ProfilerInfo,
    direction: &str,
    function: Option<FunctionId>,
    reason: TransitionReason,
) {
    let name = function.and_then(|function| method_name(info, function).ok());
    if let Some(name) = name.filter(|name| name.starts_with("RuntimeTests.") && transits(name)) {
        log::line(format_args!("{direction} {name} {reason:?}"));
    }
}

struct CountsEnters;

impl CallHooksWithInfo for CountsEnters {
    type Function = String;

    fn enter(&self, call: &EnterCall<'_, String>) -> Result<()> {
        log::line(format_args!("enter {}", call.function().data()));
        Ok(())
    }

    fn on_failure(&self, failure: &HookFailure) {
        log::line(format_args!("FAILED {failure}"));
    }
}

/// Logs the transitions, and with `TRANSITION_HOOKS` also the calls, of the methods in transition.
pub(crate) struct CountsTransitions;

#[profiler(clsid = clsid("CountsTransitions"))]
impl Profiler for CountsTransitions {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        setup.add_events(EventMask::DISABLE_INLINING);
        if info.environment_variable("TRANSITION_HOOKS")?.is_some() {
            setup.hooks_with_info(CountsEnters, |info, function| {
                let name = named(info, function, "RuntimeTests.")?;
                Ok(name.filter(|name| transits(name)))
            })?;
        }
        Ok(Self)
    }

    fn managed_to_unmanaged_transition(
        &self,
        info: &ProfilerInfo,
        function: Option<FunctionId>,
        reason: TransitionReason,
    ) -> Result<()> {
        transition(info, "out", function, reason);
        Ok(())
    }

    fn unmanaged_to_managed_transition(
        &self,
        info: &ProfilerInfo,
        function: Option<FunctionId>,
        reason: TransitionReason,
    ) -> Result<()> {
        transition(info, "in", function, reason);
        Ok(())
    }
}

/// The methods that are active, by their names without those of their types.
static ACTIVE: Mutex<Vec<String>> = Mutex::new(Vec::new());

struct Nesting;

impl CallHooksWithInfo for Nesting {
    type Function = String;

    fn enter(&self, call: &EnterCall<'_, String>) -> Result<()> {
        let name = call.function().data().clone();
        let mut active = locked(&ACTIVE);
        if name == "Inlinee" {
            let caller = active.last().map_or("nothing", String::as_str);
            log::line(format_args!("Inlinee in {caller}"));
        }
        active.push(name);
        Ok(())
    }

    fn leave(&self, call: &LeaveCall<'_, String>) -> Result<()> {
        let left = locked(&ACTIVE).pop();
        check(
            left.as_ref() == Some(call.function().data()),
            format_args!("{left:?} left"),
        );
        Ok(())
    }

    fn on_failure(&self, failure: &HookFailure) {
        log::line(format_args!("FAILED {failure}"));
    }
}

/// Allows and blocks inlining, and logs the calls that remain.
#[derive(Default)]
pub(crate) struct InlineesEntered {
    asked: Mutex<BTreeSet<String>>,
}

#[profiler(clsid = clsid("InlineesEntered"))]
impl Profiler for InlineesEntered {
    fn initialize(_: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        report_failures(setup);
        setup.hooks_with_info(Nesting, |info, function| {
            named(info, function, "RuntimeTests.Inlined.")
        })?;
        Ok(Self::default())
    }

    fn jit_inlining(
        &self,
        info: &ProfilerInfo,
        caller: FunctionId,
        callee: FunctionId,
    ) -> Result<bool> {
        if method_name(info, callee)? != "RuntimeTests.Inlined.Inlinee" {
            return Ok(true);
        }
        let caller = method_name(info, caller)?;
        let allowed = !caller.ends_with(".Blocks");
        locked(&self.asked).insert(format!("asked {caller} {allowed}"));
        Ok(allowed)
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        locked(&self.asked).iter().for_each(log::line);
        Ok(())
    }
}
