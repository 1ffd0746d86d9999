//! Object ids are refused once the collector may have moved the objects.
//!
//! The profiler uses objects after calls that may trigger a GC, wherever such a call can
//! be.

use std::ops::ControlFlow;
use std::sync::OnceLock;

use clr_profiler::info::{HandleKind, ObjectHandle, ObjectValue, SnapshotOptions};
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Keeps objects too long as the exception of `Objects` occurs, and logs the result.
#[derive(Default)]
pub(crate) struct KeepsObjects {
    handle: OnceLock<ObjectHandle>,
}

#[profiler(clsid = clsid("KeepsObjects"))]
impl Profiler for KeepsObjects {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.on_failure(|failure| log::line(failure));
        setup.add_events(EventMask::MONITOR_EXCEPTIONS | EventMask::ENABLE_STACK_SNAPSHOT);
        Ok(Self::default())
    }

    fn exception_thrown(&self, info: &ProfilerInfo, thrown: ObjectId<'_>) -> Result<()> {
        if !matches!(
            info.object(thrown)?.field("Held")?,
            Some(ObjectValue::Reference(Some(_)))
        ) {
            return Ok(());
        }
        in_walk_of_references(info, thrown)?;
        in_static_field(info, thrown)?;
        in_stack_walk(info)
    }

    fn exception_catcher_enter(
        &self,
        info: &ProfilerInfo,
        _function: FunctionId,
        thrown: ObjectId<'_>,
    ) -> Result<()> {
        if info.version() >= 13 {
            let _ = (self.handle).set(info.create_handle(thrown, HandleKind::Strong)?);
            in_handle(info, thrown)?;
        }
        Ok(())
    }

    fn thread_name_changed(&self, info: &ProfilerInfo, _: ThreadId, name: &str) -> Result<()> {
        // The thread is in preemptive mode: the collector does not wait for it.
        if name == "named" {
            let class = program(info)?;
            for field in ["Name", "Count", "Origin"] {
                say(field, info.with_static_field(class, field, |_| ()));
            }
            if let Some(handle) = self.handle.get() {
                say(
                    "no place for handles",
                    info.with_object_of_handle(handle, |_| ()),
                );
                let own_thread = std::thread::scope(|scope| {
                    let asked = scope.spawn(|| info.with_object_of_handle(handle, |_| ()));
                    asked.join()
                });
                if let Ok(asked) = own_thread {
                    say("no managed thread", asked);
                }
            }
        }
        Ok(())
    }
}

/// Logs whether it was refused, and by which side.
fn say<T>(what: &str, asked: Result<T>) {
    match asked {
        Ok(_) => log::line(format_args!("{what}: answered")),
        Err(error) => log::line(format_args!("{what}: {error}")),
    }
}

/// A call that may trigger a GC.
fn let_objects_move(info: &ProfilerInfo) -> Result<()> {
    let domain = info.thread_app_domain(info.current_thread_id()?)?;
    info.app_domain_info(domain).map(drop)
}

/// The class that has the program's static fields.
fn program(info: &ProfilerInfo) -> Result<ClassId> {
    let mut class = None;
    info.do_stack_snapshot(None, SnapshotOptions::default(), |frame| {
        let found = frame
            .function
            .and_then(|function| info.function_info2(function).ok()?.class);
        if let Some(found) = found {
            let name = info.class_full_name(found).unwrap_or_default();
            if name == "Objects.Program" {
                class = Some(found);
                return ControlFlow::Break(());
            }
        }
        ControlFlow::Continue(())
    })?;
    class.ok_or_else(|| Error::other("the program is not on the stack"))
}

fn in_walk_of_references(info: &ProfilerInfo, thrown: ObjectId<'_>) -> Result<()> {
    let mut moved = None;
    info.enumerate_object_references(thrown, |_| {
        moved = Some(let_objects_move(info));
        ControlFlow::Continue(())
    })?;
    say("moving in a walk", moved.unwrap_or(Ok(())));
    say("after a walk", info.class_from_object(thrown));
    Ok(())
}

fn in_stack_walk(info: &ProfilerInfo) -> Result<()> {
    let mut answers = None;
    info.do_stack_snapshot(None, SnapshotOptions::default(), |frame| {
        let (Some(function), Some(frame)) = (frame.function, frame.frame) else {
            return ControlFlow::Continue(());
        };
        let before = info.function_info2_in_frame(function, frame);
        let _ = let_objects_move(info);
        answers = Some((before, info.function_info2_in_frame(function, frame)));
        ControlFlow::Break(())
    })?;
    if let Some((before, after)) = answers {
        say("a frame", before);
        say("a frame later", after);
    }
    Ok(())
}

fn in_handle(info: &ProfilerInfo, thrown: ObjectId<'_>) -> Result<()> {
    let handle = info.create_handle(thrown, HandleKind::Strong)?;
    let object = info.object(thrown)?;
    say(
        "with a handle",
        info.with_object_of_handle(&handle, |_| let_objects_move(info)),
    );
    say("after a handle", info.class_from_object(thrown));
    say("its fields", object.field("Held"));
    // Earlier object ids do not become valid inside.
    info.with_object_of_handle(&handle, |fresh| {
        if let Some(fresh) = fresh {
            say("of the handle", info.class_from_object(fresh));
        }
        say("in a handle", info.class_from_object(thrown));
        say("fields in a handle", object.field("Held"));
    })
}

fn in_static_field(info: &ProfilerInfo, thrown: ObjectId<'_>) -> Result<()> {
    let class = program(info)?;
    let_objects_move(info)?;
    let of_static = info.with_static_field(class, "Name", |value| {
        say("in a static field", info.class_from_object(thrown));
        if let ObjectValue::Reference(Some(name)) = value {
            say("of a static field", info.class_from_object(name));
            let _ = let_objects_move(info);
            say("of a static field later", info.class_from_object(name));
        }
    });
    say("static field", of_static);
    say("after a static field", info.class_from_object(thrown));
    Ok(())
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::KeepsObjects;

    #[test]
    fn objects_are_refused_once_they_may_have_moved() {
        let moved = "may have moved ";
        let walk = "this thread walks the references of an object";
        let preemptive = "the collector can move objects on this thread at any time";
        let scenario = Scenario::new("Objects").profiled_by::<KeepsObjects>();
        scenario.on_each_runtime(|runtime, profiled| {
            assert_eq!(profiled.status.code(), Some(3), "{}", profiled.log);
            let handles = [
                ("with a handle", None),
                ("after a handle", Some(moved)),
                ("its fields", Some(moved)),
                ("of the handle", None),
                ("in a handle", Some(moved)),
                ("fields in a handle", Some(moved)),
                ("no place for handles", Some(preemptive)),
                ("no managed thread", Some(preemptive)),
            ];
            let others = [
                ("moving in a walk", Some(walk)),
                ("after a walk", None),
                ("a frame", None),
                ("a frame later", Some(moved)),
                ("in a static field", Some(moved)),
                ("of a static field", None),
                ("of a static field later", Some(moved)),
                ("static field", None),
                ("after a static field", Some(moved)),
                ("Name", Some(preemptive)),
                ("Count", None),
                ("Origin", Some(preemptive)),
            ];
            let handles = handles.into_iter().filter(|_| runtime.major >= 7);
            let mut expected = 0;
            for (what, refusal) in handles.chain(others) {
                let start = format!("{what}: ");
                let lines: Vec<&str> = profiled
                    .log
                    .lines()
                    .filter_map(|line| line.strip_prefix(&start))
                    .collect();
                let [line] = lines.as_slice() else {
                    panic!("{what} in {}", profiled.log);
                };
                match refusal {
                    Some(why) => assert!(line.contains(why), "{what}: {line}"),
                    None => assert_eq!(*line, "answered", "{what}"),
                }
                expected += 1;
            }
            assert_eq!(profiled.log.lines().count(), expected, "{}", profiled.log);
        });
    }
}
