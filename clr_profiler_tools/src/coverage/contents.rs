//! The bytes of assemblies.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::ops::Range;

use clr_metadata::{Headers, ImageLayout};

/// The bytes of an assembly. Large resources are zeros in it: they can be most of a file, and nothing here needs them.
pub(super) fn read_code(mut file: &File) -> io::Result<Vec<u8>> {
    let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    let left_out = large_resources(file, length).unwrap_or(length..length);
    let (before, rest) = bytes.split_at_mut(left_out.start);
    file.rewind()?;
    file.read_exact(before)?;
    if let Some(after) = rest.get_mut(left_out.len()..) {
        file.seek(SeekFrom::Start(left_out.end as u64))?;
        file.read_exact(after)?;
    }
    Ok(bytes)
}

/// The resources in a file of this length, if it is worth the work to read the rest alone.
fn large_resources(file: &File, length: usize) -> Option<Range<usize>> {
    const LARGE: u32 = 1 << 16;
    let headers = Headers::read(file, ImageLayout::File).ok()?;
    let range = headers.cli?.resources;
    let location = headers.locate(range.rva).ok()?;
    let start = usize::try_from(location.offset).ok()?;
    let end = start.checked_add(range.size.min(location.size) as usize)?;
    (range.size >= LARGE && end <= length).then_some(start..end)
}

#[cfg(test)]
mod tests {
    use std::{env, fs, process};

    use super::*;

    const ASSEMBLY: &[u8] = include_bytes!("../../../tests/profilees/Basics.dll");

    fn number(bytes: &[u8], at: usize) -> usize {
        u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize
    }

    fn write(bytes: &mut [u8], at: usize, number: usize) {
        bytes[at..at + 4].copy_from_slice(&u32::try_from(number).unwrap().to_le_bytes());
    }

    /// An assembly whose last section ends with resources of this size, and with one more byte.
    fn with_resources(size: usize) -> Vec<u8> {
        let mut bytes = ASSEMBLY.to_vec();
        let header = number(&bytes, 0x3C) + 4;
        let [sections, optional] = [2, 16].map(|at| bytes[header + at] as usize);
        let first = header + 20 + optional;
        let last = first + (sections - 1) * 40;
        let [rva, start] = [12, 20].map(|at| number(&bytes, last + at));
        bytes.truncate(start + number(&bytes, last + 16));
        let old = bytes.len() - start;
        bytes.resize(bytes.len() + size + 1, 7);
        for at in [8, 16] {
            write(&mut bytes, last + at, old + size + 1);
        }
        // That of managed code is in the first section.
        let cli = number(&bytes, header + 20 + 96 + 14 * 8);
        let cli = cli - number(&bytes, first + 12) + number(&bytes, first + 20);
        write(&mut bytes, cli + 24, rva + old);
        write(&mut bytes, cli + 28, size);
        bytes
    }

    #[test]
    fn large_resources_are_not_read() {
        for (size, is_read) in [(1 << 12, true), (1 << 17, false)] {
            let mut expected = with_resources(size);
            let path = env::temp_dir().join(format!("code-{}-{size}.dll", process::id()));
            fs::write(&path, &expected).unwrap();
            let bytes = read_code(&File::open(&path).unwrap()).unwrap();
            fs::remove_file(&path).unwrap();
            if !is_read {
                let end = expected.len() - 1;
                expected[end - size..end].fill(0);
            }
            assert!(bytes == expected, "{size}");
        }
    }
}
