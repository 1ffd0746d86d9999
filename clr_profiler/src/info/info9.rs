//! `ICorProfilerInfo9`.

use super::ProfilerInfo;
use super::code::{CodeRange, IlToNative, code_ranges, il_to_native};
use super::handle::Sealed;
use crate::error::Result;
use crate::ids::{FunctionId, RejitId};
use crate::native::read_array;

/// What `ICorProfilerInfo9` offers: the native code of tiers.
#[doc(alias = "ICorProfilerInfo9")]
pub trait CorProfilerInfo9: Sealed {
    /// Where the native codes of a function begin, of one of its ILs.
    ///
    /// There can be several: precompiled code, and one for each tier.
    ///
    /// Wraps `ICorProfilerInfo9::GetNativeCodeStartAddresses`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "GetNativeCodeStartAddresses")]
    fn native_code_start_addresses(
        &self,
        function: FunctionId,
        rejit: RejitId,
    ) -> Result<Vec<usize>> {
        let info = self.handle();
        let mut addresses = read_array(|capacity, count, buffer| {
            ask!(steady info,
                ICorProfilerInfo9::GetNativeCodeStartAddresses(
                    function.raw(),
                    rejit.raw(),
                    capacity,
                    count,
                    buffer,
                )
            )
        })?;
        // .NET Core 3.1 lists a version of the code that is not compiled yet, as null.
        addresses.retain(|address| *address != 0);
        Ok(addresses)
    }

    /// Where the native code is that begins at this address, one of
    /// [`native_code_start_addresses`](Self::native_code_start_addresses).
    ///
    /// Wraps `ICorProfilerInfo9::GetCodeInfo4`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `E_FAIL` where no code begins there.
    #[doc(alias = "GetCodeInfo4")]
    fn code_info4(&self, start: usize) -> Result<Vec<CodeRange>> {
        let info = self.handle();
        let ranges = read_array(|capacity, count, buffer| {
            ask!(
                info,
                ICorProfilerInfo9::GetCodeInfo4(start, capacity, count, buffer)
            )
        })?;
        Ok(code_ranges(ranges))
    }

    /// Which IL the native code came from that begins at this address.
    ///
    /// Wraps `ICorProfilerInfo9::GetILToNativeMapping3`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CORPROF_E_FUNCTION_NOT_COMPILED` where no code begins there.
    #[doc(alias = "GetILToNativeMapping3")]
    fn il_to_native_mapping3(&self, start: usize) -> Result<Vec<IlToNative>> {
        let info = self.handle();
        let entries = read_array(|capacity, count, buffer| {
            ask!(
                info,
                ICorProfilerInfo9::GetILToNativeMapping3(start, capacity, count, buffer)
            )
        })?;
        Ok(il_to_native(entries))
    }
}

impl CorProfilerInfo9 for ProfilerInfo {}
