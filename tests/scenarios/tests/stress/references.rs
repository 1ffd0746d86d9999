//! The reference counts of the runtime's objects.

use std::ffi::c_void;
use std::thread;
use std::time::Duration;

use clr_profiler::prelude::*;
use clr_profiler_sys::{IUnknown, IUnknown_Vtbl, Interface};

use scenario_support::log;

/// The counts of the runtime's info object, and of the metadata of modules that stay loaded.
pub(super) struct References {
    info: u32,
    metadata: Vec<(ModuleId, u32)>,
}

impl References {
    pub(super) fn count(info: &ProfilerInfo, modules: &[ModuleId]) -> Result<Self> {
        let metadata = modules
            .iter()
            .map(|module| Ok((*module, of_metadata(info, *module)?)))
            .collect::<Result<_>>()?;
        Ok(Self {
            info: of(info.as_raw()),
            metadata,
        })
    }

    /// Logs whether there are as many as before.
    pub(super) fn compare(&self, info: &ProfilerInfo) -> Result<()> {
        let now = of(info.as_raw());
        log::line(format_args!(
            "references to the runtime balanced {}",
            now == self.info
        ));
        let mut balanced = 0;
        for (module, before) in &self.metadata {
            let mut now = of_metadata(info, *module)?;
            // A callback on a thread of the runtime may still hold one for a moment.
            for _ in 0..100 {
                if now == *before {
                    break;
                }
                thread::sleep(Duration::from_millis(10));
                now = of_metadata(info, *module)?;
            }
            if now == *before {
                balanced += 1;
            } else {
                let name = info.module_info(*module)?.name;
                log::line(format_args!("wrong references to {name}: {before}, {now}"));
            }
        }
        log::line(format_args!(
            "references to metadata of {balanced} modules balanced"
        ));
        Ok(())
    }
}

fn of_metadata(info: &ProfilerInfo, module: ModuleId) -> Result<u32> {
    Ok(of(info.module_metadata(module)?.as_raw()))
}

/// The reference count of a COM object, which is alive.
fn of(object: *mut c_void) -> u32 {
    // SAFETY: the object is alive; the reference that is taken is given back.
    unsafe {
        let object = IUnknown::from_raw_borrowed(&object);
        object.map_or(0, |object| {
            let vtable: &IUnknown_Vtbl = object.vtable();
            (vtable.AddRef)(object.as_raw());
            (vtable.Release)(object.as_raw())
        })
    }
}
