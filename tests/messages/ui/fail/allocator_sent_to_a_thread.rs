use clr_profiler::prelude::*;

fn sent(info: &ProfilerInfo, module: ModuleId) -> Result<()> {
    let allocator = info.il_function_body_allocator(module)?;
    std::thread::scope(|scope| {
        scope.spawn(move || allocator.alloc(16).is_ok());
    });
    Ok(())
}

fn main() {}
