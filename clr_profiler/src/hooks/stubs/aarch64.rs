//! 64-bit ARM. Seen to work under qemu, on Linux.
//!
//! The client id of the function is in `x10` on enter, leave and tailcall.

use core::arch::naked_asm;

use crate::hooks::fast::{CallHooks, entered, left, tail_called};
use crate::info::hooks::FunctionIDOrClientID;

/// Preserves the registers of arguments and returned values (`x0` to `x8`, `q0` to `q7`), and calls
/// `$function`.
macro_rules! keep_arguments {
    ($function:path) => {
        naked_asm!(
            ".cfi_startproc",
            "stp x29, x30, [sp, #-224]!",
            ".cfi_def_cfa_offset 224",
            ".cfi_offset w29, -224",
            ".cfi_offset w30, -216",
            "mov x29, sp",
            "stp x0, x1, [sp, #16]",
            "stp x2, x3, [sp, #32]",
            "stp x4, x5, [sp, #48]",
            "stp x6, x7, [sp, #64]",
            "str x8, [sp, #80]",
            "stp q0, q1, [sp, #96]",
            "stp q2, q3, [sp, #128]",
            "stp q4, q5, [sp, #160]",
            "stp q6, q7, [sp, #192]",
            "mov x0, x10",
            "bl {function}",
            "ldp q0, q1, [sp, #96]",
            "ldp q2, q3, [sp, #128]",
            "ldp q4, q5, [sp, #160]",
            "ldp q6, q7, [sp, #192]",
            "ldp x0, x1, [sp, #16]",
            "ldp x2, x3, [sp, #32]",
            "ldp x4, x5, [sp, #48]",
            "ldp x6, x7, [sp, #64]",
            "ldr x8, [sp, #80]",
            "ldp x29, x30, [sp], #224",
            ".cfi_def_cfa_offset 0",
            ".cfi_restore w29",
            ".cfi_restore w30",
            "ret",
            ".cfi_endproc",
            function = sym $function,
        )
    };
}

#[unsafe(naked)]
pub(super) unsafe extern "system" fn enter<H: CallHooks>(_number: FunctionIDOrClientID) {
    keep_arguments!(entered::<H>)
}

#[unsafe(naked)]
pub(super) unsafe extern "system" fn tailcall<H: CallHooks>(_number: FunctionIDOrClientID) {
    keep_arguments!(tail_called::<H>)
}

#[unsafe(naked)]
pub(super) unsafe extern "system" fn leave<H: CallHooks>(_number: FunctionIDOrClientID) {
    keep_arguments!(left::<H>)
}
