//! Where compiled code has its return address at an instruction, read from the bytes of its prologue and epilogue.

#[cfg(any(target_arch = "aarch64", test))]
pub(super) mod arm64;
#[cfg(any(target_arch = "x86_64", test))]
pub(super) mod x64;

/// The place of the return address of a method at one of its instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Return {
    /// This many bytes above the stack pointer. The frame pointer is the caller's, or saved next to the return address.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "x86-64 alone has it"))]
    AboveStack(usize),
    /// Next to the saved frame pointer, this many bytes above the stack pointer. While the method's frame pointer is not below the stack
    /// pointer, as in a handler, it is at the frame pointer instead.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "x86-64 alone has it"))]
    AtStack(usize),
    /// Next to the saved frame pointer, at the frame pointer.
    AboveFrame,
    /// The same, at this many bytes above the register: the start of a handler takes its method's frame pointer from a place in
    /// the frame.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "x86-64 alone has it"))]
    AboveFramePart(usize),
    /// In the link register (arm64); the frame pointer is the caller's.
    #[cfg_attr(not(target_arch = "aarch64"), allow(dead_code, reason = "arm64 alone has it"))]
    Link,
}

/// The instructions that a decoder needs after the current one: the longest epilogue.
pub(super) const EPILOGUE: usize = 48;

/// The bytes of the start of a method in which its prologue ends.
pub(super) const PROLOGUE: usize = 96;

/// The prologue of a method.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Prologue {
    /// The offset of the end of each instruction that moves the stack pointer, and the bytes between the stack pointer
    /// and the return address from there on.
    depths: Vec<(usize, usize)>,
    /// The offset from which the frame pointer is that of the method; `None` for a method without a frame.
    frame: Option<usize>,
    /// Whether the first instruction saves the frame pointer.
    saves_frame: bool,
    /// Whether the code is that of an on-stack replacement, whose frame is above that of the replaced code.
    pub(super) is_replacement: bool,
}

impl Prologue {
    /// The bytes between the stack pointer and the return address, without regard to epilogues.
    #[cfg(any(target_arch = "x86_64", test))]
    fn depth(&self, offset: usize) -> usize {
        let before = self.depths.iter().rev().find(|(end, _)| *end <= offset);
        before.map_or(0, |(_, depth)| *depth)
    }

    /// The bytes between the stack pointer and the return address in the body.
    pub(super) fn whole_depth(&self) -> usize {
        self.depths.last().map_or(0, |(_, depth)| *depth)
    }

    /// Whether the caller's frame pointer is saved next to a return address at this distance from the stack pointer.
    pub(super) fn saves_frame(&self, distance: usize) -> bool {
        self.saves_frame && distance >= 8
    }

    pub(super) fn has_frame(&self, offset: usize) -> bool {
        self.frame.is_some_and(|end| end <= offset)
    }
}
