use std::ops::ControlFlow;

use clr_profiler::prelude::*;
use clr_profiler::events::EventPipeSessionId;
use clr_profiler::info::FrameInfo;
use clr_profiler::info::SnapshotOptions;

fn made_up(info: &ProfilerInfo) -> Result<()> {
    info.module_info(ModuleId::from_raw(1))?;
    info.class_id_info2(ClassId::from_raw(1))?;
    info.thread_info(ThreadId::from_raw(1))?;
    info.event_pipe_stop_session(EventPipeSessionId::from_raw(1))?;
    info.function_info2_in_frame(FunctionId::from_raw(1), FrameInfo::from_raw(1))?;
    let registers = [0; 1232];
    let options = SnapshotOptions::default();
    info.do_stack_snapshot_with_seed(None, options, &registers, |_| ControlFlow::Break(()))
}

fn main() {}
