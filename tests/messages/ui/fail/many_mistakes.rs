use clr_profiler::prelude::*;

struct Mine;

#[profiler(clsid = "C0FFEE")]
impl Profiler for Mine {
    fn initialise(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }

    fn module_loaded(&self, _info: &ProfilerInfo, _module: ModuleId) -> Result<()> {
        Ok(())
    }

    fn helper(&self) {}
}

register!(Mine);

fn main() {}
