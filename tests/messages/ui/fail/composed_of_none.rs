clr_profiler::register!(compose());

fn main() {}
