//! Several profilers in one library, in other modules, one that a macro wrote, composed ones, and one that is a notification profiler, too.

use clr_profiler::prelude::*;

mod inner {
    use clr_profiler::prelude::*;

    pub(crate) struct First;

    #[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
    impl Profiler for First {
        fn initialize(_: &ProfilerInfo, _: &mut Setup) -> Result<Self> {
            Ok(Self)
        }
    }
}

macro_rules! quiet {
    ($name:ident, $clsid:literal) => {
        struct $name;

        #[profiler(clsid = $clsid)]
        impl Profiler for $name {
            fn initialize(_: &ProfilerInfo, _: &mut Setup) -> Result<Self> {
                Ok(Self)
            }
        }
    };
}

quiet!(Second, "C0FFEE00-0000-4000-8000-000000000002");
quiet!(Third, "C0FFEE00-0000-4000-8000-000000000003");

mod registration {
    clr_profiler::register!(
        compose(super::inner::First, crate::Third,),
        super::Second,
        compose(
            clsid = "C0FFEE00-0000-4000-8000-000000000004",
            super::Second,
            super::inner::First
        ),
        crate::Third,
        notification(clsid = "C0FFEE00-0000-4000-8000-000000000005", crate::Third),
    );
}
