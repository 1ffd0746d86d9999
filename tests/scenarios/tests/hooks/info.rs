//! Hooks that inspect arguments and returned values, by their types.

use std::sync::Mutex;

use clr_profiler::hooks::{CallHooksWithInfo, EnterCall, HookFailure, HookedFunction, LeaveCall};
use clr_profiler::info::ObjectValue;
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Records the arguments and results of the calls of `Calls`.
struct Sees;

/// The records of the hooks, in order.
static LINES: Mutex<Vec<String>> = Mutex::new(Vec::new());

impl Sees {
    fn note(&self, line: String) {
        if let Ok(mut lines) = LINES.lock() {
            lines.push(line);
        }
    }
}

/// The values as text; for objects other than strings only their presence.
fn show(info: &ProfilerInfo, value: Result<ObjectValue<'_>>) -> Result<String> {
    Ok(match value? {
        ObjectValue::Reference(None) => "null".to_owned(),
        ObjectValue::Reference(Some(object)) => match info.object(object)?.string() {
            Ok(text) => format!("{text:?}"),
            Err(_) => "object".to_owned(),
        },
        ObjectValue::Struct(value) => format!("{:?}", value.bytes()?),
        value => format!("{value:?}"),
    })
}

impl CallHooksWithInfo for Sees {
    type Function = String;

    fn enter(&self, call: &EnterCall<'_, String>) -> Result<()> {
        let name = call.function().data();
        // Illegal calls in a hook are refused.
        if name == "Main" {
            let refused = [
                call.info().force_gc().is_err(),
                call.info().modules().is_err(),
            ];
            self.note(format!("refused {refused:?}"));
        }
        let mut text = Vec::new();
        for argument in call.arguments() {
            text.push(show(call.info(), argument)?);
        }
        if call.argument(text.len()).is_ok() {
            self.note("there is one argument more".to_owned());
        }
        self.note(format!("enter {name}({})", text.join(", ")));
        Ok(())
    }

    fn leave(&self, call: &LeaveCall<'_, String>) -> Result<()> {
        let name = call.function().data();
        match call.returned() {
            Ok(None) => self.note(format!("leave {name}")),
            Ok(Some(value)) => {
                let value = show(call.info(), Ok(value))?;
                self.note(format!("leave {name} {value}"));
            }
            Err(error) => self.note(format!("leave {name} {error}")),
        }
        Ok(())
    }

    fn tailcall(&self, function: &'static HookedFunction<String>) -> Result<()> {
        self.note(format!("tailcall {}", function.data()));
        Err(Error::other("reported"))
    }

    fn on_failure(&self, failure: &HookFailure) {
        let text = failure.to_string();
        self.note(text.rsplit(": ").next().unwrap_or_default().to_owned());
    }
}

/// Sets hooks for the methods of `Calls` except the one that is called a thousand times.
pub(crate) struct SeesValues;

#[profiler(clsid = clsid("SeesValues"))]
impl Profiler for SeesValues {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        setup.hooks_with_info(Sees, |info, function| {
            let Ok(name) = info.method(function).and_then(|method| method.full_name()) else {
                return Ok(None);
            };
            let name = name.split('(').next().unwrap_or_default();
            Ok(match name.strip_prefix("Calls.") {
                Some(name) if !name.ends_with(".Add") => {
                    Some(name.trim_start_matches("Program.").to_owned())
                }
                _ => None,
            })
        })?;
        Ok(Self)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        super::make_tail_calls(info, function, "Calls.Program.Last(int)")
    }

    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        if let Ok(lines) = LINES.lock() {
            lines.iter().for_each(log::line);
        }
        Ok(())
    }
}
