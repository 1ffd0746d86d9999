//! The map of compiled code, from addresses to functions.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use super::native::Rule;
#[cfg(target_arch = "x86_64")]
use super::precompiled;
use super::prologue::{self, EPILOGUE, PROLOGUE, Prologue, Return};
use crate::error::{Hresult, Result};
use crate::ids::{FunctionId, RejitId};
use crate::image::read_memory;
#[cfg(target_arch = "x86_64")]
use crate::info::CorProfilerInfo;
use crate::info::{CodeRange, CorProfilerInfo2, CorProfilerInfo8, CorProfilerInfo9};
use crate::runtime::ProfilerInfo;
use clr_profiler_il::token::HashTokens;

/// The limit for bodies, some 50 MB.
const LIMIT: usize = 400_000;

/// The addresses of which the map keeps the answers.
const MET: usize = 1 << 14;

/// The bits of an address in its block, of 64 kB.
const BLOCK: u32 = 16;

/// The blocks of a body: none is larger.
const BLOCKS: usize = 1 << 10;

/// A contiguous range of compiled code.
#[derive(Debug)]
pub(super) struct Code {
    /// `None` for a stub whose function the runtime is not asked about.
    pub(super) function: Option<FunctionId>,
    start: usize,
    size: usize,
    is_dynamic: bool,
    /// Few methods are ever sampled: it is read for the first stack that has the method. Dynamic methods may be gone by then.
    prologue: OnceLock<Prologue>,
}

impl Code {
    pub(super) fn new(function: impl Into<Option<FunctionId>>, range: CodeRange) -> Self {
        Self {
            function: function.into(),
            start: range.start,
            size: range.size,
            is_dynamic: false,
            prologue: OnceLock::new(),
        }
    }

    /// Whether it is known as the other one. The ids of dynamic methods are reused, and so is their memory.
    fn is_same(&self, other: &Self) -> bool {
        let is_same =
            (self.function, self.start, self.size) == (other.function, other.start, other.size);
        is_same && !self.is_dynamic && !other.is_dynamic
    }

    /// Reads its first instructions now.
    pub(super) fn read(&self) {
        self.prologue();
    }

    fn prologue(&self) -> &Prologue {
        self.prologue.get_or_init(|| {
            let mut bytes = [0; PROLOGUE];
            let bytes = bytes.get_mut(..self.size.min(PROLOGUE)).unwrap_or_default();
            let code: &[u8] = match read_memory(self.start, bytes) {
                true => bytes,
                false => &[],
            };
            #[cfg(target_arch = "x86_64")]
            return prologue::x64::prologue(code);
            #[cfg(target_arch = "aarch64")]
            return prologue::arm64::prologue(code);
        })
    }

    /// Whether the code replaced code of the same method whose frame is below its own.
    pub(super) fn is_replacement(&self) -> bool {
        self.prologue().is_replacement
    }

    /// The bytes between the stack pointer and the return address in the method's body; `None` where frames are found
    /// by the frame pointer alone.
    pub(super) fn whole_depth(&self) -> Option<usize> {
        cfg!(target_arch = "x86_64").then(|| self.prologue().whole_depth())
    }

    /// Whether the caller's frame pointer is saved next to a return address at this distance from the stack pointer.
    pub(super) fn saves_frame(&self, distance: usize) -> bool {
        self.prologue().saves_frame(distance)
    }

    /// The place of the return address while the instruction at this address is the next one. `is_after_call`: no instruction of an
    /// epilogue can precede it.
    pub(super) fn locate(&self, ip: usize, is_after_call: bool) -> Return {
        let offset = ip.saturating_sub(self.start);
        let size = self.size.saturating_sub(offset).min(EPILOGUE);
        let mut bytes = [0; EPILOGUE];
        let bytes = bytes.get_mut(..size).unwrap_or_default();
        let here: &[u8] = match !is_after_call && read_memory(ip, bytes) {
            true => bytes,
            false => &[],
        };
        #[cfg(target_arch = "x86_64")]
        return prologue::x64::locate(self.prologue(), offset, here, self.size);
        #[cfg(target_arch = "aarch64")]
        return prologue::arm64::locate(self.prologue(), offset, here);
    }

    /// Whether the method, at this instruction, has given up its frame. `is_below`: the frame pointer is below the stack pointer.
    pub(super) fn has_left(&self, ip: usize, is_below: bool) -> bool {
        let offset = ip.saturating_sub(self.start);
        match self.locate(ip, false) {
            Return::AtStack(depth) => depth == 0 || is_below,
            Return::AboveStack(_) => self.prologue().has_frame(offset),
            _ => false,
        }
    }

    /// Whether the instruction at this address is in a handler that the method itself has called, at the call before this
    /// return address: both are one frame.
    pub(super) fn is_called_by_itself(&self, ip: usize, return_address: usize) -> bool {
        let end = self.start.saturating_add(self.size);
        if !(self.start..end).contains(&return_address) {
            return false;
        }
        #[cfg(target_arch = "x86_64")]
        return called_before(return_address).is_some_and(|target| {
            target != self.start && (self.start..end).contains(&target) && target <= ip
        });
        #[cfg(target_arch = "aarch64")]
        {
            let mut code = vec![0; ip.saturating_sub(self.start).min(self.size)];
            read_memory(self.start, &mut code) && prologue::arm64::has_handler(&code)
        }
    }
}

/// Whether the instruction before this address is a call.
pub(super) fn follows_call(address: usize) -> bool {
    let mut before = [0; 8];
    let Some(start) = address.checked_sub(before.len()) else {
        return false;
    };
    if !read_memory(start, &mut before) {
        return false;
    }
    #[cfg(target_arch = "x86_64")]
    return prologue::x64::is_call(before);
    #[cfg(target_arch = "aarch64")]
    return prologue::arm64::is_call(before);
}

/// The function that a call with a distance has called, by its return address.
#[cfg(target_arch = "x86_64")]
fn called_before(return_address: usize) -> Option<usize> {
    let mut call = [0; 5];
    if !read_memory(return_address.checked_sub(call.len())?, &mut call) {
        return None;
    }
    let distance = prologue::x64::called(call)?;
    return_address.checked_add_signed(distance as isize)
}

/// The rest of an epilogue of a native function, by its instruction pointer.
#[cfg(target_arch = "x86_64")]
pub(super) fn native_epilogue(ip: usize) -> Option<prologue::x64::Rest> {
    let mut bytes = [0; EPILOGUE];
    let is_whole = read_memory(ip, &mut bytes);
    // The page after a return need not be there.
    if !is_whole && !(read_memory(ip, bytes.get_mut(..1)?)) {
        return None;
    }
    prologue::x64::native_epilogue(&bytes)
}

/// The bytes between the stack pointer and the return address in the body of a native function that keeps the frame pointer.
pub(super) fn native_depth(start: usize) -> Option<usize> {
    let mut bytes = [0; PROLOGUE];
    if !read_memory(start, &mut bytes) {
        return None;
    }
    #[cfg(target_arch = "x86_64")]
    return prologue::x64::native_depth(&bytes);
    #[cfg(not(target_arch = "x86_64"))]
    return None;
}

/// The code that is known so far. Other code replaces all that was at its addresses.
#[derive(Debug, Default)]
pub(super) struct CodeMap {
    by_start: BTreeMap<usize, Arc<Code>>,
    /// Addresses that were looked up before: stacks have most of them again and again.
    met: HashMap<usize, Arc<Code>, HashTokens>,
    /// Addresses in native libraries, with the names of these and their rules; forgotten when code is added where none was so far.
    natives: HashMap<usize, (Arc<str>, Rule), HashTokens>,
    /// Instruction pointers in known code, and whether a call precedes them; forgotten with the addresses.
    calls: HashMap<usize, bool, HashTokens>,
    /// The blocks in which there is code.
    blocks: HashSet<usize, HashTokens>,
    /// Addresses that are in no compiled code; forgotten when code is added.
    none: HashSet<usize, HashTokens>,
}

impl CodeMap {
    /// The code at an address.
    pub(super) fn at(&mut self, address: usize) -> Option<Arc<Code>> {
        if let Some(code) = self.met.get(&address) {
            return Some(Arc::clone(code));
        }
        let (_, code) = self.by_start.range(..=address).next_back()?;
        let code = (address - code.start < code.size).then(|| Arc::clone(code))?;
        if self.met.len() >= MET {
            self.met.clear();
        }
        self.met.insert(address, Arc::clone(&code));
        Some(code)
    }

    /// Whether there is code at an instruction pointer that may be one after a call.
    pub(super) fn is_code(&mut self, ip: usize) -> bool {
        !self.natives.contains_key(&ip.wrapping_sub(1)) && self.at(ip).is_some()
    }

    /// Whether the instruction before this address is a call.
    pub(super) fn follows_call(&mut self, ip: usize) -> bool {
        if let Some(known) = self.calls.get(&ip) {
            return *known;
        }
        let follows_call = follows_call(ip);
        let before = ip.wrapping_sub(1);
        if self.natives.contains_key(&before) || self.at(before).is_some() {
            if self.calls.len() >= MET {
                self.calls.clear();
            }
            self.calls.insert(ip, follows_call);
        }
        follows_call
    }

    /// The library at an address that was looked up before, and its rule.
    pub(super) fn native_at(&self, address: usize) -> Option<(Arc<str>, Rule)> {
        self.natives.get(&address).cloned()
    }

    pub(super) fn add_native(&mut self, address: usize, library: Arc<str>, rule: Rule) {
        if self.natives.len() >= MET {
            self.natives.clear();
        }
        self.natives.insert(address, (library, rule));
    }

    /// A library can have been unloaded, and another one loaded at its address.
    pub(super) fn forget_natives(&mut self) {
        self.natives.clear();
        self.calls.clear();
    }

    fn forget_met(&mut self) {
        self.met.clear();
        self.calls.clear();
    }

    pub(super) fn is_none(&self, address: usize) -> bool {
        self.none.contains(&address)
    }

    pub(super) fn add_none(&mut self, address: usize) {
        if self.none.len() >= LIMIT {
            self.none.clear();
        }
        self.none.insert(address);
    }

    pub(super) fn add(&mut self, codes: Vec<Code>) {
        self.none.clear();
        for code in codes {
            // A method has the code of its former tiers, too.
            let is_known = self
                .by_start
                .get(&code.start)
                .is_some_and(|known| known.is_same(&code));
            if is_known || code.size == 0 || self.by_start.len() >= LIMIT {
                continue;
            }
            let end = code.start.saturating_add(code.size);
            for block in (code.start >> BLOCK..=(end - 1) >> BLOCK).take(BLOCKS) {
                if self.blocks.insert(block) {
                    self.forget_natives();
                }
            }
            while let Some((start, last)) = self.by_start.range(..end).next_back()
                && start.saturating_add(last.size) > code.start
            {
                let start = *start;
                self.by_start.remove(&start);
                self.forget_met();
            }
            self.by_start.insert(code.start, Arc::new(code));
        }
    }

    /// Removes the code of functions for which `is_gone`.
    pub(super) fn forget(&mut self, is_gone: impl Fn(FunctionId) -> bool) {
        self.by_start
            .retain(|_, code| !code.function.is_some_and(&is_gone));
        self.forget_met();
        self.forget_natives();
        self.blocks.clear();
        self.none.clear();
    }
}

/// The code of a method that was compiled for one version of its IL, by all compilers.
pub(super) fn of_method(
    info: &ProfilerInfo,
    function: FunctionId,
    rejit: RejitId,
) -> Result<Vec<Code>> {
    let mut all = Vec::new();
    for start in info.native_code_start_addresses(function, rejit)? {
        // The code can be that of a method that is just being unloaded.
        let ranges = info.code_info4(start).unwrap_or_default();
        all.extend(ranges.into_iter().map(|range| Code::new(function, range)));
    }
    Ok(all)
}

/// The code of a dynamic method.
pub(super) fn of_dynamic_method(info: &ProfilerInfo, function: FunctionId) -> Result<Vec<Code>> {
    let ranges = info.code_info2(function)?;
    let code = |range| Code {
        is_dynamic: true,
        ..Code::new(function, range)
    };
    let codes: Vec<Code> = ranges.into_iter().map(code).collect();
    codes.iter().for_each(Code::read);
    Ok(codes)
}

/// Who tells what code is at an address.
pub(super) trait Executed {
    /// The code at an address that is part of executed code: an instruction pointer, or an address after a call. The runtime
    /// crashes when it is asked for any other address of a precompiled image. `images` are the addresses at which its file can begin.
    fn code_at(&self, address: usize, images: &[usize]) -> Vec<Code>;
}

impl Executed for ProfilerInfo {
    fn code_at(&self, address: usize, images: &[usize]) -> Vec<Code> {
        let found = match self.function_from_ip3(address) {
            Ok(found) => Some(found),
            // Refused after an unload, for functions without metadata that were not seen before, such as stubs.
            Err(error) if error.is(Hresult::CORPROF_E_DATAINCOMPLETE) => None,
            Err(_) => return Vec::new(),
        };
        let mut all = found
            .and_then(|(function, rejit)| of_method(self, function, rejit).ok())
            .unwrap_or_default();
        if all.is_empty() {
            all = found
                .and_then(|(function, _)| of_dynamic_method(self, function).ok())
                .unwrap_or_default();
        }
        // It can name a method whose code does not contain the address.
        let is_right = all
            .iter()
            .any(|code| address >= code.start && address - code.start < code.size);
        if is_right {
            return all;
        }
        // The runtime does not tell where the precompiled stub of a P/Invoke is. Single-file applications have copies of images.
        #[cfg(target_arch = "x86_64")]
        if let Some(range) = images
            .iter()
            .copied()
            .chain(found.and_then(|(function, _)| image_of(self, function)))
            .find_map(|base| precompiled::function_at(base, address))
        {
            return vec![Code::new(found.map(|(function, _)| function), range)];
        }
        #[cfg(not(target_arch = "x86_64"))]
        let _ = images;
        Vec::new()
    }
}

/// The address of the image with a method that has metadata.
#[cfg(target_arch = "x86_64")]
fn image_of(info: &ProfilerInfo, function: FunctionId) -> Option<usize> {
    let module = info.function_info(function).ok()?.module;
    info.module_info(module).ok()?.base_address
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(function: usize, start: usize, size: usize) -> Code {
        Code::new(
            FunctionId::from_runtime(function),
            CodeRange { start, size },
        )
    }

    #[test]
    fn new_code_replaces_that_at_its_addresses() {
        let mut map = CodeMap::default();
        map.add(vec![
            code(1, 0x100, 0x20),
            code(2, 0x120, 0x20),
            code(3, 0x200, 1),
        ]);
        let at = |map: &mut CodeMap, address| {
            map.at(address).and_then(|code| Some(code.function?.raw()))
        };
        assert_eq!(at(&mut map, 0x11F), Some(1));
        assert_eq!((at(&mut map, 0x120), at(&mut map, 0x140)), (Some(2), None));
        map.add_none(0x140);
        assert!(map.is_none(0x140));
        map.add(vec![code(4, 0x118, 0x10)]);
        assert!(!map.is_none(0x140));
        assert_eq!((at(&mut map, 0x100), at(&mut map, 0x118)), (None, Some(4)));
        assert_eq!((at(&mut map, 0x130), at(&mut map, 0x200)), (None, Some(3)));
        map.forget(|function| function.raw() == 3);
        assert_eq!(at(&mut map, 0x200), None);
    }

    #[test]
    fn libraries_are_forgotten_when_code_is_added_elsewhere() {
        let mut map = CodeMap::default();
        let rule = Rule {
            by_frame: true,
            distance: 16,
            return_address: Some(8),
            frame: Some(0),
            start: 0x10_0000,
            is_first: false,
            is_signal: false,
        };
        map.add(vec![code(1, 0x100, 0x20)]);
        map.add_native(0x10_0000, "lib.so".into(), rule);
        map.add(vec![code(2, 0x200, 0x20)]);
        assert_eq!(map.native_at(0x10_0000), Some(("lib.so".into(), rule)));
        map.add(vec![code(3, 0x10_0000 - 0x10, 0x20)]);
        assert_eq!(map.native_at(0x10_0000), None);
        assert_eq!(
            map.at(0x10_0000).and_then(|code| code.function),
            Some(FunctionId::from_runtime(3))
        );
    }

    #[test]
    fn known_code_stays_unless_it_is_dynamic() {
        let mut map = CodeMap::default();
        map.add(vec![code(1, 0x100, 0x20)]);
        let first = map.at(0x100).unwrap();
        map.add(vec![code(1, 0x100, 0x20), code(1, 0x300, 0x20)]);
        assert!(Arc::ptr_eq(&first, &map.at(0x100).unwrap()) && map.at(0x300).is_some());
        let dynamic = || Code {
            is_dynamic: true,
            ..code(1, 0x100, 0x20)
        };
        map.add(vec![dynamic()]);
        let second = map.at(0x100).unwrap();
        assert!(!Arc::ptr_eq(&first, &second));
        map.add(vec![dynamic()]);
        assert!(!Arc::ptr_eq(&second, &map.at(0x100).unwrap()));
    }
}
