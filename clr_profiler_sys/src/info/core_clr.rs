//! `ICorProfilerInfo8` to `ICorProfilerInfo15`, the versions of .NET Core and later.

use core::ffi::c_void;

use windows_core::BOOL;

use crate::interface::interfaces;
use crate::{
    COR_DEBUG_IL_TO_NATIVE_MAP, COR_PRF_CODE_INFO, COR_PRF_EVENT_DATA,
    COR_PRF_EVENTPIPE_PARAM_DESC, COR_PRF_EVENTPIPE_PROVIDER_CONFIG, COR_PRF_HANDLE_TYPE,
    COR_PRF_NONGC_HEAP_RANGE, DWORD, EVENTPIPE_EVENT, EVENTPIPE_PROVIDER, EVENTPIPE_SESSION,
    EventPipeProviderCallback, FunctionID, ICorProfilerInfo7, ICorProfilerObjectEnum, LPCBYTE,
    LPCGUID, ModuleID, ObjectCallback, ObjectHandleID, ObjectID, ObjectReferenceCallback,
    PCCOR_SIGNATURE, ReJITID, UINT_PTR, UINT8, UINT32, UINT64, ULONG, ULONG32, WCHAR, mdMethodDef,
};

interfaces! {
    /// Adds dynamic methods (.NET Framework 4.7.2).
    "C5AC80A6-782E-4716-8044-39598C60CFBF"
    ICorProfilerInfo8, ICorProfilerInfo8_Vtbl: ICorProfilerInfo7 {
        /// Tells whether a function has no metadata.
        fn IsFunctionDynamic(functionId: FunctionID, isDynamic: *mut BOOL);

        /// The function, dynamic or not, that owns an instruction address.
        fn GetFunctionFromIP3(ip: LPCBYTE, functionId: *mut FunctionID, pReJitId: *mut ReJITID);

        /// Module, signature and name of a dynamic function.
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

    /// Adds methods with several native bodies, for tiered compilation (.NET Core 2.1).
    "008170DB-F8CC-4796-9A51-DC8AA0B47012"
    ICorProfilerInfo9, ICorProfilerInfo9_Vtbl: ICorProfilerInfo8 {
        /// The start addresses of the native bodies of one version of a function.
        fn GetNativeCodeStartAddresses(
            functionID: FunctionID,
            reJitId: ReJITID,
            cCodeStartAddresses: ULONG32,
            pcCodeStartAddresses: *mut ULONG32,
            codeStartAddresses: *mut UINT_PTR,
        );

        /// Maps IL offsets to native offsets of one native body.
        fn GetILToNativeMapping3(
            pNativeCodeStartAddress: UINT_PTR,
            cMap: ULONG32,
            pcMap: *mut ULONG32,
            map: *mut COR_DEBUG_IL_TO_NATIVE_MAP,
        );

        /// The ranges of one native body.
        fn GetCodeInfo4(
            pNativeCodeStartAddress: UINT_PTR,
            cCodeInfos: ULONG32,
            pcCodeInfos: *mut ULONG32,
            codeInfos: *mut COR_PRF_CODE_INFO,
        );
    }

    /// Adds object walks, recompilation with inliners, and suspension (.NET Core 3.0).
    "2F1B5152-C869-40C9-AA5F-3ABE026BD720"
    ICorProfilerInfo10, ICorProfilerInfo10_Vtbl: ICorProfilerInfo9 {
        /// Calls a callback for each reference that an object holds.
        fn EnumerateObjectReferences(
            objectId: ObjectID,
            callback: Option<ObjectReferenceCallback>,
            clientData: *mut c_void,
        );

        /// Tells whether an object is in memory that is never collected.
        fn IsFrozenObject(objectId: ObjectID, pbFrozen: *mut BOOL);

        /// The size from which objects are allocated on the large object heap.
        fn GetLOHObjectSizeThreshold(pThreshold: *mut DWORD);

        /// Recompiles methods and everything that inlined them.
        fn RequestReJITWithInliners(
            dwRejitFlags: DWORD,
            cFunctions: ULONG,
            moduleIds: *const ModuleID,
            methodIds: *const mdMethodDef,
        );

        /// Suspends all managed threads.
        fn SuspendRuntime();

        /// Resumes the managed threads.
        fn ResumeRuntime();
    }

    /// Adds environment variables of the runtime (.NET Core 3.1).
    "06398876-8987-4154-B621-40A00D6E4D04"
    ICorProfilerInfo11, ICorProfilerInfo11_Vtbl: ICorProfilerInfo10 {
        /// Reads an environment variable of the runtime.
        fn GetEnvironmentVariable(
            szName: *const WCHAR,
            cchValue: ULONG,
            pcchValue: *mut ULONG,
            szValue: *mut WCHAR,
        );

        /// Sets an environment variable of the runtime.
        fn SetEnvironmentVariable(szName: *const WCHAR, szValue: *const WCHAR);
    }

    /// Adds EventPipe sessions and providers (.NET 5).
    "27B24CCD-1CB1-47C5-96EE-98190DC30959"
    ICorProfilerInfo12, ICorProfilerInfo12_Vtbl: ICorProfilerInfo11 {
        /// Starts a session whose events are delivered to the profiler.
        fn EventPipeStartSession(
            cProviderConfigs: UINT32,
            pProviderConfigs: *const COR_PRF_EVENTPIPE_PROVIDER_CONFIG,
            requestRundown: BOOL,
            pSession: *mut EVENTPIPE_SESSION,
        );

        /// Adds a provider to a running session.
        fn EventPipeAddProviderToSession(
            session: EVENTPIPE_SESSION,
            providerConfig: COR_PRF_EVENTPIPE_PROVIDER_CONFIG,
        );

        /// Ends a session.
        fn EventPipeStopSession(session: EVENTPIPE_SESSION);

        /// Creates a provider.
        fn EventPipeCreateProvider(providerName: *const WCHAR, pProvider: *mut EVENTPIPE_PROVIDER);

        /// The name of a provider.
        fn EventPipeGetProviderInfo(
            provider: EVENTPIPE_PROVIDER,
            cchName: ULONG,
            pcchName: *mut ULONG,
            providerName: *mut WCHAR,
        );

        /// Defines an event of a provider that the profiler created.
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

        /// Writes an event.
        fn EventPipeWriteEvent(
            event: EVENTPIPE_EVENT,
            cData: UINT32,
            data: *const COR_PRF_EVENT_DATA,
            pActivityId: LPCGUID,
            pRelatedActivityId: LPCGUID,
        );
    }

    /// Adds handles to objects (.NET 7).
    "6E6C7EE2-0701-4EC2-9D29-2E8733B66934"
    ICorProfilerInfo13, ICorProfilerInfo13_Vtbl: ICorProfilerInfo12 {
        /// Creates a handle that holds or tracks an object.
        fn CreateHandle(
            object: ObjectID,
            r#type: COR_PRF_HANDLE_TYPE,
            pHandle: *mut ObjectHandleID,
        );

        /// Destroys a handle.
        fn DestroyHandle(handle: ObjectHandleID);

        /// The object of a handle; zero if it was collected.
        fn GetObjectIDFromHandle(handle: ObjectHandleID, pObject: *mut ObjectID);
    }

    /// Adds the heaps that are not collected (.NET 8).
    "F460E352-D76D-4FE9-835F-F6AF9D6E862D"
    ICorProfilerInfo14, ICorProfilerInfo14_Vtbl: ICorProfilerInfo13 {
        /// Enumerates the objects in memory that is never collected.
        fn EnumerateNonGCObjects(ppEnum: *mut Option<ICorProfilerObjectEnum>);

        /// The memory ranges that are never collected.
        fn GetNonGCHeapBounds(
            cObjectRanges: ULONG,
            pcObjectRanges: *mut ULONG,
            ranges: *mut COR_PRF_NONGC_HEAP_RANGE,
        );

        /// Creates a provider and a callback for when sessions enable or disable it.
        fn EventPipeCreateProvider2(
            providerName: *const WCHAR,
            pCallback: Option<EventPipeProviderCallback>,
            pProvider: *mut EVENTPIPE_PROVIDER,
        );
    }

    /// Adds a walk over all objects of the heap (.NET 9).
    "B446462D-BD22-41DD-872D-DC714C49EB56"
    ICorProfilerInfo15, ICorProfilerInfo15_Vtbl: ICorProfilerInfo14 {
        /// Calls a callback for each object of the heap.
        fn EnumerateGCHeapObjects(callback: Option<ObjectCallback>, callbackState: *mut c_void);
    }
}
