//! Files for Linux.

use std::collections::BTreeSet;

use object::elf;
use object::read::elf::{Dyn as _, ElfFile, FileHeader, ProgramHeader as _};
use object::{Endianness, Object, ObjectSymbol};

use super::{Binary, Format, Machine};

pub(super) fn parse(data: &[u8]) -> Option<Binary> {
    match data.get(4)? {
        2 => parse_as::<elf::FileHeader64<Endianness>>(data, 64),
        1 => parse_as::<elf::FileHeader32<Endianness>>(data, 32),
        _ => None,
    }
}

fn parse_as<Header: FileHeader<Endian = Endianness>>(data: &[u8], bits: u32) -> Option<Binary> {
    let file: ElfFile<'_, Header> = ElfFile::parse(data).ok()?;
    let endian = file.endian();
    let header = file.elf_header();
    let mut needed = Vec::new();
    let mut run_paths = Vec::new();
    let mut glibc = BTreeSet::new();
    let sections = header.sections(endian, data).ok()?;
    if let Ok(Some((entries, strings))) = sections.dynamic(endian, data) {
        let strings = sections.strings(endian, data, strings).ok()?;
        for entry in entries {
            let Ok(text) = entry.string(endian, strings) else {
                continue;
            };
            let text = String::from_utf8_lossy(text).into_owned();
            match entry.tag32(endian) {
                Some(elf::DT_NEEDED) => needed.push(text),
                Some(elf::DT_RPATH | elf::DT_RUNPATH) => {
                    run_paths.extend(text.split(':').map(str::to_owned));
                }
                _ => {}
            }
        }
    }
    if let Ok(Some((mut entries, strings))) = sections.gnu_verneed(endian, data) {
        let strings = sections.strings(endian, data, strings).ok()?;
        while let Ok(Some((_, mut versions))) = entries.next() {
            while let Ok(Some(version)) = versions.next() {
                if let Ok(name) = version.name(endian, strings) {
                    glibc.extend(version_of_glibc(&String::from_utf8_lossy(name)));
                }
            }
        }
    }
    let symbols = file.dynamic_symbols();
    let defined = symbols.filter(ObjectSymbol::is_definition);
    let exports = defined
        .filter_map(|symbol| Some(symbol.name().ok()?.to_owned()))
        .collect();
    let segments = header.program_headers(endian, data).ok()?;
    let has_interpreter = segments
        .iter()
        .any(|segment| segment.p_type(endian) == elf::PT_INTERP);
    Some(Binary {
        format: Format::Elf,
        machine: machine(header.e_machine(endian), bits),
        is_executable: has_interpreter,
        is_managed: false,
        needed,
        run_paths,
        glibc: glibc.last().copied(),
        exports,
    })
}

fn machine(number: u16, bits: u32) -> Machine {
    match number {
        elf::EM_386 => Machine::new("x86", bits),
        elf::EM_X86_64 => Machine::new("x86_64", bits),
        elf::EM_ARM => Machine::new("arm", bits),
        elf::EM_AARCH64 => Machine::new("aarch64", bits),
        other => Machine::new(&format!("the processor with number {other}"), bits),
    }
}

/// `GLIBC_2.34` as two numbers.
fn version_of_glibc(name: &str) -> Option<(u32, u32)> {
    let (major, minor) = name.strip_prefix("GLIBC_")?.split_once('.')?;
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_numbers() {
        assert_eq!(version_of_glibc("GLIBC_2.34"), Some((2, 34)));
        assert_eq!(version_of_glibc("GLIBC_2.2.5"), Some((2, 2)));
        assert_eq!(version_of_glibc("GLIBC_PRIVATE"), None);
        assert_eq!(version_of_glibc("GCC_3.0"), None);
    }

    #[test]
    #[cfg(target_os = "linux")]
    fn this_test_needs_one_c_library() {
        let own = crate::doctor::binary::read(&std::env::current_exe().unwrap()).unwrap();
        assert!(own.needs_glibc() != own.needs_musl() || own.needed.is_empty());
    }
}
