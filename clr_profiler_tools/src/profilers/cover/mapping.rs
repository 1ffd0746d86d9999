//! The mapping of a file of hits into the program, into which the code of the program stores.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

use clr_metadata::Bundle;

use crate::coverage::{CoveredModule, GIVEN, HitsLayout, ModuleFiles, REFUSED, ROW};
use crate::report::masks;

/// The files of a module, whose headers are read once.
pub(super) struct ReadFiles {
    /// Refers to `files`, and is dropped before them.
    module: CoveredModule<'static>,
    _files: Arc<ModuleFiles>,
}

impl ReadFiles {
    pub(super) fn new(files: ModuleFiles) -> clr_metadata::Result<Self> {
        let files = Arc::new(files);
        // SAFETY: it keeps the files at their address until `module` is dropped, nothing changes them, and `module` lends itself
        // for no longer than they exist.
        let lasting: &'static ModuleFiles = unsafe { &*Arc::as_ptr(&files) };
        Ok(Self {
            module: lasting.module_for_few()?,
            _files: files,
        })
    }

    pub(super) const fn module(&self) -> &CoveredModule<'_> {
        &self.module
    }
}

/// A file of hits in the memory of the program, until the program ends: its code stores into it, and may run as long as the
/// program does.
#[derive(Debug)]
pub(super) struct Mapping {
    /// From the number of the first probe of the first method on.
    rows: &'static [AtomicU8],
    states: &'static [AtomicU8],
    pub(super) probes: &'static [AtomicU8],
}

impl Mapping {
    /// Creates the file with all of its blocks, and maps it.
    ///
    /// # Errors
    ///
    /// If there is no space for the file, or the system refuses it. No file is left then.
    pub(super) fn create(path: &Path, layout: &HitsLayout) -> io::Result<Self> {
        let mut options = File::options();
        options.read(true).write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        let mapped = masks::without_sigxfsz(|| {
            file.write_all(&layout.header())?;
            map(&file, layout.length())
        });
        if mapped.is_err() {
            // Half a file has no meaning.
            let _ = fs::remove_file(path);
        }
        let memory = mapped?;
        let states = layout.states_offset();
        Ok(Self {
            rows: &memory[layout.row_offset(0)..states],
            states: &memory[states..states + layout.methods.len()],
            probes: &memory[layout.probes_offset()..],
        })
    }

    /// Records that a method has probes: it is read only if it is whole.
    pub(super) fn give(&self, method: usize, first: u32, count: u32) {
        let row = self.rows.get(method * ROW..).unwrap_or_default();
        let bytes = [first, count].map(u32::to_le_bytes);
        for (to, from) in row.iter().zip(bytes.as_flattened()) {
            to.store(*from, Ordering::Relaxed);
        }
        self.set(method, GIVEN);
    }

    /// Records that a method could not be given probes.
    pub(super) fn refuse(&self, method: usize) {
        self.set(method, REFUSED);
    }

    fn set(&self, method: usize, state: u8) {
        if let Some(of) = self.states.get(method) {
            of.store(state, Ordering::Release);
        }
    }

    /// The address of a byte of the probes.
    pub(super) fn address(&self, offset: usize) -> usize {
        self.probes.as_ptr() as usize + offset
    }
}

/// The bundle in the program's own file, if it is a single-file application. It takes no memory of its own where the system maps it.
#[cfg(target_os = "linux")]
pub(super) fn running_bundle() -> Option<Bundle<'static>> {
    let file = File::open("/proc/self/exe").ok()?;
    let length = usize::try_from(file.metadata().ok()?.len()).ok()?;
    let address = map_file(&file, length, libc::PROT_READ, libc::MAP_PRIVATE).ok()?;
    // SAFETY: the range has `length` bytes that can be read, and is unmapped only below, when nothing refers to it. The file is the
    // program that runs, of which the system and the host of a single-file application have the same pages mapped: most file
    // systems refuse to write to it or to truncate it (ETXTBSY), and where one does not, that ends the program without this, too.
    let bytes: &'static [u8] = unsafe { std::slice::from_raw_parts(address.cast(), length) };
    let bundle = Bundle::find(bytes).ok();
    if bundle.is_none() {
        // SAFETY: the range is that of above, and nothing has kept a part of it.
        unsafe { libc::munmap(address, length) };
    }
    bundle
}

/// The bundle in the program's own file, if it is a single-file application.
#[cfg(not(target_os = "linux"))]
pub(super) fn running_bundle() -> Option<Bundle<'static>> {
    let bytes = fs::read(std::env::current_exe().ok()?).ok()?;
    Bundle::find(&bytes).ok()?;
    // Once for a process.
    Bundle::find(bytes.leak()).ok()
}

/// Maps a file at an address that the system chooses.
#[cfg(target_os = "linux")]
fn map_file(
    file: &File,
    length: usize,
    protection: libc::c_int,
    flags: libc::c_int,
) -> io::Result<*mut libc::c_void> {
    use std::os::fd::AsRawFd;

    let descriptor = file.as_raw_fd();
    // SAFETY: without an address and without `MAP_FIXED`, as in both callers, the range is one that nothing else uses; the descriptor
    // is open.
    let address = unsafe {
        libc::mmap(
            std::ptr::null_mut(),
            length,
            protection,
            flags,
            descriptor,
            0,
        )
    };
    match address {
        libc::MAP_FAILED => Err(io::Error::last_os_error()),
        address => Ok(address),
    }
}

/// Maps a file of this length, whose blocks all exist: a store to one that is missing would end the program when the disk is
/// full.
#[cfg(target_os = "linux")]
fn map(file: &File, length: usize) -> io::Result<&'static [AtomicU8]> {
    use std::os::fd::AsRawFd;

    let size = libc::off_t::try_from(length).map_err(io::Error::other)?;
    // SAFETY: the descriptor is open; the call changes the file alone.
    match unsafe { libc::posix_fallocate(file.as_raw_fd(), 0, size) } {
        0 => {}
        code => return Err(io::Error::from_raw_os_error(code)),
    }
    let map = |flags| {
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        map_file(file, length, protection, libc::MAP_SHARED | flags)
    };
    // An address of 32 bits makes the code of a probe shorter, so that methods with probes are inlined as without.
    #[cfg(target_arch = "x86_64")]
    let address = map(libc::MAP_32BIT).or_else(|_| map(0))?;
    #[cfg(not(target_arch = "x86_64"))]
    let address = map(0)?;
    // SAFETY: the range has `length` bytes that can be read and written, all zero or of the header, and is never unmapped. The code
    // of the program and this process access them as atomic bytes or with stores of one instruction. A process that
    // truncates the file would make accesses fail; it has a name of its own in a folder of this run.
    Ok(unsafe { std::slice::from_raw_parts(address.cast::<AtomicU8>(), length) })
}

/// Maps a file of this length. The system makes its blocks, and writes the mapped memory to them however the program ends.
#[cfg(windows)]
fn map(file: &File, length: usize) -> io::Result<&'static [AtomicU8]> {
    use std::os::windows::io::{AsRawHandle, FromRawHandle, OwnedHandle};
    use std::ptr;
    use std::sync::atomic::AtomicUsize;

    use windows_sys::Win32::System::Memory::{
        CreateFileMappingW, FILE_MAP_WRITE, MapViewOfFileEx, PAGE_READWRITE,
    };

    /// The range in which an address has 32 bits, without the parts that programs use first; and the next address to try.
    const BEGIN: usize = 0x1000_0000;
    const END: usize = 0x7000_0000;
    const STEP: usize = 0x10_0000;
    static NEXT: AtomicUsize = AtomicUsize::new(BEGIN);

    let size = length as u64;
    // SAFETY: the file is open, and the call changes it alone.
    let section = unsafe {
        CreateFileMappingW(
            file.as_raw_handle(),
            ptr::null(),
            PAGE_READWRITE,
            (size >> 32) as u32,
            size as u32,
            ptr::null(),
        )
    };
    if section.is_null() {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the handle was made for this function alone.
    let section = unsafe { OwnedHandle::from_raw_handle(section) };
    let map = |address: usize| {
        // SAFETY: the system refuses a range that something else uses, and the handle is open.
        let view = unsafe {
            MapViewOfFileEx(
                section.as_raw_handle(),
                FILE_MAP_WRITE,
                0,
                0,
                length,
                ptr::without_provenance(address),
            )
        };
        (!view.Value.is_null()).then_some(view.Value)
    };
    // A short address makes the code of a probe shorter, so that methods with probes are inlined as without.
    let tried = (NEXT.load(Ordering::Relaxed)..END.saturating_sub(length)).step_by(STEP);
    let mut low = tried.map(|address| (address, map(address)));
    let low = low.find_map(|(address, view)| Some((address, view?)));
    let address = match low {
        Some((address, view)) => {
            let after = (address + length).next_multiple_of(STEP);
            NEXT.store(after, Ordering::Relaxed);
            view
        }
        None => map(0).ok_or_else(io::Error::last_os_error)?,
    };
    // SAFETY: the range has `length` bytes that can be read and written, all zero or of the header, and is never unmapped. The code
    // of the program and this process access them as atomic bytes or with stores of one instruction. The system lets nobody
    // truncate a file that is mapped.
    Ok(unsafe { std::slice::from_raw_parts(address.cast::<AtomicU8>(), length) })
}

#[cfg(not(any(target_os = "linux", windows)))]
fn map(_file: &File, _length: usize) -> io::Result<&'static [AtomicU8]> {
    Err(io::Error::new(
        io::ErrorKind::Unsupported,
        "coverage is measured on Linux and Windows alone",
    ))
}
