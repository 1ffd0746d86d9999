//! `ICorProfilerInfo7`.

use super::ProfilerInfo;
use super::handle::Sealed;
use crate::error::{Error, Hresult, Result};
use crate::ids::ModuleId;
use crate::native::{CallContext, zeroed};

table! { ($) __cor_profiler_info7:
    CorProfilerInfo7 = ICorProfilerInfo7 from info;

    /// Makes the runtime use types, methods and references that were added to the metadata of a loaded
    /// module.
    fn apply_metadata(module: ModuleId) -> () = ApplyMetaData(module)
        at LOADED
        fails "`CORPROF_E_DATAINCOMPLETE` while the module is being unloaded.";

    /// The size in bytes of a module's in-memory symbols; 0 if it has none.
    fn in_memory_symbols_length(module: ModuleId) -> u32
        = [notrigger] GetInMemorySymbolsLength(module, @length) by unless_dynamic
        none on COR_PRF_MODULE_DYNAMIC
        with [HIGH_IN_MEMORY_SYMBOLS_UPDATED " reports changes of the symbols."]
        fails "`CORPROF_E_MODULE_IS_DYNAMIC`, or another error, for modules that are built \
               at run time.";

    /// Reads a module's in-memory symbols from an offset into `buffer`, and returns the number of bytes
    /// read.
    ///
    /// [`in_memory_symbols`](Self::in_memory_symbols) reads them all.
    fn read_in_memory_symbols(module: ModuleId, offset: u32, buffer: &mut [u8]) -> usize
        = [notrigger] ReadInMemorySymbols(module, offset, buffer.as_mut_ptr(),
            u32::try_from(buffer.len()).unwrap_or(u32::MAX), @read)
        by unless_dynamic none on COR_PRF_MODULE_DYNAMIC
        fails "`E_INVALIDARG` if the module has none, and for an offset past their end; \
               `CORPROF_E_MODULE_IS_DYNAMIC`, or another error, for modules that are built \
               at run time.";
}

/// The calls of `ICorProfilerInfo7`: metadata that is added late, and in-memory symbols.
#[doc(alias = "ICorProfilerInfo7")]
pub trait CorProfilerInfo7: Sealed {
    __cor_profiler_info7! { calls }

    /// All in-memory symbols of a module; empty if it has none.
    ///
    /// **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// The errors of [`in_memory_symbols_length`](Self::in_memory_symbols_length) and
    /// [`read_in_memory_symbols`](Self::read_in_memory_symbols).
    fn in_memory_symbols(&self, module: ModuleId) -> Result<Vec<u8>> {
        let mut symbols = zeroed(self.in_memory_symbols_length(module)? as usize)?;
        let mut known = 0;
        while let Some(rest) = symbols.get_mut(known..).filter(|rest| !rest.is_empty()) {
            match self.read_in_memory_symbols(module, known as u32, rest)? {
                0 => break,
                read => known += read,
            }
        }
        symbols.truncate(known);
        Ok(symbols)
    }
}

impl CorProfilerInfo7 for ProfilerInfo {}

fn unless_dynamic<T>(answer: Option<T>, context: &CallContext<'_>) -> Result<T> {
    answer.ok_or_else(|| Error::call(context.call, Hresult::CORPROF_E_MODULE_IS_DYNAMIC))
}
