//! Frames of native libraries, by the tables that their compilers made for exceptions.

use std::collections::HashMap;
use std::sync::Arc;

use gimli::{
    BaseAddresses, CfaRule, EhFrame, EhFrameHdr, NativeEndian, Pointer, Register, RegisterRule,
    UnwindContext, UnwindSection,
};

use super::maps::Mapping;
use crate::image::read_memory;
use clr_profiler_il::token::HashTokens;

/// The largest table that is read: some ten times that of the runtime.
const LARGEST: usize = 32 << 20;

/// The addresses whose rules are kept.
const KEPT: usize = 1 << 16;

#[cfg(target_arch = "x86_64")]
const FRAME: Register = gimli::X86_64::RBP;
#[cfg(target_arch = "x86_64")]
const STACK: Register = gimli::X86_64::RSP;
#[cfg(target_arch = "aarch64")]
const FRAME: Register = gimli::AArch64::X29;
#[cfg(target_arch = "aarch64")]
const STACK: Register = gimli::AArch64::SP;

/// How the frame of the caller is found at an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    /// Whether the frame is found by the frame pointer instead of the stack pointer.
    pub(super) by_frame: bool,
    /// The distance from there to the caller's stack pointer.
    pub(super) distance: i64,
    /// The distance from there to the return address; `None` if it is in the link register.
    pub(super) return_address: Option<i64>,
    /// The distance from there to the saved frame pointer; `None` if it is unchanged.
    pub(super) frame: Option<i64>,
    /// The address of the function.
    pub(super) start: usize,
    /// Whether there is no caller: the first function of a thread.
    pub(super) is_first: bool,
    /// Whether the code is that to which a handler of a signal returns (x86-64): the frame has the interrupted registers.
    pub(super) is_signal: bool,
}

/// The tables of one library.
struct Library {
    header: Vec<u8>,
    header_at: usize,
    frames: Vec<u8>,
    frames_at: usize,
}

/// The libraries that have been met, and the rules of addresses in them.
#[derive(Default)]
pub(super) struct Natives {
    libraries: HashMap<(usize, Arc<str>), Option<Library>>,
    rules: HashMap<usize, Option<Rule>, HashTokens>,
    context: UnwindContext<usize>,
}

impl Natives {
    /// The rule at an address of a mapped file; `None` if the file has no table with this address.
    pub(super) fn rule(&mut self, mapping: &Mapping, address: usize) -> Option<Rule> {
        if let Some(known) = self.rules.get(&address) {
            return *known;
        }
        let key = (mapping.base, Arc::clone(&mapping.path));
        let library = self
            .libraries
            .entry(key)
            .or_insert_with(|| Library::read(mapping.base));
        let rule = library
            .as_ref()
            .and_then(|library| library.rule(address, &mut self.context));
        if self.rules.len() >= KEPT {
            self.rules.clear();
        }
        self.rules.insert(address, rule);
        rule
    }

    /// A library can have been unloaded, and another one loaded at its address.
    pub(super) fn forget(&mut self) {
        self.rules.clear();
        self.libraries.clear();
    }
}

impl Library {
    /// Reads the tables of the ELF file that is mapped at this address.
    fn read(base: usize) -> Option<Self> {
        let mut head = [0; 64];
        if !read_memory(base, &mut head) || !head.starts_with(b"\x7fELF\x02\x01") {
            return None;
        }
        let (table, size, count) = (
            u64_at(&head, 32)? as usize,
            u16_at(&head, 54)? as usize,
            u16_at(&head, 56)? as usize,
        );
        if size != 56 {
            return None;
        }
        let mut segments = vec![0; size.checked_mul(count)?];
        if !read_memory(base.checked_add(table)?, &mut segments) {
            return None;
        }
        const LOAD: u32 = 1;
        const EH_FRAME: u32 = 0x6474_E550;
        let of_kind = |kind| {
            let segments = segments.chunks_exact(size);
            segments.filter(move |segment| u32_at(segment, 0) == Some(kind))
        };
        // The distance between addresses in the file's tables and those in memory.
        let first = of_kind(LOAD)
            .filter_map(|it| u64_at(it, 16))
            .min()? as usize
            & !0xFFF;
        let moved = base.wrapping_sub(first);
        let header = of_kind(EH_FRAME).next()?;
        let header_at = moved.wrapping_add(u64_at(header, 16)? as usize);
        let header = bytes(header_at, u64_at(header, 40)? as usize)?;
        let bases = BaseAddresses::default().set_eh_frame_hdr(header_at as u64);
        let parsed = EhFrameHdr::new(&header, NativeEndian)
            .parse(&bases, 8)
            .ok()?;
        let Pointer::Direct(frames_at) = parsed.eh_frame_ptr() else {
            return None;
        };
        let frames_at = frames_at as usize;
        // The table's length is nowhere; it ends with its segment.
        let end = of_kind(LOAD).find_map(|segment| {
            let start = moved.wrapping_add(u64_at(segment, 16)? as usize);
            let end = start.checked_add(u64_at(segment, 32)? as usize)?;
            (start..end).contains(&frames_at).then_some(end)
        })?;
        let frames = bytes(frames_at, end - frames_at)?;
        Some(Self {
            header,
            header_at,
            frames,
            frames_at,
        })
    }

    fn rule(&self, address: usize, context: &mut UnwindContext<usize>) -> Option<Rule> {
        let bases = BaseAddresses::default()
            .set_eh_frame_hdr(self.header_at as u64)
            .set_eh_frame(self.frames_at as u64);
        let parsed = EhFrameHdr::new(&self.header, NativeEndian)
            .parse(&bases, 8)
            .ok()?;
        let frames = EhFrame::new(&self.frames, NativeEndian);
        let entry = parsed
            .table()?
            .fde_for_address(&frames, &bases, address as u64, EhFrame::cie_from_offset)
            .ok()?;
        let link = entry.cie().return_address_register();
        let row = entry
            .unwind_info_for_address(&frames, &bases, context, address as u64)
            .ok()?;
        if cfg!(target_arch = "x86_64") && entry.is_signal_trampoline() {
            return Some(Rule {
                by_frame: false,
                distance: 0,
                return_address: None,
                frame: None,
                start: address,
                is_first: false,
                is_signal: true,
            });
        }
        let CfaRule::RegisterAndOffset { register, offset } = row.cfa() else {
            return None;
        };
        if *register != FRAME && *register != STACK {
            return None;
        }
        let mut is_first = false;
        let return_address = match row.register(link) {
            RegisterRule::Offset(from) => Some(offset.checked_add(from)?),
            // arm64 says nothing while it is still in the link register.
            _ if cfg!(target_arch = "aarch64") => None,
            _ => {
                is_first = true;
                None
            }
        };
        let frame = match row.register(FRAME) {
            RegisterRule::Offset(from) => Some(offset.checked_add(from)?),
            RegisterRule::Undefined | RegisterRule::SameValue => None,
            _ => return None,
        };
        Some(Rule {
            by_frame: *register == FRAME,
            distance: *offset,
            return_address,
            frame,
            start: entry.initial_address() as usize,
            is_first,
            is_signal: false,
        })
    }
}

fn bytes(at: usize, size: usize) -> Option<Vec<u8>> {
    if size > LARGEST {
        return None;
    }
    let mut bytes = vec![0; size];
    read_memory(at, &mut bytes).then_some(bytes)
}

fn part<const N: usize>(bytes: &[u8], at: usize) -> Option<[u8; N]> {
    bytes.get(at..at.checked_add(N)?)?.try_into().ok()
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_le_bytes(part(bytes, at)?))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(part(bytes, at)?))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    Some(u64::from_le_bytes(part(bytes, at)?))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::super::maps::Maps;
    use super::*;

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no C library")]
    fn functions_of_the_c_library_have_rules() {
        let mut maps = Maps::default();
        let mut natives = Natives::default();
        // Sanitizers have some of these functions in the executable.
        let mut files = HashSet::new();
        let functions = [
            libc::getpid as *const () as usize,
            libc::getppid as *const () as usize,
            libc::qsort as *const () as usize,
        ];
        for function in functions {
            let mapping = maps.code_at(function, || true).unwrap().clone();
            files.insert(mapping.base);
            let rule = natives.rule(&mapping, function).unwrap();
            let at_start = Rule {
                by_frame: false,
                distance: if cfg!(target_arch = "x86_64") { 8 } else { 0 },
                return_address: cfg!(target_arch = "x86_64").then_some(0),
                frame: None,
                start: function,
                is_first: false,
                is_signal: false,
            };
            assert_eq!(rule, at_start);
            assert_eq!(natives.rule(&mapping, function), Some(at_start));
        }
        assert_eq!(natives.libraries.len(), files.len());
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no process_vm_readv")]
    fn memory_without_tables_has_none() {
        let page = vec![0_u8; 8192];
        assert!(Library::read(page.as_ptr().expose_provenance()).is_none());
        assert!(Library::read(16).is_none());
    }
}
