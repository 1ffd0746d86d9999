//! The needs of an ELF library, and its exports.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use object::elf;
use object::read::elf::{ElfFile, FileHeader, ProgramHeader as _};
use object::{Endianness, Object, ObjectSymbol};

/// A library for Linux.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Elf {
    /// 32 or 64.
    pub(super) bits: u8,
    /// The number of the processor in the header.
    pub(super) machine: u16,
    /// Names of libraries that it needs.
    pub(super) needed: Vec<String>,
    /// Versions of the C library that it needs, such as (2, 34).
    pub(super) glibc: Option<(u32, u32)>,
    pub(super) exports_class_factory: bool,
    /// Whether it is an executable: those cannot be loaded.
    pub(super) is_executable: bool,
}

/// Reads a file; `None` if it is no ELF file.
pub(super) fn read(path: &Path) -> Option<Elf> {
    let data = fs::read(path).ok()?;
    match data.get(..5)? {
        [0x7f, b'E', b'L', b'F', 2] => parse::<elf::FileHeader64<Endianness>>(&data, 64),
        [0x7f, b'E', b'L', b'F', 1] => parse::<elf::FileHeader32<Endianness>>(&data, 32),
        _ => None,
    }
}

fn parse<Header: FileHeader<Endian = Endianness>>(data: &[u8], bits: u8) -> Option<Elf> {
    let file: ElfFile<'_, Header> = ElfFile::parse(data).ok()?;
    let endian = file.endian();
    let header = file.elf_header();
    let mut needed = Vec::new();
    let mut glibc = BTreeSet::new();
    let sections = header.sections(endian, data).ok()?;
    if let Ok(Some((entries, strings))) = sections.dynamic(endian, data) {
        use object::read::elf::Dyn as _;
        let strings = sections.strings(endian, data, strings).ok()?;
        for entry in entries {
            if entry.tag32(endian) == Some(elf::DT_NEEDED)
                && let Ok(name) = entry.string(endian, strings)
            {
                needed.push(String::from_utf8_lossy(name).into_owned());
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
    let mut symbols = file.dynamic_symbols();
    let exports_class_factory =
        symbols.any(|symbol| symbol.is_definition() && symbol.name() == Ok("DllGetClassObject"));
    let segments = header.program_headers(endian, data).ok()?;
    let has_interpreter = segments
        .iter()
        .any(|segment| segment.p_type(endian) == elf::PT_INTERP);
    Some(Elf {
        bits,
        machine: header.e_machine(endian),
        needed,
        glibc: glibc.last().copied(),
        exports_class_factory,
        is_executable: has_interpreter,
    })
}

/// `GLIBC_2.34` as two numbers.
fn version_of_glibc(name: &str) -> Option<(u32, u32)> {
    let (major, minor) = name.strip_prefix("GLIBC_")?.split_once('.')?;
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

impl Elf {
    pub(super) fn processor(&self) -> String {
        match self.machine {
            elf::EM_386 => "x86".to_owned(),
            elf::EM_X86_64 => "x86_64".to_owned(),
            elf::EM_ARM => "arm".to_owned(),
            elf::EM_AARCH64 => "aarch64".to_owned(),
            other => format!("the processor with number {other}"),
        }
    }

    /// Whether it was linked with musl.
    pub(super) fn needs_musl(&self) -> bool {
        self.needed
            .iter()
            .any(|name| name.starts_with("libc.musl-") || name == "libc.so")
    }

    /// Whether it was linked with the GNU C library.
    pub(super) fn needs_glibc(&self) -> bool {
        self.needed.iter().any(|name| name == "libc.so.6")
    }
}

/// Whether a file is a library with a class factory, as each profiler is.
pub(crate) fn exports_class_factory(path: &Path) -> bool {
    read(path).is_some_and(|file| file.exports_class_factory)
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
    fn this_test_is_an_executable() {
        let own = read(&std::env::current_exe().unwrap()).unwrap();
        assert!(own.is_executable && !own.exports_class_factory);
        assert_eq!(own.processor(), std::env::consts::ARCH);
        assert!(own.needs_glibc() != own.needs_musl() || own.needed.is_empty());
        assert!(read(Path::new("Cargo.toml")).is_none());
    }
}
