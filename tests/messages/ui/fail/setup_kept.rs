use clr_profiler::prelude::*;

struct Mine(&'static mut Setup);

#[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
impl Profiler for Mine {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        Ok(Self(setup))
    }
}

register!(Mine);

fn main() {}
