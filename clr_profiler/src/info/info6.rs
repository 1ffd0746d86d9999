//! `ICorProfilerInfo6`.

use super::ProfilerInfo;
use super::enumerate::MethodEnum;
use super::handle::Sealed;
use crate::ids::ModuleId;
use clr_profiler_il::token::MethodDef;

/// Methods into which another one was inlined when their module was precompiled.
#[derive(Debug)]
#[non_exhaustive]
pub struct NgenInliners {
    /// The methods.
    pub methods: MethodEnum,
    /// Whether there can be more methods: the runtime has not loaded all modules that may have them.
    pub is_incomplete: bool,
}

table! { ($) __cor_profiler_info6:
    CorProfilerInfo6 = ICorProfilerInfo6 from info;

    /// The methods of a precompiled module into which this method was inlined.
    ///
    /// A profiler that rewrites a method has to rewrite these, too, or have them compiled at run time.
    fn ngen_module_methods_inlining_this_method(
        inliners: ModuleId, inlinee_module: ModuleId, inlinee: MethodDef
    ) -> {NgenInliners}
        = EnumNgenModuleMethodsInliningThisMethod(inliners, inlinee_module, inlinee,
            @is_incomplete, @methods)
        at "not during a collection, not in an attached profiler."
        fails "`CORPROF_E_DATAINCOMPLETE` if `inliners` is not precompiled, or has no record of its \
               inlining; `CORPROF_E_UNSUPPORTED_FOR_ATTACHING_PROFILER` in a profiler that \
               was attached.";
}

/// The calls of `ICorProfilerInfo6`: inlining in precompiled modules.
#[doc(alias = "ICorProfilerInfo6")]
pub trait CorProfilerInfo6: Sealed {
    __cor_profiler_info6! { calls }
}

impl CorProfilerInfo6 for ProfilerInfo {}
