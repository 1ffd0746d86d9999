//! Maps of IL offsets for bodies that were set before the runtime could get one.

use super::NewBody;
use super::store::store;
use crate::ids::{FunctionId, ModuleId, RejitId};
use crate::info::{CorProfilerInfo, CorProfilerInfo9};
use crate::runtime::ProfilerInfo;
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::edit::OffsetMapping;
use clr_profiler_il::token::MethodDef;

/// Gives the runtime the map of IL offsets for the body of a function's method, which was set before the function existed, or before
/// this compilation; `earlier` are the functions of the method that may have code.
///
/// The runtime has one map for all code of a method, and applies it to a code when it first needs the code's
/// offsets, for a stack trace: code of an earlier body gets its offsets before.
///
/// Returns those of them that had code; `None` if there is no map.
pub(crate) fn set_offset_map(
    info: &ProfilerInfo,
    function: FunctionId,
    (module, method): (ModuleId, MethodDef),
    earlier: &[FunctionId],
) -> Option<Vec<FunctionId>> {
    let body = store(info).module(module).method(method).last_body()?;
    let map = match body.offsets {
        // The runtime may still have the map of an earlier body.
        OffsetMapping::Identity => {
            let decoded = MethodBody::decode(&body.bytes);
            decoded.map_or_else(|_| Vec::new(), |body| body.instrumented_code_map())
        }
        offsets => offsets.map(),
    };
    let bytes = Vec::new();
    let map = (NewBody { bytes, map }).entries()?;
    let mut with_code = Vec::with_capacity(earlier.len());
    for &earlier in earlier {
        let codes = info.native_code_start_addresses(earlier, RejitId::ORIGINAL);
        let codes = codes.unwrap_or_default();
        for &code in &codes {
            // An error is ignored: the code may have been freed.
            let _ = info.il_to_native_mapping3(code);
        }
        // That of others is being compiled.
        if !codes.is_empty() {
            with_code.push(earlier);
        }
    }
    // An error is ignored: the map serves debuggers.
    let _ = info.set_il_instrumented_code_map(function, true, &map);
    Some(with_code)
}
