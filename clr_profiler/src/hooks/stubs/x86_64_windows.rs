//! x86-64 on Windows. Seen to work under Wine.
//!
//! The client id of the function is in `rcx` on enter, leave and tailcall; the stack is aligned as
//! for any call. The compiled code stores arguments from registers to memory before it calls the
//! hook, and reloads them from there; they are preserved nevertheless, as the documentation of the
//! hooks requires. There is no unwind data: in a debugger the stack ends at a stub.

use core::arch::naked_asm;

use crate::hooks::fast::{CallHooks, entered, left, tail_called};
use crate::info::hooks::FunctionIDOrClientID;

/// Preserves all volatile integer and vector registers, and calls `$function`.
macro_rules! keep_arguments {
    ($function:path) => {
        naked_asm!(
            "push rax",
            "push rcx",
            "push rdx",
            "push r8",
            "push r9",
            "push r10",
            "push r11",
            // Six vectors, and the shadow space of the called function.
            "sub rsp, 128",
            "movups [rsp + 32], xmm0",
            "movups [rsp + 48], xmm1",
            "movups [rsp + 64], xmm2",
            "movups [rsp + 80], xmm3",
            "movups [rsp + 96], xmm4",
            "movups [rsp + 112], xmm5",
            "call {function}",
            "movups xmm0, [rsp + 32]",
            "movups xmm1, [rsp + 48]",
            "movups xmm2, [rsp + 64]",
            "movups xmm3, [rsp + 80]",
            "movups xmm4, [rsp + 96]",
            "movups xmm5, [rsp + 112]",
            "add rsp, 128",
            "pop r11",
            "pop r10",
            "pop r9",
            "pop r8",
            "pop rdx",
            "pop rcx",
            "pop rax",
            "ret",
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

/// Preserves the registers of a returned value: `rax` and `xmm0`; and `rcx`, in which newer
/// runtimes return the continuation of an asynchronous method.
#[unsafe(naked)]
pub(super) unsafe extern "system" fn leave<H: CallHooks>(_number: FunctionIDOrClientID) {
    naked_asm!(
        "push rax",
        "push rdx",
        "push rcx",
        // A vector, and the shadow space of the called function.
        "sub rsp, 48",
        "movups [rsp + 32], xmm0",
        "call {function}",
        "movups xmm0, [rsp + 32]",
        "add rsp, 48",
        "pop rcx",
        "pop rdx",
        "pop rax",
        "ret",
        function = sym left::<H>,
    )
}
