//! `ICorProfilerInfo4`.

use super::ProfilerInfo;
use super::code::{CodeRange, IlToNative, code_ranges, il_to_native};
use super::enumerate::{FunctionEnum, ThreadEnum};
use super::handle::Sealed;
use crate::error::{Hresult, Result};
use crate::ids::{FunctionId, ModuleId, ObjectId, RejitId};
use crate::native::read_array;
use clr_profiler_il::token::MethodDef;
use clr_profiler_sys as sys;

/// What `ICorProfilerInfo4` offers: ReJIT, and sizes of large objects.
#[doc(alias = "ICorProfilerInfo4")]
pub trait CorProfilerInfo4: Sealed {
    /// The managed threads, for a profiler that came late.
    ///
    /// Wraps `ICorProfilerInfo4::EnumThreads`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers, at once or as an item.
    #[doc(alias = "EnumThreads")]
    fn threads(&self) -> Result<ThreadEnum> {
        let mut enumerator = None;
        let info = self.handle();
        ask!(steady info, ICorProfilerInfo4::EnumThreads(&mut enumerator))?;
        Ok(ThreadEnum::new(enumerator))
    }

    /// The functions that have native code, with the ReJIT id of each code, for a profiler that
    /// came late.
    ///
    /// Not in a program that unloads collectible load contexts: the runtimes (.NET Core 3.1, 8 and 10
    /// alike) then read code that is just being freed, and crash. `docs/runtime-faults` has a program
    /// that shows it.
    ///
    /// Wraps `ICorProfilerInfo4::EnumJITedFunctions2`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers, at once or as an item.
    #[doc(alias = "EnumJITedFunctions2")]
    fn jitted_functions2(&self) -> Result<FunctionEnum> {
        let mut enumerator = None;
        let info = self.handle();
        ask!(
            info,
            ICorProfilerInfo4::EnumJITedFunctions2(&mut enumerator)
        )?;
        Ok(FunctionEnum::new(enumerator))
    }

    /// Makes this thread one that may call the runtime: do it first on a profiler's own threads.
    ///
    /// Wraps `ICorProfilerInfo4::InitializeCurrentThread`. **Context**: a thread of the profiler's
    /// own.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "InitializeCurrentThread")]
    fn initialize_current_thread(&self) -> Result<()> {
        let info = self.handle();
        ask!(info, ICorProfilerInfo4::InitializeCurrentThread())?;
        Ok(())
    }

    /// Asks for these methods to be compiled again, with IL from
    /// [`get_rejit_parameters`](crate::Profiler::get_rejit_parameters).
    ///
    /// Success says only that the request was taken: failures of single methods arrive in
    /// [`rejit_error`](crate::Profiler::rejit_error).
    ///
    /// Wraps `ICorProfilerInfo4::RequestReJIT`. **Context**: a thread of the profiler's own that
    /// called [`initialize_current_thread`](Self::initialize_current_thread). **Events**:
    /// [`ENABLE_REJIT`](crate::EventMask::ENABLE_REJIT).
    ///
    /// # Errors
    ///
    /// `CORPROF_E_REJIT_NOT_ENABLED` without that event, and what the runtime answers.
    #[doc(alias = "RequestReJIT")]
    fn request_rejit(&self, methods: &[(ModuleId, MethodDef)]) -> Result<()> {
        let modules: Vec<usize> = methods.iter().map(|(module, _)| module.raw()).collect();
        let tokens: Vec<u32> = methods.iter().map(|(_, method)| method.raw()).collect();
        let info = self.handle();
        ask!(
            info,
            ICorProfilerInfo4::RequestReJIT(
                methods.len() as u32,
                modules.as_ptr(),
                tokens.as_ptr(),
            )
        )?;
        Ok(())
    }

    /// Asks for these methods to get their original IL back, from the next call of each on.
    ///
    /// Gives what the runtime says of each: `S_OK`, or why not.
    ///
    /// Wraps `ICorProfilerInfo4::RequestRevert`. **Context**: a thread of the profiler's own that
    /// called [`initialize_current_thread`](Self::initialize_current_thread). **Events**:
    /// [`ENABLE_REJIT`](crate::EventMask::ENABLE_REJIT).
    ///
    /// # Errors
    ///
    /// `CORPROF_E_REJIT_NOT_ENABLED` without that event, `E_INVALIDARG` for no method at all.
    #[doc(alias = "RequestRevert")]
    fn request_revert(&self, methods: &[(ModuleId, MethodDef)]) -> Result<Vec<Hresult>> {
        let modules: Vec<usize> = methods.iter().map(|(module, _)| module.raw()).collect();
        let tokens: Vec<u32> = methods.iter().map(|(_, method)| method.raw()).collect();
        let mut statuses = vec![sys::S_OK; methods.len()];
        let info = self.handle();
        ask!(
            info,
            ICorProfilerInfo4::RequestRevert(
                methods.len() as u32,
                modules.as_ptr(),
                tokens.as_ptr(),
                statuses.as_mut_ptr(),
            )
        )?;
        Ok(statuses
            .into_iter()
            .map(|status| Hresult(status.0))
            .collect())
    }

    /// The function whose native code an instruction pointer is in, and the ReJIT id of that code;
    /// not for dynamic methods.
    ///
    /// [`function_from_ip3`](super::CorProfilerInfo8::function_from_ip3) knows those too.
    ///
    /// Wraps `ICorProfilerInfo4::GetFunctionFromIP2`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `E_FAIL` where it is in no code of a method with metadata.
    #[doc(alias = "GetFunctionFromIP2")]
    fn function_from_ip2(&self, address: usize) -> Result<(FunctionId, RejitId)> {
        let (mut function, mut rejit) = (0, 0);
        let info = self.handle();
        ask!(
            info,
            ICorProfilerInfo4::GetFunctionFromIP2(
                std::ptr::without_provenance(address),
                &mut function,
                &mut rejit,
            )
        )?;
        Ok((
            FunctionId::from_runtime(function),
            RejitId::from_runtime(rejit),
        ))
    }

    /// Which IL the native code of a function came from, of one of its ILs.
    ///
    /// With several tiers it is that of one of them:
    /// [`il_to_native_mapping3`](super::CorProfilerInfo9::il_to_native_mapping3) tells for each.
    ///
    /// Wraps `ICorProfilerInfo4::GetILToNativeMapping2`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CORPROF_E_FUNCTION_NOT_COMPILED` or `E_INVALIDARG` where there is no code yet.
    #[doc(alias = "GetILToNativeMapping2")]
    fn il_to_native_mapping2(
        &self,
        function: FunctionId,
        rejit: RejitId,
    ) -> Result<Vec<IlToNative>> {
        let info = self.handle();
        let entries = read_array(|capacity, count, buffer| {
            ask!(
                info,
                ICorProfilerInfo4::GetILToNativeMapping2(
                    function.raw(),
                    rejit.raw(),
                    capacity,
                    count,
                    buffer,
                )
            )
        })?;
        Ok(il_to_native(entries))
    }

    /// Where the native code of a function is, of one of its ILs.
    ///
    /// With several tiers it is that of one of them:
    /// [`code_info4`](super::CorProfilerInfo9::code_info4) tells for each.
    ///
    /// Wraps `ICorProfilerInfo4::GetCodeInfo3`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// `CORPROF_E_FUNCTION_NOT_COMPILED` where there is no code yet.
    #[doc(alias = "GetCodeInfo3")]
    fn code_info3(&self, function: FunctionId, rejit: RejitId) -> Result<Vec<CodeRange>> {
        let info = self.handle();
        let ranges = read_array(|capacity, count, buffer| {
            ask!(
                info,
                ICorProfilerInfo4::GetCodeInfo3(
                    function.raw(),
                    rejit.raw(),
                    capacity,
                    count,
                    buffer,
                )
            )
        })?;
        Ok(code_ranges(ranges))
    }

    /// The ReJIT ids that a function has code for; 0 is the original IL.
    ///
    /// Wraps `ICorProfilerInfo4::GetReJITIDs`. **Context**: not during a collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "GetReJITIDs")]
    fn rejit_ids(&self, function: FunctionId) -> Result<Vec<RejitId>> {
        let info = self.handle();
        let ids = read_array(|capacity, count, buffer| {
            ask!(
                info,
                ICorProfilerInfo4::GetReJITIDs(function.raw(), capacity, count, buffer)
            )
        })?;
        Ok(ids.into_iter().map(RejitId::from_runtime).collect())
    }

    /// The size of an object in bytes.
    ///
    /// Wraps `ICorProfilerInfo4::GetObjectSize2`. **Context**: any callback, also during a
    /// collection.
    ///
    /// # Errors
    ///
    /// What the runtime answers.
    #[doc(alias = "GetObjectSize2")]
    fn object_size2(&self, object: ObjectId<'_>) -> Result<usize> {
        let mut size = 0;
        let info = self.handle();
        let object = info.place_of("ICorProfilerInfo4::GetObjectSize2", object)?;
        ask!(in gc info, ICorProfilerInfo4::GetObjectSize2(object, &mut size))?;
        Ok(size)
    }
}

impl CorProfilerInfo4 for ProfilerInfo {}
