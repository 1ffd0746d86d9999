//! Maps of IL offsets for bodies that were set before the runtime could get one.

use super::NewBody;
use super::store::store;
use crate::info::method::Method;
use crate::info::{CorProfilerInfo, CorProfilerInfo9};
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::edit::OffsetMapping;

impl Method<'_> {
    /// Gives the runtime the map of IL offsets for a body that was set before the function existed, or before this
    /// compilation; `codes` are the addresses of the code that the method has.
    ///
    /// The runtime has one map for all code of a method, and applies it to a code when it first needs the code's
    /// offsets, for a stack trace: code of an earlier body gets its offsets before.
    pub(crate) fn set_offset_map(&self, codes: &[usize]) {
        let (info, slot) = (self.info(), store(self.info()).module(self.module()));
        let Some(body) = slot.method(self.token()).last_body() else {
            return;
        };
        let map = match body.offsets {
            // The runtime may still have the map of an earlier body.
            OffsetMapping::Identity => {
                let decoded = MethodBody::decode(&body.bytes);
                decoded.map_or_else(|_| Vec::new(), |body| body.instrumented_code_map())
            }
            offsets => offsets.map(),
        };
        for code in codes {
            // An error is ignored: the code may have been freed.
            let _ = info.il_to_native_mapping3(*code);
        }
        let bytes = Vec::new();
        if let Some(map) = (NewBody { bytes, map }).entries() {
            // An error is ignored: the map serves debuggers.
            let _ = info.set_il_instrumented_code_map(self.function(), true, &map);
        }
    }
}
