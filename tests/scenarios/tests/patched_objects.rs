//! Patches read and write objects and arrays while the heap is compacted, count and record, and report conflicts.

use std::sync::OnceLock;

use clr_profiler::instrumentation::Instrumentation;
use clr_profiler::patches::{Call, Counter, Object, Patch, Recorder};
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// The figures of the program's threads.
#[derive(Default)]
struct Figures {
    calls: Counter,
    numbers: Recorder,
    by: Recorder,
    kinds: Recorder,
    ticks: Recorder,
    results: Recorder,
}

static FIGURES: OnceLock<Figures> = OnceLock::new();

/// Patches the methods of `PatchedObjects`.
pub(crate) struct PatchedObjects;

fn of(method: &str) -> Patch {
    Patch::method(format!("PatchedObjects!PatchedObjects.{method}").as_str())
}

/// An object that is not null.
fn part<'c>(of: &Object<'c>, name: &str) -> Result<Object<'c>> {
    let found = of.object(name)?;
    found.ok_or_else(|| Error::other(format!("{name} is null")))
}

fn handle(call: &mut Call<'_>) -> Result<()> {
    let order = call.object("order")?;
    let order = order.ok_or_else(|| Error::other("no order"))?;
    if order.type_name()? != "PatchedObjects.Order" {
        return Err(Error::other(order.type_name()?));
    }
    let total: i32 = order.get("total")?;
    order.set("total", total * 2)?;
    let customer = part(&order, "Customer")?;
    let name: String = customer.get("Name")?;
    customer.set("Name", format!("changed {name}"))?;
    let age: i32 = customer.get("Age")?;
    customer.set("Age", age + 1)?;
    // A private field of the base class.
    let secret: i32 = customer.get("secret")?;
    customer.set("secret", secret * 11)?;
    let last = part(&part(&customer, "Next")?, "Next")?;
    let is_end = last.object("Next")?.is_none();
    last.set("Name", if is_end { "end" } else { "more" })?;
    let items = part(&order, "Items")?;
    for index in 0..items.len()? {
        let item: String = items.get(index)?;
        items.set(index, format!("{item}{index}"))?;
    }
    items.set(1, None::<&str>)?;
    let counts = part(&order, "Counts")?;
    for index in 0..counts.len()? {
        let count: i32 = counts.get(index)?;
        counts.set(index, count + 10)?;
    }
    let kind: i16 = order.get("Kind")?;
    order.set("Kind", kind - 3)?;
    let letter: char = order.get("Letter")?;
    order.set("Letter", u16::try_from(u32::from(letter)).map_or(0, |unit| unit + 1))?;
    let weight: f64 = order.get("Weight")?;
    order.set("Weight", weight * 2.0)?;
    let flag: bool = order.get("Flag")?;
    order.set("Flag", !flag)?;
    let (small, big): (u8, u64) = (order.get("Small")?, order.get("Big")?);
    order.set("Small", small + 1)?;
    order.set("Big", big + 1)?;
    let native: isize = order.get("Native")?;
    order.set("Native", native * 2)?;
    let when = part(&order, "When")?;
    let ticks = when.get::<u64>("_dateData").or_else(|_| when.get("dateData"))?;
    if when.type_name()? != "System.DateTime" || ticks != 631_167_552_000_000_000 {
        return Err(Error::other(format!("{} {ticks}", when.type_name()?)));
    }
    match (call.object("any")?, call.object("nothing")?) {
        (Some(any), None) if any.type_name()? == "System.String" => Ok(()),
        other => Err(Error::other(format!("{other:?}"))),
    }
}

/// Stores references, and fields of structs.
fn draw(call: &mut Call<'_>) -> Result<()> {
    let (Some(map), Some(customer)) = (call.object("map")?, call.object("customer")?) else {
        return Err(Error::other("null"));
    };
    let before: i32 = map.get("area.From.X")?;
    map.set("area.From.X", before + 10)?;
    let name: String = map.get("area.From.Name")?;
    map.set("area.From.Name", format!("{name}!"))?;
    map.set("area.Size", 40_i64)?;
    // From a pinned argument, and from a handle.
    map.set_object("area.Owner", &customer)?;
    let owner = part(&map, "Owner")?;
    // Fields of an object in a field.
    map.set("Owner.Name", "changed")?;
    map.set_object("Owner", &customer)?;
    let owners = part(&map, "Owners")?;
    owners.set_object(0, &owner)?;
    owners.set_object(1, &customer)?;
    map.set_object("Any", &part(&map, "area.From")?)?;
    // Copies of structs are stored.
    let corners = part(&map, "Corners")?;
    let corner = corners.object(0)?;
    let corner = corner.ok_or_else(|| Error::other("no corner"))?;
    corner.set("X", 11)?;
    corners.set_object(1, &corner)?;
    // The field of a property without code, by its name.
    map.set_object("Other", &part(&map, "area")?)?;
    map.set("Other.From.X", 99)?;
    for error in [
        map.set_object("Owner", &map).err(),
        owners.set_object(0, &map).err(),
        owners.set_object(2, &owner).err(),
        corners.set_object(0, &owner).err(),
        map.set_object("missing", &owner).err(),
        map.set_object("area.Size", &owner).err(),
        map.get::<i32>("Owner.Next.Age").err(),
        map.set("area.From.Y", 1).err(),
    ] {
        let problem = error.map_or("no error".to_owned(), |error| error.to_string());
        log::line(format_args!("draw: {problem}"));
    }
    Ok(())
}

/// Logs errors.
fn wrong(call: &mut Call<'_>) -> Result<()> {
    let order = call.object("order")?;
    let order = order.ok_or_else(|| Error::other("no order"))?;
    let counts = part(&order, "Counts")?;
    for error in [
        order.get::<i32>("missing").err(),
        order.get::<i64>("total").err(),
        order.get::<i32>("Customer").err(),
        order.object("total").err(),
        order.set("total", 5_u8).err(),
        order.set("Items", "none").err(),
        order.set("Customer", 5).err(),
        order.len().err(),
        counts.get::<i32>(3).err(),
        counts.get::<i32>("x").err(),
        order.get::<i32>(0).err(),
        call.object("order ").err(),
    ] {
        log::line(error.map_or("no error".to_owned(), |error| error.to_string()));
    }
    Ok(())
}

fn figures(all: Instrumentation) -> Instrumentation {
    let figures = FIGURES.get_or_init(Figures::default);
    let counted = of("Program.Counted")
        .count(&figures.calls)
        .record("number", &figures.numbers)
        .record("by", &figures.by)
        .record("kind", &figures.kinds)
        .record("when", &figures.ticks)
        .record("result", &figures.results);
    all.patch(counted)
        .patch(of("Program.Wrong").record("order", &Recorder::new()))
}

/// Two replacements of one method.
fn conflicts(all: Instrumentation) -> Instrumentation {
    let replaced = |with: i32| of("Program.Wrong").replace(move |call| call.set_result(with));
    all.patch(replaced(10).priority(1))
        .patch(replaced(20))
        .patch(of("Program.Wrong").after(|call| {
            let result: i32 = call.result()?;
            call.set_result(result + 1)
        }))
}

#[profiler(clsid = clsid("PatchedObjects"))]
impl Profiler for PatchedObjects {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        let how = std::env::var("PATCHED").unwrap_or_default();
        let all = Instrumentation::new().report(|outcome, _| {
            let (state, name) = (outcome.state.name(), &outcome.name);
            let problem = outcome.problem.as_deref().unwrap_or_default();
            let conflict = outcome.conflict.as_deref().unwrap_or_default();
            log::line(format_args!("{state} {name} {problem}{conflict}"));
        });
        setup.attach(match how.as_str() {
            "figures" => figures(all),
            "conflicts" => conflicts(all),
            "calls" => all.patch(
                Patch::call("PatchedObjects.Program.Handle")
                    .within("PatchedObjects!**")
                    .objects()
                    .before(handle)
                    .after(|call| match call.object("any")? {
                        Some(any) if any.type_name()? == "System.String" => Ok(()),
                        other => Err(Error::other(format!("{other:?}"))),
                    }),
            ),
            _ => all
                .patch(of("Program.Handle").objects().before(handle))
                .patch(of("Program.Draw").objects().before(draw))
                .patch(of("Program.Make").objects().after(|call| {
                    let order = call.object("result")?;
                    let order = order.ok_or_else(|| Error::other("no order"))?;
                    let total: i32 = order.get("total")?;
                    order.set("total", total + 1000)
                }))
                .patch(of("Order.Sum").objects().before(|call| {
                    let (this, more) = (call.object("this")?, call.object("more")?);
                    let (Some(this), Some(more)) = (this, more) else {
                        return Err(Error::other("null"));
                    };
                    let all: i64 = more.get::<i64>(0)? + more.get::<i64>(1)? + more.get::<i64>(2)?;
                    more.set(2, all * 100)?;
                    this.set("total", 50_000)
                }))
                .patch(of("Program.Wrong").objects().before(wrong)),
        })?;
        Ok(Self)
    }

    fn shutdown(&self, _: &ProfilerInfo) -> Result<()> {
        if let Some(figures) = FIGURES.get() {
            log::line(format_args!("calls {}", figures.calls.count()));
            for (name, one) in [
                ("numbers", &figures.numbers),
                ("by", &figures.by),
                ("kinds", &figures.kinds),
                ("ticks", &figures.ticks),
                ("results", &figures.results),
            ] {
                let (min, max) = (one.min().unwrap_or(0), one.max().unwrap_or(0));
                log::line(format_args!("{name} {} {} {min} {max}", one.count(), one.sum()));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::PatchedObjects;

    const PLAIN: &str = "7 first 40 5 last pen,ink,pad 1,2,3 Small a False False 200 18446744073709551614 -3\n\
                         3\n13\n3from4 none False owner1False 0  none none 1one 2two\nwrong 0\n1\n";

    fn patched(how: &str) -> Vec<Scenario> {
        let scenario = Scenario::new("PatchedObjects").profiled_by::<PatchedObjects>();
        scenario.env("PATCHED", how).in_modes()
    }

    const HANDLED: &str = "14 changed first 41 55 end pen0,,pad2 11,12,13 Large b True True 201 18446744073709551615 -6\n";

    /// The map after the patch; `Any` has a copy of a struct.
    const DRAWN: &str = "13from!40 new True new0True 99from! PatchedObjects.Corner changed new 1one 11one\n";

    #[test]
    fn objects_are_read_and_written_at_patched_calls() {
        for scenario in patched("calls") {
            scenario.on_each_runtime(|runtime, profiled| {
                let (log, name) = (&profiled.log, &runtime.name);
                let expected = format!("{HANDLED}3\n13\n3from4 none False owner1False 0  none none 1one 2two\nwrong 0\n1\n");
                assert_eq!(profiled.output(), (Some(6), &*expected, ""), "{name} {log}");
                assert!(!log.contains("a patch "), "{name} {log}");
            });
        }
    }

    #[test]
    fn objects_and_arrays_are_read_and_written_while_the_heap_is_compacted() {
        for scenario in patched("objects") {
            scenario.on_each_runtime(|runtime, profiled| {
                let (log, name) = (&profiled.log, &runtime.name);
                let expected = format!("{HANDLED}1003\n50603\n{DRAWN}wrong 0\n1\n");
                assert_eq!(profiled.output(), (Some(6), &*expected, ""), "{name} {log}");
                let order = "of an object of the type PatchedObjects.Order:";
                let counts = "of an object of the type System.Int32[]:";
                for line in [
                    "draw: the field `Owner` of an object of the type PatchedObjects.Map: System.ArgumentException".to_owned(),
                    "draw: the element 0 of an object of the type PatchedObjects.Customer[]: System.InvalidCastException"
                        .to_owned(),
                    "draw: the element 2 of an object of the type PatchedObjects.Customer[]: \
                     System.IndexOutOfRangeException"
                        .to_owned(),
                    "draw: the element 0 of an object of the type PatchedObjects.Corner[]: System.InvalidCastException"
                        .to_owned(),
                    "draw: the field `missing` of an object of the type PatchedObjects.Map: it has none of this name"
                        .to_owned(),
                    "draw: the field `Size` of an object of the type PatchedObjects.Area: System.ArgumentException".to_owned(),
                    "draw: the field `Owner.Next` of an object of the type PatchedObjects.Map: it is null".to_owned(),
                    "draw: the field `Y` of an object of the type PatchedObjects.Corner: it has none of this name".to_owned(),
                    format!("the field `missing` {order} it has none of this name"),
                    format!("the field `total` {order} read it as `i32` (C# `int`), not as `i64`"),
                    format!("the field `Customer` {order} it is an object"),
                    format!("the field `total` {order} it is no object"),
                    format!("the field `total` {order} set it to `i32` (C# `int`), not to `u8` (C# `byte`)"),
                    format!("the field `Items` {order} System.ArgumentException"),
                    format!("the field `Customer` {order} it is no number"),
                    "the object is no array".to_owned(),
                    format!("the element 3 {counts} System.IndexOutOfRangeException"),
                    format!("the field `x` {counts} it has none of this name"),
                    format!("the element 0 {order} System.InvalidCastException"),
                    "PatchedObjects.Program.Wrong(PatchedObjects.Order) has no value `order `; it has `order`, `result`"
                        .to_owned(),
                ] {
assert!(profiled.logged(&line), "{name} {line} {log}");
                }
                assert!(!log.contains("no error") && !log.contains("a patch "), "{name} {log}");
            });
        }
    }

    #[test]
    fn calls_are_counted_and_numbers_recorded_without_a_transition() {
        for scenario in patched("figures") {
            scenario.on_each_runtime(|runtime, profiled| {
                let (log, name) = (&profiled.log, &runtime.name);
                assert_eq!(profiled.output(), (Some(6), PLAIN, ""), "{name} {log}");
                for line in [
                    "calls 200000",
                    // -5, 5, 15 and 25.
                    "numbers 200000 2000000 -5 25",
                    // 0, -1, -2 and -3.
                    "by 200000 -300000 -3 0",
                    "kinds 200000 -400000 -2 -2",
                    "ticks 200000 500000 1 4",
                    "results 200000 4000000 -10 50",
                ] {
                    assert!(profiled.logged(line), "{name} {line} {log}");
                }
                let refused = "`order` cannot be recorded: it is no integer";
                assert!(log.contains(refused), "{name} {log}");
                assert!(!log.contains("a patch "), "{name} {log}");
            });
        }
    }

    #[test]
    fn of_two_replacements_one_is_chosen_and_reported() {
        for scenario in patched("conflicts") {
            scenario.on_each_runtime(|runtime, profiled| {
                let (log, name) = (&profiled.log, &runtime.name);
                let expected = PLAIN.replace("wrong 0\n1\n", "wrong 0\n10\n");
                assert_eq!(profiled.output(), (Some(6), &*expected, ""), "{name} {log}");
                let line = "instrumented PatchedObjects.Program.Wrong(PatchedObjects.Order) 2 patches replace it: the \
                            last one with the priority 1 runs, and others only if it fails";
                assert!(profiled.logged(line), "{name} {log}");
            });
        }
    }
}
