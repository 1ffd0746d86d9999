use clr_profiler::prelude::*;

struct WithoutArguments;

#[profiler]
impl Profiler for WithoutArguments {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }
}

struct WithAnother;

#[profiler(guid = "C0FFEE00-0000-4000-8000-000000000001")]
impl Profiler for WithAnother {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }
}

struct WithoutName;

#[profiler("C0FFEE00-0000-4000-8000-000000000001")]
impl Profiler for WithoutName {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }
}

fn main() {}
