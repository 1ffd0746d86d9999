//! Goes wrong without a hook that is told of it.

use clr_profiler::NativeCall;
use clr_profiler::il::fragment::Fragment;
use clr_profiler::prelude::*;

/// Fails when a module is loaded, panics in each compilation, and has `Main` call what panics.
pub(crate) struct Silent;

#[profiler(clsid = crate::clsid("Silent"))]
impl Profiler for Silent {
    fn initialize(_info: &ProfilerInfo, setup: &mut Setup) -> Result<Self> {
        setup.panic_limit(u32::MAX);
        Ok(Self)
    }

    fn module_load_finished(&self, _: &ProfilerInfo, _: ModuleId, _: Hresult) -> Result<()> {
        Err(Error::other("as always"))
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        if method.name()? == "Main" {
            method.rewrite(|body, cx| {
                let mut code = Fragment::new();
                code.append(&cx.call_native(&NativeCall::new(panics))?);
                body.prologue(&code)?;
                Ok(())
            })?;
        }
        panic!("as ever");
    }
}

fn panics() {
    panic!("called");
}
