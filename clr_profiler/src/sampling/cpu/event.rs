//! The kernel's performance events of threads, which sample without a signal to the program.
//!
//! The kernel itself copies registers, stack and return addresses of a thread to a ring, which this process reads.

use std::fs;
use std::io;
use std::mem::offset_of;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Release};
use std::time::Duration;

use libc::{c_int, c_long, c_ulong};

/// The bytes that are copied of a stack.
pub(super) const STACK: usize = 32 << 10;

/// The bytes of a ring, a power of two: some 15 samples.
const RING: usize = 512 << 10;

/// The bytes after which the reader is woken.
const WAKE: u32 = 128 << 10;

/// The memory that the kernel locks for a thread: the ring, and a page before it.
pub(super) fn memory() -> usize {
    // SAFETY: the call only returns a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) };
    RING + usize::try_from(page).unwrap_or(4096)
}

/// The return addresses of a sample, unless the system allows fewer.
const ADDRESSES: u16 = 127;

/// The registers of a sample: those of [`Registers`], in the order of their numbers.
#[cfg(target_arch = "x86_64")]
const REGISTERS: u64 = 1 << 6 | 1 << 7 | 1 << 8;
#[cfg(target_arch = "aarch64")]
const REGISTERS: u64 = 1 << 29 | 1 << 30 | 1 << 31 | 1 << 32;

/// `struct perf_event_attr`, in its version of Linux 4.8.
#[repr(C)]
#[derive(Default)]
struct Attributes {
    kind: u32,
    size: u32,
    config: u64,
    period: u64,
    sample_type: u64,
    read_format: u64,
    flags: u64,
    wakeup_watermark: u32,
    breakpoint: u32,
    configs: [u64; 2],
    branches: u64,
    registers: u64,
    stack: u32,
    clock: i32,
    interrupted_registers: u64,
    aux_watermark: u32,
    addresses: u16,
    reserved: u16,
}

const _: () = assert!(size_of::<Attributes>() == 112 && offset_of!(Attributes, registers) == 80);

const SOFTWARE: u32 = 1;
const TASK_CLOCK: u64 = 1;

const SAMPLE_READ: u64 = 1 << 4;
const SAMPLE_CALLCHAIN: u64 = 1 << 5;
const SAMPLE_REGS_USER: u64 = 1 << 12;
const SAMPLE_STACK_USER: u64 = 1 << 13;

const WATERMARK: u64 = 1 << 14;
const EXCLUDE_CALLCHAIN_KERNEL: u64 = 1 << 21;

const CLOSE_ON_EXEC: c_ulong = 1 << 3;

/// The places of the numbers of bytes that the kernel has written, and that were read, in the page before a ring.
const HEAD: usize = 1024;
const TAIL: usize = 1032;

/// The event of a thread: its samples are at intervals of the processor time that it uses.
#[derive(Debug)]
pub(super) struct Event {
    /// Dropped first: the ring is that of the descriptor.
    ring: Ring,
    descriptor: OwnedFd,
    addresses: u16,
}

/// The reason for which there is no event of a thread, in words.
#[derive(Debug)]
pub(super) struct Refusal {
    pub(super) reason: String,
    /// Whether further threads are refused, too.
    pub(super) is_lasting: bool,
}

impl Refusal {
    /// One that another thread need not get.
    pub(super) fn of_now(reason: impl Into<String>) -> Self {
        Self {
            reason: reason.into(),
            is_lasting: false,
        }
    }
}

impl Event {
    /// Has the kernel sample a thread of this process from now on.
    ///
    /// # Errors
    ///
    /// The reason, and where it is known the remedy.
    pub(super) fn open(os_thread: u32, interval: Duration) -> Result<Self, Refusal> {
        let open = |addresses| open(os_thread, interval, addresses).map(|event| (event, addresses));
        let opened = open(ADDRESSES).or_else(|error| match error.raw_os_error() {
            Some(libc::EOVERFLOW) => open(allowed_addresses()),
            _ => Err(error),
        });
        let (descriptor, addresses) = opened.map_err(|error| refusal(&error))?;
        let ring = Ring::map(&descriptor).map_err(|error| refusal_of_memory(&error))?;
        Ok(Self {
            ring,
            descriptor,
            addresses,
        })
    }

    /// The most return addresses of a sample: a stack with so many may have more.
    pub(super) fn addresses(&self) -> usize {
        self.addresses.into()
    }

    /// Appends the records since the last time to `out`, whole.
    pub(super) fn read(&self, out: &mut Vec<u64>) {
        self.ring.read(out);
    }
}

/// The return addresses that the system allows at most.
fn allowed_addresses() -> u16 {
    let most = fs::read_to_string("/proc/sys/kernel/perf_event_max_stack").unwrap_or_default();
    most.trim().parse().unwrap_or(0)
}

/// Opens the event of a thread of this process.
fn open(os_thread: u32, interval: Duration, addresses: u16) -> io::Result<OwnedFd> {
    let attributes = Attributes {
        kind: SOFTWARE,
        size: size_of::<Attributes>() as u32,
        config: TASK_CLOCK,
        period: u64::try_from(interval.as_nanos()).unwrap_or(u64::MAX),
        sample_type: SAMPLE_READ | SAMPLE_CALLCHAIN | SAMPLE_REGS_USER | SAMPLE_STACK_USER,
        flags: WATERMARK | EXCLUDE_CALLCHAIN_KERNEL,
        wakeup_watermark: WAKE,
        registers: REGISTERS,
        stack: STACK as u32,
        addresses,
        ..Attributes::default()
    };
    let thread = c_long::from(os_thread);
    // SAFETY: the call reads the attributes, whose size is in them; the kernel refuses threads that may not be watched.
    let descriptor = unsafe {
        libc::syscall(
            libc::SYS_perf_event_open,
            &raw const attributes,
            thread,
            -1 as c_long,
            -1 as c_long,
            CLOSE_ON_EXEC,
        )
    };
    let descriptor = RawFd::try_from(descriptor).unwrap_or(-1);
    opened(descriptor)
}

/// The reason for which events are not tried. Some filters of system calls end a program that makes another call than they allow.
pub(super) fn is_filtered() -> Option<&'static str> {
    let status = fs::read_to_string("/proc/thread-self/status").unwrap_or_default();
    let mode = status.lines().find_map(|line| line.strip_prefix("Seccomp:"));
    mode.is_some_and(|mode| mode.trim() != "0").then_some(
        "a seccomp filter restricts the program, as in most containers, and may end it for the call `perf_event_open`, which was not \
         made; run it without one",
    )
}

/// The reason for which the kernel opens no event.
fn refusal(error: &io::Error) -> Refusal {
    let code = error.raw_os_error();
    let reason = match code {
        Some(libc::EACCES) => {
            let level = fs::read_to_string("/proc/sys/kernel/perf_event_paranoid");
            let level = level.unwrap_or_default();
            format!(
                "the kernel lets this user not sample time in the system (`kernel.perf_event_paranoid` is {}); set that to 1 \
                 or less, or give the program CAP_PERFMON",
                level.trim()
            )
        }
        Some(libc::EPERM) => {
            "the call `perf_event_open` is refused; give the program CAP_PERFMON".to_owned()
        }
        Some(libc::ENOSYS) => "this system has no performance events".to_owned(),
        Some(libc::EMFILE | libc::ENFILE) => {
            "the program has no descriptors left, of which each thread takes one; raise `ulimit -n`".to_owned()
        }
        _ => format!("the system refuses performance events: {error}"),
    };
    // The thread has ended, or the system has nothing left now.
    let is_of_now = [libc::ESRCH, libc::EMFILE, libc::ENFILE, libc::ENOMEM, libc::EINTR, libc::EAGAIN];
    let is_lasting = code.is_none_or(|code| !is_of_now.contains(&code));
    Refusal { reason, is_lasting }
}

/// The reason for which the kernel has no ring.
fn refusal_of_memory(error: &io::Error) -> Refusal {
    Refusal::of_now(match error.raw_os_error() {
        Some(libc::EPERM) => {
            "the memory that this user may lock is used up, of which each thread takes 516 kB; raise `ulimit -l`, or \
             `kernel.perf_event_mlock_kb`"
                .to_owned()
        }
        _ => format!("there is no memory for the samples of the kernel: {error}"),
    })
}

/// The memory that the kernel writes, with a page before it.
#[derive(Debug)]
struct Ring(*mut u8);

// SAFETY: the memory is that of this value alone, whichever thread has it; the kernel writes only to words that were read before.
unsafe impl Send for Ring {}

impl Ring {
    fn map(descriptor: &OwnedFd) -> io::Result<Self> {
        // SAFETY: new pages at an address of the system's choice.
        let at = unsafe {
            libc::mmap(
                ptr::null_mut(),
                memory(),
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                descriptor.as_raw_fd(),
                0,
            )
        };
        match at {
            libc::MAP_FAILED => Err(io::Error::last_os_error()),
            at => Ok(Self(at.cast())),
        }
    }

    fn number(&self, at: usize) -> &AtomicU64 {
        // SAFETY: both numbers are aligned and in the first page, which is mapped as long as this value exists; the kernel
        // reads and writes them as atomic numbers.
        unsafe { AtomicU64::from_ptr(self.0.add(at).cast()) }
    }

    fn read(&self, out: &mut Vec<u64>) {
        const WORDS: usize = RING / size_of::<u64>();
        let (head, tail) = (self.number(HEAD).load(Acquire), self.number(TAIL));
        let from = tail.load(Acquire);
        let bytes = head.wrapping_sub(from) as usize;
        // Records have multiples of eight bytes.
        if bytes <= RING {
            let (first, count) = (from as usize / size_of::<u64>(), bytes / size_of::<u64>());
            out.reserve(count);
            // SAFETY: the words follow the first page, and the ring is mapped as long as this value exists.
            let words = unsafe { self.0.add(memory() - RING).cast::<u64>() };
            for offset in 0..count {
                // SAFETY: the index is below the length of the ring. The kernel has written the word before `head`, and
                // writes it again only when `tail` has passed it.
                out.push(unsafe { words.add(first.wrapping_add(offset) % WORDS).read() });
            }
        }
        tail.store(head, Release);
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the pages are those of `map`, and nobody uses them anymore.
        unsafe { libc::munmap(self.0.cast(), memory()) };
    }
}

/// Waits for events whose rings fill, until it is told to end.
#[derive(Debug)]
pub(super) struct Alarm {
    all: OwnedFd,
    end: OwnedFd,
}

impl Alarm {
    pub(super) fn new() -> io::Result<Self> {
        // SAFETY: the call only returns a number.
        let all = opened(unsafe { libc::epoll_create1(libc::EPOLL_CLOEXEC) })?;
        // SAFETY: as above.
        let end = opened(unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) })?;
        let alarm = Self { all, end };
        alarm.watch(&alarm.end, libc::EPOLLIN as u32)?;
        Ok(alarm)
    }

    /// Waits for an event, too, until it is closed.
    pub(super) fn add(&self, event: &Event) -> io::Result<()> {
        // Once for each time: that a thread has ended is no reason to wake up until its event is closed.
        self.watch(&event.descriptor, (libc::EPOLLIN | libc::EPOLLET) as u32)
    }

    fn watch(&self, descriptor: &OwnedFd, events: u32) -> io::Result<()> {
        let is_end = descriptor.as_raw_fd() == self.end.as_raw_fd();
        let mut event = libc::epoll_event {
            events,
            u64: u64::from(is_end),
        };
        // SAFETY: both descriptors are open, and the call reads the event.
        let result = unsafe {
            libc::epoll_ctl(
                self.all.as_raw_fd(),
                libc::EPOLL_CTL_ADD,
                descriptor.as_raw_fd(),
                &raw mut event,
            )
        };
        match result {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Waits until a ring fills; false when it has to end.
    pub(super) fn wait(&self) -> bool {
        const MOST: usize = 16;
        let mut events = [libc::epoll_event { events: 0, u64: 0 }; MOST];
        // SAFETY: the call writes at most so many events.
        let count = unsafe {
            libc::epoll_wait(
                self.all.as_raw_fd(),
                events.as_mut_ptr(),
                MOST as c_int,
                -1,
            )
        };
        let found = events.iter().take(usize::try_from(count).unwrap_or(0));
        let is_over = found.into_iter().any(|event| event.u64 == 1);
        // Only an interruption is no reason to end.
        let has_failed = count < 0 && io::Error::last_os_error().kind() != io::ErrorKind::Interrupted;
        !is_over && !has_failed
    }

    /// Has [`wait`](Self::wait) return false, now and later.
    pub(super) fn end(&self) {
        let one = 1_u64;
        // SAFETY: the call reads so many bytes.
        unsafe { libc::write(self.end.as_raw_fd(), (&raw const one).cast(), size_of::<u64>()) };
    }
}

fn opened(descriptor: c_int) -> io::Result<OwnedFd> {
    match descriptor {
        0.. => {
            // SAFETY: the caller has just opened it.
            Ok(unsafe { OwnedFd::from_raw_fd(descriptor) })
        }
        _ => Err(io::Error::last_os_error()),
    }
}

/// The interval of the kernel's tick, at which timers of processor time expire.
pub(super) fn tick() -> Duration {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the call writes the time.
    unsafe { libc::clock_getres(libc::CLOCK_MONOTONIC_COARSE, &raw mut time) };
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
