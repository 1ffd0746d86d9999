//! `ICorProfilerInfo9`.

use super::ProfilerInfo;
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
            ask!(
                info,
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
}

impl CorProfilerInfo9 for ProfilerInfo {}
