use clr_profiler::prelude::*;

struct Mine;

#[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
impl Profiler for Mine {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }

    fn garbage_collection_finished(&self, _info: &ProfilerInfo) -> Result<()> {
        Ok(())
    }
}

register!(Mine);

fn main() {}
