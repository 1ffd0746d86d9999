//! Patches of each kind of method.

use std::env;

use clr_profiler::instrumentation::Instrumentation;
use clr_profiler::patches::Patch;
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Adds 1000 to the results of the methods of `PatchedEdges`.
pub(crate) struct PatchedEdges;

fn of(method: &str) -> Patch {
    Patch::method(format!("PatchedEdges!PatchedEdges.{method}").as_str())
}

fn more(method: &str) -> Patch {
    of(method).after(|call| {
        let result: i32 = call.result()?;
        call.set_result(result + 1000)
    })
}

/// The methods whose results are numbers: by name, since the program has more.
const MORE: [&str; 27] = [
    "Base.Virtual",
    "Base.Inherited",
    "Base.'PatchedEdges.IShape.Sides'",
    "Derived.get_Property",
    "Derived.get_Item",
    "Derived.Virtual",
    "Derived.op_Addition",
    "Derived.op_Explicit",
    "Derived+Nested.Inside",
    "Value.Add",
    "Box`1.Count",
    "Early.Late",
    "Extensions.Doubled",
    "Program.Tiny",
    "Program.Generic",
    "Program.Optional",
    "Program.Many",
    "Program.Recursive",
    "Program.Handles",
    "Program.Pointer",
    "Program.Span",
    "Program.Big",
    // The code that the compiler generates.
    "Program+<>c.<Main>b__*; generated PatchedEdges!**.<Main>b__*(int)",
    "Program.<Main>g__Local*; generated PatchedEdges!**.<Main>g__Local*",
    "Early.Prepare",
    "Derived.Raise",
    "Program.Dispatch",
];

#[profiler(clsid = clsid("PatchedEdges"))]
impl Profiler for PatchedEdges {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let mut all = Instrumentation::new().report(|outcome, _| {
            let (state, name) = (outcome.state.name(), &outcome.name);
            let problem = outcome.problem.as_deref().unwrap_or_default();
            log::line(format_args!("{state} {name} {problem}"));
        });
        for method in MORE {
            all = all.patch(more(method));
        }
        all = all
            .patch(of("Base..ctor").before(|call| {
                let start: i32 = call.get("start")?;
                call.set("start", start + 100)
            }))
            .patch(of("Derived.set_Property").before(|call| {
                let value: i32 = call.get("value")?;
                call.set("value", value + 100)
            }))
            .patch(of("Value.ToString").after(|call| {
                let text: String = call.result()?;
                let number: i32 = call.get("this.Number").or_else(|_| call.get("this"))?;
                call.set_result(format!("{text} of {number}"))
            }))
            .patch(of("Early..cctor").before(|_| Ok(())))
            .patch(of("Program.Numbers").before(|call| {
                let count: i32 = call.get("count")?;
                call.set("count", count + 1)
            }))
            .patch(of("Program.Later").before(|call| {
                let value: i32 = call.get("value")?;
                call.set("value", value + 100)
            }))
            .patch(of("Program.Throws; PatchedEdges!PatchedEdges.Program.Spins").replace(|call| call.set_result(5)))
            .patch(
                Patch::method("System.Private.CoreLib!System.DateTime.get_UtcNow")
                    .replace(|call| call.set_result(631_167_552_000_000_000_u64 | 1 << 62)),
            );
        if env::var_os("PATCHED_AT_LOAD").is_some() {
            all = all.at_module_load();
        }
        setup.attach(all)?;
        Ok(Self)
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::PatchedEdges;

    /// The results with patches.
    const PATCHED: &str = "\
constructor 107
virtual 11020
by the base 11020
inherited 1003
interface 2004
getter 1003
setter 1120
indexer 1008
operator 1108
conversion 1107
event and lambda 2006
nested 1004
struct 1003 3 value 3 of 3
shared generics 1007 1007 1008
generics over structs 1006 1009
generic methods 1003 1002 1004
inlined 1002 1003
throws 1005
optional 1006 1002
params 1003 1000
recursive 4003
handlers 1002 999 finally finally
pointer 1006
span 1003
iterator 10
async 109
many parameters 1035
delegate 1002
reflection 1003
extension 1008
local function 1007
static constructor 2009 initialised called
precompiled caller past
never returns 1005
";

    #[test]
    fn each_kind_of_method_is_patched() {
        let scenario = Scenario::new("PatchedEdges").profiled_by::<PatchedEdges>();
        for scenario in scenario.env("PATCHED", "1").in_modes() {
            scenario.on_each_runtime(|runtime, profiled| {
                let (log, name) = (&profiled.log, &runtime.name);
                assert_eq!(profiled.output(), (Some(6), PATCHED, ""), "{name} {log}");
                for wrong in ["refused", "failed", "a native call"] {
                    assert!(!log.contains(wrong), "{name} {log}");
                }
            });
        }
    }
}
