//! Closures of a profiler change methods of a program.

#[cfg(test)]
mod tests;

use std::env;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use clr_profiler::instrumentation::{Instrumentation, PatchWay};
use clr_profiler::patches::{Call, Faults, Patch};
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// The ticks of 2001-02-03, as a UTC time.
const PAST: u64 = 631_167_552_000_000_000 | 1 << 62;

/// How many states exist.
static STATES: AtomicU32 = AtomicU32::new(0);

/// A state that counts itself.
struct State(i64);

impl State {
    fn new(value: i64) -> Self {
        STATES.fetch_add(1, Ordering::Relaxed);
        Self(value)
    }
}

impl Drop for State {
    fn drop(&mut self) {
        STATES.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Changes nearly all methods of `Patched`.
pub(crate) struct Patches(Arc<Instrumentation>);

fn of(method: &str) -> Patch {
    Patch::method(format!("Patched!Patched.{method}").as_str())
}

fn kinds(call: &mut Call<'_>) -> Result<()> {
    let a: bool = call.get("a")?;
    let b: char = call.get("b")?;
    let (c, d, e): (i8, u8, i16) = (call.get("c")?, call.get("d")?, call.get("e")?);
    let (f, g, h): (u16, u32, i64) = (call.get("f")?, call.get("g")?, call.get("h")?);
    let (i, j, k): (u64, f32, f64) = (call.get("i")?, call.get("j")?, call.get("k")?);
    let (l, m, n): (isize, usize, i16) = (call.get("l")?, call.get("m")?, call.get("n")?);
    call.set("a", !a)?;
    call.set("b", char::from_u32(u32::from(b) + 1).unwrap_or('?'))?;
    call.set("c", c * 2)?;
    call.set("d", d * 2)?;
    call.set("e", e * 2)?;
    call.set("f", f * 2)?;
    call.set("g", g * 2)?;
    call.set("h", h * 2)?;
    call.set("i", i * 2)?;
    call.set("j", j * 2.0)?;
    call.set("k", k * 2.0)?;
    call.set("l", l * 2)?;
    call.set("m", m * 2)?;
    call.set(13, n * 2)
}

/// Patches of arguments and results.
fn of_values(all: Instrumentation) -> Instrumentation {
    all.patch(of("Store.Price").before(|call| {
        let (count, item): (i32, String) = (call.get("count")?, call.get(1)?);
        call.set("count", count + 1)?;
        call.set("item", format!("{item}s").as_str())
    }))
    .patch(
        of("Store.Greet")
            .before(|call| {
                let is_nobody = call.is_null("who")?;
                match call.get::<Option<String>>("who")? {
                    Some(who) if who.len() < 100 => call.set("who", who.to_uppercase()),
                    Some(_) => call.set("who", ""),
                    None if is_nobody => call.set("who", "all"),
                    None => Ok(()),
                }
            })
            .after(|call| {
                let result: String = call.result()?;
                call.set_result(format!("{result}!"))
            }),
    )
    .patch(
        of("Store.Opened")
            .field("opened")
            .field("total")
            .field("name")
            .before(|call| {
                let name: String = call.get("this.name")?;
                let opened: i32 = call.get("this.opened")?;
                let total: i32 = call.get("this.total")?;
                call.set("this.opened", 100)?;
                call.set("this.total", total + name.len() as i32)?;
                call.keep(State::new(i64::from(opened + total)));
                Ok(())
            })
            .after(|call| {
                let before = call.kept::<State>().map_or(0, |state| state.0);
                let result: i32 = call.result()?;
                call.set("this.opened", 5)?;
                call.set("this.total", 10)?;
                call.set_result(result * 1000 + before as i32)
            }),
    )
    .patch(of("Store.Total").replace(|call| call.set_result(77)))
    .patch(of("Store.Kinds").before(kinds))
    .patch(of("Store.Paint").before(|call| {
        let color: i16 = call.get("color")?;
        call.set_result(color + 1)?;
        call.skip();
        Ok(())
    }))
    .patch(of("Store.Fill").after(|call| {
        let (value, text): (i32, String) = (call.get("value")?, call.get("text")?);
        let (x, y): (i32, i64) = (call.get("point.X")?, call.get("point.Y")?);
        call.set("value", value * 10)?;
        call.set("text", format!("{text}, {}", call.get::<i64>("read")?))?;
        call.set("point.X", x * 10)?;
        call.set("point.Y", y * 10)?;
        call.set("any", None::<&str>)
    }))
    .patch(of("Store.Move").after(|call| {
        let x: i32 = call.result::<i32>().or_else(|_| call.get("result.X"))?;
        call.set("result.X", x + 100)?;
        call.set("result.Y", -1_i64)
    }))
    .patch(of("Point.Sum").before(|call| {
        let x: i32 = call.get("this.X")?;
        call.set("this.X", x * 2)?;
        call.set("more", 1000)
    }))
    .patch(of("Store.Widen").before(|call| {
        let (tag, scale, color): (u8, f32, i16) =
            (call.get("wide.Tag")?, call.get("wide.Scale")?, call.get("wide.Of")?);
        call.set("wide.Tag", tag + 1)?;
        call.set("wide.Scale", scale * 3.0)?;
        call.set("wide.Of", color * 3)?;
        call.set("wide.At.Y", 9_i64)
    }))
    .patch(of("Store.Length").before(|call| {
        let nulls = ["any", "numbers", "list"].map(|name| call.is_null(name));
        for (name, is_null) in ["any", "numbers", "list"].into_iter().zip(nulls) {
            if !is_null? && name != "numbers" {
                call.set(name, None::<&str>)?;
            }
        }
        Ok(())
    }))
    .patch(of("Store.Cost").before(|call| {
        // A decimal in the order of its fields: flags, the upper third, the rest.
        let flags: i32 = call.get("price._flags").or_else(|_| call.get("price.flags"))?;
        let ticks: u64 = call.get("when")?;
        if flags >> 16 & 0xff != 1 {
            return Err(Error::other(format!("the scale of the price is in {flags:#x}")));
        }
        // A year of 366 days later.
        call.set("when", ticks + 366 * 864_000_000_000)
    }))
}

/// Patches of exceptions, and others that go wrong.
fn of_ends(all: Instrumentation) -> Instrumentation {
    all.patch(
        of("Store.Fails")
            .before(|call| {
                call.keep(State::new(40));
                Ok(())
            })
            .on_exception(|call| {
                let (name, message) = (call.exception_type(), call.exception_message());
                let kept = call.kept::<State>().map_or(0, |state| state.0);
                let is_one = message.as_deref() == Some("number 1");
                if is_one && name.as_deref() == Some("System.InvalidOperationException") {
                    call.set_result(kept as i32)?;
                    call.swallow();
                }
                Ok(())
            })
            .after(|call| {
                let kept = call.kept::<State>().map_or(0, |state| state.0);
                let result: i32 = call.result()?;
                call.set_result(result + kept as i32 * 100)
            }),
    )
    .patch(
        of("Store.Escapes")
            .before(|call| {
                call.keep(State::new(1));
                Ok(())
            })
            .after(|call| {
                let kept = call.kept::<State>().map_or(0, |state| state.0);
                call.set_result(kept as i32)
            }),
    )
    .patch(of("Store.Faulty").before(|call| {
        match call.get("number")? {
            1 => call.throw("System.TimeoutException", "no answer"),
            2 => call.throw("System.NoSuchException", ""),
            _ => {}
        }
        Ok(())
    }))
    .patch(of("Store.Never").replace(|call| call.set_result(5)))
    .patch(of("Store..ctor").before(|call| call.set("name", "mall")))
    .patch(
        of("Store.Depth")
            .before(|call| {
                let number: i32 = call.get("number")?;
                call.keep(State::new(i64::from(number)));
                Ok(())
            })
            .after(|call| {
                let number: i32 = call.get("number")?;
                let kept = call.kept::<State>().map_or(-1, |state| state.0);
                let result: i64 = call.result()?;
                let right = i64::from(kept == i64::from(number));
                call.set_result(result + right * 1000)
            }),
    )
    .patch(of("Store.Echo").before(|call| {
        if call.get::<i32>("value").is_ok() {
            return Err(Error::other("a generic value was passed"));
        }
        match call.get("number")? {
            2 => call.set("number", 200),
            _ => Ok(()),
        }
    }))
    .patch(of("Store.Panics").before(|call| {
        call.set("number", 1000)?;
        panic!("on purpose")
    }))
    .patch(of("Store.Mistaken").before(|call| {
        call.set("number", 1000)?;
        call.skip();
        call.set("numbre", 2)
    }))
    .patch(of("Store.Ordered").priority(1).after(|call| {
        let result: i32 = call.result()?;
        call.set_result(result * 2)
    }))
    .patch(of("Store.Ordered").after(|call| {
        let result: i32 = call.result()?;
        call.set_result(result + 10)
    }))
    .patch(of("Store.Later").before(|call| {
        let number: i32 = call.get("number")?;
        call.set("number", number * 2)
    }))
    .patch(
        of("Program.Widened")
            .field("missing")
            .before(|_| Ok(())),
    )
}

/// Whether a value is refused because the patch does not name it.
fn is_unnamed<T>(value: Result<T>) -> bool {
    value.is_err_and(|error| error.to_string().contains("`Patch::values` does not name it"))
}

/// Patches to which only some of the values are passed.
fn of_named(all: Instrumentation) -> Instrumentation {
    all.patch(
        of("Store.Price")
            .values(["count", "result"])
            .before(|call| {
                if is_unnamed(call.get::<String>("item")) && is_unnamed(call.is_null("item")) {
                    let count: i32 = call.get("count")?;
                    call.set("count", count + 1)?;
                }
                Ok(())
            })
            .after(|call| {
                let result: i32 = call.result()?;
                match is_unnamed(call.object("this")) {
                    true => call.set_result(result + 1000),
                    false => Ok(()),
                }
            }),
    )
    .patch(of("Store.Opened").values([]).replace(|call| {
        match is_unnamed(call.set_result(3)) {
            true => Ok(()),
            false => Err(Error::other("the result was set")),
        }
    }))
    .patch(of("Program.Widened").values(["nothing"]).before(|_| Ok(())))
    .patch(
        Patch::call("Patched.Point.Sum")
            .within("Patched!**; generated Patched!**")
            .values(["this"])
            .before(|call| {
                let x: i32 = call.get("this.X")?;
                match is_unnamed(call.set("more", 500)) {
                    true => call.set("this.X", x + 1),
                    false => Ok(()),
                }
            }),
    )
}

/// Patches of the framework.
fn of_framework(all: Instrumentation) -> Instrumentation {
    let year = "System.Private.CoreLib!System.DateTime.get_UtcNow";
    let file = "*!System.IO.File.ReadAllText(string)";
    all.patch(Patch::method(year).replace(|call| call.set_result(PAST)))
        .patch(Patch::method(file).replace(|call| {
            let path: String = call.get("path")?;
            call.set_result(format!("contents of {path}"))
        }))
}

/// Patches that read and write fields of base types, of the program `ManagedPatched`.
fn of_inherited(all: Instrumentation) -> Instrumentation {
    let of = |method: &str| Patch::method(format!("ManagedPatched!ManagedPatched.{method}").as_str());
    let fields = ["secret", "weight", "level", "shared"];
    let inherits = fields.iter().fold(of("Store.Inherits"), |patch, field| patch.field(field));
    all.patch(
        inherits
            .before(|call| {
                let secret: String = call.get("this.secret")?;
                let weight: i64 = call.get("this.weight")?;
                call.set("this.secret", format!("{secret}!"))?;
                call.keep(secret);
                call.set("this.weight", weight + 1)?;
                call.set("this.level", 9)?;
                call.set("this.shared", "both")
            })
            .after(|call| {
                let secret = call.kept::<String>().cloned();
                call.set("this.secret", secret.unwrap_or_default())?;
                call.set("this.weight", 7_i64)?;
                call.set("this.level", 1)?;
                call.set("this.shared", "shared")
            }),
    )
    // A private field of a class of .NET.
    .patch(of("Late.Tell").field("_message").field("own").before(|call| {
        let (message, own): (String, i32) = (call.get("this._message")?, call.get("this.own")?);
        call.set("this._message", format!("very {message} {own}"))
    }))
    .patch(of("Store.Price").field("hidden").before(|_| Ok(())))
}

/// Patches of calls in the program.
fn of_calls(all: Instrumentation) -> Instrumentation {
    let program = "Patched!**; generated Patched!**";
    all.patch(
        Patch::call("System.DateTime.get_UtcNow")
            .within(program)
            .replace(|call| call.set_result(PAST)),
    )
    .patch(
        Patch::call("System.IO.File.ReadAllText(string)")
            .within(program)
            .before(|call| {
                let path: String = call.get("path").or_else(|_| call.get(0))?;
                if !path.starts_with("/nowhere/") {
                    return Err(Error::other(path));
                }
                call.keep(State::new(1));
                call.set(0, "/nobody/knows")
            })
            .after(|_| Err(Error::other("there is no such file"))),
    )
    .patch(
        Patch::call("Patched.Store.Greet")
            .within(program)
            .before(|call| {
                let who: Option<String> = call.get("who")?;
                call.keep(who.clone().unwrap_or_default());
                match who.as_deref() {
                    Some("you") => call.set("who", "them"),
                    Some(_) => Ok(()),
                    None => {
                        call.skip();
                        call.set_result("skipped")
                    }
                }
            })
            .after(|call| {
                let kept = call.kept::<String>().cloned().unwrap_or_default();
                let result: String = call.result()?;
                call.set_result(format!("{result} for {}", kept.len()))
            }),
    )
    .patch(
        Patch::call("System.Math.Sqrt")
            .within(program)
            .before(|call| call.set(0, 9.0)),
    )
    .patch(
        Patch::call("Patched.Point.Sum")
            .within(program)
            .before(|call| {
                let x: i32 = call.get("this.X")?;
                call.set("this.X", x + 1)?;
                call.set("more", 500)
            }),
    )
    .patch(
        Patch::call("Patched.Store.Fill")
            .within(program)
            .before(|call| call.set("value", 5))
            .after(|call| {
                let text: String = call.get("text")?;
                call.set("text", text.to_uppercase())
            }),
    )
    .patch(
        Patch::call("Patched.Store.Echo")
            .within(program)
            .before(|call| {
                let number: i32 = call.get("number")?;
                match call.get::<i32>("value") {
                    Ok(value) => call.set("value", value * 100 + number),
                    Err(_) => call.set("value", "other"),
                }
            }),
    )
}

#[profiler(clsid = clsid("Patches"))]
impl Profiler for Patches {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let how = env::var("PATCHED").unwrap_or_default();
        let mut all = Instrumentation::new().report(|outcome, _| {
            let (state, name) = (outcome.state.name(), &outcome.name);
            let problem = outcome.problem.as_deref().unwrap_or_default();
            log::line(format_args!("{state} {name} {problem}"));
        });
        if how.contains("values") {
            all = of_values(all);
        }
        if how.contains("named") {
            all = of_named(all);
        }
        if how.contains("ends") {
            all = of_ends(all);
        }
        if how.contains("framework") {
            all = of_framework(all);
        }
        if how.contains("calls") {
            all = of_calls(all);
        }
        if how.contains("inherited") {
            all = of_inherited(all);
        }
        if let Ok(faults) = env::var("FAULTS") {
            all = all.faults(&Faults::parse(&faults)?);
        }
        if how.contains("at load") {
            all = all.at_module_load();
        }
        Ok(Self(setup.attach(all)?))
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        if env::var("PATCHED").is_ok_and(|how| how.contains("framework")) {
            for method in self.0.outcomes().methods {
                let ways: Vec<&str> = method.ways.iter().map(PatchWay::name).collect();
                let (ways, state) = (ways.join(" "), method.state.name());
                log::line(format_args!("ways {ways} {state} {}", method.name));
            }
        }
        log::line(format_args!("states {}", STATES.load(Ordering::Relaxed)));
        Ok(())
    }
}

/// Patches methods of `Waits`, whose methods `Work5` and `Work6` switch the patches off and on.
pub(crate) struct PatchesSwitched(Arc<Instrumentation>);

#[profiler(clsid = clsid("PatchesSwitched"))]
impl Profiler for PatchesSwitched {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let patch = Patch::method("Waits.Program.Work*(); -**.Work5").after(|call| {
            let result: i32 = call.result()?;
            call.set_result(result + 1000)
        });
        let all = Instrumentation::new().patch(patch).switchable();
        Ok(Self(setup.attach(all)?))
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        match info.method(function)?.name()?.as_str() {
            "Work5" => self.0.off(),
            "Work6" => self.0.on(),
            _ => Ok(()),
        }
    }
}
