use clr_profiler::prelude::*;

struct Mine;

#[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
impl Profiler for Mine {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }

    fn thread_created(&self, _info: &ProfilerInfo, _thread: ThreadId) {}

    fn jit_inlining(
        &self,
        _info: &ProfilerInfo,
        _caller: FunctionId,
        _callee: FunctionId,
    ) -> Result<()> {
        Ok(())
    }
}

register!(Mine);

fn main() {}
