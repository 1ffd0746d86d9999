//! Enter, leave and tailcall hooks of all generations, and the mapper of their ids.

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

/// Defines the setters of hooks. A row has the hooks, each of which is optional, and the native method.
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

/// Defines the setters that the owner of the hooks uses.
macro_rules! setters_of_owner {
    ($(
        $name:ident($enter:ident, $leave:ident, $tailcall:ident) = $interface:ident::$method:ident;
    )*) => {$(
        /// Sets hooks for their owner.
        ///
        /// # Safety
        ///
        /// As for the method of [`CorProfilerInfoHooks`] that wraps the same native method.
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

/// The safety precondition of queries in hooks with info.
macro_rules! in_hook {
    ($kind:literal) => {
        concat!(
            "This is called in ", $kind, " hook set by ",
            "[`set_enter_leave_function_hooks3_with_info`](Self::set_enter_leave_function_hooks3_with_info), ",
            "on its thread, with the function that the hook is called for and its argument `elt`. ",
            "The result is not used after the hook has returned.",
        )
    };
}

/// Enter, leave and tailcall hooks: functions that compiled code calls directly.
///
/// A process has one set of hooks and one mapper: the last call of a setter wins. Set them in `initialize`.
/// The hooks are called if [`MONITOR_ENTERLEAVE`](crate::EventMask::MONITOR_ENTERLEAVE) is set.
///
/// Hooks and mapper have one owner. If [`Setup::hooks`](crate::Setup::hooks) or
/// [`Setup::hooks_with_info`](crate::Setup::hooks_with_info) set them, all setters of this trait are
/// refused; after a setter of this trait, those of `Setup` are. Hooks that are set here receive the number
/// that the mapper returned. A hook that uses it as more than a number relies on the mapper, so its author
/// sets the mapper first.
///
/// A hook runs on the thread that runs the function, as part of it. It must not panic or block, and no
/// garbage can be collected while it runs.
pub trait CorProfilerInfoHooks: Sealed {
    setters! {
    /// Sets the hooks of the first generation, which receive only the function.
    ///
    /// # Safety
    ///
    /// The hooks do not unwind, and are sound to call on entry to or exit from any managed function, on any
    /// thread, with any number that the mapper returns, until the process ends. On 64-bit systems the
    /// runtime calls them like C functions; on x86 they must preserve all registers.
    #[wraps(ICorProfilerInfo::SetEnterLeaveFunctionHooks at INITIALIZE with MONITOR_ENTERLEAVE
        fails "`Setup` has set the hooks; `CORPROF_E_CALL_ONLY_FROM_INIT` outside `initialize`; \
               `E_INVALIDARG` for a notification profiler, or if no hook is given.")]
    set_enter_leave_function_hooks(FunctionEnter, FunctionLeave, FunctionTailcall)
        = ICorProfilerInfo::SetEnterLeaveFunctionHooks;

    /// Sets the hooks of the second generation, which can receive frame, arguments and returned value.
    ///
    /// # Safety
    ///
    /// As for [`set_enter_leave_function_hooks`](Self::set_enter_leave_function_hooks).
    #[wraps(ICorProfilerInfo2::SetEnterLeaveFunctionHooks2 at INITIALIZE
        with [MONITOR_ENTERLEAVE "; for frame, arguments and returned value also "
              ENABLE_FRAME_INFO ", " ENABLE_FUNCTION_ARGS ", " ENABLE_FUNCTION_RETVAL "."]
        fails "As for [`set_enter_leave_function_hooks`](Self::set_enter_leave_function_hooks).")]
    #[deprecated = "use `set_enter_leave_function_hooks3_with_info`"]
    set_enter_leave_function_hooks2(FunctionEnter2, FunctionLeave2, FunctionTailcall2)
        = ICorProfilerInfo2::SetEnterLeaveFunctionHooks2;

    /// Sets the fast hooks of the third generation, which receive only an id.
    ///
    /// Compiled code calls them without saving registers, so they are written in assembly and preserve all
    /// registers. On Linux x64 the enter hook receives the id in `r14`, the leave and tailcall hooks in
    /// `rdi`.
    ///
    /// # Safety
    ///
    /// The hooks do not unwind, preserve every register that the platform's profiling hooks preserve
    /// (including those of arguments and of the returned value), and are sound to call on entry to or exit
    /// from any managed function, on any thread, with any number that the mapper returns, until the process
    /// ends.
    #[wraps(ICorProfilerInfo3::SetEnterLeaveFunctionHooks3 at INITIALIZE
        with [MONITOR_ENTERLEAVE ", and none of the events that give hooks more than the id: the \
                  runtime does not call fast hooks with them."]
        fails "As for [`set_enter_leave_function_hooks`](Self::set_enter_leave_function_hooks).")]
    set_enter_leave_function_hooks3(FunctionEnter3, FunctionLeave3, FunctionTailcall3)
        = ICorProfilerInfo3::SetEnterLeaveFunctionHooks3;

    /// Sets the hooks of the third generation that can query frame, arguments and returned value.
    ///
    /// The runtime saves the registers and calls the hooks like C functions.
    ///
    /// On .NET Core 3.1 on x86-64 other than Windows, enter hooks of this kind and of the first and second
    /// generation change the program: the runtime restores only two of the arguments in floating-point
    /// registers, and [`function_enter3_info`](Self::function_enter3_info) overwrites these if the function
    /// takes structures. [`Setup::hooks_with_info`](crate::Setup::hooks_with_info) restores the arguments.
    ///
    /// # Safety
    ///
    /// The hooks do not unwind, and are sound to call on entry to or exit from any managed function, on any
    /// thread, with any number that the mapper returns, until the process ends.
    #[wraps(ICorProfilerInfo3::SetEnterLeaveFunctionHooks3WithInfo at INITIALIZE
        with [MONITOR_ENTERLEAVE ", and at least one of "
              ENABLE_FRAME_INFO ", " ENABLE_FUNCTION_ARGS " and " ENABLE_FUNCTION_RETVAL ". The runtime must have received them \
                  before this call, although `Setup` normally sets events after `initialize`: first call \
                  [`info.set_event_mask2(setup.events())`](crate::info::CorProfilerInfo5::set_event_mask2)."]
        fails "`CORPROF_E_INCONSISTENT_WITH_FLAGS` before those events are set, and as for \
               [`set_enter_leave_function_hooks`](Self::set_enter_leave_function_hooks).")]
    set_enter_leave_function_hooks3_with_info(FunctionEnter3WithInfo, FunctionLeave3WithInfo, FunctionTailcall3WithInfo)
        = ICorProfilerInfo3::SetEnterLeaveFunctionHooks3WithInfo;
    }

    /// Sets the mapper, which selects the functions that have hooks, and the value that the hooks receive.
    ///
    /// It is called once for each function, when that is compiled; if it panics, the function has no
    /// hooks. The closure must capture nothing, because the runtime stores no data for it;
    /// [`set_function_id_mapper2`](Self::set_function_id_mapper2) takes any closure.
    #[wraps(ICorProfilerInfo::SetFunctionIDMapper at INITIALIZE
        fails "`Setup` has set the hooks; `CORPROF_E_UNSUPPORTED_FOR_ATTACHING_PROFILER` in an \
               attached profiler; `E_INVALIDARG` for a notification profiler.")]
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

    /// Sets the mapper, which selects the functions that have hooks, and the value that the hooks receive.
    ///
    /// It is called once for each function, when that is compiled; if it panics, the function has no
    /// hooks. It is never dropped: code that calls the hooks lives as long as the process.
    #[wraps(ICorProfilerInfo3::SetFunctionIDMapper2 at INITIALIZE
        fails "`Setup` has set the hooks; `CORPROF_E_UNSUPPORTED_FOR_ATTACHING_PROFILER` in an \
               attached profiler; `E_INVALIDARG` for a notification profiler.")]
    fn set_function_id_mapper2<F>(&self, mapper: F) -> Result<()>
    where
        F: Fn(FunctionId) -> Hooked + Send + Sync + 'static,
    {
        owner::by_author("ICorProfilerInfo3::SetFunctionIDMapper2", || {
            set_mapper2(self.handle(), mapper)
        })
    }

    /// The frame and arguments of a call, in its enter hook.
    ///
    /// `buffer` receives the addresses of the arguments, which are in the memory of the call, and is
    /// reusable.
    ///
    /// # Safety
    ///
    #[doc = in_hook!("an enter")]
    #[wraps(ICorProfilerInfo3::GetFunctionEnter3Info at "the hook."
        with [ENABLE_FRAME_INFO " for the frame, " ENABLE_FUNCTION_ARGS " for the arguments."]
        fails "`CORPROF_E_INCONSISTENT_WITH_FLAGS` unless those hooks are in use.")]
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
                notrigger info,
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

    /// The frame and returned value of a call, in its leave hook.
    ///
    /// # Safety
    ///
    #[doc = in_hook!("a leave")]
    ///
    /// # Structures
    ///
    /// On .NET Core 3.1, except for Windows x64, the range of a structure of up to 16 bytes is not the
    /// structure, unless that is in one integer register: the range is where the runtime saves that register.
    #[wraps(ICorProfilerInfo3::GetFunctionLeave3Info at "the hook."
        with [ENABLE_FRAME_INFO " for the frame, " ENABLE_FUNCTION_RETVAL " for the value."]
        fails "`CORPROF_E_INCONSISTENT_WITH_FLAGS` unless those hooks are in use.")]
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
            notrigger info,
            ICorProfilerInfo3::GetFunctionLeave3Info(
                function.raw(), elt.raw(), &mut frame, &mut value,
            )
        )?;
        Ok(LeaveInfo {
            frame: FrameInfo::optional(frame),
            value: MemoryRange::optional(value),
        })
    }

    /// The frame of a function that makes a tail call, in its tailcall hook.
    ///
    /// # Safety
    ///
    #[doc = in_hook!("a tailcall")]
    #[wraps(ICorProfilerInfo3::GetFunctionTailcall3Info at "the hook." with ENABLE_FRAME_INFO
        fails "`CORPROF_E_INCONSISTENT_WITH_FLAGS` unless those hooks are in use.")]
    unsafe fn function_tailcall3_info<'hook>(
        &self,
        function: FunctionId,
        elt: EltInfo,
    ) -> Result<Option<FrameInfo<'hook>>> {
        let info = self.handle();
        let mut frame = 0;
        ask!(
            notrigger info,
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

/// Sets the mapper for the owner of the hooks.
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
        // SAFETY: the runtime did not accept it.
        unsafe { data.take_back() };
        return Err(error);
    }
    Ok(())
}
