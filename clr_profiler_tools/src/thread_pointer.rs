//! Pointers to the state of a thread: with the initial-exec model where a library that is loaded later can have them, because
//! a call for each look-up costs a tenth of a span, and a quarter of a counted call.

/// The functions `get` and `set` of a pointer that each thread has, null at first. The symbol is one of this macro's alone.
macro_rules! thread_pointer {
    ($symbol:literal, $target:ty) => {
        #[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
        std::arch::global_asm!(
            ".pushsection .tbss,\"awT\",@nobits",
            concat!(".globl ", $symbol),
            concat!(".hidden ", $symbol),
            concat!(".type ", $symbol, ", @object"),
            concat!(".size ", $symbol, ", 8"),
            ".p2align 3",
            concat!($symbol, ":"),
            ".zero 8",
            ".popsection",
        );

        #[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
        #[inline]
        pub(super) fn get() -> *const $target {
            let pointer;
            // SAFETY: reads the 8 bytes of this thread that are reserved above, whose distance from the thread's pointer the linker or
            // the loader has written to the table.
            unsafe {
                std::arch::asm!(
                    concat!("mov {0}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                    "mov {0}, qword ptr fs:[{0}]",
                    out(reg) pointer,
                    options(nostack, readonly, preserves_flags),
                );
            }
            pointer
        }

        #[cfg(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu"))]
        pub(super) fn set(pointer: *const $target) {
            // SAFETY: as above; only this module uses the bytes.
            unsafe {
                std::arch::asm!(
                    concat!("mov {1}, qword ptr [rip + ", $symbol, "@GOTTPOFF]"),
                    "mov qword ptr fs:[{1}], {0}",
                    in(reg) pointer,
                    out(reg) _,
                    options(nostack, preserves_flags),
                );
            }
        }

        #[cfg(not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")))]
        thread_local! {
            static POINTER: std::cell::Cell<*const $target> = const { std::cell::Cell::new(std::ptr::null()) };
        }

        #[cfg(not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")))]
        #[inline]
        pub(super) fn get() -> *const $target {
            POINTER.get()
        }

        #[cfg(not(all(target_arch = "x86_64", target_os = "linux", target_env = "gnu")))]
        pub(super) fn set(pointer: *const $target) {
            POINTER.set(pointer);
        }
    };
}

pub(crate) use thread_pointer;
