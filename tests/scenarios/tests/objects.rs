//! The contents of objects, static fields, stacks and the environment, compared with the program's values.

use std::ops::ControlFlow;

use clr_profiler::info::{ClauseKind, HandleKind, Object, ObjectValue, SnapshotOptions};
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Reads the contents of the exception of the program `Objects`.
pub(crate) struct ReadsObjects;

#[profiler(clsid = clsid("ReadsObjects"))]
impl Profiler for ReadsObjects {
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        setup.add_events(
            EventMask::MONITOR_EXCEPTIONS
                | EventMask::ENABLE_STACK_SNAPSHOT
                | EventMask::HIGH_BASIC_GC,
        );
        let none = info.environment_variable("SET_BY_PROFILER")?;
        info.set_environment_variable("SET_BY_PROFILER", Some("välue"))?;
        let some = info.environment_variable("SET_BY_PROFILER")?;
        let long = "x".repeat(1000);
        info.set_environment_variable("LONG", Some(&long))?;
        let is_whole = info.environment_variable("LONG")? == Some(long);
        info.set_environment_variable("LONG", None)?;
        let removed = info.environment_variable("LONG")?;
        log::line(format_args!(
            "variable {none:?} {some:?} {is_whole} {removed:?}"
        ));
        Ok(Self)
    }

    fn exception_thrown(&self, info: &ProfilerInfo, thrown: ObjectId<'_>) -> Result<()> {
        let object = info.object(thrown)?;
        let Some(ObjectValue::Reference(Some(held))) = object.field("Held")? else {
            return Ok(());
        };
        log::line(format_args!(
            "message {}",
            text(info, object.field("_message")?)?
        ));
        let holder = info.object(held)?;
        read_holder(info, &holder)?;
        let mut targets = 0;
        info.enumerate_object_references(held, |reference| {
            targets += usize::from(reference.place > held.address());
            ControlFlow::Continue(())
        })?;
        let mut first = 0;
        info.enumerate_object_references(held, |_| {
            first += 1;
            ControlFlow::Break(())
        })?;
        log::line(format_args!("references {targets} {first}"));
        let frozen = info.is_frozen_object(held)?;
        let sizes = (info.object_size(held)? as usize, info.object_size2(held)?);
        log::line(format_args!(
            "frozen {frozen}, sizes agree {}",
            sizes.0 == sizes.1
        ));
        if info.version() >= 13 {
            let handle = info.create_handle(held, HandleKind::Strong)?;
            let same = info.with_object_of_handle(&handle, |object| object == Some(held))?;
            log::line(format_args!("handle {same}"));
            info.destroy_handle(handle)?;
        }
        read_statics(info)?;
        walk(info)?;
        // This call may trigger a GC: the object id is invalid afterwards.
        let domain = info.thread_app_domain(info.current_thread_id()?)?;
        info.app_domain_info(domain)?;
        match (info.object(thrown), holder.field("Number")) {
            (Err(first), Err(second)) => log::line(format_args!("refused {first} / {second}")),
            _ => log::line("an object was read that may have moved"),
        }
        Ok(())
    }

    fn exception_catcher_enter(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _thrown: ObjectId<'_>,
    ) -> Result<()> {
        let Some(clause) = info.notified_exception_clause_info()? else {
            return Ok(());
        };
        let is_inside = info.function_from_ip(clause.program_counter)? == function;
        log::line(format_args!(
            "clause {} {is_inside}",
            clause.kind == ClauseKind::Catch
        ));
        Ok(())
    }
}

/// The text of a reference to a string.
fn text(info: &ProfilerInfo, value: Option<ObjectValue<'_>>) -> Result<String> {
    match value {
        Some(ObjectValue::Reference(Some(text))) => {
            Ok(format!("{:?}", info.object(text)?.string()?))
        }
        Some(ObjectValue::Reference(None)) => Ok("null".to_owned()),
        other => Ok(format!("{other:?}")),
    }
}

fn read_holder(info: &ProfilerInfo, holder: &Object<'_>) -> Result<()> {
    for name in [
        "Text", "Empty", "Nothing", "hidden", "Number", "Ratio", "Flag", "Letter",
    ] {
        log::line(format_args!("{name} {}", text(info, holder.field(name)?)?));
    }
    log::line(format_args!("inherited {:?}", holder.field("inherited")?));
    log::line(format_args!(
        "absent {:?}",
        holder.field("absent")?.is_some()
    ));
    for name in ["Numbers", "Points", "Grid", "Words"] {
        let Some(ObjectValue::Reference(Some(array))) = holder.field(name)? else {
            continue;
        };
        let Some(array) = info.object(array)?.array()? else {
            continue;
        };
        let mut values = Vec::new();
        for value in array.iter() {
            values.push(match value? {
                ObjectValue::Struct(point) => format!("{:?}", point.fields()?),
                value => text(info, Some(value))?,
            });
        }
        let sizes: Vec<u32> = array.dimensions().iter().map(|d| d.size).collect();
        log::line(format_args!("{name} {sizes:?} {}", values.join(" ")));
        if array.get(array.len()).is_ok() {
            log::line("an element beyond the end was read");
        }
    }
    for name in ["Boxed", "Enumeration"] {
        if let Some(ObjectValue::Reference(Some(boxed))) = holder.field(name)? {
            let unboxed = info.object(boxed)?.unboxed()?;
            let single = unboxed.map(|value| value.single()).transpose()?.flatten();
            log::line(format_args!("{name} {single:?}"));
        }
    }
    if let Some(ObjectValue::Reference(Some(pair))) = holder.field("Pair")? {
        let pair = info.object(pair)?;
        let second = text(info, pair.field("Second")?)?;
        log::line(format_args!("Pair {:?} {second}", pair.field("First")?));
    }
    Ok(())
}

fn read_statics(info: &ProfilerInfo) -> Result<()> {
    let mut class = None;
    info.do_stack_snapshot(None, SnapshotOptions::default(), |frame| {
        class = frame
            .function
            .and_then(|function| info.function_info2(function).ok()?.class);
        match class {
            Some(_) => ControlFlow::Break(()),
            None => ControlFlow::Continue(()),
        }
    })?;
    let Some(class) = class else { return Ok(()) };
    for name in ["Name", "Count", "perThread", "Origin", "none"] {
        let value = info.with_static_field(class, name, |value| match value {
            ObjectValue::Struct(point) => Ok(format!("{:?}", point.fields()?)),
            value => text(info, Some(value)),
        })?;
        match value {
            Some(value) => log::line(format_args!("static {name} {}", value?)),
            None => log::line(format_args!("static {name} is not there")),
        }
    }
    Ok(())
}

fn walk(info: &ProfilerInfo) -> Result<()> {
    let mut frames = Vec::new();
    let options = SnapshotOptions::default();
    info.do_stack_snapshot(None, options, |frame| {
        if let Some(function) = frame.function {
            let owner = info.function_from_ip(frame.ip);
            let exact = frame
                .frame
                .map(|f| info.function_info2_in_frame(function, f).is_ok());
            frames.push((function, owner.ok() == Some(function), exact));
        }
        ControlFlow::Continue(())
    })?;
    for (function, is_owner, exact) in frames {
        let name = info.method(function)?.full_name()?;
        log::line(format_args!("frame {name} {is_owner} {exact:?}"));
    }
    let panicked = std::panic::catch_unwind(|| {
        info.do_stack_snapshot(None, SnapshotOptions::default(), |_| {
            panic!("out of the walk")
        })
    });
    log::line(format_args!("panic came back {}", panicked.is_err()));
    Ok(())
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::ReadsObjects;

    #[test]
    fn objects_hold_what_the_program_put_there() {
        let scenario = Scenario::new("Objects").profiled_by::<ReadsObjects>();
        scenario.compare(|plain, profiled| {
        assert!(
            plain.stdout.starts_with("variable none\n"),
            "{}",
            plain.stdout
        );
        assert_eq!(
            profiled.stdout,
            plain.stdout.replace("variable none\n", "variable välue\n")
        );
        assert_eq!(profiled.status.code(), Some(3));
        for line in [
            "variable None Some(\"välue\") true None",
            "message \"carried\"",
            "Text \"text ä𝄞\"",
            "Empty \"\"",
            "Nothing null",
            "hidden \"of the holder\"",
            "Number Some(I8(1234605616436508552))",
            "Ratio Some(R8(2.5))",
            "Flag Some(Bool(true))",
            "Letter Some(Char(223))",
            "inherited Some(I4(7))",
            "absent false",
            "Numbers [3] Some(I4(10)) Some(I4(-20)) Some(I4(30))",
            "Grid [2, 3] Some(I2(1)) Some(I2(2)) Some(I2(3)) Some(I2(4)) Some(I2(5)) Some(I2(6))",
            "Words [3] \"one\" null \"three\"",
            "Boxed Some(I4(42))",
            "Enumeration Some(I2(-2))",
            "Pair Some(I2(-5)) \"second\"",
            // Text, Empty, hidden twice, Numbers, Points, Grid, Words, Boxed, Enumeration, Pair.
            "references 11 1",
            "frozen false, sizes agree true",
            "static Name \"static text\"",
            "static Count Some(I4(18))",
            "static perThread Some(I4(23))",
            "static none is not there",
            "frame Objects.Program.Inner(int) true Some(true)",
            "frame Objects.Program.Outer(int) true Some(true)",
            "frame Objects.Program.Main() true Some(true)",
            "panic came back true",
            "clause true true",
        ] {
            assert!(profiled.logged(line), "{line} not in {}", profiled.log);
        }
        let points = profiled
            .log
            .lines()
            .find(|line| line.starts_with("Points [2] "));
        let points = points.unwrap_or_default();
        for field in ["(\"Tag\", U1(4))", "(\"X\", I4(5))", "(\"Y\", I8(-6))"] {
            assert!(points.contains(field), "{points}");
        }
        let origin = profiled
            .log
            .lines()
            .find(|line| line.starts_with("static Origin "));
        assert!(
            origin.unwrap_or_default().contains("(\"X\", I4(8))"),
            "{origin:?}"
        );
        let refused = profiled
            .log
            .lines()
            .find(|line| line.starts_with("refused "));
        assert!(
            refused.is_some_and(|line| line.matches("may have moved it").count() == 2),
            "{}",
            profiled.log
        );
        assert!(!profiled.log.contains("handle false"));
        assert!(!profiled.logged("an element beyond the end was read"));
    });
    }
}
