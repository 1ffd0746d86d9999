clr_profiler::register!(notification(MyProfiler));

fn main() {}
