use clr_profiler::prelude::*;

#[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
struct Mine;

impl Profiler for Mine {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }
}

fn main() {}
