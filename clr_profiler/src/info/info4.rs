//! `ICorProfilerInfo4`.

use super::ProfilerInfo;
use super::code::{CodeRange, IlToNative};
use super::code_lookup::find_code;
use super::collectible::{all_code, last, of_living};
use super::enumerate::{FunctionEnum, ThreadEnum};
use super::handle::Sealed;
use crate::error::{Hresult, Result};
use crate::ids::{FunctionId, ModuleId, ObjectId, RejitId};
use crate::native::{Argument, CallContext, pointer};
use clr_profiler_il::token::MethodDef;
use clr_profiler_sys as sys;

table! { ($) __cor_profiler_info4:
    CorProfilerInfo4 = ICorProfilerInfo4 from info;

    /// The managed threads, for an attached profiler.
    fn threads() -> ThreadEnum = [notrigger] EnumThreads(@enumerator)
        fails "The error of the native call, at once or as an item.";

    /// The functions that have native code, with the ReJIT id of each code, for an attached profiler.
    ///
    /// Refused after the program has unloaded a collectible load context: .NET Core 3.1, 8 and 10
    /// then read code that is being freed, and crash. `docs/runtime-faults` has a program that shows it.
    fn jitted_functions2() -> FunctionEnum = EnumJITedFunctions2(@enumerator)
        given _all = all_code()
        fails "The error of the native call, at once or as an item.";

    /// Prepares this thread for calls of the runtime: call it first on a profiler's own threads.
    fn initialize_current_thread() -> () = InitializeCurrentThread() at OWN_THREAD;

    /// Requests a ReJIT of these methods, with IL from
    /// [`get_rejit_parameters`](crate::Profiler::get_rejit_parameters).
    ///
    /// Success means only that the request was accepted: failures of single methods are reported to
    /// [`rejit_error`](crate::Profiler::rejit_error).
    fn request_rejit(methods: &[(ModuleId, MethodDef)]) -> ()
        = RequestReJIT(methods.0.len(), methods.0.as_ptr(), methods.1.as_ptr())
        given _last = last(methods)
        at INITIALIZED_THREAD with ENABLE_REJIT
        fails "Methods of collectible modules; `CORPROF_E_REJIT_NOT_ENABLED` without that event; the \
               error of the native call.";

    /// The function whose native code contains an instruction pointer, and the ReJIT id of that code,
    /// except for dynamic methods.
    ///
    /// [`function_from_ip3`](super::CorProfilerInfo8::function_from_ip3) finds dynamic methods, too.
    fn function_from_ip2(address: usize as pointer) -> (FunctionId, RejitId)
        = GetFunctionFromIP2(address, @function, @rejit) by living
        fails "`E_FAIL` for an address outside the code of methods with metadata.";

    /// The mapping from a function's native code to one version of its IL.
    ///
    /// For several tiers it is that of one of them;
    /// [`il_to_native_mapping3`](super::CorProfilerInfo9::il_to_native_mapping3) returns it for each.
    fn il_to_native_mapping2(function: FunctionId, rejit: RejitId) -> Vec<IlToNative>
        = GetILToNativeMapping2(function, rejit, @[entries]) given _found = found(function, rejit)
        fails "`CORPROF_E_FUNCTION_NOT_COMPILED` or `E_INVALIDARG` before the function is compiled.";

    /// The address ranges of a function's native code for one version of its IL.
    ///
    /// For several tiers they are those of one of them; [`code_info4`](super::CorProfilerInfo9::code_info4)
    /// returns them for each.
    fn code_info3(function: FunctionId, rejit: RejitId) -> Vec<CodeRange>
        = GetCodeInfo3(function, rejit, @[ranges])
        fails "`CORPROF_E_FUNCTION_NOT_COMPILED` before the function is compiled.";

    /// The ReJIT ids for which a function has code; 0 is the original IL.
    fn rejit_ids(function: FunctionId) -> Vec<RejitId> = GetReJITIDs(function, @[ids]);

    /// The size of an object in bytes.
    fn object_size2(object: ObjectId<'_>) -> usize = [in gc] GetObjectSize2(object, @size);
}

/// The calls of `ICorProfilerInfo4`: ReJIT, and sizes of large objects.
#[doc(alias = "ICorProfilerInfo4")]
pub trait CorProfilerInfo4: Sealed {
    __cor_profiler_info4! { calls }

    /// Requests the original IL of these methods, from the next call of each on.
    ///
    /// Returns a status for each method: `S_OK` or the error.
    #[wraps(ICorProfilerInfo4::RequestRevert
        at "a thread of the profiler's own that called \
            [`initialize_current_thread`](Self::initialize_current_thread)."
        with ENABLE_REJIT
        fails "`CORPROF_E_REJIT_NOT_ENABLED` without that event, `E_INVALIDARG` if there are no \
               methods.")]
    fn request_revert(&self, methods: &[(ModuleId, MethodDef)]) -> Result<Vec<Hresult>> {
        last(self, "ICorProfilerInfo4::RequestRevert", methods)?;
        let mut statuses = vec![sys::S_OK; methods.len()];
        self.handle().revert(methods, &mut statuses)?;
        let statuses = statuses.into_iter();
        Ok(statuses.map(|status| Hresult(status.0)).collect())
    }
}

impl CorProfilerInfo4 for ProfilerInfo {}

pub(super) fn living(
    (function, rejit): (FunctionId, RejitId),
    context: &CallContext<'_>,
) -> Result<(FunctionId, RejitId)> {
    of_living(context, function)?;
    Ok((function, rejit))
}

fn found(
    info: &(impl Sealed + ?Sized),
    call: &'static str,
    function: FunctionId,
    rejit: RejitId,
) -> Result<()> {
    let info = info.handle();
    find_code(info, call, || {
        let (context, mut count) = (CallContext::of_info(call, info), 0);
        let none = std::ptr::null_mut();
        ask!(
            info,
            ICorProfilerInfo4::GetILToNativeMapping2(
                function.to_native(&context)?,
                rejit.to_native(&context)?,
                0,
                &mut count,
                none
            )
        )?;
        Ok(())
    })
}

/// Native calls whose public wrappers do more than the call.
impl ProfilerInfo {
    calls! { ProfilerInfo = ICorProfilerInfo4 from info;
    fn revert(methods: &[(ModuleId, MethodDef)], statuses: &mut [sys::HRESULT]) -> ()
        = RequestRevert(
            methods.0.len(), methods.0.as_ptr(), methods.1.as_ptr(), statuses.as_mut_ptr());
    }
}
