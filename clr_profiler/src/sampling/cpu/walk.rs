//! The frames of a copied stack.

use std::cell::Cell;
use std::sync::{Arc, Mutex, MutexGuard};

use super::code::{self, Code, CodeMap, Executed};
use super::maps::Maps;
use super::native::{Natives, Rule};
use super::prologue::Return;
use super::signal::{HEADER, Header, INTERRUPTED_FP, INTERRUPTED_IP, INTERRUPTED_SP};
use super::{CpuCode, CpuFrame};
use crate::runtime::lock;

/// The frame pointer of a thread whose register is not known. It is that of no frame, and no number that code without frame
/// pointers is likely to have in the register.
pub(super) const UNKNOWN: usize = 0xF8A3_5EED_0C1A_7B55;

/// The words in which a saved frame pointer is searched.
const SEARCHED: usize = 512;

/// The words of one sample, as the handler has written them.
pub(super) struct Record<'a> {
    words: &'a [u64],
    /// The copied parts of the stack: their addresses, in increasing order, and their words.
    segments: Vec<(usize, &'a [u64])>,
    /// See [`Header::Beyond`].
    beyond: &'a [u64],
    /// Whether a word above the copied ones was asked for.
    is_exceeded: Cell<bool>,
}

impl<'a> Record<'a> {
    /// Takes the first record of these words; the others remain.
    pub(super) fn take(words: &mut &'a [u64]) -> Option<Self> {
        let length = usize::try_from(*words.first()?).ok()?;
        let (record, rest) = words.split_at_checked(length)?;
        *words = rest;
        let beyond = usize::try_from(*record.get(Header::Beyond as usize)?).ok()?;
        let (beyond, mut left) = record.get(HEADER..)?.split_at_checked(beyond)?;
        let mut segments = Vec::new();
        while let [address, count, after @ ..] = left {
            let (segment, after) = after.split_at_checked(*count as usize)?;
            segments.push((*address as usize, segment));
            left = after;
        }
        Some(Self {
            words: record,
            segments,
            beyond,
            is_exceeded: Cell::new(false),
        })
    }

    /// The number of its words.
    pub(super) fn len(&self) -> usize {
        self.words.len()
    }

    pub(super) fn header(&self, header: Header) -> usize {
        self.words.get(header as usize).copied().unwrap_or(0) as usize
    }

    /// The word at an address of the stack, if it was copied.
    pub(super) fn word(&self, address: usize) -> Option<usize> {
        let after = self
            .segments
            .partition_point(|(start, _)| *start <= address);
        let (start, words) = self.segments.get(after.checked_sub(1)?)?;
        let word = words.get((address - start) / 8).map(|word| *word as usize);
        if word.is_none() && after == self.segments.len() {
            self.is_exceeded.set(true);
        }
        word
    }

    /// Whether a walk ends at this stack pointer because words were not copied.
    fn is_cut_off(&self, sp: usize) -> bool {
        self.header(Header::IsPart) != 0 && (self.is_exceeded.get() || !self.has(sp))
    }

    /// Whether the word at an address was copied.
    fn has(&self, address: usize) -> bool {
        let distance = |start: usize| address.checked_sub(start).map(|bytes| bytes / 8);
        let mut segments = self.segments.iter();
        segments.any(|(start, words)| distance(*start).is_some_and(|word| word < words.len()))
    }

    /// Whether the stack continues above the copied words, which a walk has asked for.
    pub(super) fn continues(&self) -> bool {
        self.header(Header::IsFull) != 0 && self.is_exceeded.get()
    }

    /// The return addresses of the frame with this frame pointer and those beyond.
    pub(super) fn beyond(&self, fp: usize) -> &'a [u64] {
        match self.beyond {
            [first, addresses @ ..] if *first as usize == fp => addresses,
            _ => &[],
        }
    }
}

/// The result of a walk.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Walked {
    /// Whether the depth was reached.
    pub(super) is_truncated: bool,
    /// Whether the frames of the thread's first functions, or those that called managed code, were not reached.
    pub(super) is_broken: bool,
    /// Whether that is because words of the stack could not be copied.
    pub(super) is_cut_off: bool,
}

/// The owner of the code at an address.
enum Place {
    Managed(Arc<Code>),
    Native(Arc<str>, Option<Rule>),
    Stub,
    Nothing,
}

/// The registers of a frame.
#[derive(Clone, Copy)]
struct Frame {
    ip: usize,
    sp: usize,
    fp: usize,
}

/// Walks stacks, and learns about code on the way.
pub(super) struct Walker<'a> {
    info: &'a dyn Executed,
    map: &'a Mutex<CodeMap>,
    /// The map, while nothing is done that takes long, or that asks the runtime.
    held: Option<MutexGuard<'a, CodeMap>>,
    maps: &'a mut Maps,
    natives: &'a mut Natives,
    depth: usize,
}

impl<'a> Walker<'a> {
    pub(super) fn new(
        info: &'a dyn Executed,
        map: &'a Mutex<CodeMap>,
        (maps, natives): (&'a mut Maps, &'a mut Natives),
        depth: usize,
    ) -> Self {
        Self {
            info,
            map,
            held: None,
            maps,
            natives,
            depth,
        }
    }

    fn map(&mut self) -> &mut CodeMap {
        let map = self.map;
        self.held.get_or_insert_with(|| lock(map))
    }

    fn release(&mut self) {
        self.held = None;
    }

    /// Appends the frames of a sample, innermost first.
    pub(super) fn walk(&mut self, record: &Record<'_>, frames: &mut Vec<CpuFrame>) -> Walked {
        let walked = self.walk_held(record, frames);
        self.release();
        walked
    }

    fn walk_held(&mut self, record: &Record<'_>, frames: &mut Vec<CpuFrame>) -> Walked {
        let mut frame = Frame {
            ip: record.header(Header::Ip),
            sp: record.header(Header::Sp),
            fp: record.header(Header::Fp),
        };
        let mut walked = Walked {
            is_truncated: record.header(Header::IsTruncated) != 0,
            ..Walked::default()
        };
        let (mut is_top, mut has_managed, mut is_below) = (true, false, false);
        let (mut replaced, mut is_above_native) = (None, false);
        let mut is_above_managed = false;
        // Whether a signal has interrupted the frame at this instruction.
        let mut is_interrupted = false;
        loop {
            let mut is_replaced = false;
            if frames.len() >= self.depth {
                walked.is_truncated = true;
                return walked;
            }
            // Below its handling of a hardware exception, the runtime has the frame of the instruction that raised it.
            let has_faulted = is_above_native
                && !is_interrupted
                && self.map().is_code(frame.ip)
                && !self.map().follows_call(frame.ip);
            let place = self.place(frame.ip, is_top || has_faulted || is_interrupted, is_top);
            is_above_native = matches!(place, Place::Native(..) | Place::Stub);
            // The runtime replaces the return address of a thread that it suspends by that of a function of its own.
            let is_hijacked = is_above_managed
                && !is_interrupted
                && matches!(place, Place::Native(..))
                && !self.map().follows_call(frame.ip);
            is_above_managed = matches!(place, Place::Managed(_));
            if is_hijacked {
                match by_frame(record, frame) {
                    Some(caller) => frame = caller,
                    None => break,
                }
                continue;
            }
            let code = match &place {
                Place::Managed(code) => {
                    // The frame that a replacement has below its own is of the same call.
                    is_replaced =
                        replaced.is_some() && replaced == code.function && !code.is_replacement();
                    let has_frame =
                        code.is_replacement() && !code.has_left(frame.ip, frame.sp > frame.fp);
                    replaced = code.function.filter(|_| has_frame);
                    (has_managed, is_below) = (true, false);
                    (!is_replaced).then(|| owner(code))
                }
                Place::Native(library, _) => {
                    is_below = has_managed;
                    Some(CpuCode::Native(Arc::clone(library)))
                }
                Place::Stub => Some(CpuCode::Stub),
                Place::Nothing => {
                    if is_top {
                        let code = CpuCode::Stub;
                        frames.push(CpuFrame { ip: frame.ip, code });
                    }
                    None
                }
            };
            frames.extend(code.map(|code| CpuFrame { ip: frame.ip, code }));
            let caller = match &place {
                Place::Managed(code) if is_replaced => below_replaced(record, frame, code),
                _ => {
                    let is_exact = is_top || is_interrupted;
                    self.caller(record, frame, &place, (is_exact, has_faulted))
                }
            };
            match caller {
                Some(caller) => frame = caller,
                None => break,
            }
            if frame.ip == 0 {
                return walked;
            }
            is_top = false;
            is_interrupted = matches!(place, Place::Native(_, Some(rule)) if rule.is_signal);
        }
        let last = self.place(frame.ip, is_top || is_interrupted, is_top);
        let is_first = matches!(&last, Place::Native(_, Some(rule)) if rule.is_first);
        walked.is_broken =
            !(walked.is_truncated || is_below || is_first || (frame.fp == 0 && !is_top));
        if walked.is_broken {
            // Otherwise the first of the addresses is that of its caller's caller.
            let keeps_frame = match &last {
                Place::Managed(code) => matches!(code.locate(frame.ip, false), Return::AboveFrame),
                Place::Native(_, rule) => rule.is_some_and(|rule| rule.by_frame),
                Place::Stub | Place::Nothing => false,
            };
            let is_whole = keeps_frame && self.walk_beyond(record.beyond(frame.fp), frames);
            if record.continues() {
                (walked.is_broken, walked.is_truncated) = (false, !is_whole);
            } else {
                walked.is_broken = !is_whole;
                walked.is_cut_off = walked.is_broken && record.is_cut_off(frame.sp);
            }
        }
        walked
    }

    /// Appends the frames of return addresses alone; whether they end with those of the code that called the outermost
    /// managed method. A 0 follows the last one of a stack.
    fn walk_beyond(&mut self, addresses: &[u64], frames: &mut Vec<CpuFrame>) -> bool {
        let mut is_below = false;
        for ip in addresses.iter().map(|ip| *ip as usize) {
            if ip == 0 || frames.len() >= self.depth {
                return ip == 0 && is_below;
            }
            let code = match self.place(ip, false, false) {
                Place::Managed(code) => owner(&code),
                Place::Native(library, _) => CpuCode::Native(library),
                Place::Stub => CpuCode::Stub,
                Place::Nothing => return false,
            };
            is_below = matches!(code, CpuCode::Native(_));
            frames.push(CpuFrame { ip, code });
        }
        false
    }

    /// The owner of the code at an instruction pointer. `is_next`: it is that of the next instruction, not that after a call.
    /// `is_top`: it was in the register.
    fn place(&mut self, ip: usize, is_next: bool, is_top: bool) -> Place {
        // A call can be the last instruction of a method: a return address is not always in it.
        let address = if is_next { ip } else { ip.wrapping_sub(1) };
        let map = self.map();
        if let Some((library, rule)) = map.native_at(address) {
            return Place::Native(library, Some(rule));
        }
        if let Some(code) = map.at(address) {
            return Place::Managed(code);
        }
        self.release();
        let can_be_code = || is_next || code::follows_call(ip);
        let Some(mapping) = self.maps.code_at(address, can_be_code) else {
            return Place::Nothing;
        };
        if !mapping.is_anonymous() {
            let library = &mapping.name;
            if let Some(rule) = self.natives.rule(mapping, address) {
                lock(self.map).add_native(address, Arc::clone(library), rule);
                return Place::Native(Arc::clone(library), Some(rule));
            }
            // An instruction that calls the system can be the last one of a function, and this one is then after it.
            if is_next && let Some(rule) = self.natives.rule(mapping, address.wrapping_sub(1)) {
                return Place::Native(Arc::clone(library), Some(rule));
            }
        }
        let mapping = mapping.clone();
        let is_known = lock(self.map).is_none(address);
        if !is_known && (is_top || code::follows_call(ip)) {
            let images = self.maps.images(&mapping);
            let codes = self.info.code_at(address, &images);
            let mut map = lock(self.map);
            if codes.is_empty() {
                map.add_none(address);
            } else {
                map.add(codes);
                if let Some(code) = map.at(address) {
                    return Place::Managed(code);
                }
            }
        }
        match mapping.is_anonymous() {
            true => Place::Stub,
            false => Place::Native(mapping.name, None),
        }
    }

    /// The registers of the caller; an instruction pointer of 0 ends the stack. `is_top`: the instruction pointer is that
    /// of an interrupted instruction.
    fn caller(
        &mut self,
        record: &Record<'_>,
        frame: Frame,
        place: &Place,
        (is_top, has_faulted): (bool, bool),
    ) -> Option<Frame> {
        let at = |address: usize| record.word(address);
        if frame.fp == UNKNOWN
            && let Some(caller) = self.caller_by_depth(record, frame, place)
        {
            return Some(caller);
        }
        #[cfg(target_arch = "x86_64")]
        if is_top
            && matches!(place, Place::Native(..) | Place::Stub)
            && let Some(caller) = after_epilogue(record, frame)
        {
            return Some(caller);
        }
        let by_frame = || by_frame(record, frame);
        let by_link = || Frame {
            ip: record.header(Header::Link),
            ..frame
        };
        match place {
            Place::Managed(code) => match code.locate(frame.ip, !(is_top || has_faulted)) {
                found if returns_to_its_method(record, frame, code, found) => by_frame(),
                Return::AboveFrame => by_frame(),
                Return::AboveFramePart(distance) => {
                    let fp = frame.fp.checked_add(distance)?;
                    self::by_frame(record, Frame { fp, ..frame })
                }
                Return::AtStack(depth) if depth > 0 && frame.fp >= frame.sp => by_frame(),
                Return::AtStack(depth) => self::by_frame(
                    record,
                    Frame {
                        fp: frame.sp.checked_add(depth)?,
                        ..frame
                    },
                ),
                Return::Link if is_top => Some(by_link()),
                Return::Link => by_frame(),
                Return::AboveStack(distance) => {
                    // The runtime leaves 128 bytes for the method that has raised the exception, and aligns by 16.
                    let skipped: &[usize] = if has_faulted { &[128, 136] } else { &[0] };
                    let found = skipped.iter().find_map(|skipped| {
                        let sp = frame.sp.checked_add(distance)?.checked_add(*skipped)?;
                        let ip = at(sp).filter(|ip| self.is_return(*ip))?;
                        let fp = match code.saves_frame(distance) {
                            true => at(sp - 8)?,
                            false => frame.fp,
                        };
                        Some(Frame { ip, sp: sp + 8, fp })
                    });
                    found.or_else(by_frame)
                }
            },
            Place::Native(_, Some(rule)) if rule.is_first => None,
            Place::Native(_, Some(rule)) if rule.is_signal => {
                let register = |distance: usize| at(frame.sp.checked_add(distance)?);
                // The handler can have a stack of its own, above or below.
                let sp =
                    register(INTERRUPTED_SP).filter(|sp| *sp > frame.sp || !record.has(*sp))?;
                Some(Frame {
                    ip: register(INTERRUPTED_IP)?,
                    sp,
                    fp: register(INTERRUPTED_FP)?,
                })
            }
            Place::Native(_, Some(rule)) => {
                let base = if rule.by_frame { frame.fp } else { frame.sp };
                let address = |distance: i64| base.checked_add_signed(distance as isize);
                let by_rule = || {
                    let sp = address(rule.distance)?;
                    if sp < frame.sp || (sp == frame.sp && !is_top) {
                        return None;
                    }
                    let ip = match rule.return_address {
                        Some(distance) => at(address(distance)?)?,
                        None if is_top => record.header(Header::Link),
                        None => return None,
                    };
                    let fp = match rule.frame {
                        // Compilers do not say that an epilogue has restored the register.
                        Some(distance) if address(distance)? >= frame.sp => at(address(distance)?)?,
                        _ => frame.fp,
                    };
                    Some(Frame { ip, sp, fp })
                };
                by_rule().or_else(by_frame)
            }
            // Helpers of the runtime have no frame; other code without tables has one.
            Place::Native(..) | Place::Stub if is_top => {
                let link = record.header(Header::Link);
                if cfg!(target_arch = "aarch64") && self.is_return(link) {
                    return Some(by_link());
                }
                match at(frame.sp).filter(|ip| self.is_return(*ip)) {
                    Some(ip) => Some(Frame {
                        ip,
                        sp: frame.sp + 8,
                        fp: frame.fp,
                    }),
                    None => by_frame(),
                }
            }
            Place::Native(..) | Place::Stub => by_frame(),
            // A call of a null pointer, for example.
            Place::Nothing => None,
        }
    }

    /// The caller of a function that keeps the frame pointer, where the register is not known: by the size of its frame.
    fn caller_by_depth(
        &mut self,
        record: &Record<'_>,
        frame: Frame,
        place: &Place,
    ) -> Option<Frame> {
        let depth = match place {
            Place::Managed(code) => match code.locate(frame.ip, false) {
                Return::AboveFrame => code.whole_depth(),
                _ => return None,
            },
            Place::Native(_, Some(rule)) if rule.by_frame => code::native_depth(rule.start),
            Place::Native(_, Some(_)) | Place::Nothing => return None,
            Place::Native(_, None) | Place::Stub => None,
        };
        let above = |saved: usize| {
            Some(Frame {
                ip: record.word(saved.checked_add(8)?)?,
                sp: saved.checked_add(16)?,
                fp: record.word(saved)?,
            })
        };
        let by_depth = depth.and_then(|depth| above(frame.sp.checked_add(depth)?.checked_sub(8)?));
        if let Some(caller) = by_depth.filter(|caller| self.is_return(caller.ip)) {
            return Some(caller);
        }
        // The first saved frame pointer with a return address. It can be one of a call that has returned, which led here from
        // the same function; to managed code, it would show a method that does not wait.
        let is_stub = matches!(place, Place::Stub);
        (0..SEARCHED).find_map(|word| {
            let caller = above(frame.sp.checked_add(word * 8)?)?;
            let leads_on = caller.fp.is_multiple_of(8) && caller.fp >= caller.sp;
            let is_one = leads_on && record.word(caller.fp).is_some() && self.is_return(caller.ip);
            let is_found =
                is_one && (is_stub || self.map().at(caller.ip.wrapping_sub(1)).is_none());
            is_found.then_some(caller)
        })
    }

    /// Whether a word is a return address: code after a call.
    fn is_return(&mut self, ip: usize) -> bool {
        let before = ip.wrapping_sub(1);
        if self.map().at(before).is_some() {
            return self.map().follows_call(ip);
        }
        self.release();
        let follows_call = || code::follows_call(ip);
        self.maps.code_at(before, follows_call).is_some() && follows_call()
    }
}

fn owner(code: &Code) -> CpuCode {
    code.function.map_or(CpuCode::Stub, CpuCode::Managed)
}

/// Whether a handler is about to return to its own method, whose frame pointer is in the register.
fn returns_to_its_method(record: &Record<'_>, frame: Frame, code: &Code, found: Return) -> bool {
    let place = match found {
        Return::AtStack(depth) => depth
            .checked_add(8)
            .and_then(|above| frame.sp.checked_add(above)),
        // Handlers of .NET 10 save no frame pointer: they have that of their method, and leave as methods without a frame do.
        Return::AboveStack(distance) => frame.sp.checked_add(distance),
        _ => None,
    };
    let return_address = place.and_then(|place| record.word(place));
    return_address.is_some_and(|ip| code.is_called_by_itself(frame.ip, ip))
}

/// The registers of the caller of native code that is about to return.
#[cfg(target_arch = "x86_64")]
fn after_epilogue(record: &Record<'_>, frame: Frame) -> Option<Frame> {
    let rest = code::native_epilogue(frame.ip)?;
    let at = |distance: usize| record.word(frame.sp.checked_add(distance)?);
    Some(Frame {
        ip: at(rest.depth)?,
        sp: frame.sp.checked_add(rest.depth)?.checked_add(8)?,
        fp: match rest.frame {
            Some(distance) => at(distance)?,
            None => frame.fp,
        },
    })
}

/// The registers of the caller of a function with a frame.
fn by_frame(record: &Record<'_>, frame: Frame) -> Option<Frame> {
    // Not below the stack pointer, and not by an addition that overflows.
    if frame.fp < frame.sp || !frame.fp.is_multiple_of(8) {
        return None;
    }
    Some(Frame {
        ip: record.word(frame.fp.checked_add(8)?)?,
        sp: frame.fp.checked_add(16)?,
        fp: record.word(frame.fp)?,
    })
}

/// The caller of code that was replaced on the stack: the replacement has saved its caller's frame pointer, and its
/// frame remains.
fn below_replaced(record: &Record<'_>, frame: Frame, code: &Code) -> Option<Frame> {
    let at = frame.sp.checked_add(code.whole_depth()?)?;
    Some(Frame {
        ip: record.word(at)?,
        sp: at.checked_add(8)?,
        fp: frame.fp,
    })
}

#[cfg(test)]
mod tests;
