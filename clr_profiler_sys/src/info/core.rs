//! `ICorProfilerInfo8` to `ICorProfilerInfo15`, the versions of .NET Core and later.

use core::ffi::c_void;

use windows_core::BOOL;

use crate::{
    COR_DEBUG_IL_TO_NATIVE_MAP, COR_PRF_CODE_INFO, COR_PRF_EVENT_DATA,
    COR_PRF_EVENTPIPE_PARAM_DESC, COR_PRF_EVENTPIPE_PROVIDER_CONFIG, COR_PRF_HANDLE_TYPE,
    COR_PRF_NONGC_HEAP_RANGE, DWORD, EVENTPIPE_EVENT, EVENTPIPE_PROVIDER, EVENTPIPE_SESSION,
    EventPipeProviderCallback, FunctionID, ICorProfilerInfo7, ICorProfilerObjectEnum, LPCBYTE,
    LPCGUID, ModuleID, ObjectCallback, ObjectHandleID, ObjectID, ObjectReferenceCallback,
    PCCOR_SIGNATURE, ReJITID, UINT_PTR, UINT8, UINT32, UINT64, ULONG, ULONG32, WCHAR, mdMethodDef,
};

use crate::interface::interfaces;

interfaces! {
    /// `ICorProfilerInfo8`.
    "C5AC80A6-782E-4716-8044-39598C60CFBF" ICorProfilerInfo8, ICorProfilerInfo8_Vtbl: ICorProfilerInfo7 {
        /// `IsFunctionDynamic`.
        fn IsFunctionDynamic(functionId: FunctionID, isDynamic: *mut BOOL);

        /// `GetFunctionFromIP3`.
        fn GetFunctionFromIP3(ip: LPCBYTE, functionId: *mut FunctionID, pReJitId: *mut ReJITID);

        /// `GetDynamicFunctionInfo`.
        fn GetDynamicFunctionInfo(
            functionId: FunctionID,
            moduleId: *mut ModuleID,
            ppvSig: *mut PCCOR_SIGNATURE,
            pbSig: *mut ULONG,
            cchName: ULONG,
            pcchName: *mut ULONG,
            wszName: *mut WCHAR,
        );
    }

    /// `ICorProfilerInfo9`.
    "008170DB-F8CC-4796-9A51-DC8AA0B47012" ICorProfilerInfo9, ICorProfilerInfo9_Vtbl: ICorProfilerInfo8 {
        /// `GetNativeCodeStartAddresses`.
        fn GetNativeCodeStartAddresses(
            functionID: FunctionID,
            reJitId: ReJITID,
            cCodeStartAddresses: ULONG32,
            pcCodeStartAddresses: *mut ULONG32,
            codeStartAddresses: *mut UINT_PTR,
        );

        /// `GetILToNativeMapping3`.
        fn GetILToNativeMapping3(
            pNativeCodeStartAddress: UINT_PTR,
            cMap: ULONG32,
            pcMap: *mut ULONG32,
            map: *mut COR_DEBUG_IL_TO_NATIVE_MAP,
        );

        /// `GetCodeInfo4`.
        fn GetCodeInfo4(
            pNativeCodeStartAddress: UINT_PTR,
            cCodeInfos: ULONG32,
            pcCodeInfos: *mut ULONG32,
            codeInfos: *mut COR_PRF_CODE_INFO,
        );
    }

    /// `ICorProfilerInfo10`.
    "2F1B5152-C869-40C9-AA5F-3ABE026BD720" ICorProfilerInfo10, ICorProfilerInfo10_Vtbl: ICorProfilerInfo9 {
        /// `EnumerateObjectReferences`.
        fn EnumerateObjectReferences(
            objectId: ObjectID,
            callback: Option<ObjectReferenceCallback>,
            clientData: *mut c_void,
        );

        /// `IsFrozenObject`.
        fn IsFrozenObject(objectId: ObjectID, pbFrozen: *mut BOOL);

        /// `GetLOHObjectSizeThreshold`.
        fn GetLOHObjectSizeThreshold(pThreshold: *mut DWORD);

        /// `RequestReJITWithInliners`.
        fn RequestReJITWithInliners(
            dwRejitFlags: DWORD,
            cFunctions: ULONG,
            moduleIds: *const ModuleID,
            methodIds: *const mdMethodDef,
        );

        /// `SuspendRuntime`.
        fn SuspendRuntime();

        /// `ResumeRuntime`.
        fn ResumeRuntime();
    }

    /// `ICorProfilerInfo11`.
    "06398876-8987-4154-B621-40A00D6E4D04" ICorProfilerInfo11, ICorProfilerInfo11_Vtbl: ICorProfilerInfo10 {
        /// `GetEnvironmentVariable`.
        fn GetEnvironmentVariable(
            szName: *const WCHAR,
            cchValue: ULONG,
            pcchValue: *mut ULONG,
            szValue: *mut WCHAR,
        );

        /// `SetEnvironmentVariable`.
        fn SetEnvironmentVariable(szName: *const WCHAR, szValue: *const WCHAR);
    }

    /// `ICorProfilerInfo12`.
    "27B24CCD-1CB1-47C5-96EE-98190DC30959" ICorProfilerInfo12, ICorProfilerInfo12_Vtbl: ICorProfilerInfo11 {
        /// `EventPipeStartSession`.
        fn EventPipeStartSession(
            cProviderConfigs: UINT32,
            pProviderConfigs: *const COR_PRF_EVENTPIPE_PROVIDER_CONFIG,
            requestRundown: BOOL,
            pSession: *mut EVENTPIPE_SESSION,
        );

        /// `EventPipeAddProviderToSession`.
        fn EventPipeAddProviderToSession(
            session: EVENTPIPE_SESSION,
            providerConfig: COR_PRF_EVENTPIPE_PROVIDER_CONFIG,
        );

        /// `EventPipeStopSession`.
        fn EventPipeStopSession(session: EVENTPIPE_SESSION);

        /// `EventPipeCreateProvider`.
        fn EventPipeCreateProvider(providerName: *const WCHAR, pProvider: *mut EVENTPIPE_PROVIDER);

        /// `EventPipeGetProviderInfo`.
        fn EventPipeGetProviderInfo(
            provider: EVENTPIPE_PROVIDER,
            cchName: ULONG,
            pcchName: *mut ULONG,
            providerName: *mut WCHAR,
        );

        /// `EventPipeDefineEvent`.
        fn EventPipeDefineEvent(
            provider: EVENTPIPE_PROVIDER,
            eventName: *const WCHAR,
            eventID: UINT32,
            keywords: UINT64,
            eventVersion: UINT32,
            level: UINT32,
            opcode: UINT8,
            needStack: BOOL,
            cParamDescs: UINT32,
            pParamDescs: *const COR_PRF_EVENTPIPE_PARAM_DESC,
            pEvent: *mut EVENTPIPE_EVENT,
        );

        /// `EventPipeWriteEvent`.
        fn EventPipeWriteEvent(
            event: EVENTPIPE_EVENT,
            cData: UINT32,
            data: *const COR_PRF_EVENT_DATA,
            pActivityId: LPCGUID,
            pRelatedActivityId: LPCGUID,
        );
    }

    /// `ICorProfilerInfo13`.
    "6E6C7EE2-0701-4EC2-9D29-2E8733B66934" ICorProfilerInfo13, ICorProfilerInfo13_Vtbl: ICorProfilerInfo12 {
        /// `CreateHandle`.
        fn CreateHandle(
            object: ObjectID,
            r#type: COR_PRF_HANDLE_TYPE,
            pHandle: *mut ObjectHandleID,
        );

        /// `DestroyHandle`.
        fn DestroyHandle(handle: ObjectHandleID);

        /// `GetObjectIDFromHandle`.
        fn GetObjectIDFromHandle(handle: ObjectHandleID, pObject: *mut ObjectID);
    }

    /// `ICorProfilerInfo14`.
    "F460E352-D76D-4FE9-835F-F6AF9D6E862D" ICorProfilerInfo14, ICorProfilerInfo14_Vtbl: ICorProfilerInfo13 {
        /// `EnumerateNonGCObjects`.
        fn EnumerateNonGCObjects(ppEnum: *mut Option<ICorProfilerObjectEnum>);

        /// `GetNonGCHeapBounds`.
        fn GetNonGCHeapBounds(
            cObjectRanges: ULONG,
            pcObjectRanges: *mut ULONG,
            ranges: *mut COR_PRF_NONGC_HEAP_RANGE,
        );

        /// `EventPipeCreateProvider2`.
        fn EventPipeCreateProvider2(
            providerName: *const WCHAR,
            pCallback: Option<EventPipeProviderCallback>,
            pProvider: *mut EVENTPIPE_PROVIDER,
        );
    }

    /// `ICorProfilerInfo15`.
    "B446462D-BD22-41DD-872D-DC714C49EB56" ICorProfilerInfo15, ICorProfilerInfo15_Vtbl: ICorProfilerInfo14 {
        /// `EnumerateGCHeapObjects`.
        fn EnumerateGCHeapObjects(callback: Option<ObjectCallback>, callbackState: *mut c_void);
    }
}
