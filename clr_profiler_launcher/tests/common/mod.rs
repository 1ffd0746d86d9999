//! Generated files: a temporary folder, tiny PE and ELF files, scripts.

#![allow(dead_code, reason = "each test file uses a part")]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

/// A temporary folder, removed at the end.
pub(crate) struct Folder(PathBuf);

impl Folder {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicU32 = AtomicU32::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("clr-launcher-{}-{count} ä", std::process::id());
        let path = std::env::temp_dir().join(name);
        fs::create_dir(&path).unwrap();
        Self(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    pub(crate) fn file(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).unwrap();
        path
    }

    /// An executable file. Another process writes it: if this one did, a child that another
    /// test starts at that moment would hold it open for writing, and it could not be executed.
    #[cfg(unix)]
    pub(crate) fn executable(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let source = self.file(&format!("{name}.source"), content);
        let path = self.0.join(name);
        let status = std::process::Command::new("install")
            .args(["-m", "755", "--"])
            .args([&source, &path])
            .status()
            .unwrap();
        assert!(status.success());
        path
    }

    /// An assembly with its runtimeconfig.
    pub(crate) fn app(&self, name: &str) -> PathBuf {
        self.file(&format!("{name}.runtimeconfig.json"), "{}");
        self.file(&format!("{name}.dll"), Pe::default().bytes())
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A PE file of one section; the default is a portable assembly with an entry point.
#[derive(Clone, Copy)]
pub(crate) struct Pe {
    pub(crate) machine: u16,
    pub(crate) is_64: bool,
    pub(crate) cli: bool,
    pub(crate) flags: u32,
    pub(crate) entry_point: u32,
}

impl Default for Pe {
    fn default() -> Self {
        Self {
            machine: 0x14c,
            is_64: false,
            cli: true,
            flags: 1,
            entry_point: 0x0600_0001,
        }
    }
}

impl Pe {
    pub(crate) fn bytes(self) -> Vec<u8> {
        const HEADER: usize = 0x80;
        const SECTION_ADDRESS: u32 = 0x2000;
        const SECTION_OFFSET: usize = 0x200;
        let mut file = vec![0; SECTION_OFFSET + 0x60];
        let mut put = |offset: usize, bytes: &[u8]| {
            file[offset..offset + bytes.len()].copy_from_slice(bytes);
        };
        put(0, b"MZ");
        put(0x3c, &(HEADER as u32).to_le_bytes());
        put(HEADER, b"PE\0\0");
        put(HEADER + 4, &self.machine.to_le_bytes());
        put(HEADER + 6, &1_u16.to_le_bytes());
        let (magic, optional_size) = if self.is_64 {
            (0x20b_u16, 240_u16)
        } else {
            (0x10b, 224)
        };
        put(HEADER + 20, &optional_size.to_le_bytes());
        let optional = HEADER + 24;
        put(optional, &magic.to_le_bytes());
        let directories = optional + if self.is_64 { 108 } else { 92 };
        put(directories, &16_u32.to_le_bytes());
        if self.cli {
            put(
                directories + 4 + 14 * 8,
                &(SECTION_ADDRESS + 8).to_le_bytes(),
            );
        }
        let section = optional + usize::from(optional_size);
        put(section + 8, &0x60_u32.to_le_bytes());
        put(section + 12, &SECTION_ADDRESS.to_le_bytes());
        put(section + 16, &0x60_u32.to_le_bytes());
        put(section + 20, &(SECTION_OFFSET as u32).to_le_bytes());
        let cli = SECTION_OFFSET + 8;
        put(cli, &0x48_u32.to_le_bytes());
        put(cli + 16, &self.flags.to_le_bytes());
        put(cli + 20, &self.entry_point.to_le_bytes());
        file
    }
}

/// The machine numbers of this process and of another architecture.
pub(crate) fn pe_machines() -> (u16, u16) {
    if cfg!(target_arch = "aarch64") {
        (0xaa64, 0x8664)
    } else {
        (0x8664, 0xaa64)
    }
}

pub(crate) fn elf_machines() -> (u16, u16) {
    if cfg!(target_arch = "aarch64") {
        (183, 62)
    } else {
        (62, 183)
    }
}

/// The start of an ELF file, followed by zeros.
pub(crate) fn elf(machine: u16, length: usize) -> Vec<u8> {
    let mut file = vec![0; length];
    file[..6].copy_from_slice(&[0x7f, b'E', b'L', b'F', 2, 1]);
    file[18..20].copy_from_slice(&machine.to_le_bytes());
    file
}

/// The mark of an apphost. Written so that the test's executable does not contain it.
pub(crate) fn mark() -> Vec<u8> {
    "8b 12 02 b9 6a 61 20 38 72 7b 93 02 14 d7 a0 32 13 f5 b9 e6 ef ae 33 18 ee 3b 2d ce 24 b3 6a ae"
        .split(' ')
        .map(|byte| u8::from_str_radix(byte, 16).unwrap())
        .collect()
}

/// An executable that looks like a single-file program.
pub(crate) fn single_file(machine: u16) -> Vec<u8> {
    let mut file = elf(machine, 200_000);
    file.extend(mark());
    file.extend([7; 1000]);
    file
}

/// Asserts that the text contains all the parts.
#[track_caller]
pub(crate) fn says(error: &dyn std::error::Error, parts: &[&str]) {
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "`{part}` is not in: {text}");
    }
}
