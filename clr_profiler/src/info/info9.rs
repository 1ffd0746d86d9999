//! `ICorProfilerInfo9`.

use super::ProfilerInfo;
use super::code::{CodeRange, IlToNative};
use super::code_lookup::find_code;
use super::handle::Sealed;
use crate::error::Result;
use crate::ids::{FunctionId, RejitId};
use crate::native::CallContext;

table! { ($) __cor_profiler_info9:
    CorProfilerInfo9 = ICorProfilerInfo9 from info;

    /// The address ranges of the native code that starts at this address, one of
    /// [`native_code_start_addresses`](Self::native_code_start_addresses).
    fn code_info4(start: usize) -> Vec<CodeRange> = GetCodeInfo4(start, @[ranges])
        fails "`E_FAIL` if no code starts there.";

    /// The mapping to IL of the native code that starts at this address.
    fn il_to_native_mapping3(start: usize) -> Vec<IlToNative>
        = GetILToNativeMapping3(start, @[entries]) given _found = found(start)
        fails "`CORPROF_E_FUNCTION_NOT_COMPILED` if no code starts there.";

    /// The start addresses of a function's native code for one version of its IL.
    ///
    /// There can be several: that of precompiled code, and one for each tier.
    fn native_code_start_addresses(function: FunctionId, rejit: RejitId) -> Vec<usize>
        = [notrigger] GetNativeCodeStartAddresses(function, rejit, @[addresses]) by compiled;
}

/// The calls of `ICorProfilerInfo9`: the native code of tiers.
#[doc(alias = "ICorProfilerInfo9")]
pub trait CorProfilerInfo9: Sealed {
    __cor_profiler_info9! { calls }
}

impl CorProfilerInfo9 for ProfilerInfo {}

fn found(info: &(impl Sealed + ?Sized), call: &'static str, start: usize) -> Result<()> {
    let info = info.handle();
    find_code(info, call, || {
        let (mut count, none) = (0, std::ptr::null_mut());
        ask!(
            info,
            ICorProfilerInfo9::GetILToNativeMapping3(start, 0, &mut count, none)
        )?;
        Ok(())
    })
}

fn compiled(mut addresses: Vec<usize>, _: &CallContext<'_>) -> Result<Vec<usize>> {
    // .NET Core 3.1 lists null for a version of the code that is not compiled yet.
    addresses.retain(|address| *address != 0);
    Ok(addresses)
}
