//! Writes results before a signal ends the program.
//!
//! A handler may do next to nothing: it writes a byte into a pipe, a thread that waits there has
//! the results written, and the handler lets the signal go on to whom it was for.

use std::io::{self, PipeReader, Read};
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, IntoRawFd};
use std::ptr;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, AtomicU32, Ordering};
use std::sync::mpsc::Sender;
use std::thread;

use libc::{c_int, c_void, sigaction, siginfo_t};

use crate::Moment;
use crate::report::{Request, ask, request};

/// What ends a program that does not ask for it. `SIGABRT` comes after an exception that nobody
/// caught, and after `Environment.FailFast`; newer runtimes than .NET Core 3.1 let it kill at once.
/// After `SIGTERM` the runtime ends the program in order, unless the program does not let it.
const SIGNALS: [c_int; 5] = [
    libc::SIGINT,
    libc::SIGTERM,
    libc::SIGQUIT,
    libc::SIGHUP,
    libc::SIGABRT,
];

/// How long a handler waits, in milliseconds.
const PATIENCE: u32 = 5_000;

/// The end of the pipe that handlers write to.
static PIPE: AtomicI32 = AtomicI32::new(-1);
/// How often results were written for a handler.
static DONE: AtomicU32 = AtomicU32::new(0);
/// Who had the signals before, as in `SIGNALS`.
static BEFORE: [OnceLock<sigaction>; SIGNALS.len()] = [const { OnceLock::new() }; SIGNALS.len()];

/// What a handler writes into the pipe.
const ENDS: u8 = 0;
const ASKS: u8 = 1;

/// Has results written whenever one of the signals comes, from now on; at `SIGUSR1` as well, if it is
/// to ask for them.
pub(crate) fn watch(requests: Sender<Request>, asks: bool) -> io::Result<()> {
    let (reader, writer) = io::pipe()?;
    thread::Builder::new()
        .name("report signals".to_owned())
        .spawn(move || serve(reader, &requests))?;
    // Never closed: a handler may run at any time.
    let writer = writer.into_raw_fd();
    PIPE.store(writer.as_raw_fd(), Ordering::Release);
    for (signal, before) in SIGNALS.into_iter().zip(&BEFORE) {
        let now = current(signal)?;
        // Ignored by the wish of whoever started the program, as `nohup` does.
        if now.sa_sigaction == libc::SIG_IGN || before.set(now).is_err() {
            continue;
        }
        handle(signal, on_signal)?;
    }
    if asks {
        handle(libc::SIGUSR1, on_request)?;
    }
    Ok(())
}

fn handle(
    signal: c_int,
    handler: extern "C" fn(c_int, *mut siginfo_t, *mut c_void),
) -> io::Result<()> {
    // SAFETY: all-zero is a valid `sigaction`: no flags, an empty mask, the default handler.
    let mut ours: sigaction = unsafe { MaybeUninit::zeroed().assume_init() };
    ours.sa_sigaction = handler as *const () as usize;
    ours.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART | libc::SA_ONSTACK;
    // SAFETY: `ours` is initialised, and its handler has the form that SA_SIGINFO asks for.
    if unsafe { sigaction(signal, &raw const ours, ptr::null_mut()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

fn current(signal: c_int) -> io::Result<sigaction> {
    let mut now = MaybeUninit::zeroed();
    // SAFETY: the call writes a `sigaction` to where it is told.
    if unsafe { sigaction(signal, ptr::null(), now.as_mut_ptr()) } != 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the call has written it.
    Ok(unsafe { now.assume_init() })
}

/// For each byte, results are written.
fn serve(mut reader: PipeReader, requests: &Sender<Request>) {
    let mut byte = [0];
    while reader.read_exact(&mut byte).is_ok() {
        if byte == [ASKS] {
            request(requests, Moment::Asked);
            continue;
        }
        let lives = ask(requests, Moment::Signal);
        DONE.fetch_add(1, Ordering::Release);
        if !lives {
            PIPE.store(-1, Ordering::Release);
        }
    }
}

extern "C" fn on_signal(signal: c_int, info: *mut siginfo_t, context: *mut c_void) {
    // What was interrupted may be about to look at it.
    let errno = errno();
    // SAFETY: each thread has its own `errno`, which may be read and written at any time.
    let kept = unsafe { *errno };
    let pipe = PIPE.load(Ordering::Acquire);
    if pipe >= 0 {
        let done = DONE.load(Ordering::Acquire);
        let mut patience = if tell(pipe, ENDS) { PATIENCE } else { 0 };
        while patience > 0 && DONE.load(Ordering::Acquire) == done {
            let pause = libc::timespec {
                tv_sec: 0,
                tv_nsec: 1_000_000,
            };
            // SAFETY: `pause` is a valid time; `nanosleep` may be called in a signal handler.
            unsafe { libc::nanosleep(&raw const pause, ptr::null_mut()) };
            patience -= 1;
        }
    }
    // SAFETY: as above.
    unsafe { *errno = kept };
    let before = SIGNALS
        .iter()
        .position(|known| *known == signal)
        .and_then(|index| BEFORE[index].get());
    match before {
        Some(before) if before.sa_sigaction == libc::SIG_IGN => {}
        Some(before) if before.sa_sigaction == libc::SIG_DFL => default(signal),
        Some(before) if before.sa_flags & libc::SA_SIGINFO != 0 => {
            // SAFETY: a handler that was installed with SA_SIGINFO has these parameters, and it
            // gets those that the system gave.
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

/// The thread that was interrupted goes on at once: results may need it.
extern "C" fn on_request(_: c_int, _: *mut siginfo_t, _: *mut c_void) {
    let errno = errno();
    // SAFETY: each thread has its own `errno`, which may be read and written at any time.
    let kept = unsafe { *errno };
    let pipe = PIPE.load(Ordering::Acquire);
    if pipe >= 0 {
        tell(pipe, ASKS);
    }
    // SAFETY: as above.
    unsafe { *errno = kept };
}

/// Writes a byte into the pipe; may be called in a signal handler.
fn tell(pipe: c_int, what: u8) -> bool {
    // SAFETY: the descriptor is never closed, one byte is there; `write` may be called in a signal
    // handler.
    unsafe { libc::write(pipe, ptr::from_ref(&what).cast(), 1) == 1 }
}

/// Where this thread's `errno` is.
fn errno() -> *mut c_int {
    // SAFETY: the function only tells an address.
    #[cfg(target_os = "linux")]
    return unsafe { libc::__errno_location() };
    // SAFETY: the function only tells an address.
    #[cfg(target_vendor = "apple")]
    return unsafe { libc::__error() };
}

/// Lets the signal do what it does by itself, as soon as the handler returns.
fn default(signal: c_int) {
    // SAFETY: both may be called in a signal handler, with any valid signal.
    unsafe {
        libc::signal(signal, libc::SIG_DFL);
        libc::raise(signal);
    }
}
