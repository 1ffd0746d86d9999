//! The interfaces that a profiler receives for one purpose: allocate, recompile, add a reference.

use windows_core::IUnknown;

use crate::interface::interfaces;
use crate::{COR_IL_MAP, COR_PRF_ASSEMBLY_REFERENCE_INFO, DWORD, LPCBYTE, PVOID, ULONG};

interfaces! {
    /// Allocates memory for new method bodies of one module.
    "A0EFB28B-6EE2-4D7B-B983-A75EF7BEEDB8"
    IMethodMalloc, IMethodMalloc_Vtbl: IUnknown {
        /// Allocates that many bytes, which live as long as the module; null if out of memory.
        fn Alloc(cb: ULONG) -> PVOID;
    }

    /// Sets how one method is recompiled; valid during `GetReJITParameters`.
    "F0963021-E1EA-4732-8581-E01B0BD3C0C6"
    ICorProfilerFunctionControl, ICorProfilerFunctionControl_Vtbl: IUnknown {
        /// Sets how the compiler treats the method.
        fn SetCodegenFlags(flags: DWORD);

        /// Sets the new IL of the method.
        fn SetILFunctionBody(cbNewILMethodHeader: ULONG, pbNewILMethodHeader: LPCBYTE);

        /// Maps offsets of the new IL to those of the original.
        fn SetILInstrumentedCodeMap(cILMapEntries: ULONG, rgILMapEntries: *const COR_IL_MAP);
    }

    /// Collects extra assembly references; valid during `GetAssemblyReferences`.
    "66A78C24-2EEF-4F65-B45F-DD1D8038BF3C"
    ICorProfilerAssemblyReferenceProvider, ICorProfilerAssemblyReferenceProvider_Vtbl: IUnknown {
        /// Adds one reference.
        fn AddAssemblyReference(pAssemblyRefInfo: *const COR_PRF_ASSEMBLY_REFERENCE_INFO);
    }
}
