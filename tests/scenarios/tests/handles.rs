//! Handles keep objects alive, or do not.
//!
//! The profiler holds exceptions by handles of each kind.

use std::sync::{Mutex, MutexGuard, PoisonError};

use clr_profiler::info::{HandleKind, ObjectHandle, ObjectValue};
use clr_profiler::prelude::*;
use scenario_support::{clsid, log};

/// Creates handles, reads their objects and destroys them as exceptions of `Handles` occur.
#[derive(Default)]
pub(crate) struct Handles {
    /// With the address at which the object was.
    made: Mutex<Vec<(HandleKind, ObjectHandle, usize)>>,
}

impl Handles {
    fn made(&self) -> MutexGuard<'_, Vec<(HandleKind, ObjectHandle, usize)>> {
        self.made.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[profiler(clsid = clsid("Handles"))]
impl Profiler for Handles {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup
            .on_failure(|failure| log::line(failure))
            .add_events(EventMask::MONITOR_EXCEPTIONS);
        Ok(Self::default())
    }

    fn exception_thrown(&self, info: &ProfilerInfo, thrown: ObjectId<'_>) -> Result<()> {
        let class = info.class_id_info2(info.class_from_object(thrown)?)?;
        let module = class.module.ok_or_else(|| Error::other("no module"))?;
        let name = info
            .module_metadata(module)?
            .type_def_props(class.token)?
            .name;
        let kind = match name.as_str() {
            "Handles.Weak" => HandleKind::Weak,
            "Handles.Strong" => HandleKind::Strong,
            "Handles.Pinned" => HandleKind::Pinned,
            _ => return self.look(info, thrown),
        };
        let handle = info.create_handle(thrown, kind)?;
        self.made().push((kind, handle, thrown.address()));
        Ok(())
    }
}

impl Handles {
    fn look(&self, info: &ProfilerInfo, thrown: ObjectId<'_>) -> Result<()> {
        let message = match info.object(thrown)?.field("_message")? {
            Some(ObjectValue::Reference(Some(text))) => info.object(text)?.string()?,
            _ => return Ok(()),
        };
        if message == "destroy" {
            let handles = std::mem::take(&mut *self.made());
            for (kind, handle, _) in handles {
                // In either case.
                if kind == HandleKind::Strong {
                    drop(handle);
                } else {
                    info.destroy_handle(handle)?;
                }
            }
            return Ok(());
        }
        for (kind, handle, address) in self.made().iter() {
            let behind = info.with_object_of_handle(handle, |object| -> Result<String> {
                let Some(object) = object else {
                    return Ok("nothing".to_owned());
                };
                let number = info.object(object)?.field("Number")?;
                let stayed = match kind {
                    HandleKind::Pinned => format!(", stayed {}", object.address() == *address),
                    _ => String::new(),
                };
                Ok(format!("{number:?}{stayed}"))
            })??;
            log::line(format_args!("{kind:?} {behind}"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use clr_profiler_tests::Scenario;

    use super::Handles;

    #[test]
    fn handles_keep_what_they_say() {
        let scenario = Scenario::new("Handles").profiled_by::<Handles>();
        scenario.on_each_runtime(|runtime, profiled| {
            // After the program has released the three, after the handles were read, and after they
            // were destroyed.
            if runtime.major < 7 {
                let stdout = "collected 3\ncollected 3\ncollected 3\n";
                assert_eq!(profiled.output(), (Some(12), stdout, ""));
                for line in profiled.log.lines() {
                    assert!(
                        line.contains("CreateHandle needs ICorProfilerInfo13"),
                        "{line}"
                    );
                }
                return;
            }
            let stdout = "collected 1\ncollected 1\ncollected 3\n";
            assert_eq!(
                profiled.output(),
                (Some(12), stdout, ""),
                "{}",
                profiled.log
            );
            let lines: Vec<&str> = profiled.log.lines().collect();
            assert_eq!(
                lines,
                [
                    "Weak nothing",
                    "Strong Some(I4(2))",
                    "Pinned Some(I4(3)), stayed true"
                ]
            );
        });
    }
}
