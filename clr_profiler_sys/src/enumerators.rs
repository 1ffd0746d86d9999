//! The enumerators that `ICorProfilerInfo` hands out.

use windows_core::IUnknown;

use crate::{COR_PRF_FUNCTION, COR_PRF_METHOD, ModuleID, ObjectID, ThreadID, ULONG};

use crate::interface::interfaces;

interfaces! {
    /// `ICorProfilerObjectEnum`.
    "2C6269BD-2D13-4321-AE12-6686365FD6AF" ICorProfilerObjectEnum, ICorProfilerObjectEnum_Vtbl: IUnknown {
        /// `Skip`.
        fn Skip(celt: ULONG);

        /// `Reset`.
        fn Reset();

        /// `Clone`.
        fn Clone(ppEnum: *mut Option<ICorProfilerObjectEnum>);

        /// `GetCount`.
        fn GetCount(pcelt: *mut ULONG);

        /// `Next`.
        fn Next(celt: ULONG, objects: *mut ObjectID, pceltFetched: *mut ULONG);
    }

    /// `ICorProfilerFunctionEnum`.
    "FF71301A-B994-429D-A10B-B345A65280EF" ICorProfilerFunctionEnum, ICorProfilerFunctionEnum_Vtbl: IUnknown {
        /// `Skip`.
        fn Skip(celt: ULONG);

        /// `Reset`.
        fn Reset();

        /// `Clone`.
        fn Clone(ppEnum: *mut Option<ICorProfilerFunctionEnum>);

        /// `GetCount`.
        fn GetCount(pcelt: *mut ULONG);

        /// `Next`.
        fn Next(celt: ULONG, ids: *mut COR_PRF_FUNCTION, pceltFetched: *mut ULONG);
    }

    /// `ICorProfilerModuleEnum`.
    "B0266D75-2081-4493-AF7F-028BA34DB891" ICorProfilerModuleEnum, ICorProfilerModuleEnum_Vtbl: IUnknown {
        /// `Skip`.
        fn Skip(celt: ULONG);

        /// `Reset`.
        fn Reset();

        /// `Clone`.
        fn Clone(ppEnum: *mut Option<ICorProfilerModuleEnum>);

        /// `GetCount`.
        fn GetCount(pcelt: *mut ULONG);

        /// `Next`.
        fn Next(celt: ULONG, ids: *mut ModuleID, pceltFetched: *mut ULONG);
    }

    /// `ICorProfilerMethodEnum`.
    "FCCEE788-0088-454B-A811-C99F298D1942" ICorProfilerMethodEnum, ICorProfilerMethodEnum_Vtbl: IUnknown {
        /// `Skip`.
        fn Skip(celt: ULONG);

        /// `Reset`.
        fn Reset();

        /// `Clone`.
        fn Clone(ppEnum: *mut Option<ICorProfilerMethodEnum>);

        /// `GetCount`.
        fn GetCount(pcelt: *mut ULONG);

        /// `Next`.
        fn Next(celt: ULONG, elements: *mut COR_PRF_METHOD, pceltFetched: *mut ULONG);
    }

    /// `ICorProfilerThreadEnum`.
    "571194F7-25ED-419F-AA8B-7016B3159701" ICorProfilerThreadEnum, ICorProfilerThreadEnum_Vtbl: IUnknown {
        /// `Skip`.
        fn Skip(celt: ULONG);

        /// `Reset`.
        fn Reset();

        /// `Clone`.
        fn Clone(ppEnum: *mut Option<ICorProfilerThreadEnum>);

        /// `GetCount`.
        fn GetCount(pcelt: *mut ULONG);

        /// `Next`.
        fn Next(celt: ULONG, ids: *mut ThreadID, pceltFetched: *mut ULONG);
    }
}
