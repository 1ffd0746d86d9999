//! arm64, as the runtime's compilers generate it: each method saves the frame pointer and the link register.

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
