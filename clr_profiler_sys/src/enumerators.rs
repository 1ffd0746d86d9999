//! The enumerators that `ICorProfilerInfo` hands out.

use windows_core::IUnknown;

use crate::interface::interfaces;
use crate::{COR_PRF_FUNCTION, COR_PRF_METHOD, ModuleID, ObjectID, ThreadID, ULONG};

interfaces! {
    /// Enumerates objects.
    "2C6269BD-2D13-4321-AE12-6686365FD6AF"
    ICorProfilerObjectEnum, ICorProfilerObjectEnum_Vtbl: IUnknown {
        /// Leaves out the next objects.
        fn Skip(celt: ULONG);

        /// Goes back to the start.
        fn Reset();

        /// Makes a second enumerator that stands at the same place.
        fn Clone(ppEnum: *mut Option<ICorProfilerObjectEnum>);

        /// How many objects there are in all.
        fn GetCount(pcelt: *mut ULONG);

        /// Copies the next objects; S_FALSE when there were fewer than asked for.
        fn Next(celt: ULONG, objects: *mut ObjectID, pceltFetched: *mut ULONG);
    }

    /// Enumerates compiled functions.
    "FF71301A-B994-429D-A10B-B345A65280EF"
    ICorProfilerFunctionEnum, ICorProfilerFunctionEnum_Vtbl: IUnknown {
        /// Leaves out the next functions.
        fn Skip(celt: ULONG);

        /// Goes back to the start.
        fn Reset();

        /// Makes a second enumerator that stands at the same place.
        fn Clone(ppEnum: *mut Option<ICorProfilerFunctionEnum>);

        /// How many functions there are in all.
        fn GetCount(pcelt: *mut ULONG);

        /// Copies the next functions; S_FALSE when there were fewer than asked for.
        fn Next(celt: ULONG, ids: *mut COR_PRF_FUNCTION, pceltFetched: *mut ULONG);
    }

    /// Enumerates modules.
    "B0266D75-2081-4493-AF7F-028BA34DB891"
    ICorProfilerModuleEnum, ICorProfilerModuleEnum_Vtbl: IUnknown {
        /// Leaves out the next modules.
        fn Skip(celt: ULONG);

        /// Goes back to the start.
        fn Reset();

        /// Makes a second enumerator that stands at the same place.
        fn Clone(ppEnum: *mut Option<ICorProfilerModuleEnum>);

        /// How many modules there are in all.
        fn GetCount(pcelt: *mut ULONG);

        /// Copies the next modules; S_FALSE when there were fewer than asked for.
        fn Next(celt: ULONG, ids: *mut ModuleID, pceltFetched: *mut ULONG);
    }

    /// Enumerates methods by module and token.
    "FCCEE788-0088-454B-A811-C99F298D1942"
    ICorProfilerMethodEnum, ICorProfilerMethodEnum_Vtbl: IUnknown {
        /// Leaves out the next methods.
        fn Skip(celt: ULONG);

        /// Goes back to the start.
        fn Reset();

        /// Makes a second enumerator that stands at the same place.
        fn Clone(ppEnum: *mut Option<ICorProfilerMethodEnum>);

        /// How many methods there are in all.
        fn GetCount(pcelt: *mut ULONG);

        /// Copies the next methods; S_FALSE when there were fewer than asked for.
        fn Next(celt: ULONG, elements: *mut COR_PRF_METHOD, pceltFetched: *mut ULONG);
    }

    /// Enumerates threads.
    "571194F7-25ED-419F-AA8B-7016B3159701"
    ICorProfilerThreadEnum, ICorProfilerThreadEnum_Vtbl: IUnknown {
        /// Leaves out the next threads.
        fn Skip(celt: ULONG);

        /// Goes back to the start.
        fn Reset();

        /// Makes a second enumerator that stands at the same place.
        fn Clone(ppEnum: *mut Option<ICorProfilerThreadEnum>);

        /// How many threads there are in all.
        fn GetCount(pcelt: *mut ULONG);

        /// Copies the next threads; S_FALSE when there were fewer than asked for.
        fn Next(celt: ULONG, ids: *mut ThreadID, pceltFetched: *mut ULONG);
    }
}
