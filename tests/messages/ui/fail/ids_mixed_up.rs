use clr_profiler::prelude::*;

fn mixed_up(info: &ProfilerInfo, module: ModuleId, function: FunctionId) -> Result<()> {
    info.function_info(module)?;
    info.module_info(function)?;
    info.thread_info(module)?;
    // A token is not an id, and a method is not a type.
    let token = info.function_info(function)?.token;
    info.class_from_token(module, token)?;
    info.function_from_token(module, function)?;
    // Nor is an id a number.
    let number: usize = module;
    info.module_info(number)?;
    Ok(())
}

fn main() {}
