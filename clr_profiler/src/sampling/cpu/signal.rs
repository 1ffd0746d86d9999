//! The signal, its handler, and the copy of a stack.
//!
//! The signal is the one by which the runtime interrupts its own threads. Another one would be fatal: the runtime's
//! handler of hardware exceptions begins on a small alternate stack, and masks and unmasks exactly this signal. So
//! the handler here calls the runtime's for everything but its own timers, has the same flags and mask, and does not run
//! on the alternate stack.

use std::mem;
use std::ptr;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{Relaxed, SeqCst};

use libc::{c_int, c_void, sigaction, siginfo_t, ucontext_t};

use super::label::Label;
use super::slot::{Key, Slot, Writer};
use crate::error::{Error, Result};

/// The signal that the runtime uses itself: the first one that the C library leaves to programs.
pub(super) const SIGNAL: c_int = 34;

/// The words that are copied from the stack pointer on: at least, and where frame pointers do not lead to the thread's
/// outermost frame, as below functions that use the register otherwise.
const WINDOW: usize = 256;
const WIDE_WINDOW: usize = 4096;

/// The words of a stack that are copied at a time while its bounds are not known.
const PIECE: usize = 64;

/// The words that are copied of the code that a signal has interrupted.
const INTERRUPTED: usize = 32;

/// The words of the frames beyond that are copied up to the next frame: code that was replaced on the stack has its return
/// address above the frame of the code that it replaced.
const FRAMES: usize = 4096;

/// The words that are copied of the other frames: the saved frame pointer, the return address, and some of the caller.
const FRAME: usize = 8;

/// The words that are copied after the last frame.
const AFTER: usize = 256;

/// The words before the copies: see [`Header`].
pub(super) const HEADER: usize = 12;

/// The places of the interrupted registers above the stack pointer that a handler of a signal returns with (x86-64).
pub(super) const INTERRUPTED_FP: usize = 40 + 8 * 10;
pub(super) const INTERRUPTED_SP: usize = 40 + 8 * 15;
pub(super) const INTERRUPTED_IP: usize = 40 + 8 * 16;

/// The index of each word before the copies.
pub(super) enum Header {
    Length,
    Weight,
    Ip,
    Sp,
    Fp,
    Link,
    /// Whether the depth was reached.
    IsTruncated,
    /// Whether the stack may have more than the copied words.
    IsFull,
    /// Whether words could not be copied: the stack is not the thread's own, which has bounds; pages of it were not there; or
    /// the bounds of a deep one were not known yet.
    IsPart,
    /// The number of words before the copies: a frame pointer, the return addresses of its frame and those beyond, and a 0
    /// if they are all.
    Beyond,
    /// The two numbers that a function of the profiler has returned on the thread.
    Label,
    SecondLabel,
}

/// The handler that the runtime has installed, as the address of a function; 0 without one.
static PREVIOUS: AtomicUsize = AtomicUsize::new(0);

/// Whether the previous handler takes three arguments.
static PREVIOUS_FLAGS: AtomicUsize = AtomicUsize::new(0);

/// The maximum number of frames.
static DEPTH: AtomicUsize = AtomicUsize::new(0);

/// The address of the label of samples; 0 without one.
static LABEL: AtomicUsize = AtomicUsize::new(0);

/// How the runtime's handler is to be found.
fn current(signal: c_int) -> Result<sigaction> {
    // SAFETY: all zeros are a valid `sigaction`.
    let mut action: sigaction = unsafe { mem::zeroed() };
    // SAFETY: the call writes the action of the signal to `action`.
    if unsafe { sigaction(signal, ptr::null(), &raw mut action) } != 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    Ok(action)
}

fn is_ours(action: &sigaction) -> bool {
    action.sa_sigaction == on_signal as *const () as usize
}

/// Whether the runtime shares its signal in the way that the handler relies on.
pub(super) fn check() -> Result<()> {
    const CALL: &str = "CpuSampler";
    let ours = current(SIGNAL)?;
    if ours.sa_sigaction == libc::SIG_DFL || ours.sa_sigaction == libc::SIG_IGN {
        return Err(Error::rule(
            CALL,
            "the runtime has no handler of signal 34 that could be shared",
        ));
    }
    let faults = current(libc::SIGSEGV)?;
    // SAFETY: the set was filled by `sigaction`.
    let is_masked = unsafe { libc::sigismember(&raw const faults.sa_mask, SIGNAL) } == 1;
    if faults.sa_sigaction != libc::SIG_DFL && !is_masked {
        return Err(Error::rule(
            CALL,
            "the handler of SIGSEGV does not mask signal 34: a sample during a hardware exception would be fatal",
        ));
    }
    Ok(())
}

/// Installs the handler above the runtime's.
pub(super) fn install(depth: usize, label: Option<Label>) -> Result<()> {
    check()?;
    DEPTH.store(depth, SeqCst);
    LABEL.store(label.map_or(0, Label::address), SeqCst);
    let previous = current(SIGNAL)?;
    // It was left installed below the handler of another library.
    if is_ours(&previous) {
        return Ok(());
    }
    PREVIOUS_FLAGS.store(previous.sa_flags as usize, SeqCst);
    PREVIOUS.store(previous.sa_sigaction, SeqCst);
    let mut action = previous;
    action.sa_sigaction = on_signal as *const () as usize;
    action.sa_flags = (action.sa_flags | libc::SA_SIGINFO | libc::SA_RESTART) & !libc::SA_ONSTACK;
    // SAFETY: `on_signal` is a handler with three arguments, which stays loaded because the library does. The mask is that
    // of the runtime's handler.
    if unsafe { sigaction(SIGNAL, &raw const action, ptr::null_mut()) } != 0 {
        return Err(std::io::Error::last_os_error().into());
    }
    Ok(())
}

/// Restores the runtime's handler; false if another library has installed its own since, which may call this one.
pub(super) fn uninstall() -> bool {
    let Ok(mut action) = current(SIGNAL) else {
        return false;
    };
    if !is_ours(&action) {
        return false;
    }
    action.sa_sigaction = PREVIOUS.load(SeqCst);
    action.sa_flags = PREVIOUS_FLAGS.load(SeqCst) as c_int;
    // SAFETY: this is the runtime's own action, with its mask.
    unsafe { sigaction(SIGNAL, &raw const action, ptr::null_mut()) == 0 }
}

/// The part of `siginfo_t` for timers.
#[repr(C)]
struct TimerInfo {
    number: c_int,
    error: c_int,
    code: c_int,
    _padding: c_int,
    timer: c_int,
    overrun: c_int,
    value: u64,
}

/// Samples the interrupted thread if one of the sampler's timers has expired; otherwise calls the runtime's handler.
///
/// It allocates nothing, takes no lock, and calls nothing but this crate's own code: `errno` stays as it is.
unsafe extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes a `siginfo_t`, whose first fields have this layout for timers, and memory for it in any
    // case: the structure has 128 bytes.
    let timer = unsafe { &*info.cast::<TimerInfo>() };
    let key = match timer.code {
        libc::SI_TIMER => Key::from_signal(timer.value),
        _ => None,
    };
    let Some(key) = key else {
        let previous = PREVIOUS.load(Relaxed);
        // SAFETY: the handler was installed for this signal, so it has the signature that its flags name.
        unsafe { forward(previous, signal, info, context) };
        return;
    };
    let Some(slot) = Slot::of(key) else { return };
    let weight = 1 + u32::try_from(timer.overrun).unwrap_or(0);
    // SAFETY: the system passes the interrupted thread's context.
    let registers = Registers::of(unsafe { &*context.cast::<ucontext_t>() });
    sample(slot, key, weight, registers);
}

unsafe fn forward(previous: usize, signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    if previous == libc::SIG_DFL || previous == libc::SIG_IGN {
        return;
    }
    if PREVIOUS_FLAGS.load(Relaxed) as c_int & libc::SA_SIGINFO != 0 {
        // SAFETY: the caller has the address of a handler with this signature.
        let handler: unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void) =
            unsafe { mem::transmute(previous) };
        // SAFETY: the arguments are those of the system.
        unsafe { handler(signal, info, context) };
    } else {
        // SAFETY: as above, without `SA_SIGINFO`.
        let handler: unsafe extern "C" fn(c_int) = unsafe { mem::transmute(previous) };
        // SAFETY: as above.
        unsafe { handler(signal) };
    }
}

/// The registers of the interrupted thread.
#[derive(Clone, Copy)]
struct Registers {
    ip: usize,
    sp: usize,
    fp: usize,
    link: usize,
}

impl Registers {
    #[cfg(target_arch = "x86_64")]
    fn of(context: &ucontext_t) -> Self {
        let all = &context.uc_mcontext.gregs;
        let register = |number: c_int| all.get(number as usize).copied().unwrap_or(0) as usize;
        Self {
            ip: register(libc::REG_RIP),
            sp: register(libc::REG_RSP),
            fp: register(libc::REG_RBP),
            link: 0,
        }
    }

    #[cfg(target_arch = "aarch64")]
    fn of(context: &ucontext_t) -> Self {
        let all = &context.uc_mcontext;
        Self {
            ip: all.pc as usize,
            sp: all.sp as usize,
            fp: all.regs[29] as usize,
            link: all.regs[30] as usize,
        }
    }
}

fn sample(slot: &'static Slot, key: Key, weight: u32, registers: Registers) {
    let Some(mut writer) = slot.write(key) else {
        return;
    };
    let started = super::timer::ticks();
    let (low, high) = slot.bounds();
    let stack = Bounds::of(registers.sp, low, high);
    let mut header = [0; HEADER];
    header[Header::Weight as usize] = u64::from(weight);
    header[Header::Ip as usize] = registers.ip as u64;
    header[Header::Sp as usize] = registers.sp as u64;
    header[Header::Fp as usize] = registers.fp as u64;
    header[Header::Link as usize] = registers.link as u64;
    [header[Header::Label as usize], header[Header::SecondLabel as usize]] = label();
    if writer.room() < HEADER + WIDE_WINDOW + FRAMES + 2 * AFTER {
        slot.lose(weight);
        return;
    }
    header.into_iter().for_each(|word| writer.push(word));
    if let Some(stack) = stack {
        let is_truncated = stack.copy(registers.fp, DEPTH.load(Relaxed), slot, &mut writer);
        writer.set(Header::IsTruncated as usize, u64::from(is_truncated));
    } else if high != 0 {
        writer.set(Header::IsPart as usize, 1);
    } else {
        let own = super::timer::own_structure();
        slot.see(registers.sp, own);
        let is_part = copy_unknown(registers.sp, own, &mut writer);
        writer.set(Header::IsPart as usize, u64::from(is_part));
    }
    writer.set(Header::Length as usize, writer.len() as u64);
    writer.publish();
    slot.spend(super::timer::ticks().saturating_sub(started));
}

/// The label of this thread now; zeros without one.
fn label() -> [u64; 2] {
    match LABEL.load(Relaxed) {
        0 => [0, 0],
        // SAFETY: `install` has stored it.
        label => unsafe { Label::call(label) },
    }
}

/// Copies a part of a stack whose bounds are not known; whether there is more.
fn copy_unknown(sp: usize, own: usize, writer: &mut Writer) -> bool {
    if !sp.is_multiple_of(8) {
        return true;
    }
    // That of the main thread is not below its structure.
    let most = match own.checked_sub(sp) {
        Some(distance) => WIDE_WINDOW.min(distance / 8),
        None => WIDE_WINDOW,
    };
    let count_at = writer.len() + 1;
    writer.push(sp as u64);
    writer.push(0);
    let (mut copied, mut words) = (0, [0; PIECE]);
    while copied < most {
        let wanted = words.get_mut(..PIECE.min(most - copied)).unwrap_or_default();
        let count = super::timer::copy_mapped(sp + copied * 8, wanted);
        let wanted = wanted.len();
        words.iter().take(count).for_each(|word| writer.push(*word));
        copied += count;
        if count < wanted {
            break;
        }
    }
    writer.set(count_at, copied as u64);
    copied == WIDE_WINDOW
}

/// The part of a stack that is in use: from the stack pointer to the stack's end.
#[derive(Clone, Copy)]
struct Bounds {
    sp: usize,
    high: usize,
}

impl Bounds {
    fn of(sp: usize, low: usize, high: usize) -> Option<Self> {
        let is_in = low > 0 && high > low && sp >= low && sp < high;
        let is_aligned = sp.is_multiple_of(8) && high.is_multiple_of(8);
        (is_in && is_aligned).then_some(Self { sp, high })
    }

    /// The words from here to the end.
    fn words(self, from: usize) -> usize {
        self.high.saturating_sub(from) / 8
    }

    /// Whether there can be a frame here, above another one or the stack pointer.
    fn is_frame(self, fp: usize, from: usize) -> bool {
        fp >= from && fp.is_multiple_of(8) && self.high >= 16 && fp <= self.high - 16
    }

    /// The saved frame pointer of a frame.
    fn next(self, fp: usize) -> usize {
        if !self.is_frame(fp, self.sp) {
            return 0;
        }
        // SAFETY: `fp` is aligned, and 16 bytes from there are in the part of the thread's own stack that is in use.
        unsafe { ptr::with_exposed_provenance::<usize>(fp).read_volatile() }
    }

    /// The outermost frame that frame pointers lead to.
    fn outermost(self, mut fp: usize, depth: usize) -> usize {
        let (mut last, mut from) = (0, self.sp);
        for _ in 0..depth {
            if !self.is_frame(fp, from) {
                break;
            }
            (last, from) = (fp, fp + 16);
            fp = self.next(fp);
        }
        last
    }

    /// Copies the words at the stack pointer, and those of each frame beyond; whether there are more frames.
    fn copy(self, fp: usize, depth: usize, slot: &Slot, writer: &mut Writer) -> bool {
        // The registers of libraries without frame pointers have anything, also addresses of the stack.
        let window = match slot.reaches(self.outermost(fp, depth)) {
            true => (fp.saturating_sub(self.sp) / 8).clamp(WINDOW, WIDE_WINDOW),
            false => WIDE_WINDOW,
        };
        let mut end = self.segment(self.sp, window, writer);
        let (mut fp, mut from, mut frames, mut whole) = (fp, self.sp, 0, FRAMES);
        while self.is_frame(fp, from) {
            if frames == depth || writer.room() < FRAMES + 2 * AFTER {
                return true;
            }
            let next = self.next(fp);
            let length = match self.is_frame(next, fp + 16) {
                true => (next - fp) / 8,
                false => FRAME,
            };
            let words = if length <= whole { length } else { FRAME };
            whole -= if length <= whole { length } else { 0 };
            let start = end.max(fp);
            end = self.segment(start, (fp + words * 8).saturating_sub(start) / 8, writer);
            if let Some(sp) = self.interrupted(fp, next)
                && sp >= end
            {
                end = self.segment(sp, INTERRUPTED, writer);
            }
            frames += 1;
            from = fp + 16;
            fp = next;
        }
        // Functions without a frame pointer can follow, which are found by their distances from the stack pointer.
        if from + AFTER * 8 > end {
            self.segment(end.max(from), AFTER, writer);
        }
        false
    }

    /// The stack pointer that a signal has interrupted, if the frame at `fp` is that of its handler.
    fn interrupted(self, fp: usize, next: usize) -> Option<usize> {
        let context = fp + 16;
        if !cfg!(target_arch = "x86_64") || self.words(context) * 8 < INTERRUPTED_IP + 8 {
            return None;
        }
        let read = |distance: usize| {
            let at = ptr::with_exposed_provenance::<usize>(context + distance);
            // SAFETY: `context` is aligned, and so many words from there are below the end of the thread's own stack.
            unsafe { at.read_volatile() }
        };
        let sp = read(INTERRUPTED_SP);
        let is_one = read(INTERRUPTED_FP) == next && sp > context && sp < self.high;
        (is_one && sp.is_multiple_of(8)).then_some(sp)
    }

    /// Copies so many words, or those up to the stack's end; returns the end of the copied part.
    fn segment(self, from: usize, words: usize, writer: &mut Writer) -> usize {
        let words = words.min(self.words(from));
        if words == 0 || writer.room() < words + 2 {
            return from;
        }
        writer.push(from as u64);
        writer.push(words as u64);
        for index in 0..words {
            let at = from + index * 8;
            // SAFETY: `at` is aligned and below the end of the thread's own stack, and not below its stack pointer: all
            // callers take `from` from `self`, and the words were counted above.
            writer.push(unsafe { ptr::with_exposed_provenance::<u64>(at).read_volatile() });
        }
        from + words * 8
    }
}

#[cfg(test)]
mod tests {
    use super::super::slot::Taken;
    use super::super::walk::Record;
    use super::*;

    /// Copies a stack whose frame pointer is that of the word with this index; returns the words that were copied.
    fn copied(taken: &Taken, stack: &[u64], fp: usize) -> usize {
        let base = stack.as_ptr().expose_provenance();
        let high = base + size_of_val(stack);
        taken.slot().set_bounds(base, high);
        let registers = Registers {
            ip: 0,
            sp: base,
            fp: base + fp * 8,
            link: 0,
        };
        sample(taken.slot(), taken.key(), 1, registers);
        let mut words = Vec::new();
        assert_eq!(taken.drain(&mut words), 0);
        let record = Record::take(&mut &*words).unwrap();
        assert_eq!(record.header(Header::IsTruncated), 0);
        let is_copied = |index: &usize| record.word(base + index * 8) == Some(stack[*index] as usize);
        (0..stack.len()).filter(is_copied).count()
    }

    #[test]
    fn frames_are_copied_up_to_the_next_one() {
        DEPTH.store(64, SeqCst);
        let taken = Taken::take(80).unwrap();
        let mut stack: Vec<u64> = (0..3000).map(|index| index << 32).collect();
        let base = stack.as_ptr().expose_provenance();
        for (frame, next) in [(10, 900), (900, 2990), (2990, 0)] {
            stack[frame] = (base + next * 8) as u64;
        }
        assert_eq!(copied(&taken, &stack, 10), stack.len());
        // The register leads to no frame, as in code that uses it otherwise.
        stack[5] = 1;
        assert_eq!(copied(&taken, &stack, 5), stack.len());
        // Beyond the first words, frames that are too long are copied in part.
        let taken = Taken::take(82).unwrap();
        let mut stack: Vec<u64> = (0..30_000).map(|index| index << 32).collect();
        let base = stack.as_ptr().expose_provenance();
        for (frame, next) in [(10, 20_000), (20_000, 29_900), (29_900, 0)] {
            stack[frame] = (base + next * 8) as u64;
        }
        let count = copied(&taken, &stack, 10);
        assert!((WINDOW..2 * WINDOW + AFTER).contains(&count), "{count}");
    }

    #[test]
    fn stacks_without_bounds_are_copied_as_far_as_they_are_mapped() {
        let taken = Taken::take(81).unwrap();
        let mut writer = taken.slot().write(taken.key()).unwrap();
        (0..HEADER).for_each(|_| writer.push(0));
        let stack: Vec<u64> = (0..200).collect();
        let sp = stack.as_ptr().expose_provenance();
        assert!(!copy_unknown(sp, sp + 200 * 8, &mut writer));
        writer.set(Header::Length as usize, writer.len() as u64);
        writer.publish();
        let mut words = Vec::new();
        taken.drain(&mut words);
        assert_eq!(words.len(), HEADER + 2 + 200);
        let record = Record::take(&mut &*words).unwrap();
        assert_eq!((record.word(sp), record.word(sp + 199 * 8)), (Some(0), Some(199)));
    }
}
