clr_profiler::register!(compose(clsid = "C0FFEE00-0000-4000-8000-000000000001"));

fn main() {}
