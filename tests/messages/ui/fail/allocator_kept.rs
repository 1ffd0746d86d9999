use clr_profiler::info::MethodMalloc;
use clr_profiler::prelude::*;

fn kept(info: ProfilerInfo, module: ModuleId) -> Result<MethodMalloc<'static>> {
    info.il_function_body_allocator(module)
}

fn main() {}
