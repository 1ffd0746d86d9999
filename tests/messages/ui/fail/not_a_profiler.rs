use clr_profiler::prelude::*;

struct Mine;

impl Profiler for Mine {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }
}

register!(Mine);

fn main() {}
