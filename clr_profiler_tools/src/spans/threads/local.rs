//! The thread-local pointer to the state of a thread: with the initial-exec model where a library that is loaded later can have it, because
//! a call for each look-up costs a tenth of a span.

pub(super) use pointer::{get, set};

#[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
mod pointer {
    use super::super::state::Thread;

    std::arch::global_asm!(
        ".pushsection .tbss,\"awT\",@nobits",
        ".globl clr_profiler_tools_spans_thread",
        ".hidden clr_profiler_tools_spans_thread",
        ".type clr_profiler_tools_spans_thread, @object",
        ".size clr_profiler_tools_spans_thread, 8",
        ".p2align 3",
        "clr_profiler_tools_spans_thread:",
        ".zero 8",
        ".popsection",
    );

    #[inline]
    pub(in super::super) fn get() -> *const Thread {
        let thread;
        // SAFETY: reads the 8 bytes of this thread that are reserved above, whose distance from the thread's pointer the linker or
        // the loader has written to the table.
        unsafe {
            std::arch::asm!(
                "mov {0}, qword ptr [rip + clr_profiler_tools_spans_thread@GOTTPOFF]",
                "mov {0}, qword ptr fs:[{0}]",
                out(reg) thread,
                options(nostack, readonly, preserves_flags),
            );
        }
        thread
    }

    pub(in super::super) fn set(thread: *const Thread) {
        // SAFETY: as above; only this module uses the bytes.
        unsafe {
            std::arch::asm!(
                "mov {1}, qword ptr [rip + clr_profiler_tools_spans_thread@GOTTPOFF]",
                "mov qword ptr fs:[{1}], {0}",
                in(reg) thread,
                out(reg) _,
                options(nostack, preserves_flags),
            );
        }
    }
}

#[cfg(not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")))]
mod pointer {
    use std::cell::Cell;
    use std::ptr;

    use super::super::state::Thread;

    thread_local! {
        static THREAD: Cell<*const Thread> = const { Cell::new(ptr::null()) };
    }

    #[inline]
    pub(in super::super) fn get() -> *const Thread {
        THREAD.get()
    }

    pub(in super::super) fn set(thread: *const Thread) {
        THREAD.set(thread);
    }
}
