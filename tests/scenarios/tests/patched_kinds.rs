//! Patches of further kinds of methods.

use clr_profiler::instrumentation::Instrumentation;
use clr_profiler::patches::Patch;
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Adds 1000 to the results, or to the arguments, of the methods of `PatchedKinds`.
pub(crate) struct PatchedKinds;

fn of(method: &str) -> Patch {
    let name = match method.strip_prefix("generated ") {
        Some(name) => format!("generated PatchedKinds!PatchedKinds.{name}"),
        None => format!("PatchedKinds!PatchedKinds.{method}"),
    };
    Patch::method(name.as_str())
}

/// The methods whose results are ints.
const RESULTS: [&str; 29] = [
    "Shape.Measure",
    "Square.Measure",
    "Shape.Grow",
    "Square.Grow",
    "Shape.'PatchedKinds.IMap<System.String>.Map'",
    "Shape.Guarded",
    "Shape.op_Implicit",
    "Point.Add",
    "IAdder.Twice",
    "Window.Sum",
    "Outer`1+Inner`1.Join",
    "Cell`1.Bump",
    "Program.Constrained",
    "Program.Read",
    "Program.Or",
    "Program.Filtered",
    "Program.Invokes",
    "Program.Closes",
    "generated **.<Closes>b__*",
    "Program.Inner",
    "generated **.<Inner>g__Add*",
    "Program.Total",
    "Program.Corner",
    "Program.OnStack",
    "Program.Locked",
    "Program.Switched",
    "Program.OfEnumeration",
    "Program.Hot",
    "Remote.Ask",
];

/// The methods with an int of this name that the patch changes before the code runs.
const ARGUMENTS: [(&str, &str); 5] = [
    ("Point..ctor", "x"),
    ("Program.Soon", "value"),
    ("Program.Start", "value"),
    ("Program.Pair", "value"),
    ("Program.Raise", "value"),
];

#[profiler(clsid = clsid("PatchedKinds"))]
impl Profiler for PatchedKinds {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let mut all = Instrumentation::new().report(|outcome, _| {
            let (state, name) = (outcome.state.name(), &outcome.name);
            let problem = outcome.problem.as_deref().unwrap_or_default();
            log::line(format_args!("{state} {name} {problem}"));
        });
        for method in RESULTS {
            all = all.patch(of(method).after(|call| {
                let result: i32 = call.result()?;
                call.set_result(result + 1000)
            }));
        }
        for (method, name) in ARGUMENTS {
            all = all.patch(of(method).before(move |call| {
                let value: i32 = call.get(name)?;
                call.set(name, value + 1000)
            }));
        }
        let more = |method: &str, name: &'static str| {
            of(method).before(move |call| {
                let value: i32 = call.get(name)?;
                call.set(name, value + 1)
            })
        };
        all = all
            .patch(more("Program.Slot", "index"))
            .patch(more("Program.Price", "count"))
            .patch(more("Program.Repeated", "count"))
            .patch(of("Program.Find").after(|call| {
                let value: i32 = call.get("value")?;
                call.set("value", value + 1000)?;
                call.set_result(true)
            }))
            .patch(of("Program.Half").after(|call| {
                let half: f32 = call.result()?;
                call.set_result(half + 1000.0)
            }))
            .patch(of("Program.Mix").after(|call| {
                let color: i16 = call.result()?;
                call.set_result(color + 1)
            }))
            .patch(of("Shape.Make").before(|call| {
                let seed: i64 = call.get("seed")?;
                call.set("seed", seed + 1000)
            }))
            .patch(of("Shape.Make").after(|call| {
                let last: i64 = call.get("result.E")?;
                call.set("result.E", last + 1)
            }))
            .patch(of("Shape.add_Changed").field("Handlers").after(|call| {
                let handlers: i32 = call.get("this.Handlers")?;
                call.set("this.Handlers", handlers + 1000)
            }))
            .patch(of("Ends.Finalize").replace(|_| Ok(())))
            .patch(
                Patch::call("PatchedKinds.Program.Absolute; PatchedKinds.Change.Invoke")
                    .within("PatchedKinds!PatchedKinds.Program.*")
                    .after(|call| {
                        let result: i32 = call.result()?;
                        call.set_result(result + 1000)
                    }),
            );
        // The object that an instruction makes, after its constructor.
        all = all.patch(
            Patch::call("PatchedKinds.Point..ctor")
                .within("PatchedKinds!PatchedKinds.Program.Creates")
                .after(|call| {
                    let x: i32 = call.get("result.X")?;
                    call.set("result.X", x + 1000)
                }),
        );
        setup.attach(all)?;
        Ok(Self)
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::PatchedKinds;

    /// The results with patches.
    const PATCHED: &str = "\
generic virtual 3014 3012 1006
constructor of a struct 1001
constrained call 3006 1004
boxed struct 2007
default interface method 1006
explicit implementation of a generic interface 1008
ref return 1,9,3
in 1006 5
out True 1004
ref 1006
value task 1001
async void 1001
tuple 1001
nullable 1001 1002
exception filter 1001 1002
delegate 2001
closure 2002
local function with a closure 2002
float 1001.5
decimal 4.5
enumeration Green
array 1003
array of two dimensions 1004
memory of the stack 1003
creation 2003
marshalled by reference 1002
lock 1001
synchronized 1004
switch over strings 1006 1000
large struct as result 1001 2003
nested generics 1012 1011
generic struct 1002 1003
generic constraint 1005
ref struct 1013
event accessors 1001
implicit conversion 1002
delegate of a virtual method 4004
generic iterator x,x,x
extern 1003
finalizer 0
hot 300150000
";

    #[test]
    fn further_kinds_of_methods_are_patched() {
        let scenario = Scenario::new("PatchedKinds").profiled_by::<PatchedKinds>();
        for scenario in scenario.env("PATCHED", "1").in_modes() {
            scenario.on_each_runtime(|runtime, profiled| {
                let (log, name) = (&profiled.log, &runtime.name);
                assert_eq!(profiled.output(), (Some(6), PATCHED, ""), "{name} {log}");
                for wrong in ["refused", "failed", "a patch "] {
                    assert!(!log.contains(wrong), "{name} {log}");
                }
            });
        }
    }
}
