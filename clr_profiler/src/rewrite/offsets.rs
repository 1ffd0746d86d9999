//! Maps of IL offsets for bodies that were set before the runtime could get one.

use super::NewBody;
use super::store::store;
use crate::info::CorProfilerInfo;
use crate::info::method::Method;
use clr_profiler_il::body::MethodBody;
use clr_profiler_il::edit::OffsetMapping;

impl Method<'_> {
    /// Gives the runtime the map of IL offsets for a body that was set before the function existed, or before this
    /// compilation.
    pub(crate) fn set_offset_map(&self) {
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
        let bytes = Vec::new();
        if let Some(map) = (NewBody { bytes, map }).entries() {
            // An error is ignored: the map serves debuggers.
            let _ = info.set_il_instrumented_code_map(self.function(), true, &map);
        }
    }
}
