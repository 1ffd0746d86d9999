use clr_profiler::prelude::*;

struct Mine;

#[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
impl Profiler for Mine {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }

    // Without `is_safe_to_block`.
    fn jit_compilation_started(&self, _info: &ProfilerInfo, _function: FunctionId) -> Result<()> {
        Ok(())
    }

    // A function where there is a module.
    fn module_load_started(&self, _info: &ProfilerInfo, _module: FunctionId) -> Result<()> {
        Ok(())
    }
}

register!(Mine);

fn main() {}
