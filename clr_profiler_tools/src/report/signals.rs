//! Writes results before a signal ends the program.
//!
//! A handler may do next to nothing, and the interrupted thread may hold resources that writing needs.
//! So the handler only notes the signal and lets the thread continue. A thread of the profiler
//! has the results written, and sends the signal again, to the same thread and with the same
//! details: the program gets it a moment later than without the profiler.
//!
//! The crate `signal-hook` cannot do this. For each signal its handler calls the previous one, the runtime's, before its own
//! actions: the program would end while the results are written. Where there was none, the signal has no effect unless it is raised
//! again, without the details of its sender. A handler in place of the `SIG_IGN` of `nohup` is lost when a child
//! calls `exec`, which would then die of the signal. And its handlers do not run on the alternate stack, which a thread of .NET
//! needs after a stack overflow.

use std::cell::UnsafeCell;
use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU8, AtomicU32, Ordering};
use std::sync::mpsc::Sender;
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::Duration;

use libc::{c_int, c_void, pid_t, sem_t, sigaction, siginfo_t};

use super::moments::{Request, request};
use crate::report::{Moment, When, lock, masks};

/// Signals that end a program by default. After `SIGTERM` runtimes before .NET 10 end the
/// program in order, unless it prevents that.
static POSTPONED: [Postponed; 4] = [
    Postponed::new(libc::SIGINT),
    Postponed::new(libc::SIGTERM),
    Postponed::new(libc::SIGQUIT),
    Postponed::new(libc::SIGHUP),
];

/// The previous handler of `SIGABRT`. The signal follows an uncaught exception or
/// `Environment.FailFast`; runtimes newer than .NET Core 3.1 let it kill at once. It cannot be
/// postponed: the aborting thread waits in the handler.
static BEFORE_ABORT: OnceLock<sigaction> = OnceLock::new();
static IS_ABORTING: AtomicBool = AtomicBool::new(false);
/// How often results were written for it.
static DONE: AtomicU32 = AtomicU32::new(0);
/// How long it waits, in milliseconds.
const PATIENCE: u32 = 5_000;

/// The channel to the writer, and how long a signal waits for it.
static WRITER: Mutex<Option<(Sender<Request>, Duration)>> = Mutex::new(None);

/// The process of these handlers: a child of `fork` has them too, but not the threads that they need.
static PROCESS: AtomicI32 = AtomicI32::new(0);

static IS_ASKED: AtomicBool = AtomicBool::new(false);

/// Counts the signals that handlers have noted.
static NOTED: Semaphore = Semaphore(UnsafeCell::new(MaybeUninit::zeroed()));

struct Semaphore(UnsafeCell<MaybeUninit<sem_t>>);

// SAFETY: all operations on it are meant for several threads at once.
unsafe impl Sync for Semaphore {}

impl Semaphore {
    fn start(&self) -> io::Result<()> {
        // SAFETY: the semaphore is not used before `watch` has initialised it, once.
        match unsafe { libc::sem_init(self.0.get().cast(), 0, 0) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// May be called in a signal handler.
    fn post(&self) {
        // SAFETY: handlers are installed after the semaphore was initialised.
        unsafe { libc::sem_post(self.0.get().cast()) };
    }

    fn wait(&self) {
        // SAFETY: the thread that waits is started after the semaphore was initialised.
        while unsafe { libc::sem_wait(self.0.get().cast()) } != 0 {}
    }
}

/// A signal that is sent again later.
struct Postponed {
    signal: c_int,
    /// The previous handler.
    before: OnceLock<sigaction>,
    state: AtomicU8,
    /// The thread that got it, and its details.
    thread: AtomicI32,
    info: UnsafeCell<MaybeUninit<siginfo_t>>,
}

/// None was received.
const NONE: u8 = 0;
/// One was received, and is being noted.
const COMING: u8 = 1;
/// One was received and noted.
const NOTED_ONE: u8 = 2;
/// It was sent again.
const SENT: u8 = 3;

// SAFETY: `info` is written by the handler that has changed `state` from NONE to COMING, and read after
// it has become NOTED_ONE by the one thread that changes it to SENT.
unsafe impl Sync for Postponed {}

impl Postponed {
    const fn new(signal: c_int) -> Self {
        Self {
            signal,
            before: OnceLock::new(),
            state: AtomicU8::new(NONE),
            thread: AtomicI32::new(0),
            info: UnsafeCell::new(MaybeUninit::uninit()),
        }
    }

    /// Notes a signal, in its handler; `false` if it is to be handled now: it was sent again, or is
    /// another one, whose sender does not want to wait.
    fn note(&self, info: *const siginfo_t) -> bool {
        let noted = self
            .state
            .compare_exchange(NONE, COMING, Ordering::AcqRel, Ordering::Acquire);
        match noted {
            Ok(_) => {
                // SAFETY: the state says that this handler is the one that writes; the system passes a
                // `siginfo_t` to the handler.
                unsafe { (*self.info.get()).write(info.read()) };
                // SAFETY: the call takes no pointer.
                let thread = unsafe { libc::syscall(libc::SYS_gettid) };
                self.thread.store(thread as i32, Ordering::Relaxed);
                self.state.store(NOTED_ONE, Ordering::Release);
                NOTED.post();
                true
            }
            Err(SENT) => {
                self.state.store(NONE, Ordering::Release);
                false
            }
            Err(_) => false,
        }
    }

    /// Sends it again, if it was received.
    fn send(&self) {
        let noted =
            self.state
                .compare_exchange(NOTED_ONE, SENT, Ordering::AcqRel, Ordering::Relaxed);
        if noted.is_err() {
            return;
        }
        let thread = pid_t::from(self.thread.load(Ordering::Relaxed));
        let info = self.info.get();
        // SAFETY: the details were written before the state became NOTED_ONE. A process may send
        // any to itself.
        unsafe {
            let process = libc::getpid();
            let sent = libc::syscall(
                libc::SYS_rt_tgsigqueueinfo,
                process,
                thread,
                self.signal,
                info,
            );
            // The thread has ended.
            if sent != 0
                && libc::syscall(libc::SYS_rt_sigqueueinfo, process, self.signal, info) != 0
            {
                libc::kill(process, self.signal);
            }
        }
    }
}

/// Has results written whenever one of the signals is received, from now on.
pub(crate) fn watch(requests: Sender<Request>, when: When) -> io::Result<()> {
    let mut writer = lock(&WRITER);
    // A later report replaces the previous one: handlers belong to the process.
    if writer.replace((requests, when.patience)).is_some() {
        return Ok(());
    }
    drop(writer);
    // SAFETY: it has no arguments, cannot fail and changes nothing.
    PROCESS.store(unsafe { libc::getpid() }, Ordering::Relaxed);
    NOTED.start()?;
    masks::spawning(|| {
        thread::Builder::new()
            .name("report signals".to_owned())
            .spawn(serve)
    })?;
    for postponed in &POSTPONED {
        let now = current(postponed.signal)?;
        // Ignored at the request of whoever started the program, as `nohup` does.
        if now.sa_sigaction != libc::SIG_IGN && postponed.before.set(now).is_ok() {
            handle(postponed.signal, on_signal)?;
        }
    }
    let now = current(libc::SIGABRT)?;
    if now.sa_sigaction != libc::SIG_IGN && BEFORE_ABORT.set(now).is_ok() {
        handle(libc::SIGABRT, on_abort)?;
    }
    if when.is_asked {
        handle(libc::SIGUSR1, on_request)?;
    }
    Ok(())
}

/// Has results written for the signals that handlers have noted.
fn serve() {
    loop {
        NOTED.wait();
        let Some((requests, patience)) = lock(&WRITER).clone() else {
            continue;
        };
        let write = |moment| request(&requests, moment).recv_timeout(patience);
        if IS_ASKED.swap(false, Ordering::AcqRel) {
            request(&requests, Moment::Asked);
        }
        if IS_ABORTING.swap(false, Ordering::AcqRel) {
            let _ = write(Moment::Abort);
            DONE.fetch_add(1, Ordering::Release);
        }
        let is_noted = |one: &Postponed| one.state.load(Ordering::Acquire) == NOTED_ONE;
        if POSTPONED.iter().any(is_noted) {
            // A disk that hangs must not delay the program indefinitely; after the end there is no writer.
            let _ = write(Moment::Signal);
        }
        POSTPONED.iter().for_each(Postponed::send);
    }
}

fn handle(
    signal: c_int,
    handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void),
) -> io::Result<()> {
    // SAFETY: all-zero is a valid `sigaction`: no flags, an empty mask, the default handler.
    let mut ours: sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    ours.sa_sigaction = handler as *const () as usize;
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
    // SAFETY: `ours` is initialised, and its handler has the signature that SA_SIGINFO requires.
    if unsafe { sigaction(signal, &raw const ours, ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn current(signal: c_int) -> io::Result<sigaction> {
    let mut now = MaybeUninit::zeroed();
    // SAFETY: the call writes a `sigaction` to the given address.
    if unsafe { sigaction(signal, ptr::null(), now.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has written it.
    Ok(unsafe { now.assume_init() })
}

extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    let Some(postponed) = POSTPONED.iter().find(|one| one.signal == signal) else {
        return;
    };
    if !is_forked() && keeping_errno(|| postponed.note(info)) {
        return;
    }
    forward(postponed.before.get(), signal, info, context);
}

extern "C" fn on_abort(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    if !is_forked() {
        wait_for_results();
    }
    forward(BEFORE_ABORT.get(), signal, info, context);
}

fn wait_for_results() {
    keeping_errno(|| {
        let done = DONE.load(Ordering::Acquire);
        IS_ABORTING.store(true, Ordering::Release);
        NOTED.post();
        let mut patience = PATIENCE;
        while patience > 0 && DONE.load(Ordering::Acquire) == done {
            let pause = libc::timespec {
                tv_sec: 0,
                tv_nsec: 1_000_000,
            };
            // SAFETY: `pause` is a valid time; `nanosleep` may be called in a signal handler.
            unsafe { libc::nanosleep(&raw const pause, ptr::null_mut()) };
            patience -= 1;
        }
    });
}

/// Whether this is a child of the process that watches its signals: no thread writes results here.
fn is_forked() -> bool {
    // SAFETY: it has no arguments and cannot fail; it may be called in a signal handler.
    unsafe { libc::getpid() != PROCESS.load(Ordering::Relaxed) }
}

/// The interrupted thread continues at once: results may need it.
extern "C" fn on_request(_: c_int, _: *mut siginfo_t, _: *mut c_void) {
    keeping_errno(|| {
        IS_ASKED.store(true, Ordering::Release);
        NOTED.post();
    });
}

/// The interrupted code may be about to read it.
fn keeping_errno<R>(code: impl FnOnce() -> R) -> R {
    // SAFETY: each thread has its own `errno`, which may be read and written at any time.
    unsafe {
        let errno = libc::__errno_location();
        let kept = *errno;
        let result = code();
        *errno = kept;
        result
    }
}

/// Passes a signal to its previous handler.
fn forward(before: Option<&sigaction>, signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    match before {
        Some(before) if before.sa_sigaction == libc::SIG_IGN => {}
        Some(before) if before.sa_sigaction == libc::SIG_DFL => default(signal),
        Some(before) if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: a handler that was installed with SA_SIGINFO has these parameters, and it
            // gets the system's arguments.
            unsafe {
                let handler = std::mem::transmute::<
                    usize,
                    extern "C" fn(c_int, *mut siginfo_t, *mut c_void),
                >(before.sa_sigaction);
                handler(signal, info, context);
            }
        }
        Some(before) => {
            // SAFETY: a handler that was installed without SA_SIGINFO has this parameter.
            unsafe {
                let handler =
                    std::mem::transmute::<usize, extern "C" fn(c_int)>(before.sa_sigaction);
                handler(signal);
            }
        }
        None => default(signal),
    }
}

/// Gives the signal its default effect, as soon as the handler returns.
fn default(signal: c_int) {
    // SAFETY: both may be called in a signal handler, with any valid signal.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}
