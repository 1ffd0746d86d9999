use std::cell::Cell;

use clr_profiler::prelude::*;

thread_local! {
    static KEPT: Cell<Option<&'static AssemblyReferenceProvider<'static>>> = const { Cell::new(None) };
}

struct Mine;

#[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
impl Profiler for Mine {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }

    fn get_assembly_references(
        &self,
        _info: &ProfilerInfo,
        _path: &str,
        provider: &AssemblyReferenceProvider<'_>,
    ) -> Result<()> {
        KEPT.set(Some(provider));
        Ok(())
    }
}

register!(Mine);

fn main() {}
