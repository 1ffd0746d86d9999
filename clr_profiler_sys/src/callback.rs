//! `ICorProfilerCallback` to `ICorProfilerCallback11`: what the runtime tells a profiler.

use core::ffi::{c_int, c_void};

use windows_core::{BOOL, GUID, HRESULT, IUnknown};

use crate::{
    AppDomainID, AssemblyID, COR_PRF_GC_REASON, COR_PRF_GC_ROOT_FLAGS, COR_PRF_GC_ROOT_KIND,
    COR_PRF_JIT_CACHE, COR_PRF_SUSPEND_REASON, COR_PRF_TRANSITION_REASON, ClassID, DWORD,
    EVENTPIPE_PROVIDER, FunctionID, GCHandleID, LPCBYTE, LPCGUID, ModuleID, ObjectID, REFGUID,
    ReJITID, SIZE_T, ThreadID, UINT, UINT_PTR, ULONG, WCHAR, mdMethodDef,
};

use crate::interface::interfaces;

interfaces! {
    /// `ICorProfilerCallback`.
    "176FBED1-A55C-4796-98CA-A9DA0EF883E7" ICorProfilerCallback, ICorProfilerCallback_Vtbl: IUnknown {
        /// `Initialize`.
        fn Initialize(pICorProfilerInfoUnk: *mut c_void);

        /// `Shutdown`.
        fn Shutdown();

        /// `AppDomainCreationStarted`.
        fn AppDomainCreationStarted(appDomainId: AppDomainID);

        /// `AppDomainCreationFinished`.
        fn AppDomainCreationFinished(appDomainId: AppDomainID, hrStatus: HRESULT);

        /// `AppDomainShutdownStarted`.
        fn AppDomainShutdownStarted(appDomainId: AppDomainID);

        /// `AppDomainShutdownFinished`.
        fn AppDomainShutdownFinished(appDomainId: AppDomainID, hrStatus: HRESULT);

        /// `AssemblyLoadStarted`.
        fn AssemblyLoadStarted(assemblyId: AssemblyID);

        /// `AssemblyLoadFinished`.
        fn AssemblyLoadFinished(assemblyId: AssemblyID, hrStatus: HRESULT);

        /// `AssemblyUnloadStarted`.
        fn AssemblyUnloadStarted(assemblyId: AssemblyID);

        /// `AssemblyUnloadFinished`.
        fn AssemblyUnloadFinished(assemblyId: AssemblyID, hrStatus: HRESULT);

        /// `ModuleLoadStarted`.
        fn ModuleLoadStarted(moduleId: ModuleID);

        /// `ModuleLoadFinished`.
        fn ModuleLoadFinished(moduleId: ModuleID, hrStatus: HRESULT);

        /// `ModuleUnloadStarted`.
        fn ModuleUnloadStarted(moduleId: ModuleID);

        /// `ModuleUnloadFinished`.
        fn ModuleUnloadFinished(moduleId: ModuleID, hrStatus: HRESULT);

        /// `ModuleAttachedToAssembly`.
        fn ModuleAttachedToAssembly(moduleId: ModuleID, AssemblyId: AssemblyID);

        /// `ClassLoadStarted`.
        fn ClassLoadStarted(classId: ClassID);

        /// `ClassLoadFinished`.
        fn ClassLoadFinished(classId: ClassID, hrStatus: HRESULT);

        /// `ClassUnloadStarted`.
        fn ClassUnloadStarted(classId: ClassID);

        /// `ClassUnloadFinished`.
        fn ClassUnloadFinished(classId: ClassID, hrStatus: HRESULT);

        /// `FunctionUnloadStarted`.
        fn FunctionUnloadStarted(functionId: FunctionID);

        /// `JITCompilationStarted`.
        fn JITCompilationStarted(functionId: FunctionID, fIsSafeToBlock: BOOL);

        /// `JITCompilationFinished`.
        fn JITCompilationFinished(functionId: FunctionID, hrStatus: HRESULT, fIsSafeToBlock: BOOL);

        /// `JITCachedFunctionSearchStarted`.
        fn JITCachedFunctionSearchStarted(functionId: FunctionID, pbUseCachedFunction: *mut BOOL);

        /// `JITCachedFunctionSearchFinished`.
        fn JITCachedFunctionSearchFinished(functionId: FunctionID, result: COR_PRF_JIT_CACHE);

        /// `JITFunctionPitched`.
        fn JITFunctionPitched(functionId: FunctionID);

        /// `JITInlining`.
        fn JITInlining(callerId: FunctionID, calleeId: FunctionID, pfShouldInline: *mut BOOL);

        /// `ThreadCreated`.
        fn ThreadCreated(threadId: ThreadID);

        /// `ThreadDestroyed`.
        fn ThreadDestroyed(threadId: ThreadID);

        /// `ThreadAssignedToOSThread`.
        fn ThreadAssignedToOSThread(managedThreadId: ThreadID, osThreadId: DWORD);

        /// `RemotingClientInvocationStarted`.
        fn RemotingClientInvocationStarted();

        /// `RemotingClientSendingMessage`.
        fn RemotingClientSendingMessage(pCookie: *const GUID, fIsAsync: BOOL);

        /// `RemotingClientReceivingReply`.
        fn RemotingClientReceivingReply(pCookie: *const GUID, fIsAsync: BOOL);

        /// `RemotingClientInvocationFinished`.
        fn RemotingClientInvocationFinished();

        /// `RemotingServerReceivingMessage`.
        fn RemotingServerReceivingMessage(pCookie: *const GUID, fIsAsync: BOOL);

        /// `RemotingServerInvocationStarted`.
        fn RemotingServerInvocationStarted();

        /// `RemotingServerInvocationReturned`.
        fn RemotingServerInvocationReturned();

        /// `RemotingServerSendingReply`.
        fn RemotingServerSendingReply(pCookie: *const GUID, fIsAsync: BOOL);

        /// `UnmanagedToManagedTransition`.
        fn UnmanagedToManagedTransition(functionId: FunctionID, reason: COR_PRF_TRANSITION_REASON);

        /// `ManagedToUnmanagedTransition`.
        fn ManagedToUnmanagedTransition(functionId: FunctionID, reason: COR_PRF_TRANSITION_REASON);

        /// `RuntimeSuspendStarted`.
        fn RuntimeSuspendStarted(suspendReason: COR_PRF_SUSPEND_REASON);

        /// `RuntimeSuspendFinished`.
        fn RuntimeSuspendFinished();

        /// `RuntimeSuspendAborted`.
        fn RuntimeSuspendAborted();

        /// `RuntimeResumeStarted`.
        fn RuntimeResumeStarted();

        /// `RuntimeResumeFinished`.
        fn RuntimeResumeFinished();

        /// `RuntimeThreadSuspended`.
        fn RuntimeThreadSuspended(threadId: ThreadID);

        /// `RuntimeThreadResumed`.
        fn RuntimeThreadResumed(threadId: ThreadID);

        /// `MovedReferences`.
        fn MovedReferences(
            cMovedObjectIDRanges: ULONG,
            oldObjectIDRangeStart: *const ObjectID,
            newObjectIDRangeStart: *const ObjectID,
            cObjectIDRangeLength: *const ULONG,
        );

        /// `ObjectAllocated`.
        fn ObjectAllocated(objectId: ObjectID, classId: ClassID);

        /// `ObjectsAllocatedByClass`.
        fn ObjectsAllocatedByClass(
            cClassCount: ULONG,
            classIds: *const ClassID,
            cObjects: *const ULONG,
        );

        /// `ObjectReferences`.
        fn ObjectReferences(
            objectId: ObjectID,
            classId: ClassID,
            cObjectRefs: ULONG,
            objectRefIds: *const ObjectID,
        );

        /// `RootReferences`.
        fn RootReferences(cRootRefs: ULONG, rootRefIds: *const ObjectID);

        /// `ExceptionThrown`.
        fn ExceptionThrown(thrownObjectId: ObjectID);

        /// `ExceptionSearchFunctionEnter`.
        fn ExceptionSearchFunctionEnter(functionId: FunctionID);

        /// `ExceptionSearchFunctionLeave`.
        fn ExceptionSearchFunctionLeave();

        /// `ExceptionSearchFilterEnter`.
        fn ExceptionSearchFilterEnter(functionId: FunctionID);

        /// `ExceptionSearchFilterLeave`.
        fn ExceptionSearchFilterLeave();

        /// `ExceptionSearchCatcherFound`.
        fn ExceptionSearchCatcherFound(functionId: FunctionID);

        /// `ExceptionOSHandlerEnter`.
        fn ExceptionOSHandlerEnter(__unused: UINT_PTR);

        /// `ExceptionOSHandlerLeave`.
        fn ExceptionOSHandlerLeave(__unused: UINT_PTR);

        /// `ExceptionUnwindFunctionEnter`.
        fn ExceptionUnwindFunctionEnter(functionId: FunctionID);

        /// `ExceptionUnwindFunctionLeave`.
        fn ExceptionUnwindFunctionLeave();

        /// `ExceptionUnwindFinallyEnter`.
        fn ExceptionUnwindFinallyEnter(functionId: FunctionID);

        /// `ExceptionUnwindFinallyLeave`.
        fn ExceptionUnwindFinallyLeave();

        /// `ExceptionCatcherEnter`.
        fn ExceptionCatcherEnter(functionId: FunctionID, objectId: ObjectID);

        /// `ExceptionCatcherLeave`.
        fn ExceptionCatcherLeave();

        /// `COMClassicVTableCreated`.
        fn COMClassicVTableCreated(
            wrappedClassId: ClassID,
            implementedIID: REFGUID,
            pVTable: *mut c_void,
            cSlots: ULONG,
        );

        /// `COMClassicVTableDestroyed`.
        fn COMClassicVTableDestroyed(
            wrappedClassId: ClassID,
            implementedIID: REFGUID,
            pVTable: *mut c_void,
        );

        /// `ExceptionCLRCatcherFound`.
        fn ExceptionCLRCatcherFound();

        /// `ExceptionCLRCatcherExecute`.
        fn ExceptionCLRCatcherExecute();
    }

    /// `ICorProfilerCallback2`.
    "8A8CC829-CCF2-49FE-BBAE-0F022228071A" ICorProfilerCallback2, ICorProfilerCallback2_Vtbl: ICorProfilerCallback {
        /// `ThreadNameChanged`.
        fn ThreadNameChanged(threadId: ThreadID, cchName: ULONG, name: *const WCHAR);

        /// `GarbageCollectionStarted`.
        fn GarbageCollectionStarted(
            cGenerations: c_int,
            generationCollected: *const BOOL,
            reason: COR_PRF_GC_REASON,
        );

        /// `SurvivingReferences`.
        fn SurvivingReferences(
            cSurvivingObjectIDRanges: ULONG,
            objectIDRangeStart: *const ObjectID,
            cObjectIDRangeLength: *const ULONG,
        );

        /// `GarbageCollectionFinished`.
        fn GarbageCollectionFinished();

        /// `FinalizeableObjectQueued`.
        fn FinalizeableObjectQueued(finalizerFlags: DWORD, objectID: ObjectID);

        /// `RootReferences2`.
        fn RootReferences2(
            cRootRefs: ULONG,
            rootRefIds: *const ObjectID,
            rootKinds: *const COR_PRF_GC_ROOT_KIND,
            rootFlags: *const COR_PRF_GC_ROOT_FLAGS,
            rootIds: *const UINT_PTR,
        );

        /// `HandleCreated`.
        fn HandleCreated(handleId: GCHandleID, initialObjectId: ObjectID);

        /// `HandleDestroyed`.
        fn HandleDestroyed(handleId: GCHandleID);
    }

    /// `ICorProfilerCallback3`.
    "4FD2ED52-7731-4B8D-9469-03D2CC3086C5" ICorProfilerCallback3, ICorProfilerCallback3_Vtbl: ICorProfilerCallback2 {
        /// `InitializeForAttach`.
        fn InitializeForAttach(
            pCorProfilerInfoUnk: *mut c_void,
            pvClientData: *mut c_void,
            cbClientData: UINT,
        );

        /// `ProfilerAttachComplete`.
        fn ProfilerAttachComplete();

        /// `ProfilerDetachSucceeded`.
        fn ProfilerDetachSucceeded();
    }

    /// `ICorProfilerCallback4`.
    "7B63B2E3-107D-4D48-B2F6-F61E229470D2" ICorProfilerCallback4, ICorProfilerCallback4_Vtbl: ICorProfilerCallback3 {
        /// `ReJITCompilationStarted`.
        fn ReJITCompilationStarted(functionId: FunctionID, rejitId: ReJITID, fIsSafeToBlock: BOOL);

        /// `GetReJITParameters`.
        fn GetReJITParameters(
            moduleId: ModuleID,
            methodId: mdMethodDef,
            pFunctionControl: *mut c_void,
        );

        /// `ReJITCompilationFinished`.
        fn ReJITCompilationFinished(
            functionId: FunctionID,
            rejitId: ReJITID,
            hrStatus: HRESULT,
            fIsSafeToBlock: BOOL,
        );

        /// `ReJITError`.
        fn ReJITError(
            moduleId: ModuleID,
            methodId: mdMethodDef,
            functionId: FunctionID,
            hrStatus: HRESULT,
        );

        /// `MovedReferences2`.
        fn MovedReferences2(
            cMovedObjectIDRanges: ULONG,
            oldObjectIDRangeStart: *const ObjectID,
            newObjectIDRangeStart: *const ObjectID,
            cObjectIDRangeLength: *const SIZE_T,
        );

        /// `SurvivingReferences2`.
        fn SurvivingReferences2(
            cSurvivingObjectIDRanges: ULONG,
            objectIDRangeStart: *const ObjectID,
            cObjectIDRangeLength: *const SIZE_T,
        );
    }

    /// `ICorProfilerCallback5`.
    "8DFBA405-8C9F-45F8-BFFA-83B14CEF78B5" ICorProfilerCallback5, ICorProfilerCallback5_Vtbl: ICorProfilerCallback4 {
        /// `ConditionalWeakTableElementReferences`.
        fn ConditionalWeakTableElementReferences(
            cRootRefs: ULONG,
            keyRefIds: *const ObjectID,
            valueRefIds: *const ObjectID,
            rootIds: *const GCHandleID,
        );
    }

    /// `ICorProfilerCallback6`.
    "FC13DF4B-4448-4F4F-950C-BA8D19D00C36" ICorProfilerCallback6, ICorProfilerCallback6_Vtbl: ICorProfilerCallback5 {
        /// `GetAssemblyReferences`.
        fn GetAssemblyReferences(wszAssemblyPath: *const WCHAR, pAsmRefProvider: *mut c_void);
    }

    /// `ICorProfilerCallback7`.
    "F76A2DBA-1D52-4539-866C-2AA518F9EFC3" ICorProfilerCallback7, ICorProfilerCallback7_Vtbl: ICorProfilerCallback6 {
        /// `ModuleInMemorySymbolsUpdated`.
        fn ModuleInMemorySymbolsUpdated(moduleId: ModuleID);
    }

    /// `ICorProfilerCallback8`.
    "5BED9B15-C079-4D47-BFE2-215A140C07E0" ICorProfilerCallback8, ICorProfilerCallback8_Vtbl: ICorProfilerCallback7 {
        /// `DynamicMethodJITCompilationStarted`.
        fn DynamicMethodJITCompilationStarted(
            functionId: FunctionID,
            fIsSafeToBlock: BOOL,
            pILHeader: LPCBYTE,
            cbILHeader: ULONG,
        );

        /// `DynamicMethodJITCompilationFinished`.
        fn DynamicMethodJITCompilationFinished(
            functionId: FunctionID,
            hrStatus: HRESULT,
            fIsSafeToBlock: BOOL,
        );
    }

    /// `ICorProfilerCallback9`.
    "27583EC3-C8F5-482F-8052-194B8CE4705A" ICorProfilerCallback9, ICorProfilerCallback9_Vtbl: ICorProfilerCallback8 {
        /// `DynamicMethodUnloaded`.
        fn DynamicMethodUnloaded(functionId: FunctionID);
    }

    /// `ICorProfilerCallback10`.
    "CEC5B60E-C69C-495F-87F6-84D28EE16FFB" ICorProfilerCallback10, ICorProfilerCallback10_Vtbl: ICorProfilerCallback9 {
        /// `EventPipeEventDelivered`.
        fn EventPipeEventDelivered(
            provider: EVENTPIPE_PROVIDER,
            eventId: DWORD,
            eventVersion: DWORD,
            cbMetadataBlob: ULONG,
            metadataBlob: LPCBYTE,
            cbEventData: ULONG,
            eventData: LPCBYTE,
            pActivityId: LPCGUID,
            pRelatedActivityId: LPCGUID,
            eventThread: ThreadID,
            numStackFrames: ULONG,
            stackFrames: *const UINT_PTR,
        );

        /// `EventPipeProviderCreated`.
        fn EventPipeProviderCreated(provider: EVENTPIPE_PROVIDER);
    }

    /// `ICorProfilerCallback11`.
    "42350846-AAED-47F7-B128-FD0C98881CDE" ICorProfilerCallback11, ICorProfilerCallback11_Vtbl: ICorProfilerCallback10 {
        /// `LoadAsNotificationOnly`.
        fn LoadAsNotificationOnly(pbNotificationOnly: *mut BOOL);
    }
}
