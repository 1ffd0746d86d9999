//! Files for Windows.

use object::LittleEndian as LE;
use object::pe;
use object::read::pe::{ImageNtHeaders, PeFile};

use super::{Binary, Format, Machine};

pub(super) fn parse(data: &[u8]) -> Option<Binary> {
    match object::FileKind::parse(data).ok()? {
        object::FileKind::Pe64 => parse_as::<pe::ImageNtHeaders64>(data, 64),
        object::FileKind::Pe32 => parse_as::<pe::ImageNtHeaders32>(data, 32),
        _ => None,
    }
}

fn parse_as<Headers: ImageNtHeaders>(data: &[u8], bits: u32) -> Option<Binary> {
    let file: PeFile<'_, Headers> = PeFile::parse(data).ok()?;
    let header = file.nt_headers().file_header();
    let mut needed = Vec::new();
    if let Ok(Some(table)) = file.import_table() {
        let mut descriptors = table.descriptors().ok()?;
        while let Ok(Some(descriptor)) = descriptors.next() {
            let name = table.name(descriptor.name.get(LE)).ok()?;
            needed.push(String::from_utf8_lossy(name).into_owned());
        }
    }
    let mut exports = Vec::new();
    if let Ok(Some(table)) = file.export_table() {
        let names = table.name_iter();
        exports.extend(names.filter_map(|(at, _)| {
            let name = table.name_from_pointer(at).ok()?;
            Some(String::from_utf8_lossy(name).into_owned())
        }));
    }
    // Code of C++/CLI is managed and exports functions nevertheless: the runtime asks for them alone.
    let clr = file.data_directory(pe::IMAGE_DIRECTORY_ENTRY_COM_DESCRIPTOR);
    let has_clr = clr.is_some_and(|entry| entry.virtual_address.get(LE) != 0);
    Some(Binary {
        format: Format::Pe,
        machine: machine(header.machine.get(LE), bits),
        is_executable: header.characteristics.get(LE) & pe::IMAGE_FILE_DLL == 0,
        is_managed: has_clr && exports.is_empty(),
        needed,
        run_paths: Vec::new(),
        glibc: None,
        exports,
    })
}

fn machine(number: u16, bits: u32) -> Machine {
    match number {
        pe::IMAGE_FILE_MACHINE_I386 => Machine::new("x86", bits),
        pe::IMAGE_FILE_MACHINE_AMD64 => Machine::new("x86_64", bits),
        pe::IMAGE_FILE_MACHINE_ARMNT => Machine::new("arm", bits),
        pe::IMAGE_FILE_MACHINE_ARM64 => Machine::new("aarch64", bits),
        other => Machine::new(&format!("the processor with number {other:#x}"), bits),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::{Machine, read};
    use super::*;

    /// A file with headers alone, of a library for this processor.
    fn headers(machine: u16, magic: u16) -> Vec<u8> {
        let optional_size = if magic == 0x20b { 240 } else { 224 };
        let mut file = vec![0; 64];
        file[..2].copy_from_slice(b"MZ");
        file[0x3c] = 64;
        file.extend(b"PE\0\0");
        file.extend(machine.to_le_bytes());
        file.extend([0; 14]);
        file.extend((optional_size as u16).to_le_bytes());
        file.extend((pe::IMAGE_FILE_DLL | pe::IMAGE_FILE_EXECUTABLE_IMAGE).to_le_bytes());
        let at = file.len();
        file.resize(at + optional_size, 0);
        file[at..at + 2].copy_from_slice(&magic.to_le_bytes());
        // The number of data directories is their last field before them.
        let count = at + optional_size - 16 * 8 - 4;
        file[count] = 16;
        file
    }

    #[test]
    fn processors_and_bits() {
        for (number, magic, processor, bits) in [
            (0x014c, 0x10b, "x86", 32),
            (0x8664, 0x20b, "x86_64", 64),
            (0xaa64, 0x20b, "aarch64", 64),
            (0x01c4, 0x10b, "arm", 32),
            (0x0200, 0x20b, "the processor with number 0x200", 64),
        ] {
            let file = parse(&headers(number, magic)).unwrap();
            assert_eq!(file.machine, Machine::new(processor, bits));
            assert!(!file.is_executable && !file.is_managed && file.needed.is_empty());
        }
    }

    #[test]
    fn an_assembly_is_managed() {
        let sample = Path::new(env!("CARGO_MANIFEST_DIR")).join("template/Sample.dll");
        let sample = read(&sample).unwrap();
        assert!(sample.is_managed && sample.format == Format::Pe);
        assert!(!sample.has_class_factory());
    }
}
