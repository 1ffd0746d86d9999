//! The least that coverage can cost: bodies with probes that were made before the program started.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicUsize, Ordering};
use std::sync::{PoisonError, RwLock};

use clr_profiler::prelude::*;
use scenario_support::clsid;

/// The folder with a file of bodies for each covered module, by the name of its file: the number of rows of methods, the offsets of
/// their bodies and of the end, each with four bytes, and the bodies.
const BODIES: &str = "COVER_FLOOR";

/// The address of the probes that the bodies store into, and their number.
const PROBES: &str = "COVER_FLOOR_PROBES";

/// Sets the bodies of methods that are compiled or may be inlined. It hears of the same events as the coverage of `cargo clr`, but
/// makes, verifies and keeps nothing.
pub(crate) struct CoverFloor {
    folder: PathBuf,
    modules: RwLock<HashMap<ModuleId, &'static Bodies>>,
    probes: &'static [AtomicU8],
    set: AtomicUsize,
}

struct Bodies {
    file: &'static [u8],
    /// By the rows of methods.
    are_set: Vec<AtomicBool>,
}

/// The number at an index of a file.
fn number(file: &[u8], index: usize) -> Option<usize> {
    let bytes = file.get(index * 4..)?.first_chunk()?;
    usize::try_from(u32::from_le_bytes(*bytes)).ok()
}

impl Bodies {
    fn new(file: &'static [u8]) -> Self {
        let rows = number(file, 0).unwrap_or_default();
        let are_set = (0..rows).map(|_| AtomicBool::new(false)).collect();
        Self { file, are_set }
    }

    /// The body of a method, the first time that it is asked for.
    fn take(&self, method: MethodDef) -> Option<&'static [u8]> {
        let index = (method.row() as usize).checked_sub(1)?;
        let is_set = self.are_set.get(index)?;
        if is_set.load(Ordering::Relaxed) {
            return None;
        }
        let (begin, end) = (number(self.file, 1 + index)?, number(self.file, 2 + index)?);
        let body = self.file.get(begin..end)?;
        (!body.is_empty() && !is_set.swap(true, Ordering::Relaxed)).then_some(body)
    }
}

impl CoverFloor {
    fn bodies(&self, module: ModuleId) -> Option<&'static Bodies> {
        let modules = self.modules.read().unwrap_or_else(PoisonError::into_inner);
        modules.get(&module).copied()
    }

    /// Sets the body of a method that has none of these yet.
    fn set(&self, info: &ProfilerInfo, function: FunctionId) -> Result<bool> {
        let facts = info.function_info(function)?;
        let bodies = self.bodies(facts.module);
        let Some(body) = bodies.and_then(|bodies| bodies.take(facts.token)) else {
            return Ok(false);
        };
        info.set_il_function_body(facts.module, facts.token, body)?;
        self.set.fetch_add(1, Ordering::Relaxed);
        Ok(true)
    }
}

#[profiler(clsid = clsid("CoverFloor"))]
impl Profiler for CoverFloor {
    fn initialize(_info: &ProfilerInfo, _setup: &mut Setup) -> Result<Self> {
        let missing = || Error::other("its variables are missing");
        let folder = std::env::var_os(BODIES).ok_or_else(missing)?;
        let probes = std::env::var(PROBES).map_err(Error::other)?;
        let (address, count) = probes.split_once(' ').ok_or_else(missing)?;
        let address = address.parse().map_err(Error::other)?;
        let count = count.parse().map_err(Error::other)?;
        Ok(Self {
            folder: folder.into(),
            modules: RwLock::default(),
            probes: memory::at(address, count)?,
            set: AtomicUsize::new(0),
        })
    }

    fn module_load_finished(
        &self,
        info: &ProfilerInfo,
        module: ModuleId,
        _status: Hresult,
    ) -> Result<()> {
        let facts = info.module_info(module)?;
        let name = PathBuf::from(&facts.name);
        let name = name.file_name().unwrap_or_default();
        let Ok(file) = File::open(self.folder.join(name)) else {
            return Ok(());
        };
        let bodies = Box::leak(Box::new(Bodies::new(memory::of(&file)?)));
        let mut modules = self.modules.write().unwrap_or_else(PoisonError::into_inner);
        modules.insert(module, bodies);
        Ok(())
    }

    fn module_unload_started(&self, _info: &ProfilerInfo, module: ModuleId) -> Result<()> {
        let mut modules = self.modules.write().unwrap_or_else(PoisonError::into_inner);
        modules.remove(&module);
        Ok(())
    }

    fn jit_cached_function_search_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
    ) -> Result<bool> {
        let facts = info.function_info(function)?;
        Ok(self.bodies(facts.module).is_none())
    }

    fn jit_compilation_started(
        &self,
        info: &ProfilerInfo,
        function: FunctionId,
        _is_safe_to_block: bool,
    ) -> Result<()> {
        self.set(info, function).map(drop)
    }

    /// The JIT has read the body already that would be copied: a new one is for the next question.
    fn jit_inlining(
        &self,
        info: &ProfilerInfo,
        _caller: FunctionId,
        callee: FunctionId,
    ) -> Result<bool> {
        Ok(!self.set(info, callee)?)
    }

    /// Writes the number of bodies that were set, and of probes that were hit.
    fn shutdown(&self, _info: &ProfilerInfo) -> Result<()> {
        let hit = |probe: &&AtomicU8| probe.load(Ordering::Relaxed) != 0;
        let hits = self.probes.iter().filter(hit).count();
        let mut options = fs::OpenOptions::new();
        let mut file = options
            .append(true)
            .create(true)
            .open(self.folder.join("set"))?;
        let set = self.set.load(Ordering::Relaxed);
        file.write_all(format!("{set} {hits}\n").as_bytes())?;
        Ok(())
    }
}

#[cfg(target_os = "linux")]
mod memory {
    use std::os::fd::AsRawFd;

    use super::*;

    fn map(
        address: usize,
        length: usize,
        protection: libc::c_int,
        flags: libc::c_int,
        file: libc::c_int,
    ) -> Result<*const u8> {
        let address = std::ptr::without_provenance_mut(address);
        // SAFETY: without `MAP_FIXED`, the range is one that nothing else uses.
        let found = unsafe { libc::mmap(address, length, protection, flags, file, 0) };
        match found {
            libc::MAP_FAILED => Err(std::io::Error::last_os_error().into()),
            found => Ok(found.cast()),
        }
    }

    /// Memory at an address, until the program ends.
    pub(super) fn at(address: usize, length: usize) -> Result<&'static [AtomicU8]> {
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
        let found = map(
            address,
            length,
            libc::PROT_READ | libc::PROT_WRITE,
            flags,
            -1,
        )?;
        if found.addr() != address {
            return Err(Error::other("the range of the probes is in use"));
        }
        // SAFETY: the range has `length` bytes that can be read and written, is never unmapped, and is accessed as atomic bytes or
        // with stores of one instruction.
        Ok(unsafe { std::slice::from_raw_parts(found.cast(), length) })
    }

    /// The bytes of a file, until the program ends.
    pub(super) fn of(file: &File) -> Result<&'static [u8]> {
        let length = usize::try_from(file.metadata()?.len()).map_err(Error::other)?;
        let found = map(
            0,
            length,
            libc::PROT_READ,
            libc::MAP_PRIVATE,
            file.as_raw_fd(),
        )?;
        // SAFETY: the range has `length` bytes that can be read, and is never unmapped. The benchmark has written the file, and
        // changes it no more.
        Ok(unsafe { std::slice::from_raw_parts(found, length) })
    }
}

#[cfg(not(target_os = "linux"))]
mod memory {
    use super::*;

    const ELSEWHERE: &str = "it is measured on Linux alone";

    pub(super) fn at(_address: usize, _length: usize) -> Result<&'static [AtomicU8]> {
        Err(Error::other(ELSEWHERE))
    }

    pub(super) fn of(_file: &File) -> Result<&'static [u8]> {
        Err(Error::other(ELSEWHERE))
    }
}
