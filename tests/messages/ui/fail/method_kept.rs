use std::cell::RefCell;

use clr_profiler::prelude::*;

thread_local! {
    static METHODS: RefCell<Vec<Method<'static>>> = RefCell::default();
    static METADATA: RefCell<Vec<Metadata<'static>>> = RefCell::default();
}

struct Mine;

#[profiler(clsid = "C0FFEE00-0000-4000-8000-000000000001")]
impl Profiler for Mine {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        Ok(Self)
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        let method = info.method(function)?;
        METHODS.with_borrow_mut(|methods| methods.push(method));
        Ok(())
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _status: Hresult,
    ) -> Result<()> {
        let metadata = info.module_metadata(module)?;
        METADATA.with_borrow_mut(|all| all.push(metadata));
        Ok(())
    }
}

register!(Mine);

fn main() {}
