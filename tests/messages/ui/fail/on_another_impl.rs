use clr_profiler::prelude::*;

struct Mine;

#[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
impl Mine {
    fn new() -> Self {
        Self
    }
}

#[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
impl Default for Mine {
    fn default() -> Self {
        Self::new()
    }
}

fn main() {}
