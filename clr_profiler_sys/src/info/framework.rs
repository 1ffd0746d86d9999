//! `ICorProfilerInfo` to `ICorProfilerInfo7`, which .NET Framework has too.

use core::ffi::{c_int, c_void};

use windows_core::{BOOL, HRESULT, IUnknown};

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

use crate::interface::interfaces;

interfaces! {
    /// `ICorProfilerInfo`.
    "28B5557D-3F3F-48B4-90B2-5F9EEA2F6C48" ICorProfilerInfo, ICorProfilerInfo_Vtbl: IUnknown {
        /// `GetClassFromObject`.
        fn GetClassFromObject(objectId: ObjectID, pClassId: *mut ClassID);

        /// `GetClassFromToken`.
        fn GetClassFromToken(moduleId: ModuleID, typeDef: mdTypeDef, pClassId: *mut ClassID);

        /// `GetCodeInfo`.
        fn GetCodeInfo(functionId: FunctionID, pStart: *mut LPCBYTE, pcSize: *mut ULONG);

        /// `GetEventMask`.
        fn GetEventMask(pdwEvents: *mut DWORD);

        /// `GetFunctionFromIP`.
        fn GetFunctionFromIP(ip: LPCBYTE, pFunctionId: *mut FunctionID);

        /// `GetFunctionFromToken`.
        fn GetFunctionFromToken(moduleId: ModuleID, token: mdToken, pFunctionId: *mut FunctionID);

        /// `GetHandleFromThread`.
        fn GetHandleFromThread(threadId: ThreadID, phThread: *mut HANDLE);

        /// `GetObjectSize`.
        fn GetObjectSize(objectId: ObjectID, pcSize: *mut ULONG);

        /// `IsArrayClass`.
        fn IsArrayClass(
            classId: ClassID,
            pBaseElemType: *mut CorElementType,
            pBaseClassId: *mut ClassID,
            pcRank: *mut ULONG,
        );

        /// `GetThreadInfo`.
        fn GetThreadInfo(threadId: ThreadID, pdwWin32ThreadId: *mut DWORD);

        /// `GetCurrentThreadID`.
        fn GetCurrentThreadID(pThreadId: *mut ThreadID);

        /// `GetClassIDInfo`.
        fn GetClassIDInfo(
            classId: ClassID,
            pModuleId: *mut ModuleID,
            pTypeDefToken: *mut mdTypeDef,
        );

        /// `GetFunctionInfo`.
        fn GetFunctionInfo(
            functionId: FunctionID,
            pClassId: *mut ClassID,
            pModuleId: *mut ModuleID,
            pToken: *mut mdToken,
        );

        /// `SetEventMask`.
        fn SetEventMask(dwEvents: DWORD);

        /// `SetEnterLeaveFunctionHooks`.
        fn SetEnterLeaveFunctionHooks(
            pFuncEnter: Option<FunctionEnter>,
            pFuncLeave: Option<FunctionLeave>,
            pFuncTailcall: Option<FunctionTailcall>,
        );

        /// `SetFunctionIDMapper`.
        fn SetFunctionIDMapper(pFunc: Option<FunctionIDMapper>);

        /// `GetTokenAndMetaDataFromFunction`.
        fn GetTokenAndMetaDataFromFunction(
            functionId: FunctionID,
            riid: REFIID,
            ppImport: *mut *mut c_void,
            pToken: *mut mdToken,
        );

        /// `GetModuleInfo`.
        fn GetModuleInfo(
            moduleId: ModuleID,
            ppBaseLoadAddress: *mut LPCBYTE,
            cchName: ULONG,
            pcchName: *mut ULONG,
            szName: *mut WCHAR,
            pAssemblyId: *mut AssemblyID,
        );

        /// `GetModuleMetaData`.
        fn GetModuleMetaData(
            moduleId: ModuleID,
            dwOpenFlags: DWORD,
            riid: REFIID,
            ppOut: *mut *mut c_void,
        );

        /// `GetILFunctionBody`.
        fn GetILFunctionBody(
            moduleId: ModuleID,
            methodId: mdMethodDef,
            ppMethodHeader: *mut LPCBYTE,
            pcbMethodSize: *mut ULONG,
        );

        /// `GetILFunctionBodyAllocator`.
        fn GetILFunctionBodyAllocator(moduleId: ModuleID, ppMalloc: *mut Option<IMethodMalloc>);

        /// `SetILFunctionBody`.
        fn SetILFunctionBody(
            moduleId: ModuleID,
            methodid: mdMethodDef,
            pbNewILMethodHeader: LPCBYTE,
        );

        /// `GetAppDomainInfo`.
        fn GetAppDomainInfo(
            appDomainId: AppDomainID,
            cchName: ULONG,
            pcchName: *mut ULONG,
            szName: *mut WCHAR,
            pProcessId: *mut ProcessID,
        );

        /// `GetAssemblyInfo`.
        fn GetAssemblyInfo(
            assemblyId: AssemblyID,
            cchName: ULONG,
            pcchName: *mut ULONG,
            szName: *mut WCHAR,
            pAppDomainId: *mut AppDomainID,
            pModuleId: *mut ModuleID,
        );

        /// `SetFunctionReJIT`.
        fn SetFunctionReJIT(functionId: FunctionID);

        /// `ForceGC`.
        fn ForceGC();

        /// `SetILInstrumentedCodeMap`.
        fn SetILInstrumentedCodeMap(
            functionId: FunctionID,
            fStartJit: BOOL,
            cILMapEntries: ULONG,
            rgILMapEntries: *const COR_IL_MAP,
        );

        /// `GetInprocInspectionInterface`.
        fn GetInprocInspectionInterface(ppicd: *mut *mut c_void);

        /// `GetInprocInspectionIThisThread`.
        fn GetInprocInspectionIThisThread(ppicd: *mut *mut c_void);

        /// `GetThreadContext`.
        fn GetThreadContext(threadId: ThreadID, pContextId: *mut ContextID);

        /// `BeginInprocDebugging`.
        fn BeginInprocDebugging(fThisThreadOnly: BOOL, pdwProfilerContext: *mut DWORD);

        /// `EndInprocDebugging`.
        fn EndInprocDebugging(dwProfilerContext: DWORD);

        /// `GetILToNativeMapping`.
        fn GetILToNativeMapping(
            functionId: FunctionID,
            cMap: ULONG32,
            pcMap: *mut ULONG32,
            map: *mut COR_DEBUG_IL_TO_NATIVE_MAP,
        );
    }

    /// `ICorProfilerInfo2`.
    "CC0935CD-A518-487D-B0BB-A93214E65478" ICorProfilerInfo2, ICorProfilerInfo2_Vtbl: ICorProfilerInfo {
        /// `DoStackSnapshot`.
        fn DoStackSnapshot(
            thread: ThreadID,
            callback: Option<StackSnapshotCallback>,
            infoFlags: ULONG32,
            clientData: *mut c_void,
            context: *mut BYTE,
            contextSize: ULONG32,
        );

        /// `SetEnterLeaveFunctionHooks2`.
        fn SetEnterLeaveFunctionHooks2(
            pFuncEnter: Option<FunctionEnter2>,
            pFuncLeave: Option<FunctionLeave2>,
            pFuncTailcall: Option<FunctionTailcall2>,
        );

        /// `GetFunctionInfo2`.
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

        /// `GetStringLayout`.
        fn GetStringLayout(
            pBufferLengthOffset: *mut ULONG,
            pStringLengthOffset: *mut ULONG,
            pBufferOffset: *mut ULONG,
        );

        /// `GetClassLayout`.
        fn GetClassLayout(
            classID: ClassID,
            rFieldOffset: *mut COR_FIELD_OFFSET,
            cFieldOffset: ULONG,
            pcFieldOffset: *mut ULONG,
            pulClassSize: *mut ULONG,
        );

        /// `GetClassIDInfo2`.
        fn GetClassIDInfo2(
            classId: ClassID,
            pModuleId: *mut ModuleID,
            pTypeDefToken: *mut mdTypeDef,
            pParentClassId: *mut ClassID,
            cNumTypeArgs: ULONG32,
            pcNumTypeArgs: *mut ULONG32,
            typeArgs: *mut ClassID,
        );

        /// `GetCodeInfo2`.
        fn GetCodeInfo2(
            functionID: FunctionID,
            cCodeInfos: ULONG32,
            pcCodeInfos: *mut ULONG32,
            codeInfos: *mut COR_PRF_CODE_INFO,
        );

        /// `GetClassFromTokenAndTypeArgs`.
        fn GetClassFromTokenAndTypeArgs(
            moduleID: ModuleID,
            typeDef: mdTypeDef,
            cTypeArgs: ULONG32,
            typeArgs: *const ClassID,
            pClassID: *mut ClassID,
        );

        /// `GetFunctionFromTokenAndTypeArgs`.
        fn GetFunctionFromTokenAndTypeArgs(
            moduleID: ModuleID,
            funcDef: mdMethodDef,
            classId: ClassID,
            cTypeArgs: ULONG32,
            typeArgs: *const ClassID,
            pFunctionID: *mut FunctionID,
        );

        /// `EnumModuleFrozenObjects`.
        fn EnumModuleFrozenObjects(moduleID: ModuleID, ppEnum: *mut Option<ICorProfilerObjectEnum>);

        /// `GetArrayObjectInfo`.
        fn GetArrayObjectInfo(
            objectId: ObjectID,
            cDimensions: ULONG32,
            pDimensionSizes: *mut ULONG32,
            pDimensionLowerBounds: *mut c_int,
            ppData: *mut *mut BYTE,
        );

        /// `GetBoxClassLayout`.
        fn GetBoxClassLayout(classId: ClassID, pBufferOffset: *mut ULONG32);

        /// `GetThreadAppDomain`.
        fn GetThreadAppDomain(threadId: ThreadID, pAppDomainId: *mut AppDomainID);

        /// `GetRVAStaticAddress`.
        fn GetRVAStaticAddress(
            classId: ClassID,
            fieldToken: mdFieldDef,
            ppAddress: *mut *mut c_void,
        );

        /// `GetAppDomainStaticAddress`.
        fn GetAppDomainStaticAddress(
            classId: ClassID,
            fieldToken: mdFieldDef,
            appDomainId: AppDomainID,
            ppAddress: *mut *mut c_void,
        );

        /// `GetThreadStaticAddress`.
        fn GetThreadStaticAddress(
            classId: ClassID,
            fieldToken: mdFieldDef,
            threadId: ThreadID,
            ppAddress: *mut *mut c_void,
        );

        /// `GetContextStaticAddress`.
        fn GetContextStaticAddress(
            classId: ClassID,
            fieldToken: mdFieldDef,
            contextId: ContextID,
            ppAddress: *mut *mut c_void,
        );

        /// `GetStaticFieldInfo`.
        fn GetStaticFieldInfo(
            classId: ClassID,
            fieldToken: mdFieldDef,
            pFieldInfo: *mut COR_PRF_STATIC_TYPE,
        );

        /// `GetGenerationBounds`.
        fn GetGenerationBounds(
            cObjectRanges: ULONG,
            pcObjectRanges: *mut ULONG,
            ranges: *mut COR_PRF_GC_GENERATION_RANGE,
        );

        /// `GetObjectGeneration`.
        fn GetObjectGeneration(objectId: ObjectID, range: *mut COR_PRF_GC_GENERATION_RANGE);

        /// `GetNotifiedExceptionClauseInfo`.
        fn GetNotifiedExceptionClauseInfo(pinfo: *mut COR_PRF_EX_CLAUSE_INFO);
    }

    /// `ICorProfilerInfo3`.
    "B555ED4F-452A-4E54-8B39-B5360BAD32A0" ICorProfilerInfo3, ICorProfilerInfo3_Vtbl: ICorProfilerInfo2 {
        /// `EnumJITedFunctions`.
        fn EnumJITedFunctions(ppEnum: *mut Option<ICorProfilerFunctionEnum>);

        /// `RequestProfilerDetach`.
        fn RequestProfilerDetach(dwExpectedCompletionMilliseconds: DWORD);

        /// `SetFunctionIDMapper2`.
        fn SetFunctionIDMapper2(pFunc: Option<FunctionIDMapper2>, clientData: *mut c_void);

        /// `GetStringLayout2`.
        fn GetStringLayout2(pStringLengthOffset: *mut ULONG, pBufferOffset: *mut ULONG);

        /// `SetEnterLeaveFunctionHooks3`.
        fn SetEnterLeaveFunctionHooks3(
            pFuncEnter3: Option<FunctionEnter3>,
            pFuncLeave3: Option<FunctionLeave3>,
            pFuncTailcall3: Option<FunctionTailcall3>,
        );

        /// `SetEnterLeaveFunctionHooks3WithInfo`.
        fn SetEnterLeaveFunctionHooks3WithInfo(
            pFuncEnter3WithInfo: Option<FunctionEnter3WithInfo>,
            pFuncLeave3WithInfo: Option<FunctionLeave3WithInfo>,
            pFuncTailcall3WithInfo: Option<FunctionTailcall3WithInfo>,
        );

        /// `GetFunctionEnter3Info`.
        fn GetFunctionEnter3Info(
            functionId: FunctionID,
            eltInfo: COR_PRF_ELT_INFO,
            pFrameInfo: *mut COR_PRF_FRAME_INFO,
            pcbArgumentInfo: *mut ULONG,
            pArgumentInfo: *mut COR_PRF_FUNCTION_ARGUMENT_INFO,
        );

        /// `GetFunctionLeave3Info`.
        fn GetFunctionLeave3Info(
            functionId: FunctionID,
            eltInfo: COR_PRF_ELT_INFO,
            pFrameInfo: *mut COR_PRF_FRAME_INFO,
            pRetvalRange: *mut COR_PRF_FUNCTION_ARGUMENT_RANGE,
        );

        /// `GetFunctionTailcall3Info`.
        fn GetFunctionTailcall3Info(
            functionId: FunctionID,
            eltInfo: COR_PRF_ELT_INFO,
            pFrameInfo: *mut COR_PRF_FRAME_INFO,
        );

        /// `EnumModules`.
        fn EnumModules(ppEnum: *mut Option<ICorProfilerModuleEnum>);

        /// `GetRuntimeInformation`.
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

        /// `GetThreadStaticAddress2`.
        fn GetThreadStaticAddress2(
            classId: ClassID,
            fieldToken: mdFieldDef,
            appDomainId: AppDomainID,
            threadId: ThreadID,
            ppAddress: *mut *mut c_void,
        );

        /// `GetAppDomainsContainingModule`.
        fn GetAppDomainsContainingModule(
            moduleId: ModuleID,
            cAppDomainIds: ULONG32,
            pcAppDomainIds: *mut ULONG32,
            appDomainIds: *mut AppDomainID,
        );

        /// `GetModuleInfo2`.
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

    /// `ICorProfilerInfo4`.
    "0D8FDCAA-6257-47BF-B1BF-94DAC88466EE" ICorProfilerInfo4, ICorProfilerInfo4_Vtbl: ICorProfilerInfo3 {
        /// `EnumThreads`.
        fn EnumThreads(ppEnum: *mut Option<ICorProfilerThreadEnum>);

        /// `InitializeCurrentThread`.
        fn InitializeCurrentThread();

        /// `RequestReJIT`.
        fn RequestReJIT(
            cFunctions: ULONG,
            moduleIds: *const ModuleID,
            methodIds: *const mdMethodDef,
        );

        /// `RequestRevert`.
        fn RequestRevert(
            cFunctions: ULONG,
            moduleIds: *const ModuleID,
            methodIds: *const mdMethodDef,
            status: *mut HRESULT,
        );

        /// `GetCodeInfo3`.
        fn GetCodeInfo3(
            functionID: FunctionID,
            reJitId: ReJITID,
            cCodeInfos: ULONG32,
            pcCodeInfos: *mut ULONG32,
            codeInfos: *mut COR_PRF_CODE_INFO,
        );

        /// `GetFunctionFromIP2`.
        fn GetFunctionFromIP2(ip: LPCBYTE, pFunctionId: *mut FunctionID, pReJitId: *mut ReJITID);

        /// `GetReJITIDs`.
        fn GetReJITIDs(
            functionId: FunctionID,
            cReJitIds: ULONG,
            pcReJitIds: *mut ULONG,
            reJitIds: *mut ReJITID,
        );

        /// `GetILToNativeMapping2`.
        fn GetILToNativeMapping2(
            functionId: FunctionID,
            reJitId: ReJITID,
            cMap: ULONG32,
            pcMap: *mut ULONG32,
            map: *mut COR_DEBUG_IL_TO_NATIVE_MAP,
        );

        /// `EnumJITedFunctions2`.
        fn EnumJITedFunctions2(ppEnum: *mut Option<ICorProfilerFunctionEnum>);

        /// `GetObjectSize2`.
        fn GetObjectSize2(objectId: ObjectID, pcSize: *mut SIZE_T);
    }

    /// `ICorProfilerInfo5`.
    "07602928-CE38-4B83-81E7-74ADAF781214" ICorProfilerInfo5, ICorProfilerInfo5_Vtbl: ICorProfilerInfo4 {
        /// `GetEventMask2`.
        fn GetEventMask2(pdwEventsLow: *mut DWORD, pdwEventsHigh: *mut DWORD);

        /// `SetEventMask2`.
        fn SetEventMask2(dwEventsLow: DWORD, dwEventsHigh: DWORD);
    }

    /// `ICorProfilerInfo6`.
    "F30A070D-BFFB-46A7-B1D8-8781EF7B698A" ICorProfilerInfo6, ICorProfilerInfo6_Vtbl: ICorProfilerInfo5 {
        /// `EnumNgenModuleMethodsInliningThisMethod`.
        fn EnumNgenModuleMethodsInliningThisMethod(
            inlinersModuleId: ModuleID,
            inlineeModuleId: ModuleID,
            inlineeMethodId: mdMethodDef,
            incompleteData: *mut BOOL,
            ppEnum: *mut Option<ICorProfilerMethodEnum>,
        );
    }

    /// `ICorProfilerInfo7`.
    "9AEECC0D-63E0-4187-8C00-E312F503F663" ICorProfilerInfo7, ICorProfilerInfo7_Vtbl: ICorProfilerInfo6 {
        /// `ApplyMetaData`.
        fn ApplyMetaData(moduleId: ModuleID);

        /// `GetInMemorySymbolsLength`.
        fn GetInMemorySymbolsLength(moduleId: ModuleID, pCountSymbolBytes: *mut DWORD);

        /// `ReadInMemorySymbols`.
        fn ReadInMemorySymbols(
            moduleId: ModuleID,
            symbolsReadOffset: DWORD,
            pSymbolBytes: *mut BYTE,
            countSymbolBytes: DWORD,
            pCountSymbolBytesRead: *mut DWORD,
        );
    }
}
