//! Compares the decoder of prologues with the unwind data of precompiled images.

use std::fs;

use super::prologue::x64::{locate, prologue};
use super::prologue::{EPILOGUE, PROLOGUE, Return};

/// A precompiled image, as its file.
struct Image {
    bytes: Vec<u8>,
    /// The addresses, sizes and file offsets of its sections.
    sections: Vec<(usize, usize, usize)>,
}

impl Image {
    fn read(path: &str) -> Self {
        let bytes = fs::read(path).unwrap();
        let mut image = Self {
            bytes,
            sections: Vec::new(),
        };
        let header = image.u32(0x3C);
        let (count, optional) = (image.u16(header + 6), image.u16(header + 20));
        for index in 0..count {
            let at = header + 24 + optional + index * 40;
            image
                .sections
                .push((image.u32(at + 12), image.u32(at + 16), image.u32(at + 20)));
        }
        image
    }

    /// The table of functions: their starts, ends, and the addresses of their unwind data.
    fn functions(&self) -> Vec<[usize; 3]> {
        let directory = self.u32(0x3C) + 24 + 112 + 3 * 8;
        let (table, size) = (self.offset(self.u32(directory)), self.u32(directory + 4));
        let rows = (0..size / 12).map(|row| table + row * 12);
        rows.map(|at| [self.u32(at), self.u32(at + 4), self.u32(at + 8)])
            .collect()
    }

    fn offset(&self, address: usize) -> usize {
        let is_in =
            |(start, size, _): &&(usize, usize, usize)| (*start..start + size).contains(&address);
        let (start, _, offset) = self.sections.iter().find(is_in).unwrap();
        address - start + offset
    }

    fn u16(&self, at: usize) -> usize {
        u16::from_le_bytes(self.bytes[at..at + 2].try_into().unwrap()).into()
    }

    fn u32(&self, at: usize) -> usize {
        u32::from_le_bytes(self.bytes[at..at + 4].try_into().unwrap()) as usize
    }
}

/// The effects of a prologue up to an offset.
#[derive(Clone, Copy, Debug, Default)]
struct Step {
    /// The end of the instruction.
    offset: usize,
    /// The bytes between the stack pointer and the return address.
    depth: usize,
    /// The bytes between the frame pointer and the return address, if it was set.
    frame: Option<usize>,
}

/// The steps of a prologue; `None` for data of other forms.
fn steps(image: &Image, at: usize) -> Option<Vec<Step>> {
    let [kind, _size, count, frame] = image.bytes[at..at + 4].try_into().unwrap();
    if kind & 7 != 1 {
        return None;
    }
    let mut operations = Vec::new();
    let mut index = 0;
    while index < usize::from(count) {
        let slot = at + 4 + index * 2;
        let (offset, operation) = (usize::from(image.bytes[slot]), image.bytes[slot + 1]);
        let info = usize::from(operation >> 4);
        // The slots, the growth of the stack, and whether the frame pointer is set.
        let (slots, growth, is_frame) = match (operation & 15, info) {
            (0, _) => (1, 8, None),
            (1, 0) => (2, image.u16(slot + 2) * 8, None),
            (1, _) => (3, image.u32(slot + 2), None),
            (2, _) => (1, info * 8 + 8, None),
            (3, _) => (1, 0, Some(usize::from(frame >> 4) * 16)),
            (4 | 8, _) => (2, 0, None),
            (5 | 9, _) => (3, 0, None),
            (11, _) => (3, 0, Some(image.u32(slot + 2) * 16)),
            _ => return None,
        };
        operations.push((offset, growth, is_frame));
        index += slots;
    }
    let mut step = Step::default();
    let mut all = vec![step];
    for (offset, growth, is_frame) in operations.into_iter().rev() {
        step.offset = offset;
        step.depth += growth;
        if let Some(distance) = is_frame {
            step.frame = step.depth.checked_sub(distance);
        }
        all.push(step);
    }
    Some(all)
}

/// Whether the answer of the decoder leads to the return address.
fn is_right(answer: Return, step: Step) -> bool {
    match answer {
        Return::AboveStack(depth) => depth == step.depth,
        Return::AboveFrame => step.frame == Some(8),
        Return::AboveFramePart(distance) => step.frame == Some(8 + distance),
        Return::AtStack(depth) => step.depth == depth + 8,
        Return::Link => false,
    }
}

/// `.ci/full truth` runs it, with the paths of precompiled images in `PRECOMPILED`, separated by colons.
#[test]
#[ignore = "needs precompiled images"]
#[expect(clippy::print_stdout, reason = "the figures of a check that is run by hand or in full")]
fn prologues_are_decoded_as_the_unwind_data_of_images_say() {
    for path in std::env::var("PRECOMPILED").unwrap().split(':') {
        let image = Image::read(path);
        let (mut functions, mut checked, mut wrong) = (0, 0, Vec::new());
        for [start, end, data] in image.functions() {
            let code = &image.bytes[image.offset(start)..][..end - start];
            let Some(steps) = steps(&image, image.offset(data)) else {
                continue;
            };
            functions += 1;
            let decoded = prologue(&code[..code.len().min(PROLOGUE)]);
            let answer = |offset: usize| {
                let here = &code[offset..code.len().min(offset + EPILOGUE)];
                locate(&decoded, offset, here, code.len())
            };
            // Several operations can be of one instruction: the last one counts.
            let offsets = steps
                .iter()
                .zip(steps.iter().skip(1).map(Some).chain([None]));
            let ends =
                offsets.filter(|(step, next)| next.is_none_or(|next| next.offset != step.offset));
            for (step, _) in ends.filter(|(step, _)| step.offset < code.len()) {
                checked += 1;
                if !is_right(answer(step.offset), *step) {
                    wrong.push((start, *step, answer(step.offset)));
                }
            }
            if code.ends_with(&[0xC3]) {
                checked += 1;
                let offset = code.len() - 1;
                if answer(offset) != Return::AboveStack(0) {
                    let step = Step {
                        offset,
                        ..Step::default()
                    };
                    wrong.push((start, step, answer(offset)));
                }
            }
        }
        println!(
            "{path}: {functions} functions, {checked} places, {} wrong",
            wrong.len()
        );
        for wrong in wrong.iter().take(20) {
            println!("    {wrong:x?}");
        }
        assert!(functions > 1000 && wrong.is_empty());
    }
}
