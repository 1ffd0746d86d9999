//! Hooks with info in methods that pass and return values of all shapes.

use std::sync::Mutex;

use clr_profiler::hooks::{CallHooksWithInfo, EnterCall, HookFailure, LeaveCall};
use clr_profiler::info::ObjectValue;
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// The records of the hooks, in order.
static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Whether the hooks inspect the values.
struct Looks(bool);

fn note(line: String) {
    if let Ok(mut lines) = LINES.lock() {
        lines.push(line);
    }
}

/// A value as text, a structure by its bytes.
fn show(info: &ProfilerInfo, value: ObjectValue<'_>) -> Result<String> {
    Ok(match value {
        ObjectValue::Reference(Some(object)) => match info.object(object)?.string() {
            Ok(text) => format!("{text:?}"),
            Err(_) => "object".to_owned(),
        },
        ObjectValue::Struct(value) => format!("{:?}", value.bytes()?),
        // Its target differs in each run.
        ObjectValue::Pointer(_) => "pointer".to_owned(),
        value => format!("{value:?}"),
    })
}

impl CallHooksWithInfo for Looks {
    /// The name.
    type Function = String;

    fn enter(&self, call: &EnterCall<'_, String>) -> Result<()> {
        if self.0 {
            let mut text = Vec::new();
            for argument in call.arguments() {
                text.push(match argument {
                    Ok(value) => show(call.info(), value)?,
                    Err(error) => error.to_string(),
                });
            }
            note(format!(
                "enter {}({})",
                call.function().data(),
                text.join(", ")
            ));
        }
        Ok(())
    }

    fn leave(&self, call: &LeaveCall<'_, String>) -> Result<()> {
        if self.0 {
            let text = match call.returned() {
                Ok(Some(value)) => show(call.info(), value)?,
                Ok(None) => String::new(),
                Err(error) => error.to_string(),
            };
            note(format!("leave {} {text}", call.function().data()));
        }
        Ok(())
    }

    fn on_failure(&self, failure: &HookFailure) {
        note(failure.to_string());
    }
}

/// Sets hooks for all methods of `Values`, which inspect the values if `SCENARIO_LOOKS` is set.
pub(crate) struct LooksAtValues;

#[profiler(clsid = clsid("LooksAtValues"))]
impl Profiler for LooksAtValues {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let looks = std::env::var_os("SCENARIO_LOOKS").is_some();
        setup.hooks_with_info(Looks(looks), |info, function| {
            let name = info.method(function)?.full_name()?;
            let name = name.split('(').next().unwrap_or_default();
            Ok(name.strip_prefix("Values.").map(str::to_owned))
        })?;
        Ok(Self)
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        if let Ok(lines) = LINES.lock() {
            lines.iter().for_each(log::line);
        }
        Ok(())
    }
}
