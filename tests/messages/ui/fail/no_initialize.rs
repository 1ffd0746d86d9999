use clr_profiler::prelude::*;

struct Mine;

#[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
impl Profiler for Mine {}

register!(Mine);

fn main() {}
