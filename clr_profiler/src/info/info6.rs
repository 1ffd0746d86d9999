//! `ICorProfilerInfo6`.

use super::ProfilerInfo;
use super::enumerate::MethodEnum;
use super::handle::Sealed;
use crate::error::Result;
use crate::ids::ModuleId;
use clr_profiler_il::token::MethodDef;
use clr_profiler_sys::BOOL;

/// Methods into which another one was inlined when their module was precompiled.
#[derive(Debug)]
#[non_exhaustive]
pub struct NgenInliners {
    /// The methods.
    pub methods: MethodEnum,
    /// Whether there can be more: the runtime has not loaded all that it would have to look at.
    pub is_incomplete: bool,
}

/// What `ICorProfilerInfo6` offers: inlining in precompiled modules.
#[doc(alias = "ICorProfilerInfo6")]
pub trait CorProfilerInfo6: Sealed {
    /// The methods of a precompiled module into which this method was inlined.
    ///
    /// Whoever rewrites a method has to rewrite those too, or have them compiled again.
    ///
    /// Wraps `ICorProfilerInfo6::EnumNgenModuleMethodsInliningThisMethod`. **Context**: not during a
    /// collection, not in a profiler that was attached.
    ///
    /// # Errors
    ///
    /// `CORPROF_E_DATAINCOMPLETE` where `inliners` is not precompiled, or does not know what was
    /// inlined; `CORPROF_E_UNSUPPORTED_FOR_ATTACHING_PROFILER` in a profiler that was attached.
    #[doc(alias = "EnumNgenModuleMethodsInliningThisMethod")]
    fn ngen_module_methods_inlining_this_method(
        &self,
        inliners: ModuleId,
        inlinee_module: ModuleId,
        inlinee: MethodDef,
    ) -> Result<NgenInliners> {
        let mut is_incomplete = BOOL::default();
        let mut enumerator = None;
        let info = self.handle();
        ask!(
            info,
            ICorProfilerInfo6::EnumNgenModuleMethodsInliningThisMethod(
                inliners.raw(),
                inlinee_module.raw(),
                inlinee.raw(),
                &mut is_incomplete,
                &mut enumerator,
            )
        )?;
        Ok(NgenInliners {
            methods: MethodEnum::new(enumerator),
            is_incomplete: is_incomplete.as_bool(),
        })
    }
}

impl CorProfilerInfo6 for ProfilerInfo {}
