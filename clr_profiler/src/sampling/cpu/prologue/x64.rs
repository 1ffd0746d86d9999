//! x86-64, as the runtime's compilers generate it.

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

/// The rest of an epilogue of a native function, which ends with a return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Rest {
    /// The bytes between the stack pointer and the return address.
    pub(in super::super) depth: usize,
    /// Those between the stack pointer and the frame pointer that is restored.
    pub(in super::super) frame: Option<usize>,
}

/// The rest of an epilogue, if it begins with these bytes. Older compilers do not tell of epilogues in the tables for exceptions.
pub(in super::super) fn native_epilogue(mut here: &[u8]) -> Option<Rest> {
    let (mut depth, mut frame) = (0_usize, None);
    loop {
        let (after, moved) = match here {
            [0xC3, ..] | [0xF3, 0xC3, ..] => return Some(Rest { depth, frame }),
            [0x5D, after @ ..] => {
                frame = Some(depth);
                (after, 8)
            }
            [0x58..=0x5B | 0x5E..=0x5F, after @ ..] | [0x41, 0x58..=0x5F, after @ ..] => (after, 8),
            [0x48, 0x83, 0xC4, bytes @ ..=0x7F, after @ ..] => (after, usize::from(*bytes)),
            [0x48, 0x81, 0xC4, a, b, c, d @ ..=0x7F, after @ ..] => (after, number([*a, *b, *c, *d])),
            [0xC5, 0xF8, 0x77, after @ ..] => (after, 0),
            _ => return None,
        };
        depth += moved;
        here = after;
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
    let is_replacement = prologue.is_replacement;
    if is_after && let Some(found) = epilogue((has_frame, is_replacement), offset, here, size) {
        return found;
    }
    match has_frame {
        true => Return::AboveFrame,
        false => Return::AboveStack(prologue.depth(offset)),
    }
}

/// At the start of a handler's code, which is a function of its own: the distance that is added to the frame pointer.
fn before_frame_of_handler(here: &[u8]) -> Option<usize> {
    let here = match here {
        // mov [rsp], rbp; mov [rsp + n], rbp
        [0x48, 0x89, 0x2C, 0x24, after @ ..] => after,
        [0x48, 0x89, 0x6C, 0x24, _, after @ ..] => after,
        [0x48, 0x89, 0xAC, 0x24, _, _, _, _, after @ ..] => after,
        _ => here,
    };
    let distance = match here {
        // lea rbp, [rbp + n]
        [0x48, 0x8D, 0x6D, distance, ..] => i32::from(distance.cast_signed()),
        [0x48, 0x8D, 0xAD, a, b, c, d, ..] => i32::from_le_bytes([*a, *b, *c, *d]),
        _ => return None,
    };
    usize::try_from(distance).ok()
}

/// The distance to the function that this instruction calls from its end, if it is a call with a distance.
pub(in super::super) fn called(instruction: [u8; 5]) -> Option<i32> {
    let [0xE8, a, b, c, d] = instruction else {
        return None;
    };
    Some(i32::from_le_bytes([a, b, c, d]))
}

/// The place of the return address, if these bytes are the rest of an epilogue.
fn epilogue(
    (has_frame, is_replacement): (bool, bool),
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
            [0x5D, ..] if has_frame && (at == 0 || is_replacement) => return Some(Return::AtStack(depth)),
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
            Stack(0), Stack(8), Frame, Frame, Frame, Frame, Return::AtStack(0), Stack(0),
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
            Frame, Frame, Frame, Frame, Return::AtStack(0), Stack(0),
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
            Stack(0), Stack(8), Stack(24), Return::AtStack(0), Stack(0),
            Frame, Frame, Frame, part, part, Frame, Frame, Return::AtStack(0), Stack(0),
        ];
        assert_eq!(places(&code), expected);
        // mov [rsp + 80], rbp; mov [rsp + 256], rbp
        let saved = [&[0x48, 0x89, 0x6C, 0x24, 0x50][..], &[0x48, 0x89, 0xAC, 0x24, 0, 1, 0, 0]];
        for save in saved {
            let here = [save, &[0x48, 0x8D, 0x6D, 0x20]].concat();
            assert_eq!(before_frame_of_handler(&here), Some(32));
        }
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
        assert_eq!(leaves, [Stack(0), Stack(8), Return::AtStack(0), Stack(0)]);
        let by_register = places(&[&[0x48, 0x83, 0xEC, 8], &[0x48, 0x83, 0xC4, 8], &[0x48, 0xFF, 0xE0]]);
        assert_eq!(by_register, [Stack(0), Stack(8), Stack(0)]);
        // jmp [r11]; jmp [rip + n]
        for jump in [&[0x49, 0xFF, 0x23][..], &[0xFF, 0x25, 0, 0x10, 0, 0]] {
            let by_cell = places(&[&[0x55], &[0x48, 0x8B, 0xEC], &[0x5D], jump]);
            assert_eq!(by_cell, [Stack(0), Stack(8), Return::AtStack(0), Stack(0)]);
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
    fn the_rest_of_a_native_epilogue_leads_to_its_return() {
        let code = [
            &[0x48, 0x81, 0xC4, 0x00, 0x01, 0, 0][..], // add rsp, 256
            &[0x48, 0x83, 0xC4, 0x08],                 // add rsp, 8
            &[0x5B],                                   // pop rbx
            &[0x41, 0x5F],                             // pop r15
            &[0x5D],                                   // pop rbp
            &[0xC3],                                   // ret
        ];
        let places: Vec<_> = (0..code.len()).map(|at| native_epilogue(&code[at..].concat())).collect();
        let rest = |depth, frame| Some(Rest { depth, frame });
        let expected = [
            rest(288, Some(280)), rest(32, Some(24)), rest(24, Some(16)), rest(16, Some(8)), rest(8, Some(0)), rest(0, None),
        ];
        assert_eq!(places, expected);
        assert_eq!(native_epilogue(&[0xF3, 0xC3]), rest(0, None));
        // sub rsp, 128; a jump; no end; pop rsp
        let others = [&[0x48, 0x83, 0xC4, 0x80, 0xC3][..], &[0x5B, 0xEB, 0x10], &[0x5B, 0x5D], &[0x5C, 0xC3]];
        for other in others {
            assert_eq!(native_epilogue(other), None);
        }
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
        assert_eq!(locate(&prologue, 28, &code[28..], 64), Return::AtStack(144));
        assert_eq!(locate(&prologue, 35, &code[35..], 64), Return::AtStack(0));
        assert_eq!(locate(&prologue, 36, &code[36..], 64), Stack(0));
        // pop rbx; pop r13: the stack pointer is above the frame pointer.
        assert_eq!(locate(&prologue, 35, &[0x5B, 0x41, 0x5D, 0x5D, 0xC3], 64), Return::AtStack(16));
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
    fn the_target_of_a_call_is_found_by_its_distance() {
        assert_eq!(called([0xE8, 0xF0, 0xFF, 0xFF, 0xFF]), Some(-16));
        assert_eq!(called([0xE9, 1, 0, 0, 0]), None);
    }

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
