//! Names that the macros need do not come from the user's scope.

#![no_implicit_prelude]
#![deny(warnings)]

// Names with another meaning here than the macros intend.
#[allow(dead_code, non_camel_case_types)]
mod core {}
#[allow(dead_code)]
mod std {}
#[allow(dead_code)]
struct Uuid;
#[allow(dead_code)]
struct CallbackSet;
#[allow(dead_code, non_camel_case_types)]
struct set;
#[allow(dead_code)]
type Result = ();

struct Mine;

#[::clr_profiler::profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
impl ::clr_profiler::Profiler for Mine {
    fn initialize(
        _info: &::clr_profiler::ProfilerInfo,
        _setup: &mut ::clr_profiler::Setup,
    ) -> ::clr_profiler::Result<Self> {
        ::clr_profiler::Result::Ok(Self)
    }

    fn thread_created(
        &self,
        _info: &::clr_profiler::ProfilerInfo,
        _thread: ::clr_profiler::ThreadId,
    ) -> ::clr_profiler::Result<()> {
        ::clr_profiler::Result::Ok(())
    }
}

::clr_profiler::register!(Mine);
