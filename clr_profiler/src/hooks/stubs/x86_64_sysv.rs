//! x86-64 with the System V calling convention: Linux, macOS, FreeBSD.
//!
//! The client id of the function is in `r14` on enter, in `rdi` on leave and tailcall; the stack is
//! aligned as for any call.

use core::arch::naked_asm;

use crate::hooks::fast::{CallHooks, entered, left, tail_called};
use crate::hooks::with_info::{CallHooksWithInfo, entered as entered_with_info};
use crate::info::hooks::FunctionIDOrClientID;

/// Preserves the argument registers (`rdi rsi rdx rcx r8 r9`, `xmm0` to `xmm7`) and `rax`, which
/// can hold their count, and calls `$function` with the client id in `$number`.
macro_rules! keep_arguments {
    ($number:literal, $function:path) => {
        naked_asm!(
            ".cfi_startproc",
            "push rax",
            "push rdi",
            "push rsi",
            "push rdx",
            "push rcx",
            "push r8",
            "push r9",
            "sub rsp, 128",
            ".cfi_def_cfa_offset 192",
            "movups [rsp], xmm0",
            "movups [rsp + 16], xmm1",
            "movups [rsp + 32], xmm2",
            "movups [rsp + 48], xmm3",
            "movups [rsp + 64], xmm4",
            "movups [rsp + 80], xmm5",
            "movups [rsp + 96], xmm6",
            "movups [rsp + 112], xmm7",
            concat!("mov rdi, ", $number),
            "call {function}",
            "movups xmm0, [rsp]",
            "movups xmm1, [rsp + 16]",
            "movups xmm2, [rsp + 32]",
            "movups xmm3, [rsp + 48]",
            "movups xmm4, [rsp + 64]",
            "movups xmm5, [rsp + 80]",
            "movups xmm6, [rsp + 96]",
            "movups xmm7, [rsp + 112]",
            "add rsp, 128",
            ".cfi_def_cfa_offset 64",
            "pop r9",
            "pop r8",
            "pop rcx",
            "pop rdx",
            "pop rsi",
            "pop rdi",
            "pop rax",
            ".cfi_def_cfa_offset 8",
            "ret",
            ".cfi_endproc",
            function = sym $function,
        )
    };
}

#[unsafe(naked)]
pub(super) unsafe extern "system" fn enter<H: CallHooks>(_number: FunctionIDOrClientID) {
    keep_arguments!("r14", entered::<H>)
}

/// At a tail call the arguments of the called function may be in their registers already.
#[unsafe(naked)]
pub(super) unsafe extern "system" fn tailcall<H: CallHooks>(_number: FunctionIDOrClientID) {
    keep_arguments!("rdi", tail_called::<H>)
}

/// Preserves the registers of a returned value: `rax rdx`, `xmm0` and `xmm1`; and `rcx`, in which
/// newer runtimes return the continuation of an asynchronous method.
#[unsafe(naked)]
pub(super) unsafe extern "system" fn leave<H: CallHooks>(_number: FunctionIDOrClientID) {
    naked_asm!(
        ".cfi_startproc",
        "push rax",
        "push rdx",
        "push rcx",
        "sub rsp, 32",
        ".cfi_def_cfa_offset 64",
        "movups [rsp], xmm0",
        "movups [rsp + 16], xmm1",
        "call {function}",
        "movups xmm0, [rsp]",
        "movups xmm1, [rsp + 16]",
        "add rsp, 32",
        ".cfi_def_cfa_offset 32",
        "pop rcx",
        "pop rdx",
        "pop rax",
        ".cfi_def_cfa_offset 8",
        "ret",
        ".cfi_endproc",
        function = sym left::<H>,
    )
}

/// The enter hook with info of runtimes before .NET 5, which lose arguments in floating-point
/// registers: restores them.
///
/// The runtime's own stub restores only `xmm0` and `xmm1`, and a query for the arguments copies
/// structures over the memory in which these two are saved. The structure passed to the hook begins
/// with the address of the registers that the stub has saved (`PROFILE_PLATFORM_SPECIFIC_DATA`):
/// all eight registers from offset 56 on, intact, and `xmm0` and `xmm1` once more at the multiple
/// of 16 up to 184, from where they are restored.
#[unsafe(naked)]
pub(super) unsafe extern "system" fn enter_with_info<H: CallHooksWithInfo>(
    _id: FunctionIDOrClientID,
    _elt: usize,
) {
    naked_asm!(
        ".cfi_startproc",
        "push rsi",
        ".cfi_def_cfa_offset 16",
        "call {function}",
        "pop rax",
        ".cfi_def_cfa_offset 8",
        "mov rax, [rax]",
        "movsd xmm0, [rax + 56]",
        "movsd xmm1, [rax + 64]",
        "movsd xmm2, [rax + 72]",
        "movsd xmm3, [rax + 80]",
        "movsd xmm4, [rax + 88]",
        "movsd xmm5, [rax + 96]",
        "movsd xmm6, [rax + 104]",
        "movsd xmm7, [rax + 112]",
        "add rax, 184",
        "and rax, -16",
        "movaps [rax], xmm0",
        "movaps [rax + 16], xmm1",
        "ret",
        ".cfi_endproc",
        function = sym entered_with_info::<H>,
    )
}
