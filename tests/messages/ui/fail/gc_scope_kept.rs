use std::cell::Cell;

use clr_profiler::prelude::*;

thread_local! {
    static KEPT: Cell<Option<&'static GcScope>> = const { Cell::new(None) };
}

struct Mine;

#[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
impl Profiler for Mine {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }

    fn garbage_collection_finished(&self, gc: &GcScope) -> Result<()> {
        KEPT.set(Some(gc));
        Ok(())
    }
}

register!(Mine);

fn main() {}
