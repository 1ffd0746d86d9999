/* Fast hooks written in C, with which the benchmark compares the component's hooks. */
#include <stdint.h>

struct calls {
    uint64_t entered;
    uint64_t left;
};

__attribute__((used, visibility("hidden"))) void c_entered(struct calls *calls) {
    __atomic_store_n(&calls->entered, __atomic_load_n(&calls->entered, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

__attribute__((used, visibility("hidden"))) void c_left(struct calls *calls) {
    __atomic_store_n(&calls->left, __atomic_load_n(&calls->left, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

__asm__(
    ".intel_syntax noprefix\n"
    ".text\n"
    ".globl c_enter\n"
    ".type c_enter, @function\n"
    "c_enter:\n"
    "push rax\n push rdi\n push rsi\n push rdx\n push rcx\n push r8\n push r9\n"
    "sub rsp, 128\n"
    "movups [rsp], xmm0\n movups [rsp + 16], xmm1\n movups [rsp + 32], xmm2\n movups [rsp + 48], xmm3\n"
    "movups [rsp + 64], xmm4\n movups [rsp + 80], xmm5\n movups [rsp + 96], xmm6\n movups [rsp + 112], xmm7\n"
    "mov rdi, r14\n"
    "call c_entered\n"
    "movups xmm0, [rsp]\n movups xmm1, [rsp + 16]\n movups xmm2, [rsp + 32]\n movups xmm3, [rsp + 48]\n"
    "movups xmm4, [rsp + 64]\n movups xmm5, [rsp + 80]\n movups xmm6, [rsp + 96]\n movups xmm7, [rsp + 112]\n"
    "add rsp, 128\n"
    "pop r9\n pop r8\n pop rcx\n pop rdx\n pop rsi\n pop rdi\n pop rax\n"
    "ret\n"
    ".globl c_leave\n"
    ".type c_leave, @function\n"
    "c_leave:\n"
    "push rax\n push rdx\n push rcx\n"
    "sub rsp, 32\n"
    "movups [rsp], xmm0\n movups [rsp + 16], xmm1\n"
    "call c_left\n"
    "movups xmm0, [rsp]\n movups xmm1, [rsp + 16]\n"
    "add rsp, 32\n"
    "pop rcx\n pop rdx\n pop rax\n"
    "ret\n"
    ".globl c_tailcall\n"
    ".type c_tailcall, @function\n"
    "c_tailcall:\n"
    "ret\n"
    ".att_syntax\n");
