//! `ICorProfilerInfo7`.

use super::ProfilerInfo;
use super::handle::Sealed;
use crate::error::{Error, Hresult, Result};
use crate::ids::ModuleId;
use clr_profiler_sys as sys;

#[doc(hidden)]
#[macro_export]
macro_rules! __cor_profiler_info7 {
    ($with:path $(, $for:ident)?) => { $with! { $(@ $for)? CorProfilerInfo7 = ICorProfilerInfo7 from info;
    /// Tells the runtime about types, methods and references that were added to the metadata of a
    /// loaded module.
    fn apply_metadata(module: ModuleId) -> () = ApplyMetaData(module)
        at LOADED
        fails "`CORPROF_E_DATAINCOMPLETE` while the module is being unloaded.";
    } };
}

/// What `ICorProfilerInfo7` offers: metadata that is added late, and symbols in memory.
#[doc(alias = "ICorProfilerInfo7")]
pub trait CorProfilerInfo7: Sealed {
    __cor_profiler_info7! { calls }

    /// The size in bytes of the symbols that a module has in memory; 0 where it has none there.
    ///
    /// Wraps `ICorProfilerInfo7::GetInMemorySymbolsLength`. **Context**: not during a collection.
    /// **Events**: [`HIGH_IN_MEMORY_SYMBOLS_UPDATED`](crate::EventMask::HIGH_IN_MEMORY_SYMBOLS_UPDATED)
    /// tells when there are others.
    ///
    /// # Errors
    ///
    /// `CORPROF_E_MODULE_IS_DYNAMIC`, or an error of its own, for modules that are built at run time.
    #[doc(alias = "GetInMemorySymbolsLength")]
    fn in_memory_symbols_length(&self, module: ModuleId) -> Result<u32> {
        let mut length = 0;
        let info = self.handle();
        let answer = ask!(
            steady info,
            ICorProfilerInfo7::GetInMemorySymbolsLength(module.raw(), &mut length)
        )?;
        refuse_dynamic("ICorProfilerInfo7::GetInMemorySymbolsLength", answer)?;
        Ok(length)
    }

    /// Reads symbols that a module has in memory, from an offset on into `buffer`, and says how many
    /// bytes there were for it.
    ///
    /// [`in_memory_symbols`](Self::in_memory_symbols) reads all of them.
    ///
    /// Wraps `ICorProfilerInfo7::ReadInMemorySymbols`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `E_INVALIDARG` where the module has none, and for an offset behind their end;
    /// `CORPROF_E_MODULE_IS_DYNAMIC`, or an error of its own, for modules that are built at run time.
    #[doc(alias = "ReadInMemorySymbols")]
    fn read_in_memory_symbols(
        &self,
        module: ModuleId,
        offset: u32,
        buffer: &mut [u8],
    ) -> Result<usize> {
        let mut read = 0;
        let capacity = u32::try_from(buffer.len()).unwrap_or(u32::MAX);
        let info = self.handle();
        let answer = ask!(
            steady info,
            ICorProfilerInfo7::ReadInMemorySymbols(
                module.raw(),
                offset,
                buffer.as_mut_ptr(),
                capacity,
                &mut read,
            )
        )?;
        refuse_dynamic("ICorProfilerInfo7::ReadInMemorySymbols", answer)?;
        Ok(read as usize)
    }

    /// All symbols that a module has in memory; none where it has none there.
    ///
    /// **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// Those of [`in_memory_symbols_length`](Self::in_memory_symbols_length) and
    /// [`read_in_memory_symbols`](Self::read_in_memory_symbols).
    fn in_memory_symbols(&self, module: ModuleId) -> Result<Vec<u8>> {
        let mut symbols = vec![0; self.in_memory_symbols_length(module)? as usize];
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

/// Runtimes answer with a flag of modules, which is no failure code, instead of the code for it.
fn refuse_dynamic(call: &'static str, answer: Hresult) -> Result<()> {
    if answer.0 == sys::COR_PRF_MODULE_DYNAMIC as i32 {
        return Err(Error::call(
            call,
            Hresult(sys::CORPROF_E_MODULE_IS_DYNAMIC.0),
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flag_for_dynamic_modules_is_a_failure() {
        assert!(refuse_dynamic("X::Y", Hresult::S_OK).is_ok());
        let error = refuse_dynamic("X::Y", Hresult(4)).unwrap_err();
        assert_eq!(error.hresult().name(), Some("CORPROF_E_MODULE_IS_DYNAMIC"));
    }
}
