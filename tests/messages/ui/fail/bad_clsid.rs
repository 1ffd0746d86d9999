use clr_profiler::prelude::*;

struct TooShort;

#[profiler(clsid = "C0FFEE00-0000-4000-8000-00000000000")]
impl Profiler for TooShort {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }
}

struct NotHexadecimal;

#[profiler(clsid = "COFFEE00-0000-4000-8000-000000000001")]
impl Profiler for NotHexadecimal {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }
}

struct AllZeros;

#[profiler(clsid = "{00000000-0000-0000-0000-000000000000}")]
impl Profiler for AllZeros {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }
}

struct NotText;

#[profiler(clsid = 0xC0FFEE00)]
impl Profiler for NotText {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }
}

fn main() {}
