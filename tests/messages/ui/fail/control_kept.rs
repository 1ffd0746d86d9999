use std::cell::Cell;

use clr_profiler::prelude::*;

thread_local! {
    static CONTROL: Cell<Option<&'static FunctionControl<'static>>> = const { Cell::new(None) };
}

struct Mine;

#[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
impl Profiler for Mine {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }

    fn get_rejit_parameters(
        &self,
        _info: &ProfilerInfo,
        _module: ModuleId,
        _method: MethodDef,
        control: &FunctionControl<'_>,
    ) -> Result<()> {
        CONTROL.set(Some(control));
        Ok(())
    }
}

register!(Mine);

fn main() {}
