//! Enter, leave and tailcall hooks, of all generations, and the mapper of their ids.

mod frame;
mod mapper;
mod owner;

use super::handle::Sealed;
use super::{FrameInfo, ProfilerInfo};
use crate::error::Result;
use crate::ids::FunctionId;
use clr_profiler_sys as sys;

pub use frame::{ArgumentBuffer, EltInfo, EnterInfo, LeaveInfo, MemoryRange};
pub use mapper::Hooked;
pub(crate) use owner::claim_hooks;
pub use sys::{
    FunctionEnter, FunctionEnter2, FunctionEnter3, FunctionEnter3WithInfo, FunctionIDOrClientID,
    FunctionLeave, FunctionLeave2, FunctionLeave3, FunctionLeave3WithInfo, FunctionTailcall,
    FunctionTailcall2, FunctionTailcall3, FunctionTailcall3WithInfo,
};

/// The setters of hooks, one a row: what each takes, and the native method. A hook may be left out.
macro_rules! setters {
    ($(
        $(#[$attribute:meta])*
        $name:ident($enter:ident, $leave:ident, $tailcall:ident) = $interface:ident::$method:ident;
    )*) => {$(
        $(#[$attribute])*
        unsafe fn $name(
            &self,
            enter: Option<$enter>,
            leave: Option<$leave>,
            tailcall: Option<$tailcall>,
        ) -> Result<()> {
            let info = self.handle();
            owner::by_author(concat!(stringify!($interface), "::", stringify!($method)), || {
                ask!(info, $interface::$method(enter, leave, tailcall)).map(drop)
            })
        }
    )*};
}

/// The same for the owner of the hooks.
macro_rules! setters_of_owner {
    ($(
        $name:ident($enter:ident, $leave:ident, $tailcall:ident) = $interface:ident::$method:ident;
    )*) => {$(
        /// Sets hooks, for whoever owns the hooks.
        ///
        /// # Safety
        ///
        /// As for the method of [`CorProfilerInfoHooks`] that wraps the same.
        pub(crate) unsafe fn $name(
            info: &ProfilerInfo,
            enter: Option<$enter>,
            leave: Option<$leave>,
            tailcall: Option<$tailcall>,
        ) -> Result<()> {
            ask!(info, $interface::$method(enter, leave, tailcall)).map(drop)
        }
    )*};
}

/// What makes a question of a hook with info safe.
macro_rules! in_hook {
    ($kind:literal) => {
        concat!(
            "This is called in ", $kind, " hook set by ",
            "[`set_enter_leave_function_hooks3_with_info`](Self::set_enter_leave_function_hooks3_with_info), ",
            "on its thread, with the function that the hook is called for and what it got as `elt`. ",
            "The answer is not used when the hook has returned.",
        )
    };
}

/// Enter, leave and tailcall hooks: functions that compiled code calls by itself.
///
/// A process has one set of hooks and one mapper: of several calls the last one wins. They are set
/// in `initialize`; the hooks are called where
/// [`MONITOR_ENTERLEAVE`](crate::EventMask::MONITOR_ENTERLEAVE) was asked for.
///
/// Hooks and mapper have one owner. Where [`Setup::hooks`](crate::Setup::hooks) or
/// [`Setup::hooks_with_info`](crate::Setup::hooks_with_info) set them, all setters of this trait are
/// refused; after a setter of this trait, those of `Setup` are. Hooks that are set here get what the
/// mapper answers: a hook that takes it for more than a number relies on the mapper that its own
/// author sets, before the hooks.
///
/// A hook runs on the thread that runs the function, as part of it: it must not panic, must not
/// block, and for as long as it runs no garbage can be collected.
pub trait CorProfilerInfoHooks: Sealed {
    setters! {
    /// Sets the hooks of the first generation, which get the function and nothing else.
    ///
    /// Deprecated: [`set_enter_leave_function_hooks3`](Self::set_enter_leave_function_hooks3) took
    /// their place.
    ///
    /// # Safety
    ///
    /// Each hook does not unwind, and is sound to be called at the beginning or end of any managed
    /// function, on any thread, with whatever number the mapper answers, until the process ends. On
    /// 64-bit systems the runtime calls them like a C function; on x86 they must keep all registers.
    #[wraps(ICorProfilerInfo::SetEnterLeaveFunctionHooks at INITIALIZE with MONITOR_ENTERLEAVE
        fails "Where `Setup` has set the hooks; `CORPROF_E_CALL_ONLY_FROM_INIT` elsewhere than \
               in `initialize`, `E_INVALIDARG` for a notification profiler, or where there is \
               no hook at all.")]
    set_enter_leave_function_hooks(FunctionEnter, FunctionLeave, FunctionTailcall)
        = ICorProfilerInfo::SetEnterLeaveFunctionHooks;

    /// Sets the hooks of the second generation, which can get frame, arguments and returned value.
    ///
    /// Deprecated: [`set_enter_leave_function_hooks3_with_info`](Self::set_enter_leave_function_hooks3_with_info)
    /// took their place.
    ///
    /// # Safety
    ///
    /// As for [`set_enter_leave_function_hooks`](Self::set_enter_leave_function_hooks).
    #[wraps(ICorProfilerInfo2::SetEnterLeaveFunctionHooks2 at INITIALIZE
        with [MONITOR_ENTERLEAVE ", and for more than the function "
              ENABLE_FRAME_INFO ", " ENABLE_FUNCTION_ARGS ", " ENABLE_FUNCTION_RETVAL "."]
        fails "As for [`set_enter_leave_function_hooks`](Self::set_enter_leave_function_hooks).")]
    set_enter_leave_function_hooks2(FunctionEnter2, FunctionLeave2, FunctionTailcall2)
        = ICorProfilerInfo2::SetEnterLeaveFunctionHooks2;

    /// Sets the fast hooks of the third generation, which get an id and nothing else.
    ///
    /// Compiled code calls them without any preparation: they are written in assembly and keep all
    /// registers. On Linux x64 the enter hook finds the id in `r14`, the leave and tailcall hooks in
    /// `rdi`.
    ///
    /// # Safety
    ///
    /// Each hook does not unwind, keeps every register that the platform's profiling hooks keep
    /// (those of arguments and of the returned value included), and is sound to be called at the
    /// beginning or end of any managed function, on any thread, with whatever number the mapper
    /// answers, until the process ends.
    #[wraps(ICorProfilerInfo3::SetEnterLeaveFunctionHooks3 at INITIALIZE
        with [MONITOR_ENTERLEAVE ", and none of those that have hooks get more than the id: with \
                  them the hooks are not called."]
        fails "As for [`set_enter_leave_function_hooks`](Self::set_enter_leave_function_hooks).")]
    set_enter_leave_function_hooks3(FunctionEnter3, FunctionLeave3, FunctionTailcall3)
        = ICorProfilerInfo3::SetEnterLeaveFunctionHooks3;

    /// Sets the hooks of the third generation that can ask for frame, arguments and returned value.
    ///
    /// The runtime saves the registers and calls them like C functions.
    ///
    /// On .NET Core 3.1 on x86-64 other than Windows, enter hooks of this kind and of the first and second
    /// generation change the program: of the arguments in floating-point registers the runtime restores
    /// two alone, and [`function_enter3_info`](Self::function_enter3_info) overwrites these where the
    /// function takes structures. [`Setup::hooks_with_info`](crate::Setup::hooks_with_info) puts the
    /// arguments back.
    ///
    /// # Safety
    ///
    /// Each hook does not unwind, and is sound to be called at the beginning or end of any managed
    /// function, on any thread, with whatever number the mapper answers, until the process ends.
    #[wraps(ICorProfilerInfo3::SetEnterLeaveFunctionHooks3WithInfo at INITIALIZE
        with [MONITOR_ENTERLEAVE ", and at least one of "
              ENABLE_FRAME_INFO ", " ENABLE_FUNCTION_ARGS " and " ENABLE_FUNCTION_RETVAL ". The runtime has to know them already, which otherwise \
                  comes after `initialize`: call \
                  [`info.set_event_mask2(setup.events())`](crate::info::CorProfilerInfo5::set_event_mask2) \
                  before."]
        fails "`CORPROF_E_INCONSISTENT_WITH_FLAGS` before those events were set, and as for \
               [`set_enter_leave_function_hooks`](Self::set_enter_leave_function_hooks).")]
    set_enter_leave_function_hooks3_with_info(FunctionEnter3WithInfo, FunctionLeave3WithInfo, FunctionTailcall3WithInfo)
        = ICorProfilerInfo3::SetEnterLeaveFunctionHooks3WithInfo;
    }

    /// Sets the function that says which functions have hooks, and what the hooks get.
    ///
    /// It is asked once for each function, when that is compiled; where it panics, the function has
    /// no hooks. A closure is taken that captures nothing, since the runtime has no place for it:
    /// [`set_function_id_mapper2`](Self::set_function_id_mapper2) takes any.
    #[wraps(ICorProfilerInfo::SetFunctionIDMapper at INITIALIZE
        fails "Where `Setup` has set the hooks; `CORPROF_E_UNSUPPORTED_FOR_ATTACHING_PROFILER` \
               in a profiler that was attached, `E_INVALIDARG` for a notification profiler.")]
    fn set_function_id_mapper<F>(&self, mapper: F) -> Result<()>
    where
        F: Fn(FunctionId) -> Hooked + Copy + Send + Sync + 'static,
    {
        let native = mapper::without_data(mapper);
        let info = self.handle();
        owner::by_author("ICorProfilerInfo::SetFunctionIDMapper", || {
            ask!(info, ICorProfilerInfo::SetFunctionIDMapper(Some(native))).map(drop)
        })
    }

    /// Sets the function that says which functions have hooks, and what the hooks get.
    ///
    /// It is asked once for each function, when that is compiled; where it panics, the function has
    /// no hooks. It is never dropped: code that calls the hooks lives as long as the process.
    #[wraps(ICorProfilerInfo3::SetFunctionIDMapper2 at INITIALIZE
        fails "Where `Setup` has set the hooks; `CORPROF_E_UNSUPPORTED_FOR_ATTACHING_PROFILER` \
               in a profiler that was attached, `E_INVALIDARG` for a notification profiler.")]
    fn set_function_id_mapper2<F>(&self, mapper: F) -> Result<()>
    where
        F: Fn(FunctionId) -> Hooked + Send + Sync + 'static,
    {
        owner::by_author("ICorProfilerInfo3::SetFunctionIDMapper2", || {
            set_mapper2(self.handle(), mapper)
        })
    }

    /// Frame and arguments of a call, in its enter hook.
    ///
    /// The arguments are in memory that is the call's; `buffer` takes their places and can be used
    /// again and again.
    ///
    /// # Safety
    ///
    #[doc = in_hook!("an enter")]
    #[wraps(ICorProfilerInfo3::GetFunctionEnter3Info at "the hook."
        with [ENABLE_FRAME_INFO " for the frame, " ENABLE_FUNCTION_ARGS " for the arguments."]
        fails "`CORPROF_E_INCONSISTENT_WITH_FLAGS` where those hooks are not in use.")]
    unsafe fn function_enter3_info<'hook>(
        &self,
        function: FunctionId,
        elt: EltInfo,
        buffer: &'hook mut ArgumentBuffer,
    ) -> Result<EnterInfo<'hook>> {
        let info = self.handle();
        let mut frame = 0;
        let ranges = buffer.fill(|size, arguments| {
            ask!(
                steady info,
                ICorProfilerInfo3::GetFunctionEnter3Info(
                    function.raw(), elt.raw(), &mut frame, size, arguments,
                )
            )
        })?;
        Ok(EnterInfo {
            frame: FrameInfo::optional(frame),
            arguments: ranges,
        })
    }

    /// Frame and returned value of a call, in its leave hook.
    ///
    /// # Safety
    ///
    #[doc = in_hook!("a leave")]
    ///
    /// # Structures
    ///
    /// On .NET Core 3.1 the value of a structure of up to 16 bytes is not the structure, unless it is
    /// in one integer register: the range is where that is saved, whatever else there is.
    #[wraps(ICorProfilerInfo3::GetFunctionLeave3Info at "the hook."
        with [ENABLE_FRAME_INFO " for the frame, " ENABLE_FUNCTION_RETVAL " for the value."]
        fails "`CORPROF_E_INCONSISTENT_WITH_FLAGS` where those hooks are not in use.")]
    unsafe fn function_leave3_info<'hook>(
        &self,
        function: FunctionId,
        elt: EltInfo,
    ) -> Result<LeaveInfo<'hook>> {
        let info = self.handle();
        let mut frame = 0;
        let mut value = sys::COR_PRF_FUNCTION_ARGUMENT_RANGE {
            startAddress: 0,
            length: 0,
        };
        ask!(
            steady info,
            ICorProfilerInfo3::GetFunctionLeave3Info(
                function.raw(), elt.raw(), &mut frame, &mut value,
            )
        )?;
        Ok(LeaveInfo {
            frame: FrameInfo::optional(frame),
            value: MemoryRange::optional(value),
        })
    }

    /// The frame of a function that ends in a tail call, in its tailcall hook.
    ///
    /// # Safety
    ///
    #[doc = in_hook!("a tailcall")]
    #[wraps(ICorProfilerInfo3::GetFunctionTailcall3Info at "the hook." with ENABLE_FRAME_INFO
        fails "`CORPROF_E_INCONSISTENT_WITH_FLAGS` where those hooks are not in use.")]
    unsafe fn function_tailcall3_info<'hook>(
        &self,
        function: FunctionId,
        elt: EltInfo,
    ) -> Result<Option<FrameInfo<'hook>>> {
        let info = self.handle();
        let mut frame = 0;
        ask!(
            steady info,
            ICorProfilerInfo3::GetFunctionTailcall3Info(function.raw(), elt.raw(), &mut frame)
        )?;
        Ok(FrameInfo::optional(frame))
    }
}

impl CorProfilerInfoHooks for ProfilerInfo {}

setters_of_owner! {
    set_hooks3(FunctionEnter3, FunctionLeave3, FunctionTailcall3)
        = ICorProfilerInfo3::SetEnterLeaveFunctionHooks3;
    set_hooks3_with_info(FunctionEnter3WithInfo, FunctionLeave3WithInfo, FunctionTailcall3WithInfo)
        = ICorProfilerInfo3::SetEnterLeaveFunctionHooks3WithInfo;
}

/// Sets the mapper, for whoever owns the hooks.
pub(crate) fn set_mapper2<F>(info: &ProfilerInfo, mapper: F) -> Result<()>
where
    F: Fn(FunctionId) -> Hooked + Send + Sync + 'static,
{
    let (native, data) = mapper::with_data(mapper);
    let set = ask!(
        info,
        ICorProfilerInfo3::SetFunctionIDMapper2(Some(native), data.as_ptr())
    );
    if let Err(error) = set {
        // SAFETY: the runtime did not take it.
        unsafe { data.take_back() };
        return Err(error);
    }
    Ok(())
}
