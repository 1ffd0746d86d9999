//! The processor's traps.
//!
//! A thread is sent the runtime's own signal, since its handler of hardware exceptions masks no other on its small stack. The handler sets
//! the trap flag in the registers that the thread continues with. The processor then traps after each instruction, until the handler
//! of traps clears the flag. Steps through native code are counted only.

use std::ffi::c_void;
use std::fs;
use std::mem;
use std::ptr;
use std::sync::atomic::Ordering::SeqCst;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU32, AtomicU64, AtomicUsize};
use std::thread;
use std::time::{Duration, Instant};

use libc::{c_int, c_long, siginfo_t, ucontext_t};

use super::{FIRST, VERDICTS, number};

/// The signal of the sampler's timers.
const SAMPLED: c_int = 34;

/// The value of a signal that begins the steps of a thread.
const BEGIN: usize = 0x57E9;

/// The flag of the processor.
const TRAP: i64 = 0x100;

/// The most steps of a thread at a time, and the most of native code in a row.
const STEPS: u32 = 6000;
const NATIVE: u32 = 3000;

/// The stacks that are compared at a time: more have no room in the ring.
const COMPARED: u32 = 24;

/// The thread that is stepped, its state, and the key of its timer.
static THREAD: AtomicI32 = AtomicI32::new(0);
static STATE: AtomicU32 = AtomicU32::new(IDLE);
static KEY: AtomicUsize = AtomicUsize::new(0);
const IDLE: u32 = 0;
const KICKED: u32 = 1;
const STEPPING: u32 = 2;

/// Whether the thread is in the handler of a trap.
static IS_BUSY: AtomicBool = AtomicBool::new(false);

/// The sampler's handler, and that of the runtime.
static HANDLER: AtomicUsize = AtomicUsize::new(0);
static BELOW: AtomicUsize = AtomicUsize::new(0);

static IS_OVER: AtomicBool = AtomicBool::new(false);
/// The number of the last step whose stack is compared.
static NUMBER: AtomicU32 = AtomicU32::new(0);
static RANDOM: AtomicU64 = AtomicU64::new(1);

static STEPPED: AtomicU32 = AtomicU32::new(0);
static NATIVES: AtomicU32 = AtomicU32::new(0);
static TAKEN: AtomicU32 = AtomicU32::new(0);

/// The ranges of executable memory that the thread has met: starts, ends, and whether they can have managed code.
const RANGES: usize = 32;
static RANGE: [[AtomicUsize; 3]; RANGES] = [const { [const { AtomicUsize::new(0) }; 3] }; RANGES];
static MET: AtomicUsize = AtomicUsize::new(0);

fn this_thread() -> c_int {
    // SAFETY: the call only returns a number.
    unsafe { libc::syscall(libc::SYS_gettid) as c_int }
}

/// A number below `end`.
fn random(end: u64) -> u64 {
    let mut value = RANDOM.load(SeqCst);
    value ^= value << 13;
    value ^= value >> 7;
    value ^= value << 17;
    RANDOM.store(value, SeqCst);
    (value >> 16) % end.max(1)
}

/// Steps threads, one after the other, for some time: the program continues without.
pub(super) fn drive() {
    RANDOM.store(0x9E37_79B9_7F4A_7C15 ^ (1 + number("STEP_SEED", 0)), SeqCst);
    let pause = Duration::from_micros(number("STEP_PAUSE", 500));
    let (begun, all) = (Instant::now(), Duration::from_secs(number("STEP_TIME", 60)));
    while !IS_OVER.load(SeqCst) && begun.elapsed() < all {
        thread::sleep(pause);
        HANDLER.store(crate::interrupts::handler(), SeqCst);
        let timers = timers();
        let running: Vec<_> = timers.into_iter().filter(|(thread, _)| is_running(*thread)).collect();
        if running.is_empty() {
            continue;
        }
        let (thread, key) = running[random(running.len() as u64) as usize];
        KEY.store(key, SeqCst);
        THREAD.store(thread, SeqCst);
        STATE.store(KICKED, SeqCst);
        kick(thread);
        let began = Instant::now();
        while STATE.load(SeqCst) != IDLE && began.elapsed() < Duration::from_millis(200) {
            thread::sleep(Duration::from_micros(200));
        }
        STATE.store(IDLE, SeqCst);
        // A step that has begun uses the key.
        while IS_BUSY.load(SeqCst) {
            thread::sleep(Duration::from_micros(200));
        }
    }
}

/// Has no more threads stepped.
pub(super) fn end() {
    IS_OVER.store(true, SeqCst);
}

/// The threads with timers of the sampler, and their keys, as the kernel lists them.
fn timers() -> Vec<(c_int, usize)> {
    let text = fs::read_to_string("/proc/self/timers").unwrap_or_default();
    let mut timers = Vec::new();
    let mut key = None;
    for line in text.lines() {
        if let Some(value) = line.strip_prefix("signal: 34/") {
            let value = value.trim_start_matches("0x");
            key = usize::from_str_radix(value, 16).ok();
        } else if let Some(thread) = line.strip_prefix("notify: signal/tid.") {
            let thread = thread.trim().parse().ok();
            timers.extend(thread.zip(key.take()));
        }
    }
    timers
}

fn is_running(thread: c_int) -> bool {
    let stat = fs::read_to_string(format!("/proc/self/task/{thread}/stat")).unwrap_or_default();
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('R'))
}

/// The part of `siginfo_t` for signals with values, and for timers.
#[repr(C)]
struct Value {
    number: c_int,
    error: c_int,
    code: c_int,
    padding: c_int,
    first: c_int,
    second: c_int,
    value: usize,
    rest: [u64; 12],
}

/// Installs the handlers: that of the runtime's signal below the sampler's, which forwards to it.
pub(super) fn install() {
    // SAFETY: the handlers have the signatures that the flags name, and stay loaded as this library does. The sampler does not interrupt the
    // handler of traps, and the handler of the runtime's signal keeps its mask and flags.
    unsafe {
        let mut action: libc::sigaction = mem::zeroed();
        libc::sigaction(SAMPLED, ptr::null(), &raw mut action);
        BELOW.store(action.sa_sigaction, SeqCst);
        action.sa_sigaction = on_begin as *const () as usize;
        libc::sigaction(SAMPLED, &raw const action, ptr::null_mut());
        let mut action: libc::sigaction = mem::zeroed();
        action.sa_sigaction = on_trap as *const () as usize;
        action.sa_flags = libc::SA_RESTART | libc::SA_SIGINFO;
        libc::sigaddset(&raw mut action.sa_mask, SAMPLED);
        libc::sigaction(libc::SIGTRAP, &raw const action, ptr::null_mut());
    }
}

/// Sends a thread the signal that begins its steps.
fn kick(thread: c_int) {
    let info = Value {
        number: SAMPLED,
        error: 0,
        code: libc::SI_QUEUE,
        padding: 0,
        // SAFETY: the calls only return numbers.
        first: unsafe { libc::getpid() },
        // SAFETY: as above.
        second: unsafe { libc::getuid() } as c_int,
        value: BEGIN,
        rest: [0; 12],
    };
    // SAFETY: the call reads the value; a thread that has ended is refused.
    unsafe { libc::syscall(libc::SYS_rt_tgsigqueueinfo, info.first, thread, SAMPLED, &raw const info) };
}

/// Begins steps; the runtime's handler gets all other signals.
unsafe extern "C" fn on_begin(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes both, for this call, and memory for the whole structure.
    let (value, registers) = unsafe { (&*info.cast::<Value>(), &mut *context.cast::<ucontext_t>()) };
    if value.code != libc::SI_QUEUE || value.value != BEGIN {
        // SAFETY: it is the runtime's handler, which has three arguments: those of the system.
        unsafe {
            let below: unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = mem::transmute(BELOW.load(SeqCst));
            below(signal, info, context);
        }
        return;
    }
    let is_ours = THREAD.load(SeqCst) == this_thread() && !is_on_other_stack(registers);
    if is_ours && STATE.compare_exchange(KICKED, STEPPING, SeqCst, SeqCst).is_ok() {
        for zero in [&STEPPED, &NATIVES, &TAKEN] {
            zero.store(0, SeqCst);
        }
        MET.store(0, SeqCst);
        registers.uc_mcontext.gregs[libc::REG_EFL as usize] |= TRAP;
    }
}

/// Has stacks compared, and ends steps.
unsafe extern "C" fn on_trap(_: c_int, _: *mut siginfo_t, context: *mut c_void) {
    // SAFETY: the system passes the context for this call; `errno` is the thread's own.
    let (context, errno) = unsafe { (&mut *context.cast::<ucontext_t>(), libc::__errno_location()) };
    // SAFETY: as above.
    let before = unsafe { *errno };
    let mut goes_on = false;
    if THREAD.load(SeqCst) == this_thread() {
        IS_BUSY.store(true, SeqCst);
        if STATE.load(SeqCst) == STEPPING {
            goes_on = step(context);
            if !goes_on {
                let _ = STATE.compare_exchange(STEPPING, IDLE, SeqCst, SeqCst);
            }
        }
        IS_BUSY.store(false, SeqCst);
    }
    let flags = &mut context.uc_mcontext.gregs[libc::REG_EFL as usize];
    *flags = if goes_on { *flags | TRAP } else { *flags & !TRAP };
    // SAFETY: as above.
    unsafe { *errno = before };
}

/// Whether the thread is in a handler with a stack of its own, which has no room for that of the trap.
fn is_on_other_stack(context: &ucontext_t) -> bool {
    let (stack, sp) = (context.uc_stack, context.uc_mcontext.gregs[libc::REG_RSP as usize] as usize);
    let start = stack.ss_sp.expose_provenance();
    (start..start + stack.ss_size).contains(&sp)
}

/// Whether to continue after this step.
fn step(context: &mut ucontext_t) -> bool {
    let ip = context.uc_mcontext.gregs[libc::REG_RIP as usize] as usize;
    if STEPPED.fetch_add(1, SeqCst) >= STEPS {
        return false;
    }
    if !can_be_managed(ip) {
        return NATIVES.fetch_add(1, SeqCst) < NATIVE && !blocks_signals(ip, context);
    }
    NATIVES.store(0, SeqCst);
    if random(5) > 0 || follows_check(ip) {
        return true;
    }
    let number = NUMBER.fetch_add(1, SeqCst);
    // SAFETY: the registers are those of this thread, which the trap has interrupted.
    let is_managed = VERDICTS.get().is_some_and(|verdicts| unsafe { verdicts.walk(number, &seed(context)) });
    if is_managed {
        sample(number, context);
        TAKEN.fetch_add(1, SeqCst);
    }
    TAKEN.load(SeqCst) < COMPARED
}

/// Has the sampler's handler take a sample of these registers.
fn sample(number: u32, context: &mut ucontext_t) {
    let mut info = Value {
        number: SAMPLED,
        error: 0,
        code: libc::SI_TIMER,
        padding: 0,
        first: 0,
        second: (FIRST + number) as c_int - 1,
        value: KEY.load(SeqCst),
        rest: [0; 12],
    };
    let handler = HANDLER.load(SeqCst);
    if handler > 1 {
        // SAFETY: it is the address of a handler with three arguments, those that the system would pass.
        unsafe {
            let handler: unsafe extern "C" fn(c_int, *mut siginfo_t, *mut c_void) = mem::transmute(handler);
            handler(SAMPLED, (&raw mut info).cast(), ptr::from_mut(context).cast());
        }
    }
}

/// The registers as a `CONTEXT` of the runtime, with room for all that it can have.
fn seed(context: &ucontext_t) -> Vec<u8> {
    const FLAGS: usize = 0x30;
    /// Control, integers, and the kind of processor.
    const KINDS: u32 = 0x10_0003;
    const PLACES: [(usize, c_int); 17] = [
        (0x78, libc::REG_RAX),
        (0x80, libc::REG_RCX),
        (0x88, libc::REG_RDX),
        (0x90, libc::REG_RBX),
        (0x98, libc::REG_RSP),
        (0xA0, libc::REG_RBP),
        (0xA8, libc::REG_RSI),
        (0xB0, libc::REG_RDI),
        (0xB8, libc::REG_R8),
        (0xC0, libc::REG_R9),
        (0xC8, libc::REG_R10),
        (0xD0, libc::REG_R11),
        (0xD8, libc::REG_R12),
        (0xE0, libc::REG_R13),
        (0xE8, libc::REG_R14),
        (0xF0, libc::REG_R15),
        (0xF8, libc::REG_RIP),
    ];
    let mut seed = vec![0; 8192];
    seed[FLAGS..FLAGS + 4].copy_from_slice(&KINDS.to_le_bytes());
    for (place, register) in PLACES {
        let value = context.uc_mcontext.gregs[register as usize];
        seed[place..place + 8].copy_from_slice(&value.to_le_bytes());
    }
    seed
}

/// Whether the next instruction calls the system to block signals, as it does for a thread or a process that begins: a trap would end the
/// process.
fn blocks_signals(ip: usize, context: &ucontext_t) -> bool {
    // SAFETY: the instruction is the next one, so that it is mapped.
    let code = unsafe { ptr::with_exposed_provenance::<u16>(ip).read_unaligned() };
    let call = context.uc_mcontext.gregs[libc::REG_RAX as usize] as c_long;
    let blocks = [
        libc::SYS_rt_sigprocmask,
        libc::SYS_rt_sigreturn,
        libc::SYS_clone,
        libc::SYS_clone3,
        libc::SYS_fork,
        libc::SYS_vfork,
        libc::SYS_execve,
        libc::SYS_rt_sigaction,
    ];
    code == 0x050F && blocks.contains(&call)
}

/// Whether the code before an address has found a buffer intact, and leaves its method: the runtime looks at the buffer's guard there,
/// though it is no longer there, and ends the process.
fn follows_check(ip: usize) -> bool {
    let mut before = [0_u8; 48];
    let local = libc::iovec {
        iov_base: before.as_mut_ptr().cast(),
        iov_len: before.len(),
    };
    let remote = libc::iovec {
        iov_base: ptr::with_exposed_provenance_mut(ip - before.len()),
        iov_len: before.len(),
    };
    // SAFETY: the system writes to the array alone, and refuses addresses that are not mapped.
    unsafe { libc::process_vm_readv(libc::getpid(), &raw const local, 1, &raw const remote, 1, 0) };
    // je over a call
    let checks = [&[0x74, 5, 0xE8][..], &[0x74, 6, 0xFF, 0x15]];
    before.windows(4).any(|part| checks.iter().any(|check| part.starts_with(check)))
}

/// Whether the code at an address can be managed: it is in no native library.
fn can_be_managed(ip: usize) -> bool {
    let met = MET.load(SeqCst);
    let known = RANGE.iter().take(met).find(|range| {
        let [start, end, _] = range;
        start.load(SeqCst) <= ip && ip < end.load(SeqCst)
    });
    if let Some([_, _, is_managed]) = known {
        return is_managed.load(SeqCst) == 1;
    }
    let (start, end, is_managed) = range_of(ip).unwrap_or((ip, ip + 1, false));
    if let Some(range) = RANGE.get(met) {
        for (place, value) in range.iter().zip([start, end, usize::from(is_managed)]) {
            place.store(value, SeqCst);
        }
        MET.store(met + 1, SeqCst);
    }
    is_managed
}

/// The mapping with this address, and whether it can have managed code. It only calls the system, as handlers may.
fn range_of(ip: usize) -> Option<(usize, usize, bool)> {
    // SAFETY: the path ends with a zero.
    let file = unsafe { libc::open(c"/proc/self/maps".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    if file < 0 {
        return None;
    }
    let (mut buffer, mut line, mut length, mut found) = ([0_u8; 4096], [0_u8; 512], 0, None);
    while found.is_none() {
        // SAFETY: the buffer has so many bytes.
        let count = unsafe { libc::read(file, buffer.as_mut_ptr().cast(), buffer.len()) };
        let Ok(count @ 1..) = usize::try_from(count) else {
            break;
        };
        for byte in &buffer[..count] {
            if *byte != b'\n' {
                line[length.min(511)] = *byte;
                length = (length + 1).min(511);
                continue;
            }
            found = found.or_else(|| mapping(&line[..length], ip));
            length = 0;
        }
    }
    // SAFETY: the file is this call's own.
    unsafe { libc::close(file) };
    found
}

fn mapping(line: &[u8], ip: usize) -> Option<(usize, usize, bool)> {
    let line = std::str::from_utf8(line).ok()?;
    let (range, rest) = line.split_once(' ')?;
    let (start, end) = range.split_once('-')?;
    let (start, end) = (usize::from_str_radix(start, 16).ok()?, usize::from_str_radix(end, 16).ok()?);
    if !(start..end).contains(&ip) {
        return None;
    }
    let path = rest.split(' ').filter(|word| !word.is_empty()).nth(4).unwrap_or_default();
    let is_library = path.starts_with('/') && !path.starts_with("/memfd:") && !path.ends_with(".dll");
    Some((start, end, !is_library && path != "[vdso]" && path != "[vsyscall]"))
}
