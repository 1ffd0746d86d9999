//! The interfaces that a profiler is handed for one purpose: allocate, recompile, add a reference.

use windows_core::IUnknown;

use crate::{COR_IL_MAP, COR_PRF_ASSEMBLY_REFERENCE_INFO, DWORD, LPCBYTE, PVOID, ULONG};

use crate::interface::interfaces;

interfaces! {
    /// `IMethodMalloc`.
    "A0EFB28B-6EE2-4D7B-B983-A75EF7BEEDB8" IMethodMalloc, IMethodMalloc_Vtbl: IUnknown {
        /// `Alloc`.
        fn Alloc(cb: ULONG) -> PVOID;
    }

    /// `ICorProfilerFunctionControl`.
    "F0963021-E1EA-4732-8581-E01B0BD3C0C6" ICorProfilerFunctionControl, ICorProfilerFunctionControl_Vtbl: IUnknown {
        /// `SetCodegenFlags`.
        fn SetCodegenFlags(flags: DWORD);

        /// `SetILFunctionBody`.
        fn SetILFunctionBody(cbNewILMethodHeader: ULONG, pbNewILMethodHeader: LPCBYTE);

        /// `SetILInstrumentedCodeMap`.
        fn SetILInstrumentedCodeMap(cILMapEntries: ULONG, rgILMapEntries: *const COR_IL_MAP);
    }

    /// `ICorProfilerAssemblyReferenceProvider`.
    "66A78C24-2EEF-4F65-B45F-DD1D8038BF3C" ICorProfilerAssemblyReferenceProvider, ICorProfilerAssemblyReferenceProvider_Vtbl: IUnknown {
        /// `AddAssemblyReference`.
        fn AddAssemblyReference(pAssemblyRefInfo: *const COR_PRF_ASSEMBLY_REFERENCE_INFO);
    }
}
