use std::cell::{Cell, RefCell};

use clr_profiler::prelude::*;

thread_local! {
    static EVENTS: RefCell<Vec<&'static EventPipeEvent<'static>>> = RefCell::default();
    static ROOTS: Cell<Option<Roots<'static>>> = const { Cell::new(None) };
    static MOVED: Cell<Option<MovedRanges<'static>>> = const { Cell::new(None) };
}

struct Mine;

#[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
impl Profiler for Mine {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }

    fn event_pipe_event_delivered(
        &self,
        _info: &ProfilerInfo,
        event: &EventPipeEvent<'_>,
    ) -> Result<()> {
        EVENTS.with_borrow_mut(|events| events.push(event));
        Ok(())
    }

    fn root_references2(&self, _gc: &GcScope, roots: Roots<'_>) -> Result<()> {
        ROOTS.set(Some(roots));
        Ok(())
    }

    fn moved_references2(&self, _gc: &GcScope, ranges: MovedRanges<'_>) -> Result<()> {
        MOVED.set(Some(ranges));
        Ok(())
    }
}

register!(Mine);

fn main() {}
