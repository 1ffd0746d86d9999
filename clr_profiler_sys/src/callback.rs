//! `ICorProfilerCallback` to `ICorProfilerCallback11`: the notifications of the runtime to a profiler.

use core::ffi::{c_int, c_void};

use windows_core::{BOOL, GUID, HRESULT, IUnknown};

use crate::interface::interfaces;
use crate::{
    AppDomainID, AssemblyID, COR_PRF_GC_REASON, COR_PRF_GC_ROOT_FLAGS, COR_PRF_GC_ROOT_KIND,
    COR_PRF_JIT_CACHE, COR_PRF_SUSPEND_REASON, COR_PRF_TRANSITION_REASON, ClassID, DWORD,
    EVENTPIPE_PROVIDER, FunctionID, GCHandleID, LPCBYTE, LPCGUID, ModuleID, ObjectID, REFGUID,
    ReJITID, SIZE_T, ThreadID, UINT, UINT_PTR, ULONG, WCHAR, mdMethodDef,
};

interfaces! {
    /// The events of the first version; a profiler implements it and its successors.
    "176FBED1-A55C-4796-98CA-A9DA0EF883E7"
    ICorProfilerCallback, ICorProfilerCallback_Vtbl: IUnknown {
        /// The profiler is loaded: it queries for its info interface and sets the event mask.
        fn Initialize(pICorProfilerInfoUnk: *mut c_void);

        /// The process ends; nothing is called afterwards.
        fn Shutdown();

        /// An application domain is being created.
        fn AppDomainCreationStarted(appDomainId: AppDomainID);

        /// An application domain was created, or creation failed.
        fn AppDomainCreationFinished(appDomainId: AppDomainID, hrStatus: HRESULT);

        /// An application domain is about to be shut down.
        fn AppDomainShutdownStarted(appDomainId: AppDomainID);

        /// An application domain was shut down.
        fn AppDomainShutdownFinished(appDomainId: AppDomainID, hrStatus: HRESULT);

        /// An assembly is being loaded; calls about its id fail.
        fn AssemblyLoadStarted(assemblyId: AssemblyID);

        /// An assembly was loaded, or loading failed.
        fn AssemblyLoadFinished(assemblyId: AssemblyID, hrStatus: HRESULT);

        /// An assembly is about to be unloaded.
        fn AssemblyUnloadStarted(assemblyId: AssemblyID);

        /// An assembly was unloaded; its id is invalid.
        fn AssemblyUnloadFinished(assemblyId: AssemblyID, hrStatus: HRESULT);

        /// A module is being loaded; calls about its id fail.
        fn ModuleLoadStarted(moduleId: ModuleID);

        /// A module was loaded, or loading failed; its metadata may be changed now.
        fn ModuleLoadFinished(moduleId: ModuleID, hrStatus: HRESULT);

        /// A module is about to be unloaded.
        fn ModuleUnloadStarted(moduleId: ModuleID);

        /// A module was unloaded; its id is invalid.
        fn ModuleUnloadFinished(moduleId: ModuleID, hrStatus: HRESULT);

        /// A module belongs to this assembly from now on.
        fn ModuleAttachedToAssembly(moduleId: ModuleID, AssemblyId: AssemblyID);

        /// A class is being loaded.
        fn ClassLoadStarted(classId: ClassID);

        /// A class was loaded, or loading failed.
        fn ClassLoadFinished(classId: ClassID, hrStatus: HRESULT);

        /// A class is about to be unloaded.
        fn ClassUnloadStarted(classId: ClassID);

        /// A class was unloaded; its id is invalid.
        fn ClassUnloadFinished(classId: ClassID, hrStatus: HRESULT);

        /// A function is about to be unloaded.
        fn FunctionUnloadStarted(functionId: FunctionID);

        /// A method is about to be compiled; its IL may still be replaced.
        fn JITCompilationStarted(functionId: FunctionID, fIsSafeToBlock: BOOL);

        /// A method was compiled, or compilation failed.
        fn JITCompilationFinished(functionId: FunctionID, hrStatus: HRESULT, fIsSafeToBlock: BOOL);

        /// Precompiled code of a method was found; the profiler may refuse it.
        fn JITCachedFunctionSearchStarted(functionId: FunctionID, pbUseCachedFunction: *mut BOOL);

        /// The search for precompiled code of a method ended.
        fn JITCachedFunctionSearchFinished(functionId: FunctionID, result: COR_PRF_JIT_CACHE);

        /// The native code of a method was discarded.
        fn JITFunctionPitched(functionId: FunctionID);

        /// A method is about to be inlined into another; the profiler may forbid it.
        fn JITInlining(callerId: FunctionID, calleeId: FunctionID, pfShouldInline: *mut BOOL);

        /// A managed thread was created.
        fn ThreadCreated(threadId: ThreadID);

        /// A managed thread was destroyed.
        fn ThreadDestroyed(threadId: ThreadID);

        /// A managed thread now runs on this operating system thread.
        fn ThreadAssignedToOSThread(managedThreadId: ThreadID, osThreadId: DWORD);

        /// A remote call begins on the client.
        fn RemotingClientInvocationStarted();

        /// The client sends a remote call.
        fn RemotingClientSendingMessage(pCookie: *const GUID, fIsAsync: BOOL);

        /// The client has the reply of a remote call.
        fn RemotingClientReceivingReply(pCookie: *const GUID, fIsAsync: BOOL);

        /// A remote call ended on the client.
        fn RemotingClientInvocationFinished();

        /// The server has received a remote call.
        fn RemotingServerReceivingMessage(pCookie: *const GUID, fIsAsync: BOOL);

        /// A remote call begins on the server.
        fn RemotingServerInvocationStarted();

        /// A remote call ended on the server.
        fn RemotingServerInvocationReturned();

        /// The server sends the reply of a remote call.
        fn RemotingServerSendingReply(pCookie: *const GUID, fIsAsync: BOOL);

        /// Control passes from native code to managed code.
        fn UnmanagedToManagedTransition(functionId: FunctionID, reason: COR_PRF_TRANSITION_REASON);

        /// Control passes from managed code to native code.
        fn ManagedToUnmanagedTransition(functionId: FunctionID, reason: COR_PRF_TRANSITION_REASON);

        /// The runtime begins to suspend its threads.
        fn RuntimeSuspendStarted(suspendReason: COR_PRF_SUSPEND_REASON);

        /// All managed threads are suspended.
        fn RuntimeSuspendFinished();

        /// The runtime gave up suspending its threads.
        fn RuntimeSuspendAborted();

        /// The runtime begins to resume its threads.
        fn RuntimeResumeStarted();

        /// The managed threads are resumed.
        fn RuntimeResumeFinished();

        /// One thread was suspended.
        fn RuntimeThreadSuspended(threadId: ThreadID);

        /// One thread is resumed.
        fn RuntimeThreadResumed(threadId: ThreadID);

        /// Ranges of objects were moved by a compacting collection; lengths have 32 bits.
        fn MovedReferences(
            cMovedObjectIDRanges: ULONG,
            oldObjectIDRangeStart: *const ObjectID,
            newObjectIDRangeStart: *const ObjectID,
            cObjectIDRangeLength: *const ULONG,
        );

        /// An object was allocated.
        fn ObjectAllocated(objectId: ObjectID, classId: ClassID);

        /// How many objects of each class were allocated since the last collection.
        fn ObjectsAllocatedByClass(
            cClassCount: ULONG,
            classIds: *const ClassID,
            cObjects: *const ULONG,
        );

        /// The references that an object holds.
        fn ObjectReferences(
            objectId: ObjectID,
            classId: ClassID,
            cObjectRefs: ULONG,
            objectRefIds: *const ObjectID,
        );

        /// The roots of the heap.
        fn RootReferences(cRootRefs: ULONG, rootRefIds: *const ObjectID);

        /// An exception was thrown.
        fn ExceptionThrown(thrownObjectId: ObjectID);

        /// The search for a handler enters a function.
        fn ExceptionSearchFunctionEnter(functionId: FunctionID);

        /// The search for a handler leaves a function.
        fn ExceptionSearchFunctionLeave();

        /// A user-defined filter is about to run.
        fn ExceptionSearchFilterEnter(functionId: FunctionID);

        /// A user-defined filter ended.
        fn ExceptionSearchFilterLeave();

        /// The search ended in this function.
        fn ExceptionSearchCatcherFound(functionId: FunctionID);

        /// No longer called.
        fn ExceptionOSHandlerEnter(__unused: UINT_PTR);

        /// No longer called.
        fn ExceptionOSHandlerLeave(__unused: UINT_PTR);

        /// Unwinding enters a function.
        fn ExceptionUnwindFunctionEnter(functionId: FunctionID);

        /// Unwinding leaves a function.
        fn ExceptionUnwindFunctionLeave();

        /// A finally or fault block is about to run.
        fn ExceptionUnwindFinallyEnter(functionId: FunctionID);

        /// A finally or fault block ended.
        fn ExceptionUnwindFinallyLeave();

        /// A catch block is about to run.
        fn ExceptionCatcherEnter(functionId: FunctionID, objectId: ObjectID);

        /// A catch block ended.
        fn ExceptionCatcherLeave();

        /// A vtable was built through which COM clients call a managed class.
        fn COMClassicVTableCreated(
            wrappedClassId: ClassID,
            implementedIID: REFGUID,
            pVTable: *mut c_void,
            cSlots: ULONG,
        );

        /// A vtable for COM clients was destroyed.
        fn COMClassicVTableDestroyed(
            wrappedClassId: ClassID,
            implementedIID: REFGUID,
            pVTable: *mut c_void,
        );

        /// The runtime itself will catch the exception.
        fn ExceptionCLRCatcherFound();

        /// The runtime itself has caught the exception.
        fn ExceptionCLRCatcherExecute();
    }

    /// Adds details of garbage collections, handles and thread names (.NET 2.0).
    "8A8CC829-CCF2-49FE-BBAE-0F022228071A"
    ICorProfilerCallback2, ICorProfilerCallback2_Vtbl: ICorProfilerCallback {
        /// A thread got a name; the name is not terminated by zero.
        fn ThreadNameChanged(threadId: ThreadID, cchName: ULONG, name: *const WCHAR);

        /// A collection begins; says which generations and why.
        fn GarbageCollectionStarted(
            cGenerations: c_int,
            generationCollected: *const BOOL,
            reason: COR_PRF_GC_REASON,
        );

        /// Ranges of objects survived in place; lengths have 32 bits.
        fn SurvivingReferences(
            cSurvivingObjectIDRanges: ULONG,
            objectIDRangeStart: *const ObjectID,
            cObjectIDRangeLength: *const ULONG,
        );

        /// A collection ended; all ids are valid again.
        fn GarbageCollectionFinished();

        /// An object was queued for finalization.
        fn FinalizeableObjectQueued(finalizerFlags: DWORD, objectID: ObjectID);

        /// The roots of the heap, with kind and flags of each.
        fn RootReferences2(
            cRootRefs: ULONG,
            rootRefIds: *const ObjectID,
            rootKinds: *const COR_PRF_GC_ROOT_KIND,
            rootFlags: *const COR_PRF_GC_ROOT_FLAGS,
            rootIds: *const UINT_PTR,
        );

        /// A garbage collection handle was created.
        fn HandleCreated(handleId: GCHandleID, initialObjectId: ObjectID);

        /// A garbage collection handle was destroyed.
        fn HandleDestroyed(handleId: GCHandleID);
    }

    /// Adds attach and detach (.NET Framework 4.0).
    "4FD2ED52-7731-4B8D-9469-03D2CC3086C5"
    ICorProfilerCallback3, ICorProfilerCallback3_Vtbl: ICorProfilerCallback2 {
        /// The profiler was attached to a running process; replaces `Initialize`.
        fn InitializeForAttach(
            pCorProfilerInfoUnk: *mut c_void,
            pvClientData: *mut c_void,
            cbClientData: UINT,
        );

        /// The attach is complete; all requested events are delivered from now on.
        fn ProfilerAttachComplete();

        /// The profiler is about to be unloaded after a detach.
        fn ProfilerDetachSucceeded();
    }

    /// Adds recompilation of methods and 64-bit range lengths (.NET Framework 4.5).
    "7B63B2E3-107D-4D48-B2F6-F61E229470D2"
    ICorProfilerCallback4, ICorProfilerCallback4_Vtbl: ICorProfilerCallback3 {
        /// A method is about to be recompiled.
        fn ReJITCompilationStarted(functionId: FunctionID, rejitId: ReJITID, fIsSafeToBlock: BOOL);

        /// Asks once for the new IL and flags of a method that will be recompiled.
        fn GetReJITParameters(
            moduleId: ModuleID,
            methodId: mdMethodDef,
            pFunctionControl: *mut c_void,
        );

        /// A method was recompiled, or recompilation failed.
        fn ReJITCompilationFinished(
            functionId: FunctionID,
            rejitId: ReJITID,
            hrStatus: HRESULT,
            fIsSafeToBlock: BOOL,
        );

        /// A method could not be recompiled.
        fn ReJITError(
            moduleId: ModuleID,
            methodId: mdMethodDef,
            functionId: FunctionID,
            hrStatus: HRESULT,
        );

        /// Ranges of objects were moved by a compacting collection.
        fn MovedReferences2(
            cMovedObjectIDRanges: ULONG,
            oldObjectIDRangeStart: *const ObjectID,
            newObjectIDRangeStart: *const ObjectID,
            cObjectIDRangeLength: *const SIZE_T,
        );

        /// Ranges of objects survived in place.
        fn SurvivingReferences2(
            cSurvivingObjectIDRanges: ULONG,
            objectIDRangeStart: *const ObjectID,
            cObjectIDRangeLength: *const SIZE_T,
        );
    }

    /// Adds dependent handles to the heap walk (.NET Framework 4.5).
    "8DFBA405-8C9F-45F8-BFFA-83B14CEF78B5"
    ICorProfilerCallback5, ICorProfilerCallback5_Vtbl: ICorProfilerCallback4 {
        /// Pairs of which the first object keeps the second alive.
        fn ConditionalWeakTableElementReferences(
            cRootRefs: ULONG,
            keyRefIds: *const ObjectID,
            valueRefIds: *const ObjectID,
            rootIds: *const GCHandleID,
        );
    }

    /// Adds assembly references that metadata alone does not show (.NET Framework 4.5.2).
    "FC13DF4B-4448-4F4F-950C-BA8D19D00C36"
    ICorProfilerCallback6, ICorProfilerCallback6_Vtbl: ICorProfilerCallback5 {
        /// Asks which references the profiler will add to an assembly.
        fn GetAssemblyReferences(wszAssemblyPath: *const WCHAR, pAsmRefProvider: *mut c_void);
    }

    /// Adds symbols of modules that exist in memory only (.NET Framework 4.6.1).
    "F76A2DBA-1D52-4539-866C-2AA518F9EFC3"
    ICorProfilerCallback7, ICorProfilerCallback7_Vtbl: ICorProfilerCallback6 {
        /// The symbols of an in-memory module changed.
        fn ModuleInMemorySymbolsUpdated(moduleId: ModuleID);
    }

    /// Adds dynamic methods (.NET Framework 4.7).
    "5BED9B15-C079-4D47-BFE2-215A140C07E0"
    ICorProfilerCallback8, ICorProfilerCallback8_Vtbl: ICorProfilerCallback7 {
        /// A dynamic method is about to be compiled; its IL is passed along.
        fn DynamicMethodJITCompilationStarted(
            functionId: FunctionID,
            fIsSafeToBlock: BOOL,
            pILHeader: LPCBYTE,
            cbILHeader: ULONG,
        );

        /// A dynamic method was compiled, or compilation failed.
        fn DynamicMethodJITCompilationFinished(
            functionId: FunctionID,
            hrStatus: HRESULT,
            fIsSafeToBlock: BOOL,
        );
    }

    /// Adds the end of dynamic methods (.NET Framework 4.7.2).
    "27583EC3-C8F5-482F-8052-194B8CE4705A"
    ICorProfilerCallback9, ICorProfilerCallback9_Vtbl: ICorProfilerCallback8 {
        /// A dynamic method was unloaded; its id is invalid.
        fn DynamicMethodUnloaded(functionId: FunctionID);
    }

    /// Adds EventPipe events (.NET 5).
    "CEC5B60E-C69C-495F-87F6-84D28EE16FFB"
    ICorProfilerCallback10, ICorProfilerCallback10_Vtbl: ICorProfilerCallback9 {
        /// An event of a session that the profiler started.
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

        /// A provider of events was created.
        fn EventPipeProviderCreated(provider: EVENTPIPE_PROVIDER);
    }

    /// Adds notification profilers, which are loaded in addition to the main one (.NET 6).
    "42350846-AAED-47F7-B128-FD0C98881CDE"
    ICorProfilerCallback11, ICorProfilerCallback11_Vtbl: ICorProfilerCallback10 {
        /// Asks a second profiler whether it is notification-only; called before `Initialize`.
        fn LoadAsNotificationOnly(pbNotificationOnly: *mut BOOL);
    }
}
