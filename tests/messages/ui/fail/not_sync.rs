use std::cell::Cell;

use clr_profiler::prelude::*;

struct Mine(Cell<u32>);

#[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
impl Profiler for Mine {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self(Cell::new(0)))
    }
}

register!(Mine);

fn main() {}
