//! Native libraries and executables: the processor, the needs and the exports of a file for Linux (ELF) or Windows (PE).
//!
//! Every file is read in the same way on every system: an image for Linux may be examined anywhere, and on Windows a
//! library for Linux is a mistake that has a name.

mod elf;
mod needs;
mod pe;

use std::fs;
use std::path::Path;

#[cfg(not(windows))]
pub(crate) use needs::who_needs;
pub(crate) use needs::{Missing, Place, first_missing};

/// The function that the runtime asks for the class factory of a profiler.
const CLASS_FACTORY: &str = "DllGetClassObject";

/// The data that a program with the runtime in itself exports, so that debuggers find it.
const RUNTIME_INFO: &str = "DotNetRuntimeInfo";

/// The system for which a file was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    /// Linux, and other systems like it.
    Elf,
    /// Windows.
    Pe,
}

/// A native library or an executable.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Binary {
    pub(crate) format: Format,
    pub(crate) machine: Machine,
    /// Whether it is an executable, which cannot be loaded.
    pub(crate) is_executable: bool,
    /// Whether it is an assembly without native code.
    pub(crate) is_managed: bool,
    /// Names of the libraries that it needs.
    pub(crate) needed: Vec<String>,
    /// Folders in which the loader looks for them, as the file has them.
    pub(crate) run_paths: Vec<String>,
    /// Versions of the GNU C library that it needs, such as (2, 34).
    pub(crate) glibc: Option<(u32, u32)>,
    exports: Vec<String>,
}

/// A kind of processor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Machine {
    /// As Rust names it.
    pub(crate) processor: String,
    /// 32 or 64.
    pub(crate) bits: u32,
}

impl Machine {
    fn new(processor: &str, bits: u32) -> Self {
        let processor = processor.to_owned();
        Self { processor, bits }
    }

    /// That of this process.
    pub(crate) fn own() -> Self {
        Self::new(std::env::consts::ARCH, usize::BITS)
    }
}

impl Default for Machine {
    fn default() -> Self {
        Self::own()
    }
}

impl Binary {
    fn exports(&self, name: &str) -> bool {
        self.exports.iter().any(|export| export == name)
    }

    /// Whether it can be a profiler.
    pub(crate) fn has_class_factory(&self) -> bool {
        self.exports(CLASS_FACTORY)
    }

    /// Whether it is a program in a single file, which has the runtime in itself.
    pub(crate) fn has_runtime(&self) -> bool {
        self.exports(RUNTIME_INFO)
    }

    /// Whether it was linked with musl.
    #[cfg(not(windows))]
    pub(crate) fn needs_musl(&self) -> bool {
        self.needed
            .iter()
            .any(|name| name.starts_with("libc.musl-") || name == "libc.so")
    }

    /// Whether it was linked with the GNU C library.
    #[cfg(not(windows))]
    pub(crate) fn needs_glibc(&self) -> bool {
        self.needed.iter().any(|name| name == "libc.so.6")
    }
}

/// Reads a file; `None` if it cannot be read, or is neither ELF nor PE.
pub(crate) fn read(path: &Path) -> Option<Binary> {
    parse(&fs::read(path).ok()?)
}

fn parse(data: &[u8]) -> Option<Binary> {
    match data.get(..4)? {
        [0x7f, b'E', b'L', b'F'] => elf::parse(data),
        [b'M', b'Z', ..] => pe::parse(data),
        _ => None,
    }
}

/// Whether a file is a library with a class factory, as each profiler is.
pub(crate) fn has_class_factory(path: &Path) -> bool {
    read(path).is_some_and(|file| file.has_class_factory())
}

/// Whether a file is a program in a single file, which has the runtime in itself.
pub(crate) fn has_runtime(path: &Path) -> bool {
    read(path).is_some_and(|file| file.has_runtime())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_test_is_an_executable() {
        let own = read(&std::env::current_exe().unwrap()).unwrap();
        assert!(own.is_executable && !own.is_managed);
        assert!(!own.has_class_factory() && !own.has_runtime());
        assert_eq!(own.machine, Machine::own());
        let format = match cfg!(windows) {
            true => Format::Pe,
            false => Format::Elf,
        };
        assert_eq!(own.format, format);
        assert!(read(Path::new("Cargo.toml")).is_none());
        assert!(read(Path::new("no such file")).is_none());
    }

    /// A file that was damaged is another file or none, and never a panic.
    #[test]
    fn damaged_files() {
        let whole = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let start = whole.get(..4096).unwrap();
        for length in (0..start.len()).step_by(61) {
            let _ = parse(&start[..length]);
        }
        for at in 0..1024 {
            let mut changed = start.to_vec();
            changed[at] ^= 0xFF;
            let _ = parse(&changed);
        }
    }
}
