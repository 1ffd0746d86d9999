//! Lines of native code: from an instruction pointer to an IL offset.

use crate::error::{Hresult, Result};
use crate::ids::{FunctionId, RejitId};
use crate::info::{CorProfilerInfo, CorProfilerInfo8, CorProfilerInfo9, IlOrigin, IlToNative};
use crate::lines::SourceLocation;
use crate::runtime::ProfilerInfo;

impl ProfilerInfo {
    /// The source of the call at an instruction pointer of a stack trace, as
    /// [`source_location`](Self::source_location). `None`, too, for an address outside of compiled methods.
    ///
    /// Instruction pointers of stack traces are return addresses: the line is that of the instruction before. In optimised
    /// code the runtime maps few instructions to IL; the line is that of the last one before that has a mapping.
    ///
    /// Calls `ICorProfilerInfo8::GetFunctionFromIP3`, and for a method with lines `ICorProfilerInfo9::GetCodeInfo4` and
    /// `GetILToNativeMapping3`. **Context**: any callback in which GC-triggering calls are allowed, not during a
    /// collection. In EventPipe callbacks, by which .NET 9 reports exceptions, the runtime refuses them with
    /// `CORPROF_E_UNSUPPORTED_CALL_SEQUENCE`: pass the frames to a thread of your own.
    ///
    /// # Errors
    ///
    /// As [`source_location`](Self::source_location), and the errors of these calls.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// # use clr_profiler::sampling::Sample;
    /// # fn log(info: &ProfilerInfo, sample: &Sample<'_>) -> Result<()> {
    /// for frame in sample.frames.iter().filter(|frame| frame.function.is_some()) {
    ///     if let Some(location) = info.source_location_from_ip(frame.ip)? {
    ///         println!("{location}");
    ///     }
    /// }
    /// # Ok(())
    /// # }
    /// ```
    pub fn source_location_from_ip(&self, ip: usize) -> Result<Option<SourceLocation>> {
        let (function, rejit) = match self.function_from_ip3(ip) {
            Err(error) if error.is(Hresult::E_FAIL) => return Ok(None),
            found => found?,
        };
        // Before the runtime is asked for the map: most modules have no PDB.
        let facts = self.function_info(function)?;
        if facts.token.is_nil() || self.optional_pdb(facts.module)?.is_none() {
            return Ok(None);
        }
        match il_offset(self, function, rejit, ip)? {
            Some(il_offset) => self.source_location(function, il_offset),
            None => Ok(None),
        }
    }
}

/// The IL offset of the instruction before an address; `None` if it is in none of the code of this version of the function.
fn il_offset(
    info: &ProfilerInfo,
    function: FunctionId,
    rejit: RejitId,
    ip: usize,
) -> Result<Option<u32>> {
    for start in info.native_code_start_addresses(function, rejit)? {
        let mut before = 0;
        for range in info.code_info4(start)? {
            if let Some(offset) = ip.checked_sub(range.start)
                && offset <= range.size
                && (offset > 0 || before == 0)
            {
                let map = info.il_to_native_mapping3(start)?;
                return Ok(last_mapped(&map, before + offset.saturating_sub(1)));
            }
            before += range.size;
        }
    }
    Ok(None)
}

/// The IL offset that was last mapped at or before an offset in native code.
fn last_mapped(map: &[IlToNative], offset: usize) -> Option<u32> {
    let mapped = map.iter().filter_map(|entry| match entry.il {
        IlOrigin::Offset(il) => Some((entry.native.start, il)),
        IlOrigin::Prolog => Some((entry.native.start, 0)),
        _ => None,
    });
    let before = mapped.filter(|(start, _)| *start as usize <= offset);
    before.max_by_key(|(start, _)| *start).map(|(_, il)| il)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_has_the_last_mapping_before_it() {
        let entry = |il, start, end| IlToNative {
            il,
            native: start..end,
        };
        // Not in the order of the addresses, as the runtime returns them.
        let map = [
            entry(IlOrigin::Prolog, 0, 8),
            entry(IlOrigin::Offset(0), 8, 20),
            entry(IlOrigin::Offset(30), 40, 60),
            entry(IlOrigin::Offset(12), 20, 40),
            entry(IlOrigin::NoMapping, 60, 70),
            entry(IlOrigin::Epilog, 70, 72),
        ];
        for (offset, il) in [
            (0, 0),
            (8, 0),
            (19, 0),
            (20, 12),
            (40, 30),
            (65, 30),
            (99, 30),
        ] {
            assert_eq!(last_mapped(&map, offset), Some(il), "{offset}");
        }
        assert_eq!(last_mapped(&map[1..], 7), None);
        assert_eq!(last_mapped(&[], 7), None);
    }
}
