//! The enumerators that `ICorProfilerInfo` returns.

use windows_core::IUnknown;

use crate::interface::interfaces;
use crate::{COR_PRF_FUNCTION, COR_PRF_METHOD, ModuleID, ObjectID, ThreadID, ULONG};

interfaces! {
    /// Enumerates objects.
    "2C6269BD-2D13-4321-AE12-6686365FD6AF"
    ICorProfilerObjectEnum, ICorProfilerObjectEnum_Vtbl: IUnknown {
        /// Skips the next objects.
        fn Skip(celt: ULONG);

        /// Returns to the start.
        fn Reset();

        /// Creates a second enumerator at the same position.
        fn Clone(ppEnum: *mut Option<ICorProfilerObjectEnum>);

        /// The total number of objects.
        fn GetCount(pcelt: *mut ULONG);

        /// Copies the next objects; S_FALSE if there were fewer than requested.
        fn Next(celt: ULONG, objects: *mut ObjectID, pceltFetched: *mut ULONG);
    }

    /// Enumerates compiled functions.
    "FF71301A-B994-429D-A10B-B345A65280EF"
    ICorProfilerFunctionEnum, ICorProfilerFunctionEnum_Vtbl: IUnknown {
        /// Skips the next functions.
        fn Skip(celt: ULONG);

        /// Returns to the start.
        fn Reset();

        /// Creates a second enumerator at the same position.
        fn Clone(ppEnum: *mut Option<ICorProfilerFunctionEnum>);

        /// The total number of functions.
        fn GetCount(pcelt: *mut ULONG);

        /// Copies the next functions; S_FALSE if there were fewer than requested.
        fn Next(celt: ULONG, ids: *mut COR_PRF_FUNCTION, pceltFetched: *mut ULONG);
    }

    /// Enumerates modules.
    "B0266D75-2081-4493-AF7F-028BA34DB891"
    ICorProfilerModuleEnum, ICorProfilerModuleEnum_Vtbl: IUnknown {
        /// Skips the next modules.
        fn Skip(celt: ULONG);

        /// Returns to the start.
        fn Reset();

        /// Creates a second enumerator at the same position.
        fn Clone(ppEnum: *mut Option<ICorProfilerModuleEnum>);

        /// The total number of modules.
        fn GetCount(pcelt: *mut ULONG);

        /// Copies the next modules; S_FALSE if there were fewer than requested.
        fn Next(celt: ULONG, ids: *mut ModuleID, pceltFetched: *mut ULONG);
    }

    /// Enumerates methods by module and token.
    "FCCEE788-0088-454B-A811-C99F298D1942"
    ICorProfilerMethodEnum, ICorProfilerMethodEnum_Vtbl: IUnknown {
        /// Skips the next methods.
        fn Skip(celt: ULONG);

        /// Returns to the start.
        fn Reset();

        /// Creates a second enumerator at the same position.
        fn Clone(ppEnum: *mut Option<ICorProfilerMethodEnum>);

        /// The total number of methods.
        fn GetCount(pcelt: *mut ULONG);

        /// Copies the next methods; S_FALSE if there were fewer than requested.
        fn Next(celt: ULONG, elements: *mut COR_PRF_METHOD, pceltFetched: *mut ULONG);
    }

    /// Enumerates threads.
    "571194F7-25ED-419F-AA8B-7016B3159701"
    ICorProfilerThreadEnum, ICorProfilerThreadEnum_Vtbl: IUnknown {
        /// Skips the next threads.
        fn Skip(celt: ULONG);

        /// Returns to the start.
        fn Reset();

        /// Creates a second enumerator at the same position.
        fn Clone(ppEnum: *mut Option<ICorProfilerThreadEnum>);

        /// The total number of threads.
        fn GetCount(pcelt: *mut ULONG);

        /// Copies the next threads; S_FALSE if there were fewer than requested.
        fn Next(celt: ULONG, ids: *mut ThreadID, pceltFetched: *mut ULONG);
    }
}
