//! Functions of precompiled images, by the table that the images have for unwinding.
//!
//! The runtime names the stubs of P/Invokes in an image, but does not tell where they are.

use crate::image::read_memory;
use crate::info::CodeRange;

/// The bytes of a row of the table on x86-64: the addresses of a function's start, of its end, and of its unwind data.
const ROW: usize = 12;

/// The function with an address, in the image that is mapped at `base`. A handler is a function of its own.
pub(super) fn function_at(base: usize, address: usize) -> Option<CodeRange> {
    const HEADER_AT: usize = 0x3C;
    /// That of Windows, and that of Linux: images for it name their system in some bits of the machine.
    const MACHINES: [u32; 2] = [0x8664, 0x8664 ^ 0x7B79];
    /// The place of the table's address and size in the header.
    const TABLE: usize = 24 + 112 + 3 * 8;
    /// The place of the image's size in the header.
    const SIZE: usize = 24 + 56;
    let wanted = u32::try_from(address.checked_sub(base)?).ok()?;
    let at = |offset: usize| base.checked_add(offset);
    if read(base)? & 0xFFFF != u32::from(u16::from_le_bytes(*b"MZ")) {
        return None;
    }
    let header = at(read(at(HEADER_AT)?)? as usize)?;
    // The machine is the first half of a word after the signature.
    if read(header)? != u32::from_le_bytes(*b"PE\0\0")
        || !MACHINES.contains(&(read(header.checked_add(4)?)? & 0xFFFF))
        || read(header.checked_add(SIZE)?)? <= wanted
    {
        return None;
    }
    let directory = header.checked_add(TABLE)?;
    let table = at(read(directory)? as usize)?;
    let rows = read(directory.checked_add(4)?)? as usize / ROW;
    let row = |index: usize| table.checked_add(index.checked_mul(ROW)?);
    let (mut low, mut high) = (0, rows);
    while low < high {
        let middle = low + (high - low) / 2;
        match read(row(middle)?)? <= wanted {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    let found = row(low.checked_sub(1)?)?;
    let (start, end) = (read(found)?, read(found.checked_add(4)?)?);
    let size = end.checked_sub(start)? as usize;
    (wanted < end).then_some(CodeRange {
        start: at(start as usize)?,
        size,
    })
}

fn read(at: usize) -> Option<u32> {
    let mut bytes = [0; 4];
    read_memory(at, &mut bytes).then(|| u32::from_le_bytes(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An image for Linux with a header and these functions.
    fn image(functions: &[[u32; 2]]) -> Vec<u8> {
        let mut image = vec![0; 0x400];
        let mut put = |at: usize, bytes: &[u8]| image[at..at + bytes.len()].copy_from_slice(bytes);
        put(0, b"MZ");
        put(0x3C, &0x80_u32.to_le_bytes());
        put(0x80, b"PE\0\0\x1D\xFD");
        put(0x80 + 24 + 56, &0x3000_u32.to_le_bytes());
        put(0x80 + 24 + 112 + 24, &0x200_u32.to_le_bytes());
        put(0x80 + 24 + 112 + 28, &(functions.len() as u32 * 12).to_le_bytes());
        for (index, [start, end]) in functions.iter().enumerate() {
            put(0x200 + index * 12, &start.to_le_bytes());
            put(0x204 + index * 12, &end.to_le_bytes());
        }
        image
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no process_vm_readv")]
    fn functions_are_found_by_addresses_in_them() {
        let image = image(&[[0x1000, 0x1010], [0x1010, 0x1018], [0x2000, 0x2040]]);
        let base = image.as_ptr().expose_provenance();
        let found = |offset: usize| {
            let range = function_at(base, base + offset)?;
            Some((range.start - base, range.size))
        };
        assert_eq!(found(0x1000), Some((0x1000, 0x10)));
        assert_eq!(found(0x100F), Some((0x1000, 0x10)));
        assert_eq!(found(0x1010), Some((0x1010, 8)));
        assert_eq!(found(0x203F), Some((0x2000, 0x40)));
        for outside in [0, 0xFFF, 0x1018, 0x1FFF, 0x2040, 0x3000] {
            assert_eq!(found(outside), None, "{outside:x}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no process_vm_readv")]
    fn other_memory_has_none() {
        let memory = vec![0xFF_u8; 0x400];
        let base = memory.as_ptr().expose_provenance();
        assert_eq!(function_at(base, base + 0x10), None);
        assert_eq!(function_at(base, base - 1), None);
        let mut image = image(&[[0x1000, 0x1010]]);
        image[0x3C..0x40].copy_from_slice(&u32::MAX.to_le_bytes());
        let base = image.as_ptr().expose_provenance();
        assert_eq!(function_at(base, base + 0x1000), None);
    }
}
