use clr_profiler::prelude::*;

struct Mine;

#[profiler(clsid = "C0FFEE00-0000-4000-8000-00000000000")]
impl Profiler for Mine {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }
}

register!(Mine);

fn main() {}
