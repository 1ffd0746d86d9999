//! The functions that a profiler hands to the runtime: hooks, mappers, walkers.
//!
//! The types are pointers to functions; where the definition has `FunctionEnter3*`, a parameter is
//! `Option<FunctionEnter3>`.

use core::ffi::c_void;

use windows_core::{BOOL, HRESULT};

use crate::{
    BYTE, COR_PRF_ELT_INFO, COR_PRF_FILTER_DATA, COR_PRF_FRAME_INFO,
    COR_PRF_FUNCTION_ARGUMENT_INFO, COR_PRF_FUNCTION_ARGUMENT_RANGE, FunctionID,
    FunctionIDOrClientID, ObjectID, UINT_PTR, UINT8, UINT32, UINT64, ULONG32,
};

use crate::tables::functions;

functions! {
    /// `FunctionIDMapper`.
    fn FunctionIDMapper(funcId: FunctionID, pbHookFunction: *mut BOOL) -> UINT_PTR;

    /// `FunctionIDMapper2`.
    fn FunctionIDMapper2(
        funcId: FunctionID,
        clientData: *mut c_void,
        pbHookFunction: *mut BOOL,
    ) -> UINT_PTR;

    /// `FunctionEnter`.
    fn FunctionEnter(funcID: FunctionID);

    /// `FunctionLeave`.
    fn FunctionLeave(funcID: FunctionID);

    /// `FunctionTailcall`.
    fn FunctionTailcall(funcID: FunctionID);

    /// `FunctionEnter2`.
    fn FunctionEnter2(
        funcId: FunctionID,
        clientData: UINT_PTR,
        func: COR_PRF_FRAME_INFO,
        argumentInfo: *mut COR_PRF_FUNCTION_ARGUMENT_INFO,
    );

    /// `FunctionLeave2`.
    fn FunctionLeave2(
        funcId: FunctionID,
        clientData: UINT_PTR,
        func: COR_PRF_FRAME_INFO,
        retvalRange: *mut COR_PRF_FUNCTION_ARGUMENT_RANGE,
    );

    /// `FunctionTailcall2`.
    fn FunctionTailcall2(funcId: FunctionID, clientData: UINT_PTR, func: COR_PRF_FRAME_INFO);

    /// `FunctionEnter3`.
    fn FunctionEnter3(functionIDOrClientID: FunctionIDOrClientID);

    /// `FunctionLeave3`.
    fn FunctionLeave3(functionIDOrClientID: FunctionIDOrClientID);

    /// `FunctionTailcall3`.
    fn FunctionTailcall3(functionIDOrClientID: FunctionIDOrClientID);

    /// `FunctionEnter3WithInfo`.
    fn FunctionEnter3WithInfo(
        functionIDOrClientID: FunctionIDOrClientID,
        eltInfo: COR_PRF_ELT_INFO,
    );

    /// `FunctionLeave3WithInfo`.
    fn FunctionLeave3WithInfo(
        functionIDOrClientID: FunctionIDOrClientID,
        eltInfo: COR_PRF_ELT_INFO,
    );

    /// `FunctionTailcall3WithInfo`.
    fn FunctionTailcall3WithInfo(
        functionIDOrClientID: FunctionIDOrClientID,
        eltInfo: COR_PRF_ELT_INFO,
    );

    /// `StackSnapshotCallback`.
    fn StackSnapshotCallback(
        funcId: FunctionID,
        ip: UINT_PTR,
        frameInfo: COR_PRF_FRAME_INFO,
        contextSize: ULONG32,
        context: *mut BYTE,
        clientData: *mut c_void,
    ) -> HRESULT;

    /// `ObjectReferenceCallback`.
    fn ObjectReferenceCallback(
        root: ObjectID,
        reference: *mut ObjectID,
        clientData: *mut c_void,
    ) -> BOOL;

    /// `EventPipeProviderCallback`.
    fn EventPipeProviderCallback(
        source_id: *const UINT8,
        is_enabled: UINT32,
        level: UINT8,
        match_any_keywords: UINT64,
        match_all_keywords: UINT64,
        filter_data: *mut COR_PRF_FILTER_DATA,
        callback_data: *mut c_void,
    );

    /// `ObjectCallback`.
    fn ObjectCallback(object: ObjectID, callbackState: *mut c_void) -> BOOL;
}
