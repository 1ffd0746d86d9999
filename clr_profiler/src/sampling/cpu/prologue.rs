//! Where compiled code has its return address at an instruction, read from the bytes of its prologue and epilogue.

/// The place of the return address of a method at one of its instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Return {
    /// This many bytes above the stack pointer. The frame pointer is the caller's, or saved next to the return address.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "x86-64 alone has it"))]
    AboveStack(usize),
    /// Next to the saved frame pointer, at the stack pointer.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "x86-64 alone has it"))]
    AtStack,
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

    fn has_frame(&self, offset: usize) -> bool {
        self.frame.is_some_and(|end| end <= offset)
    }
}

/// x86-64, as the runtime's compilers generate it.
#[cfg(any(target_arch = "x86_64", test))]
pub(super) mod x64 {
    use super::{Prologue, Return};

    /// `mov rax, [rbp]; push rax`: the start of an on-stack replacement.
    const REPLACEMENT: [u8; 5] = [0x48, 0x8B, 0x45, 0x00, 0x50];

    /// The prologue of the method that begins with these bytes.
    pub(in super::super) fn prologue(code: &[u8]) -> Prologue {
        let mut prologue = Prologue {
            is_replacement: code.starts_with(&REPLACEMENT),
            saves_frame: code.starts_with(&[0x55]),
            ..Prologue::default()
        };
        let mut at = if prologue.is_replacement { 4 } else { 0 };
        let mut depth = 0;
        // The size of a large frame, while the register has the stack pointer's next value.
        let mut probed = None;
        loop {
            let rest = code.get(at..).unwrap_or_default();
            let (length, pushed) = match rest {
                [0x50..=0x57, ..] => (1, 8),
                [0x41, 0x50..=0x57, ..] => (2, 8),
                [0x48, 0x83, 0xEC, size, ..] => (4, usize::from(*size)),
                [0x48, 0x81, 0xEC, a, b, c, d, ..] => (7, number([*a, *b, *c, *d])),
                // vzeroupper
                [0xC5, 0xF8, 0x77, ..] => (3, 0),
                // mov [rsp + n], register: replacements save registers in the frame of the replaced code.
                [0x48 | 0x4C, 0x89, mode, 0x24, _, ..] if mode & 0xC7 == 0x44 => (5, 0),
                [0x48 | 0x4C, 0x89, mode, 0x24, _, _, _, _, ..] if mode & 0xC7 == 0x84 => (8, 0),
                // lea r11, [rsp - size]: the first part of a probe of the stack.
                [0x4C, 0x8D, 0x9C, 0x24, a, b, c, d, ..] => {
                    let size = i32::from_le_bytes([*a, *b, *c, *d]);
                    probed = usize::try_from(size.unsigned_abs()).ok();
                    (8, 0)
                }
                // The call of the probe, that of precompiled code, and `test [rsp], eax` of a small one.
                [0xE8, _, _, _, _, ..] if probed.is_some() => (5, 0),
                [0xFF, 0x15, _, _, _, _, ..] if probed.is_some() => (6, 0),
                [0x85, 0x04, 0x24, ..] => (3, 0),
                // mov rsp, r11
                [0x49, 0x8B, 0xE3, ..] => (3, probed.take().unwrap_or(0)),
                // mov rbp, rsp; lea rbp, [rsp + n]
                [0x48, 0x8B, 0xEC, ..] | [0x48, 0x89, 0xE5, ..] => {
                    prologue.frame = Some(at + 3);
                    break;
                }
                [0x48, 0x8D, 0x6C, 0x24, _, ..] => {
                    prologue.frame = Some(at + 5);
                    break;
                }
                [0x48, 0x8D, 0xAC, 0x24, _, _, _, _, ..] => {
                    prologue.frame = Some(at + 8);
                    break;
                }
                _ => break,
            };
            at += length;
            if pushed > 0 {
                depth += pushed;
                prologue.depths.push((at, depth));
            }
        }
        prologue
    }

    /// The bytes between the stack pointer and the return address in the body of a native function that keeps the frame pointer,
    /// which begins with these bytes.
    pub(in super::super) fn native_depth(code: &[u8]) -> Option<usize> {
        // endbr64
        let code = code.strip_prefix(&[0xF3, 0x0F, 0x1E, 0xFA]).unwrap_or(code);
        // push rbp; mov rbp, rsp
        let rest = code.strip_prefix(&[0x55])?;
        let mut rest = [[0x48, 0x89, 0xE5], [0x48, 0x8B, 0xEC]]
            .iter()
            .find_map(|mov| rest.strip_prefix(mov))?;
        let mut depth = 8;
        loop {
            let (after, moved) = match rest {
                [0x50..=0x57, after @ ..] | [0x41, 0x50..=0x57, after @ ..] => (after, 8),
                [0x48, 0x83, 0xEC, size, ..] => return Some(depth + usize::from(*size)),
                [0x48, 0x81, 0xEC, a, b, c, d, ..] => return Some(depth + number([*a, *b, *c, *d])),
                _ => return Some(depth),
            };
            depth += moved;
            rest = after;
        }
    }

    /// The place of the return address at an offset of a method. `here` are the bytes from there on, `size` is the
    /// number of bytes of the method.
    pub(in super::super) fn locate(
        prologue: &Prologue,
        offset: usize,
        here: &[u8],
        size: usize,
    ) -> Return {
        let has_frame = prologue.has_frame(offset);
        if has_frame && let Some(distance) = before_frame_of_handler(here) {
            return Return::AboveFramePart(distance);
        }
        // Every instruction of a prologue precedes every one of an epilogue.
        let is_after = has_frame || prologue.depths.last().is_none_or(|(end, _)| *end <= offset);
        if is_after && let Some(found) = epilogue(has_frame, offset, here, size) {
            return found;
        }
        match has_frame {
            true => Return::AboveFrame,
            false => Return::AboveStack(prologue.depth(offset)),
        }
    }

    /// At the start of a handler's code, which is a function of its own: the distance that is added to the frame pointer.
    fn before_frame_of_handler(here: &[u8]) -> Option<usize> {
        // mov [rsp], rbp
        let here = here.strip_prefix(&[0x48, 0x89, 0x2C, 0x24]).unwrap_or(here);
        let distance = match here {
            // lea rbp, [rbp + n]
            [0x48, 0x8D, 0x6D, distance, ..] => i32::from(distance.cast_signed()),
            [0x48, 0x8D, 0xAD, a, b, c, d, ..] => i32::from_le_bytes([*a, *b, *c, *d]),
            _ => return None,
        };
        usize::try_from(distance).ok()
    }

    /// Whether a handler begins in this code, after the start of its method: by a `push rbp` after a `ret` or an `int3`, or before
    /// a `sub rsp`.
    pub(in super::super) fn has_handler(code: &[u8]) -> bool {
        let after_end = |part: &[u8]| matches!(part, [0xC3 | 0xCC, 0x55]);
        let before_frame = |part: &[u8]| matches!(part, [_, 0x55, 0x48, 0x81 | 0x83, 0xEC]);
        code.windows(2).any(after_end) || code.windows(5).any(before_frame)
    }

    /// The place of the return address, if these bytes are the rest of an epilogue.
    fn epilogue(
        has_frame: bool,
        offset: usize,
        here: &[u8],
        size: usize,
    ) -> Option<Return> {
        let (mut at, mut depth) = (0, 0);
        loop {
            let rest = here.get(at..)?;
            let length = match rest {
                // lea rsp, [rbp - n], and the last pop before the end: the frame pointer is still the method's.
                [0x48, 0x8D, 0x65, _, ..] if has_frame => return Some(Return::AboveFrame),
                [0x48, 0x8D, 0xA5, ..] if has_frame => return Some(Return::AboveFrame),
                // That of a replacement is above the frame that it began with.
                [0x5D, ..] if has_frame && at == 0 => return Some(Return::AtStack),
                [0x5D, ..] if has_frame => return Some(Return::AboveFrame),
                [0x58..=0x5B | 0x5D..=0x5F, ..] => {
                    depth += 8;
                    1
                }
                [0x41, 0x58..=0x5F, ..] => {
                    depth += 8;
                    2
                }
                [0x48, 0x83, 0xC4, bytes, ..] => {
                    depth += usize::from(*bytes);
                    4
                }
                [0x48, 0x81, 0xC4, a, b, c, d, ..] => {
                    depth += number([*a, *b, *c, *d]);
                    7
                }
                [0xC5, 0xF8, 0x77, ..] => 3,
                [0xC3, ..] => return Some(Return::AboveStack(depth)),
                // A tail call; jumps of the body stay in it.
                [0xE9, a, b, c, d, ..] => {
                    let distance = i32::from_le_bytes([*a, *b, *c, *d]) as i64;
                    let target = offset as i64 + at as i64 + 5 + distance;
                    let leaves = !(0..size as i64).contains(&target);
                    return leaves.then_some(Return::AboveStack(depth));
                }
                // `rex.w jmp` is the form of tail calls alone.
                [0x48..=0x4F, 0xFF, mode, ..] if mode >> 3 & 7 == 4 => {
                    return Some(Return::AboveStack(depth));
                }
                // Jumps of the body by a table are by a register.
                [0xFF, 0x25, ..] => return Some(Return::AboveStack(depth)),
                _ => return None,
            };
            at += length;
        }
    }

    /// Whether the instruction that ends with these 8 bytes is a call.
    pub(in super::super) fn is_call(before: [u8; 8]) -> bool {
        // call rel32
        if before[3] == 0xE8 {
            return true;
        }
        // FF /2, with all forms of operands.
        (2..=7).any(|length| {
            let at = 8 - length;
            let (code, mode) = (before[at], before[at + 1]);
            if code != 0xFF || mode >> 3 & 7 != 2 {
                return false;
            }
            let (kind, operand) = (mode >> 6, mode & 7);
            let has_index = operand == 4 && kind != 3;
            let distance = match kind {
                0 if operand == 5 => 4,
                1 => 1,
                2 => 4,
                _ => 0,
            };
            2 + usize::from(has_index) + distance == length
        })
    }

    fn number(bytes: [u8; 4]) -> usize {
        u32::from_le_bytes(bytes) as usize
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        const SIZE: usize = 0x40;

        /// The places at each instruction of a method of these instructions.
        fn places(instructions: &[&[u8]]) -> Vec<Return> {
            let mut code = instructions.concat();
            code.resize(SIZE.max(code.len()), 0xCC);
            let prologue = prologue(&code);
            let mut offset: usize = 0;
            let places = instructions.iter().map(|instruction| {
                let place = locate(&prologue, offset, &code[offset..], SIZE);
                offset += instruction.len();
                place
            });
            places.collect()
        }

        use Return::{AboveFrame as Frame, AboveStack as Stack};

        #[test]
        fn a_frame_made_by_mov() {
            let places = places(&[
                &[0x55],                         // push rbp
                &[0x48, 0x8B, 0xEC],             // mov rbp, rsp
                &[0x48, 0x83, 0xEC, 0x10],       // sub rsp, 16
                &[0xE8, 0, 0, 0, 0],             // call
                &[0x90],                         // nop
                &[0x48, 0x83, 0xC4, 0x10],       // add rsp, 16
                &[0x5D],                         // pop rbp
                &[0xC3],                         // ret
            ]);
            let expected = [
                Stack(0), Stack(8), Frame, Frame, Frame, Frame, Return::AtStack, Stack(0),
            ];
            assert_eq!(places, expected);
        }

        #[test]
        fn a_frame_above_saved_registers() {
            let places = places(&[
                &[0x55],                                     // push rbp
                &[0x41, 0x57],                               // push r15
                &[0x53],                                     // push rbx
                &[0x48, 0x81, 0xEC, 0x00, 0x01, 0, 0],       // sub rsp, 256
                &[0xC5, 0xF8, 0x77],                         // vzeroupper
                &[0x48, 0x8D, 0xAC, 0x24, 0x10, 0x01, 0, 0], // lea rbp, [rsp + 272]
                &[0x33, 0xC0],                               // xor eax, eax
                &[0x48, 0x8D, 0x65, 0xF0],                   // lea rsp, [rbp - 16]
                &[0x5B],                                     // pop rbx
                &[0x41, 0x5F],                               // pop r15
                &[0x5D],                                     // pop rbp
                &[0xC3],                                     // ret
            ]);
            let expected = [
                Stack(0), Stack(8), Stack(16), Stack(24), Stack(280), Stack(280),
                Frame, Frame, Frame, Frame, Return::AtStack, Stack(0),
            ];
            assert_eq!(places, expected);
        }

        #[test]
        fn a_method_without_a_frame() {
            let places = places(&[
                &[0x53],                   // push rbx
                &[0x48, 0x83, 0xEC, 0x20], // sub rsp, 32
                &[0x8B, 0xDF],             // mov ebx, edi
                &[0xE8, 0, 0, 0, 0],       // call
                &[0x48, 0x83, 0xC4, 0x20], // add rsp, 32
                &[0x5B],                   // pop rbx
                &[0xC3],                   // ret
            ]);
            let expected = [
                Stack(0), Stack(8), Stack(40), Stack(40), Stack(40), Stack(8), Stack(0),
            ];
            assert_eq!(places, expected);
            assert_eq!(super::super::x64::prologue(&[0x8B, 0xC7, 0xC3]), Prologue::default());
        }

        #[test]
        fn handlers_take_the_frame_of_their_method() {
            let code: [&[u8]; 14] = [
                &[0x55],                                // push rbp
                &[0x48, 0x83, 0xEC, 0x10],              // sub rsp, 16
                &[0x48, 0x8D, 0x6C, 0x24, 0x10],        // lea rbp, [rsp + 16]
                &[0x5D],                                // pop rbp
                &[0xC3],                                // ret
                // A handler.
                &[0x55],                                // push rbp
                &[0x48, 0x83, 0xEC, 0x10],              // sub rsp, 16
                &[0x48, 0x8B, 0x2F],                    // mov rbp, [rdi]
                &[0x48, 0x89, 0x2C, 0x24],              // mov [rsp], rbp
                &[0x48, 0x8D, 0xAD, 0x80, 0, 0, 0],     // lea rbp, [rbp + 128]
                &[0x90],                                // nop
                &[0x48, 0x83, 0xC4, 0x10],              // add rsp, 16
                &[0x5D],                                // pop rbp
                &[0xC3],                                // ret
            ];
            let part = Return::AboveFramePart(128);
            let expected = [
                Stack(0), Stack(8), Stack(24), Return::AtStack, Stack(0),
                Frame, Frame, Frame, part, part, Frame, Frame, Return::AtStack, Stack(0),
            ];
            assert_eq!(places(&code), expected);
            assert!(!has_handler(&code[..5].concat()) && has_handler(&code[..6].concat()));
            assert_eq!(before_frame_of_handler(&[0x48, 0x8D, 0x6D, 0x20]), Some(32));
            assert_eq!(before_frame_of_handler(&[0x48, 0x8D, 0x6D, 0xE0]), None);
        }

        #[test]
        fn tail_calls_leave_and_loops_stay() {
            let leaves = places(&[
                &[0x55],
                &[0x48, 0x8B, 0xEC],
                &[0x5D],
                &[0xE9, 0x00, 0x10, 0, 0], // jmp far away
            ]);
            assert_eq!(leaves, [Stack(0), Stack(8), Return::AtStack, Stack(0)]);
            let by_register = places(&[&[0x48, 0x83, 0xEC, 8], &[0x48, 0x83, 0xC4, 8], &[0x48, 0xFF, 0xE0]]);
            assert_eq!(by_register, [Stack(0), Stack(8), Stack(0)]);
            // jmp [r11]; jmp [rip + n]
            for jump in [&[0x49, 0xFF, 0x23][..], &[0xFF, 0x25, 0, 0x10, 0, 0]] {
                let by_cell = places(&[&[0x55], &[0x48, 0x8B, 0xEC], &[0x5D], jump]);
                assert_eq!(by_cell, [Stack(0), Stack(8), Return::AtStack, Stack(0)]);
            }
            let by_cell = places(&[&[0x50], &[0x48, 0x83, 0xC4, 8], &[0xFF, 0x25, 0, 0x10, 0, 0]]);
            assert_eq!(by_cell, [Stack(0), Stack(8), Stack(0)]);
            let stays = places(&[
                &[0x55],
                &[0x48, 0x8B, 0xEC],
                &[0x33, 0xC0],
                &[0xE9, 0xF9, 0xFF, 0xFF, 0xFF], // jmp to the instruction before
            ]);
            assert_eq!(stays, [Stack(0), Stack(8), Frame, Frame]);
            // A jump by a table.
            assert_eq!(places(&[&[0x53], &[0xFF, 0xE0]]), [Stack(0), Stack(8)]);
        }

        #[test]
        fn large_frames_are_probed() {
            // The call of the probe, and that of precompiled code.
            let calls: [&[u8]; 2] = [&[0xE8, 1, 2, 3, 4], &[0xFF, 0x15, 1, 2, 3, 4]];
            for call in calls {
                let places = places(&[
                    &[0x55],                                           // push rbp
                    &[0x4C, 0x8D, 0x9C, 0x24, 0x00, 0x00, 0xFF, 0xFF], // lea r11, [rsp - 65536]
                    call,
                    &[0x49, 0x8B, 0xE3],                               // mov rsp, r11
                    &[0x48, 0x8D, 0xAC, 0x24, 0x00, 0x00, 0x01, 0x00], // lea rbp, [rsp + 65536]
                    &[0x90],
                ]);
                let expected = [Stack(0), Stack(8), Stack(8), Stack(8), Stack(65544), Frame];
                assert_eq!(places, expected);
            }
        }

        #[test]
        fn replacements_have_a_frame() {
            let code = [
                0x48, 0x8B, 0x45, 0x00, 0x50, // mov rax, [rbp]; push rax
                0x48, 0x83, 0xEC, 0x10, // sub rsp, 16
                0x4C, 0x89, 0xBC, 0x24, 0x88, 0, 0, 0, // mov [rsp + 136], r15
                0x48, 0x89, 0x5C, 0x24, 0x70, // mov [rsp + 112], rbx
                0x48, 0x8D, 0x6C, 0x24, 0x10, // lea rbp, [rsp + 16]
                0x90, 0x48, 0x81, 0xC4, 0x90, 0, 0, 0, // add rsp, 144
                0x5D, 0xC3, // pop rbp; ret
            ];
            let prologue = prologue(&code);
            assert!(prologue.is_replacement);
            assert_eq!(locate(&prologue, 5, &code[5..], 64), Stack(8));
            assert_eq!(locate(&prologue, 22, &code[22..], 64), Stack(24));
            assert_eq!(locate(&prologue, 27, &code[27..], 64), Frame);
            assert_eq!(locate(&prologue, 28, &code[28..], 64), Frame);
            assert_eq!(locate(&prologue, 35, &code[35..], 64), Return::AtStack);
            assert_eq!(locate(&prologue, 36, &code[36..], 64), Stack(0));
            // The code that it replaced has its return address above its whole frame.
            let replaced = super::prologue(&[0x55, 0x48, 0x83, 0xEC, 0x60, 0x48, 0x8D, 0x6C, 0x24, 0x60]);
            assert_eq!((replaced.whole_depth(), replaced.saves_frame(0x68)), (0x68, true));
        }

        #[test]
        fn no_bytes_are_no_panic() {
            for length in 0..PROBE.len() {
                let prologue = prologue(&PROBE[..length]);
                for at in 0..=length {
                    locate(&prologue, at, &PROBE[at..length], length);
                }
            }
        }

        const PROBE: &[u8] = &[
            0x55, 0x41, 0x57, 0x4C, 0x8D, 0x9C, 0x24, 0, 0, 0xFF, 0xFF, 0xE8, 1, 2, 3, 4, 0x49, 0x8B, 0xE3, 0x48,
            0x8D, 0xAC, 0x24, 0, 0, 1, 0, 0x48, 0x81, 0xC4, 0, 1, 0, 0, 0x41, 0x5F, 0x5D, 0xE9, 0, 0, 0, 0,
        ];

        #[test]
        fn calls_are_known_in_all_forms() {
            let calls: [&[u8]; 8] = [
                &[0xE8, 1, 2, 3, 4],             // call rel32
                &[0xFF, 0xD0],                   // call rax
                &[0x41, 0xFF, 0xD3],             // call r11
                &[0xFF, 0x15, 1, 2, 3, 4],       // call [rip + n]
                &[0xFF, 0x50, 0x18],             // call [rax + 24]
                &[0xFF, 0x90, 1, 2, 3, 4],       // call [rax + n]
                &[0xFF, 0x54, 0x24, 0x08],       // call [rsp + 8]
                &[0xFF, 0x94, 0x24, 1, 2, 3, 4], // call [rsp + n]
            ];
            for call in calls {
                let mut before = [0x90; 8];
                before[8 - call.len()..].copy_from_slice(call);
                assert!(is_call(before), "{call:x?}");
            }
            assert!(!is_call([0x90; 8]));
            // jmp rax; push
            assert!(!is_call([0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xFF, 0xE0]));
            assert!(!is_call([0x90, 0x90, 0x90, 0x90, 0x90, 0x90, 0xFF, 0x30]));
        }
    }
}

/// arm64, as the runtime's compilers generate it: each method saves the frame pointer and the link register.
#[cfg(any(target_arch = "aarch64", test))]
pub(super) mod arm64 {
    use super::{Prologue, Return};

    const MOV_FRAME: u32 = 0x9100_03FD; // add x29, sp, #n
    const RET: u32 = 0xD65F_03C0;

    /// The prologue of the method that begins with these bytes.
    pub(in super::super) fn prologue(code: &[u8]) -> Prologue {
        let mut prologue = Prologue::default();
        for (index, instruction) in words(code).enumerate() {
            if instruction & 0xFFC0_03FF == MOV_FRAME {
                prologue.frame = Some(index * 4 + 4);
                break;
            }
            // stp and str to the stack, sub sp, and moves to registers for them.
            let is_store = instruction & 0x3A00_03E0 == 0x2800_03E0
                || instruction & 0x3A00_03E0 == 0x3800_03E0
                || instruction & 0x3B00_03E0 == 0x3900_03E0;
            let is_stack = instruction & 0xFF00_03FF == 0xD100_03FF;
            if !is_store && !is_stack {
                break;
            }
        }
        prologue
    }

    /// Whether a handler begins in this code of a method. They keep the frame pointer of the method, from the first to the last
    /// instruction.
    #[cfg(target_arch = "aarch64")]
    pub(in super::super) fn has_handler(_: &[u8]) -> bool {
        false
    }

    /// The place of the return address at an offset of a method; `here` are the bytes from there on.
    pub(in super::super) fn locate(prologue: &Prologue, offset: usize, here: &[u8]) -> Return {
        if !prologue.has_frame(offset) {
            return Return::Link;
        }
        for instruction in words(here) {
            let is_load = instruction & 0x3E40_03E0 == 0x2840_03E0;
            let is_stack = instruction & 0xFFC0_03FF == 0x9100_03FF;
            // ldp x29, x30, in any form: they are still to be loaded.
            if is_load && instruction & 0x7C1F == 0x781D {
                return Return::AboveFrame;
            }
            if instruction == RET {
                return Return::Link;
            }
            if !is_load && !is_stack {
                break;
            }
        }
        Return::AboveFrame
    }

    fn words(code: &[u8]) -> impl Iterator<Item = u32> {
        let (words, _) = code.as_chunks::<4>();
        words.iter().map(|word| u32::from_le_bytes(*word))
    }

    /// Whether the instruction that ends with these bytes is a call: `bl` or `blr`.
    pub(in super::super) fn is_call(before: [u8; 8]) -> bool {
        let [.., a, b, c, d] = before;
        let instruction = u32::from_le_bytes([a, b, c, d]);
        instruction & 0xFC00_0000 == 0x9400_0000 || instruction & 0xFFFF_FC1F == 0xD63F_0000
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn the_link_register_counts_until_it_is_saved_and_after_it_is_loaded() {
            let code = [
                0xA9BD_7BFDu32, // stp x29, x30, [sp, #-48]!
                0xA901_53F3,    // stp x19, x20, [sp, #16]
                0x9100_03FD,    // mov x29, sp
                0xD503_201F,    // nop
                0xA941_53F3,    // ldp x19, x20, [sp, #16]
                0xA8C3_7BFD,    // ldp x29, x30, [sp], #48
                0xD65F_03C0,    // ret
            ];
            let bytes: Vec<u8> = code.iter().flat_map(|word| word.to_le_bytes()).collect();
            let prologue = prologue(&bytes);
            let places: Vec<Return> = (0..code.len())
                .map(|index| locate(&prologue, index * 4, &bytes[index * 4..]))
                .collect();
            use Return::{AboveFrame, Link};
            let expected = [
                Link, Link, Link, AboveFrame, AboveFrame, AboveFrame, Link,
            ];
            assert_eq!(places, expected);
            assert_eq!(locate(&super::prologue(&[0; 4]), 0, &[0; 4]), Link);
        }

        #[test]
        fn calls_are_known() {
            let with = |word: u32| {
                let [a, b, c, d] = word.to_le_bytes();
                is_call([0, 0, 0, 0, a, b, c, d])
            };
            assert!(with(0x9400_0010) && with(0xD63F_0100));
            assert!(!with(0xD65F_03C0) && !with(0x1400_0010));
        }
    }
}
