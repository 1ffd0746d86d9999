use clr_profiler::prelude::*;

struct Mine<T>(T);

#[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
impl<T: Default + Send + Sync + 'static> Profiler for Mine<T> {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self(T::default()))
    }
}

register!(Mine<u8>);

fn main() {}
