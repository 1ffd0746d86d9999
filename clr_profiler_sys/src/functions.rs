//! The functions that a profiler hands to the runtime: hooks, mappers, walkers.
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
    /// Replaces the id that the hooks receive, or leaves a function without hooks.
    fn FunctionIDMapper(funcId: FunctionID, pbHookFunction: *mut BOOL) -> UINT_PTR;

    /// The same with the value that was registered.
    fn FunctionIDMapper2(
        funcId: FunctionID,
        clientData: *mut c_void,
        pbHookFunction: *mut BOOL,
    ) -> UINT_PTR;

    /// Hook of the first kind: a function begins.
    fn FunctionEnter(funcID: FunctionID);

    /// Hook of the first kind: a function returns.
    fn FunctionLeave(funcID: FunctionID);

    /// Hook of the first kind: a function ends in a tail call.
    fn FunctionTailcall(funcID: FunctionID);

    /// Hook of the second kind: a function begins, with its arguments.
    fn FunctionEnter2(
        funcId: FunctionID,
        clientData: UINT_PTR,
        func: COR_PRF_FRAME_INFO,
        argumentInfo: *mut COR_PRF_FUNCTION_ARGUMENT_INFO,
    );

    /// Hook of the second kind: a function returns, with its value.
    fn FunctionLeave2(
        funcId: FunctionID,
        clientData: UINT_PTR,
        func: COR_PRF_FRAME_INFO,
        retvalRange: *mut COR_PRF_FUNCTION_ARGUMENT_RANGE,
    );

    /// Hook of the second kind: a function ends in a tail call.
    fn FunctionTailcall2(funcId: FunctionID, clientData: UINT_PTR, func: COR_PRF_FRAME_INFO);

    /// Fast hook: a function begins. Must keep all registers.
    fn FunctionEnter3(functionIDOrClientID: FunctionIDOrClientID);

    /// Fast hook: a function returns. Must keep all registers.
    fn FunctionLeave3(functionIDOrClientID: FunctionIDOrClientID);

    /// Fast hook: a function ends in a tail call. Must keep all registers.
    fn FunctionTailcall3(functionIDOrClientID: FunctionIDOrClientID);

    /// Hook: a function begins; `GetFunctionEnter3Info` tells more.
    fn FunctionEnter3WithInfo(
        functionIDOrClientID: FunctionIDOrClientID,
        eltInfo: COR_PRF_ELT_INFO,
    );

    /// Hook: a function returns; `GetFunctionLeave3Info` tells more.
    fn FunctionLeave3WithInfo(
        functionIDOrClientID: FunctionIDOrClientID,
        eltInfo: COR_PRF_ELT_INFO,
    );

    /// Hook: a function ends in a tail call; `GetFunctionTailcall3Info` tells more.
    fn FunctionTailcall3WithInfo(
        functionIDOrClientID: FunctionIDOrClientID,
        eltInfo: COR_PRF_ELT_INFO,
    );

    /// Receives one frame of a stack walk; S_OK goes on, S_FALSE ends it.
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

    /// Is told when sessions turn a provider on or off.
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
