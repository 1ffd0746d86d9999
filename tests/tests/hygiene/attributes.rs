//! Attributes stay on their items, and callbacks that are left out do not count.

#![deny(missing_docs, unused_variables)]
#![forbid(unsafe_code)]

use clr_profiler::__private::ProfilerClass;
use clr_profiler::prelude::*;

struct Mine;

/// Its purpose.
#[profiler(clsid = "{c0ffee00-0000-4000-8000-000000000001}")]
#[allow(unused_variables)]
impl Profiler for Mine {
    /// How it begins.
    fn initialize(info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }

    #[doc = "Threads come."]
    #[allow(clippy::unnecessary_wraps)]
    #[inline]
    fn thread_created(&self, info: &ProfilerInfo, thread: ThreadId) -> Result<()> {
        Ok(())
    }

    #[cfg(not(debug_assertions))]
    #[cfg(debug_assertions)]
    fn exception_thrown(&self, no_such: NoSuch) -> Type {}

    #[cfg(any())]
    fn garbage_collection_finished(&self, gc: &GcScope) -> Result<()> {
        Ok(())
    }

    #[cfg(test)]
    fn module_load_started(&self, info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        Ok(())
    }
}

register!(Mine);

#[test]
fn only_what_is_compiled_counts() {
    let events = Mine::OVERRIDDEN.events();
    assert_eq!(
        events,
        EventMask::MONITOR_THREADS | EventMask::MONITOR_MODULE_LOADS
    );
    assert_eq!(Mine::OVERRIDDEN.iter().count(), 3);
    assert_eq!(
        Mine::CLSID,
        Uuid::from_u128(0xC0FFEE00_0000_4000_8000_000000000001)
    );
}
