use std::cell::Cell;
use std::ops::ControlFlow;

use clr_profiler::prelude::*;
use clr_profiler::info::{FrameInfo, SnapshotOptions};

thread_local! {
    static KEPT: Cell<Option<FrameInfo<'static>>> = const { Cell::new(None) };
}

fn kept(info: &ProfilerInfo) -> Result<()> {
    info.do_stack_snapshot(None, SnapshotOptions::default(), |frame| {
        KEPT.set(frame.frame);
        ControlFlow::Continue(())
    })
}

fn main() {}
