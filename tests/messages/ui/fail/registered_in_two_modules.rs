mod first {
    use clr_profiler::prelude::*;

    struct First;

    #[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
    impl Profiler for First {
        fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
            Ok(Self)
        }
    }

    register!(First);
}

mod second {
    use clr_profiler::prelude::*;

    struct Second;

    #[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000002")]
    impl Profiler for Second {
        fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
            Ok(Self)
        }
    }

    register!(Second);
}

fn main() {}
