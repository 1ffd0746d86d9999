clr_profiler::register!();

fn main() {}
