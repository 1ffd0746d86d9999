//! The functions that a profiler passes to the runtime: hooks, mappers, walkers.
//!
//! The types are pointers to functions; where the definition has `FunctionEnter3*`, a parameter is
//! `Option<FunctionEnter3>`.

use core::ffi::c_void;

use windows_core::{BOOL, HRESULT};

use crate::tables::functions;
use crate::{
    BYTE, COR_PRF_ELT_INFO, COR_PRF_FILTER_DATA, COR_PRF_FRAME_INFO,
    COR_PRF_FUNCTION_ARGUMENT_INFO, COR_PRF_FUNCTION_ARGUMENT_RANGE, FunctionID,
    FunctionIDOrClientID, ObjectID, UINT_PTR, UINT8, UINT32, UINT64, ULONG32,
};

functions! {
    /// Replaces the id that the hooks receive, or exempts a function from hooks.
    fn FunctionIDMapper(funcId: FunctionID, pbHookFunction: *mut BOOL) -> UINT_PTR;

    /// The same with the registered client data.
    fn FunctionIDMapper2(
        funcId: FunctionID,
        clientData: *mut c_void,
        pbHookFunction: *mut BOOL,
    ) -> UINT_PTR;

    /// Enter hook, first generation.
    fn FunctionEnter(funcID: FunctionID);

    /// Leave hook, first generation.
    fn FunctionLeave(funcID: FunctionID);

    /// Tailcall hook, first generation.
    fn FunctionTailcall(funcID: FunctionID);

    /// Enter hook, second generation, with the arguments.
    fn FunctionEnter2(
        funcId: FunctionID,
        clientData: UINT_PTR,
        func: COR_PRF_FRAME_INFO,
        argumentInfo: *mut COR_PRF_FUNCTION_ARGUMENT_INFO,
    );

    /// Leave hook, second generation, with the return value.
    fn FunctionLeave2(
        funcId: FunctionID,
        clientData: UINT_PTR,
        func: COR_PRF_FRAME_INFO,
        retvalRange: *mut COR_PRF_FUNCTION_ARGUMENT_RANGE,
    );

    /// Tailcall hook, second generation.
    fn FunctionTailcall2(funcId: FunctionID, clientData: UINT_PTR, func: COR_PRF_FRAME_INFO);

    /// Fast enter hook. Must preserve all registers.
    fn FunctionEnter3(functionIDOrClientID: FunctionIDOrClientID);

    /// Fast leave hook. Must preserve all registers.
    fn FunctionLeave3(functionIDOrClientID: FunctionIDOrClientID);

    /// Fast tailcall hook. Must preserve all registers.
    fn FunctionTailcall3(functionIDOrClientID: FunctionIDOrClientID);

    /// Enter hook; `GetFunctionEnter3Info` returns details.
    fn FunctionEnter3WithInfo(
        functionIDOrClientID: FunctionIDOrClientID,
        eltInfo: COR_PRF_ELT_INFO,
    );

    /// Leave hook; `GetFunctionLeave3Info` returns details.
    fn FunctionLeave3WithInfo(
        functionIDOrClientID: FunctionIDOrClientID,
        eltInfo: COR_PRF_ELT_INFO,
    );

    /// Tailcall hook; `GetFunctionTailcall3Info` returns details.
    fn FunctionTailcall3WithInfo(
        functionIDOrClientID: FunctionIDOrClientID,
        eltInfo: COR_PRF_ELT_INFO,
    );

    /// Receives one frame of a stack walk; S_OK continues, S_FALSE ends it.
    fn StackSnapshotCallback(
        funcId: FunctionID,
        ip: UINT_PTR,
        frameInfo: COR_PRF_FRAME_INFO,
        contextSize: ULONG32,
        context: *mut BYTE,
        clientData: *mut c_void,
    ) -> HRESULT;

    /// Receives one reference of an object; FALSE ends the walk.
    fn ObjectReferenceCallback(
        root: ObjectID,
        reference: *mut ObjectID,
        clientData: *mut c_void,
    ) -> BOOL;

    /// Is called when sessions enable or disable a provider.
    fn EventPipeProviderCallback(
        source_id: *const UINT8,
        is_enabled: UINT32,
        level: UINT8,
        match_any_keywords: UINT64,
        match_all_keywords: UINT64,
        filter_data: *mut COR_PRF_FILTER_DATA,
        callback_data: *mut c_void,
    );

    /// Receives one object of the heap; FALSE ends the walk.
    fn ObjectCallback(object: ObjectID, callbackState: *mut c_void) -> BOOL;
}
