//! `ICorProfilerInfo` to `ICorProfilerInfo7`, which .NET Framework also has.

use core::ffi::{c_int, c_void};

use windows_core::{BOOL, HRESULT, IUnknown};

use crate::interface::interfaces;
use crate::{
    AppDomainID, AssemblyID, BYTE, COR_DEBUG_IL_TO_NATIVE_MAP, COR_FIELD_OFFSET, COR_IL_MAP,
    COR_PRF_CODE_INFO, COR_PRF_ELT_INFO, COR_PRF_EX_CLAUSE_INFO, COR_PRF_FRAME_INFO,
    COR_PRF_FUNCTION_ARGUMENT_INFO, COR_PRF_FUNCTION_ARGUMENT_RANGE, COR_PRF_GC_GENERATION_RANGE,
    COR_PRF_RUNTIME_TYPE, COR_PRF_STATIC_TYPE, ClassID, ContextID, CorElementType, DWORD,
    FunctionEnter, FunctionEnter2, FunctionEnter3, FunctionEnter3WithInfo, FunctionID,
    FunctionIDMapper, FunctionIDMapper2, FunctionLeave, FunctionLeave2, FunctionLeave3,
    FunctionLeave3WithInfo, FunctionTailcall, FunctionTailcall2, FunctionTailcall3,
    FunctionTailcall3WithInfo, HANDLE, ICorProfilerFunctionEnum, ICorProfilerMethodEnum,
    ICorProfilerModuleEnum, ICorProfilerObjectEnum, ICorProfilerThreadEnum, IMethodMalloc, LPCBYTE,
    ModuleID, ObjectID, ProcessID, REFIID, ReJITID, SIZE_T, StackSnapshotCallback, ThreadID, ULONG,
    ULONG32, USHORT, WCHAR, mdFieldDef, mdMethodDef, mdToken, mdTypeDef,
};

interfaces! {
    /// The queries and settings of a profiler, first version.
    "28B5557D-3F3F-48B4-90B2-5F9EEA2F6C48"
    ICorProfilerInfo, ICorProfilerInfo_Vtbl: IUnknown {
        /// The class of an object.
        fn GetClassFromObject(objectId: ObjectID, pClassId: *mut ClassID);

        /// The class of a TypeDef token, if it has no type arguments.
        fn GetClassFromToken(moduleId: ModuleID, typeDef: mdTypeDef, pClassId: *mut ClassID);

        /// Start and length of a function's native code.
        fn GetCodeInfo(functionId: FunctionID, pStart: *mut LPCBYTE, pcSize: *mut ULONG);

        /// The enabled events.
        fn GetEventMask(pdwEvents: *mut DWORD);

        /// The function that owns an instruction address.
        fn GetFunctionFromIP(ip: LPCBYTE, pFunctionId: *mut FunctionID);

        /// The function of a method token, if nothing about it is generic.
        fn GetFunctionFromToken(moduleId: ModuleID, token: mdToken, pFunctionId: *mut FunctionID);

        /// The operating system handle of a thread.
        fn GetHandleFromThread(threadId: ThreadID, phThread: *mut HANDLE);

        /// The size of an object, 32 bits.
        fn GetObjectSize(objectId: ObjectID, pcSize: *mut ULONG);

        /// S_OK and the element type for a class of arrays, S_FALSE for other classes.
        fn IsArrayClass(
            classId: ClassID,
            pBaseElemType: *mut CorElementType,
            pBaseClassId: *mut ClassID,
            pcRank: *mut ULONG,
        );

        /// The operating system id of a thread.
        fn GetThreadInfo(threadId: ThreadID, pdwWin32ThreadId: *mut DWORD);

        /// The managed id of the calling thread.
        fn GetCurrentThreadID(pThreadId: *mut ThreadID);

        /// Module and TypeDef token of a class.
        fn GetClassIDInfo(
            classId: ClassID,
            pModuleId: *mut ModuleID,
            pTypeDefToken: *mut mdTypeDef,
        );

        /// Class, module and token of a function.
        fn GetFunctionInfo(
            functionId: FunctionID,
            pClassId: *mut ClassID,
            pModuleId: *mut ModuleID,
            pToken: *mut mdToken,
        );

        /// Enables and disables events and features.
        fn SetEventMask(dwEvents: DWORD);

        /// Sets the hooks of the first generation; deprecated.
        fn SetEnterLeaveFunctionHooks(
            pFuncEnter: Option<FunctionEnter>,
            pFuncLeave: Option<FunctionLeave>,
            pFuncTailcall: Option<FunctionTailcall>,
        );

        /// Sets the function that may replace the id that the hooks receive.
        fn SetFunctionIDMapper(pFunc: Option<FunctionIDMapper>);

        /// Token and metadata interface of a function.
        fn GetTokenAndMetaDataFromFunction(
            functionId: FunctionID,
            riid: REFIID,
            ppImport: *mut *mut c_void,
            pToken: *mut mdToken,
        );

        /// Load address, file name and assembly of a module.
        fn GetModuleInfo(
            moduleId: ModuleID,
            ppBaseLoadAddress: *mut LPCBYTE,
            cchName: ULONG,
            pcchName: *mut ULONG,
            szName: *mut WCHAR,
            pAssemblyId: *mut AssemblyID,
        );

        /// A metadata interface of a module.
        fn GetModuleMetaData(
            moduleId: ModuleID,
            dwOpenFlags: DWORD,
            riid: REFIID,
            ppOut: *mut *mut c_void,
        );

        /// Pointer to and size of a method's IL, header included.
        fn GetILFunctionBody(
            moduleId: ModuleID,
            methodId: mdMethodDef,
            ppMethodHeader: *mut LPCBYTE,
            pcbMethodSize: *mut ULONG,
        );

        /// The allocator for new method bodies of a module.
        fn GetILFunctionBodyAllocator(moduleId: ModuleID, ppMalloc: *mut Option<IMethodMalloc>);

        /// Replaces a method's IL before its first compilation.
        fn SetILFunctionBody(
            moduleId: ModuleID,
            methodid: mdMethodDef,
            pbNewILMethodHeader: LPCBYTE,
        );

        /// Name and process of an application domain.
        fn GetAppDomainInfo(
            appDomainId: AppDomainID,
            cchName: ULONG,
            pcchName: *mut ULONG,
            szName: *mut WCHAR,
            pProcessId: *mut ProcessID,
        );

        /// Name, application domain and manifest module of an assembly.
        fn GetAssemblyInfo(
            assemblyId: AssemblyID,
            cchName: ULONG,
            pcchName: *mut ULONG,
            szName: *mut WCHAR,
            pAppDomainId: *mut AppDomainID,
            pModuleId: *mut ModuleID,
        );

        /// No longer implemented.
        fn SetFunctionReJIT(functionId: FunctionID);

        /// Collects garbage immediately; only from a thread that never ran managed code.
        fn ForceGC();

        /// Maps offsets of replaced IL to those of the original.
        fn SetILInstrumentedCodeMap(
            functionId: FunctionID,
            fStartJit: BOOL,
            cILMapEntries: ULONG,
            rgILMapEntries: *const COR_IL_MAP,
        );

        /// No longer implemented.
        fn GetInprocInspectionInterface(ppicd: *mut *mut c_void);

        /// No longer implemented.
        fn GetInprocInspectionIThisThread(ppicd: *mut *mut c_void);

        /// The context that a thread is in.
        fn GetThreadContext(threadId: ThreadID, pContextId: *mut ContextID);

        /// No longer implemented.
        fn BeginInprocDebugging(fThisThreadOnly: BOOL, pdwProfilerContext: *mut DWORD);

        /// No longer implemented.
        fn EndInprocDebugging(dwProfilerContext: DWORD);

        /// Maps IL offsets of a function to native offsets.
        fn GetILToNativeMapping(
            functionId: FunctionID,
            cMap: ULONG32,
            pcMap: *mut ULONG32,
            map: *mut COR_DEBUG_IL_TO_NATIVE_MAP,
        );
    }

    /// Adds stack walks, layouts, generics and statics (.NET 2.0).
    "CC0935CD-A518-487D-B0BB-A93214E65478"
    ICorProfilerInfo2, ICorProfilerInfo2_Vtbl: ICorProfilerInfo {
        /// Walks the managed frames of a thread and calls a callback for each.
        fn DoStackSnapshot(
            thread: ThreadID,
            callback: Option<StackSnapshotCallback>,
            infoFlags: ULONG32,
            clientData: *mut c_void,
            context: *mut BYTE,
            contextSize: ULONG32,
        );

        /// Sets the hooks of the second generation; deprecated.
        fn SetEnterLeaveFunctionHooks2(
            pFuncEnter: Option<FunctionEnter2>,
            pFuncLeave: Option<FunctionLeave2>,
            pFuncTailcall: Option<FunctionTailcall2>,
        );

        /// Class, module, token and type arguments of a function.
        fn GetFunctionInfo2(
            funcId: FunctionID,
            frameInfo: COR_PRF_FRAME_INFO,
            pClassId: *mut ClassID,
            pModuleId: *mut ModuleID,
            pToken: *mut mdToken,
            cTypeArgs: ULONG32,
            pcTypeArgs: *mut ULONG32,
            typeArgs: *mut ClassID,
        );

        /// Offsets of buffer length, length and characters in a string object.
        fn GetStringLayout(
            pBufferLengthOffset: *mut ULONG,
            pStringLengthOffset: *mut ULONG,
            pBufferOffset: *mut ULONG,
        );

        /// Size and field offsets of a class.
        fn GetClassLayout(
            classID: ClassID,
            rFieldOffset: *mut COR_FIELD_OFFSET,
            cFieldOffset: ULONG,
            pcFieldOffset: *mut ULONG,
            pulClassSize: *mut ULONG,
        );

        /// Module, token, parent and type arguments of a class.
        fn GetClassIDInfo2(
            classId: ClassID,
            pModuleId: *mut ModuleID,
            pTypeDefToken: *mut mdTypeDef,
            pParentClassId: *mut ClassID,
            cNumTypeArgs: ULONG32,
            pcNumTypeArgs: *mut ULONG32,
            typeArgs: *mut ClassID,
        );

        /// The ranges of a function's native code.
        fn GetCodeInfo2(
            functionID: FunctionID,
            cCodeInfos: ULONG32,
            pcCodeInfos: *mut ULONG32,
            codeInfos: *mut COR_PRF_CODE_INFO,
        );

        /// The class of a token and type arguments.
        fn GetClassFromTokenAndTypeArgs(
            moduleID: ModuleID,
            typeDef: mdTypeDef,
            cTypeArgs: ULONG32,
            typeArgs: *const ClassID,
            pClassID: *mut ClassID,
        );

        /// The function of a token, a class and type arguments.
        fn GetFunctionFromTokenAndTypeArgs(
            moduleID: ModuleID,
            funcDef: mdMethodDef,
            classId: ClassID,
            cTypeArgs: ULONG32,
            typeArgs: *const ClassID,
            pFunctionID: *mut FunctionID,
        );

        /// Enumerates the objects that are part of a module's image.
        fn EnumModuleFrozenObjects(moduleID: ModuleID, ppEnum: *mut Option<ICorProfilerObjectEnum>);

        /// Sizes, lower bounds and data of an array.
        fn GetArrayObjectInfo(
            objectId: ObjectID,
            cDimensions: ULONG32,
            pDimensionSizes: *mut ULONG32,
            pDimensionLowerBounds: *mut c_int,
            ppData: *mut *mut BYTE,
        );

        /// The offset of the value in a boxed object.
        fn GetBoxClassLayout(classId: ClassID, pBufferOffset: *mut ULONG32);

        /// The application domain that a thread is in.
        fn GetThreadAppDomain(threadId: ThreadID, pAppDomainId: *mut AppDomainID);

        /// Address of a static field whose data is in the image.
        fn GetRVAStaticAddress(
            classId: ClassID,
            fieldToken: mdFieldDef,
            ppAddress: *mut *mut c_void,
        );

        /// Address of a static field of an application domain.
        fn GetAppDomainStaticAddress(
            classId: ClassID,
            fieldToken: mdFieldDef,
            appDomainId: AppDomainID,
            ppAddress: *mut *mut c_void,
        );

        /// Address of a static field of a thread.
        fn GetThreadStaticAddress(
            classId: ClassID,
            fieldToken: mdFieldDef,
            threadId: ThreadID,
            ppAddress: *mut *mut c_void,
        );

        /// Address of a static field of a context.
        fn GetContextStaticAddress(
            classId: ClassID,
            fieldToken: mdFieldDef,
            contextId: ContextID,
            ppAddress: *mut *mut c_void,
        );

        /// Tells which kind of static field a field is.
        fn GetStaticFieldInfo(
            classId: ClassID,
            fieldToken: mdFieldDef,
            pFieldInfo: *mut COR_PRF_STATIC_TYPE,
        );

        /// The memory ranges of the heap's generations.
        fn GetGenerationBounds(
            cObjectRanges: ULONG,
            pcObjectRanges: *mut ULONG,
            ranges: *mut COR_PRF_GC_GENERATION_RANGE,
        );

        /// The memory range and generation of an object.
        fn GetObjectGeneration(objectId: ObjectID, range: *mut COR_PRF_GC_GENERATION_RANGE);

        /// The exception clause that is about to run.
        fn GetNotifiedExceptionClauseInfo(pinfo: *mut COR_PRF_EX_CLAUSE_INFO);
    }

    /// Adds detaching, the third generation of hooks, and module enumeration (.NET Framework 4.0).
    "B555ED4F-452A-4E54-8B39-B5360BAD32A0"
    ICorProfilerInfo3, ICorProfilerInfo3_Vtbl: ICorProfilerInfo2 {
        /// Enumerates the functions that have been compiled.
        fn EnumJITedFunctions(ppEnum: *mut Option<ICorProfilerFunctionEnum>);

        /// Asks the runtime to unload this profiler.
        fn RequestProfilerDetach(dwExpectedCompletionMilliseconds: DWORD);

        /// Sets the id mapper together with client data for it.
        fn SetFunctionIDMapper2(pFunc: Option<FunctionIDMapper2>, clientData: *mut c_void);

        /// Offsets of length and characters in a string object.
        fn GetStringLayout2(pStringLengthOffset: *mut ULONG, pBufferOffset: *mut ULONG);

        /// Sets the fast hooks of the third generation, which receive only an id.
        fn SetEnterLeaveFunctionHooks3(
            pFuncEnter3: Option<FunctionEnter3>,
            pFuncLeave3: Option<FunctionLeave3>,
            pFuncTailcall3: Option<FunctionTailcall3>,
        );

        /// Sets the hooks of the third generation that may inspect values.
        fn SetEnterLeaveFunctionHooks3WithInfo(
            pFuncEnter3WithInfo: Option<FunctionEnter3WithInfo>,
            pFuncLeave3WithInfo: Option<FunctionLeave3WithInfo>,
            pFuncTailcall3WithInfo: Option<FunctionTailcall3WithInfo>,
        );

        /// Frame and arguments, from within an enter hook.
        fn GetFunctionEnter3Info(
            functionId: FunctionID,
            eltInfo: COR_PRF_ELT_INFO,
            pFrameInfo: *mut COR_PRF_FRAME_INFO,
            pcbArgumentInfo: *mut ULONG,
            pArgumentInfo: *mut COR_PRF_FUNCTION_ARGUMENT_INFO,
        );

        /// Frame and return value, from within a leave hook.
        fn GetFunctionLeave3Info(
            functionId: FunctionID,
            eltInfo: COR_PRF_ELT_INFO,
            pFrameInfo: *mut COR_PRF_FRAME_INFO,
            pRetvalRange: *mut COR_PRF_FUNCTION_ARGUMENT_RANGE,
        );

        /// Frame, from within a tail call hook.
        fn GetFunctionTailcall3Info(
            functionId: FunctionID,
            eltInfo: COR_PRF_ELT_INFO,
            pFrameInfo: *mut COR_PRF_FRAME_INFO,
        );

        /// Enumerates the loaded modules.
        fn EnumModules(ppEnum: *mut Option<ICorProfilerModuleEnum>);

        /// Kind and version of the runtime.
        fn GetRuntimeInformation(
            pClrInstanceId: *mut USHORT,
            pRuntimeType: *mut COR_PRF_RUNTIME_TYPE,
            pMajorVersion: *mut USHORT,
            pMinorVersion: *mut USHORT,
            pBuildNumber: *mut USHORT,
            pQFEVersion: *mut USHORT,
            cchVersionString: ULONG,
            pcchVersionString: *mut ULONG,
            szVersionString: *mut WCHAR,
        );

        /// Address of a static field of a thread in an application domain.
        fn GetThreadStaticAddress2(
            classId: ClassID,
            fieldToken: mdFieldDef,
            appDomainId: AppDomainID,
            threadId: ThreadID,
            ppAddress: *mut *mut c_void,
        );

        /// The application domains that have a module loaded.
        fn GetAppDomainsContainingModule(
            moduleId: ModuleID,
            cAppDomainIds: ULONG32,
            pcAppDomainIds: *mut ULONG32,
            appDomainIds: *mut AppDomainID,
        );

        /// Load address, file name, assembly and flags of a module.
        fn GetModuleInfo2(
            moduleId: ModuleID,
            ppBaseLoadAddress: *mut LPCBYTE,
            cchName: ULONG,
            pcchName: *mut ULONG,
            szName: *mut WCHAR,
            pAssemblyId: *mut AssemblyID,
            pdwModuleFlags: *mut DWORD,
        );
    }

    /// Adds recompilation of methods and thread enumeration (.NET Framework 4.5).
    "0D8FDCAA-6257-47BF-B1BF-94DAC88466EE"
    ICorProfilerInfo4, ICorProfilerInfo4_Vtbl: ICorProfilerInfo3 {
        /// Enumerates the managed threads.
        fn EnumThreads(ppEnum: *mut Option<ICorProfilerThreadEnum>);

        /// Prepares a thread created by the profiler for calls into the runtime.
        fn InitializeCurrentThread();

        /// Recompiles methods.
        fn RequestReJIT(
            cFunctions: ULONG,
            moduleIds: *const ModuleID,
            methodIds: *const mdMethodDef,
        );

        /// Reverts methods to their original IL.
        fn RequestRevert(
            cFunctions: ULONG,
            moduleIds: *const ModuleID,
            methodIds: *const mdMethodDef,
            status: *mut HRESULT,
        );

        /// The native ranges of one version of a function.
        fn GetCodeInfo3(
            functionID: FunctionID,
            reJitId: ReJITID,
            cCodeInfos: ULONG32,
            pcCodeInfos: *mut ULONG32,
            codeInfos: *mut COR_PRF_CODE_INFO,
        );

        /// The function and version that own an instruction address.
        fn GetFunctionFromIP2(ip: LPCBYTE, pFunctionId: *mut FunctionID, pReJitId: *mut ReJITID);

        /// The versions of a function.
        fn GetReJITIDs(
            functionId: FunctionID,
            cReJitIds: ULONG,
            pcReJitIds: *mut ULONG,
            reJitIds: *mut ReJITID,
        );

        /// Maps IL offsets of one version of a function to native offsets.
        fn GetILToNativeMapping2(
            functionId: FunctionID,
            reJitId: ReJITID,
            cMap: ULONG32,
            pcMap: *mut ULONG32,
            map: *mut COR_DEBUG_IL_TO_NATIVE_MAP,
        );

        /// Enumerates compiled functions, recompiled versions included.
        fn EnumJITedFunctions2(ppEnum: *mut Option<ICorProfilerFunctionEnum>);

        /// The size of an object.
        fn GetObjectSize2(objectId: ObjectID, pcSize: *mut SIZE_T);
    }

    /// Adds the second word of the event mask (.NET Framework 4.5.2).
    "07602928-CE38-4B83-81E7-74ADAF781214"
    ICorProfilerInfo5, ICorProfilerInfo5_Vtbl: ICorProfilerInfo4 {
        /// The enabled events, both words.
        fn GetEventMask2(pdwEventsLow: *mut DWORD, pdwEventsHigh: *mut DWORD);

        /// Enables and disables events and features, both words.
        fn SetEventMask2(dwEventsLow: DWORD, dwEventsHigh: DWORD);
    }

    /// Adds inlining recorded in precompiled images (.NET Framework 4.6).
    "F30A070D-BFFB-46A7-B1D8-8781EF7B698A"
    ICorProfilerInfo6, ICorProfilerInfo6_Vtbl: ICorProfilerInfo5 {
        /// Enumerates methods of an image into which a method was inlined.
        fn EnumNgenModuleMethodsInliningThisMethod(
            inlinersModuleId: ModuleID,
            inlineeModuleId: ModuleID,
            inlineeMethodId: mdMethodDef,
            incompleteData: *mut BOOL,
            ppEnum: *mut Option<ICorProfilerMethodEnum>,
        );
    }

    /// Adds late metadata and in-memory symbols (.NET Framework 4.6.1).
    "9AEECC0D-63E0-4187-8C00-E312F503F663"
    ICorProfilerInfo7, ICorProfilerInfo7_Vtbl: ICorProfilerInfo6 {
        /// Announces types and methods that were added to a loaded module.
        fn ApplyMetaData(moduleId: ModuleID);

        /// The size of an in-memory module's symbols.
        fn GetInMemorySymbolsLength(moduleId: ModuleID, pCountSymbolBytes: *mut DWORD);

        /// Copies symbols of an in-memory module.
        fn ReadInMemorySymbols(
            moduleId: ModuleID,
            symbolsReadOffset: DWORD,
            pSymbolBytes: *mut BYTE,
            countSymbolBytes: DWORD,
            pCountSymbolBytesRead: *mut DWORD,
        );
    }
}
