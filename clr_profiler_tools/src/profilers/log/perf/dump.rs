//! A jitdump: code with its names and the times at which it appeared, which `perf inject --jit` makes images of.
//!
//! Numbers are in the byte order of the machine. A record begins with its kind, its size and its time.

use std::fs::File;
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use crate::report::private;

use super::system::{Marker, now};

const MAGIC: u32 = 0x4A69_5444;
const VERSION: u32 = 1;
const HEADER: u32 = 40;

const LOAD: u32 = 0;
const CLOSE: u32 = 3;

/// The number of this processor in ELF files.
const MACHINE: u32 = match cfg!(target_arch = "aarch64") {
    true => 183,
    false => 62,
};

/// The most bytes that wait to be written.
const WAITING: usize = 1 << 20;

/// The file `jit-PID.dump` in a folder.
pub(crate) struct JitDump {
    path: PathBuf,
    waiting: Vec<u8>,
    /// The number of the next piece of code.
    index: u64,
    /// The mapping by which perf finds the file. It ends with the dump.
    _marker: Marker,
}

impl JitDump {
    pub(crate) fn create(folder: &Path) -> io::Result<Self> {
        let path = folder.join(format!("jit-{}.dump", std::process::id()));
        let path = std::path::absolute(path)?;
        drop(private::create(&path)?);
        let mut header = Vec::with_capacity(HEADER as usize);
        for number in [MAGIC, VERSION, HEADER, MACHINE, 0, std::process::id()] {
            header.extend(number.to_ne_bytes());
        }
        header.extend(now().to_ne_bytes());
        let flags = 0_u64;
        header.extend(flags.to_ne_bytes());
        private::append(&path)?.write_all(&header)?;
        let marker = Marker::map(&private::read(&path)?)?;
        Ok(Self {
            path,
            waiting: Vec::new(),
            index: 0,
            _marker: marker,
        })
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Adds code that is at this address. Code that cannot be read is left out.
    pub(crate) fn add(&mut self, start: usize, size: usize, name: &str, at: u64) {
        let mut code = vec![0; size];
        let memory = File::open("/proc/self/mem");
        let read = memory.and_then(|memory| memory.read_exact_at(&mut code, start as u64));
        if read.is_err() {
            return;
        }
        self.index += 1;
        let record = load(start, &code, name, self.index, at);
        self.waiting.extend(record);
        if self.waiting.len() > WAITING {
            // It is tried again with the next write.
            let _ = self.write();
        }
    }

    pub(crate) fn write(&mut self) -> io::Result<()> {
        if self.waiting.is_empty() {
            return Ok(());
        }
        private::append(&self.path)?.write_all(&self.waiting)?;
        self.waiting.clear();
        Ok(())
    }

    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.waiting.extend(record(CLOSE, now(), &[]));
        self.write()
    }
}

fn record(kind: u32, at: u64, content: &[u8]) -> Vec<u8> {
    let size = (16 + content.len()) as u32;
    let mut record = Vec::with_capacity(size as usize);
    record.extend(kind.to_ne_bytes());
    record.extend(size.to_ne_bytes());
    record.extend(at.to_ne_bytes());
    record.extend(content);
    record
}

fn load(start: usize, code: &[u8], name: &str, index: u64, at: u64) -> Vec<u8> {
    let process = std::process::id();
    let start = start as u64;
    let mut content = Vec::with_capacity(48 + name.len() + 1 + code.len());
    for number in [process, process] {
        content.extend(number.to_ne_bytes());
    }
    for number in [start, start, code.len() as u64, index] {
        content.extend(number.to_ne_bytes());
    }
    content.extend(name.replace(['\0', '\n', '\r'], " ").into_bytes());
    content.push(0);
    content.extend(code);
    record(LOAD, at, &content)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_has_its_size() {
        let record = load(0x1000, &[0x90, 0xC3], "A.B()", 7, 5);
        assert_eq!(record.len(), 16 + 8 + 32 + 6 + 2);
        assert_eq!(record[4..8], (record.len() as u32).to_ne_bytes());
        assert_eq!(record[8..16], 5_u64.to_ne_bytes());
        assert_eq!(record[24..32], 0x1000_u64.to_ne_bytes());
        assert_eq!(record[40..48], 2_u64.to_ne_bytes());
        assert_eq!(&record[56..], b"A.B()\0\x90\xC3");
    }

    #[test]
    fn the_file_has_a_header_and_code() {
        static NUMBERS: [u8; 8] = [1, 2, 3, 4, 5, 6, 7, 8];
        let folder = std::env::temp_dir().join(format!("clr-jitdump-{}", std::process::id()));
        std::fs::create_dir(&folder).unwrap();
        let mut dump = JitDump::create(&folder).unwrap();
        dump.add(NUMBERS.as_ptr().addr(), NUMBERS.len(), "A", now());
        // An address that nothing is at.
        dump.add(8, 8, "B", now());
        dump.end().unwrap();
        let bytes = std::fs::read(dump.path()).unwrap();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(bytes[..4], MAGIC.to_ne_bytes());
        assert_eq!(bytes[20..24], std::process::id().to_ne_bytes());
        assert!(
            bytes[40..].ends_with(
                &[
                    &b"A\0"[..],
                    &NUMBERS,
                    &record(CLOSE, 0, &[])[..8],
                    &bytes[bytes.len() - 8..]
                ]
                .concat()
            )
        );
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let name = dump.path().to_str().unwrap();
        let is_marker = |line: &str| line.contains(" r-xp ") && line.contains(name);
        assert!(maps.lines().any(is_marker), "{maps}");
    }
}
