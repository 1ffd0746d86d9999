//! Holds exceptions by handles of each kind.

use std::sync::{Mutex, MutexGuard, PoisonError};

use clr_profiler::prelude::*;
use clr_profiler::{HandleKind, ObjectHandle};

use crate::log;

/// Makes handles, looks behind them and destroys them as exceptions of `Handles` come.
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

#[profiler(clsid = crate::clsid("Handles"))]
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
            Some(Value::Reference(Some(text))) => info.object(text)?.string()?,
            _ => return Ok(()),
        };
        if message == "destroy" {
            let handles = std::mem::take(&mut *self.made());
            for (kind, handle, _) in handles {
                // One way or the other.
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
