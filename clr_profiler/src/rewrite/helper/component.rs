//! [`HelperLoader`]: has modules load a helper.

use super::HelperAssembly;
use crate::error::{Hresult, Result};
use crate::events::CallbackSet;
use crate::ids::ModuleId;
use crate::info::assembly_references::AssemblyReferenceProvider;
use crate::profiler::Component;
use crate::runtime::ProfilerInfo;

/// Has modules load a [`HelperAssembly`]. From [`HelperAssembly::loader`], to be
/// [attached](crate::Setup::attach).
pub struct HelperLoader {
    helper: HelperAssembly,
    is_wanted: Box<IsWanted>,
    is_announced: bool,
}

type IsWanted = dyn Fn(&ProfilerInfo, ModuleId) -> Result<bool> + Send + Sync;

impl HelperAssembly {
    /// A component that has modules load the helper if `is_wanted` returns `true` for them: those whose
    /// methods will call it. `is_wanted` is called once for each loaded module.
    pub fn loader(
        &self,
        is_wanted: impl Fn(&ProfilerInfo, ModuleId) -> Result<bool> + Send + Sync + 'static,
    ) -> HelperLoader {
        HelperLoader {
            helper: self.clone(),
            is_wanted: Box::new(is_wanted),
            is_announced: false,
        }
    }
}

impl HelperLoader {
    /// Also [announces](HelperAssembly::announce) the helper for all assemblies. **Events**:
    /// [`HIGH_ADD_ASSEMBLY_REFERENCES`](crate::EventMask::HIGH_ADD_ASSEMBLY_REFERENCES).
    #[must_use]
    pub fn announced(mut self) -> Self {
        self.is_announced = true;
        self
    }
}

impl Component for HelperLoader {
    fn callbacks(&self) -> CallbackSet {
        let callbacks = CallbackSet::EMPTY.with("module_load_finished");
        match self.is_announced {
            true => callbacks.with("get_assembly_references"),
            false => callbacks,
        }
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        status: Hresult,
    ) -> Result<()> {
        if status.is_ok() && (self.is_wanted)(info, module)? {
            self.helper.load_into(info, module)?;
        }
        Ok(())
    }

    fn get_assembly_references(
        &self,
        _info: &ProfilerInfo,
        _assembly_path: &str,
        provider: &AssemblyReferenceProvider<'_>,
    ) -> Result<()> {
        self.helper.announce(provider)
    }
}

opaque! { HelperLoader { this => helper: this.helper } }
