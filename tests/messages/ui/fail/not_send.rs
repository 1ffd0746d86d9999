use clr_profiler::prelude::*;

struct Mine(std::sync::MutexGuard<'static, ()>);

#[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
impl Profiler for Mine {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        unimplemented!()
    }
}

register!(Mine);

fn main() {}
