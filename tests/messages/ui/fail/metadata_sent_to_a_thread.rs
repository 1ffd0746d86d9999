use clr_profiler::prelude::*;

fn sent(info: &ProfilerInfo, module: ModuleId) -> Result<()> {
    let metadata = info.module_metadata(module)?;
    std::thread::scope(|scope| {
        scope.spawn(move || metadata.scope_props().is_ok());
    });
    Ok(())
}

fn written(info: &ProfilerInfo, module: ModuleId) -> Result<()> {
    let writer = info.module_metadata_for_writing(module)?;
    std::thread::scope(|scope| {
        scope.spawn(|| writer.scope_props().is_ok());
    });
    Ok(())
}

fn main() {}
