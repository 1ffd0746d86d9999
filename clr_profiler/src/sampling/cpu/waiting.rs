//! Threads that wait: the system tells the calls in which they do, and no signal interrupts them.
//!
//! A signal would end their calls early: `poll`, `epoll_wait` and `nanosleep` then answer `EINTR`, which programs need not expect.
//! The stack of a thread that is blocked in the system does not change, and another thread of the process can read it. Whether the
//! thread has run since then is known by how often it was scheduled.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::{Duration, Instant};

use super::label::WaitLabel;
use super::maps::Maps;
use super::signal::{HEADER, Header};
use super::walk::{Record, UNKNOWN, Walked};
use super::{CpuFrame, timer};
use crate::error::{Error, Result};
use crate::ids::ThreadId;

/// The threads that are looked at in one turn: with more of them, each has its turn less often, and its time counts all the same.
const TURN: usize = 16;

/// The words of a stack that are read.
const WORDS: usize = 1 << 15;

/// How long a thread waits at most until the sample is delivered.
const LONGEST: Duration = Duration::from_millis(500);

/// A thread as it was last looked at.
#[derive(Debug)]
struct Waiter {
    os_thread: u32,
    seen: Instant,
    /// How often the thread was scheduled until then.
    turns: u64,
    /// The stack in which it waits.
    stack: Option<Stack>,
    /// The time since the last sample, and the times it was found waiting.
    waited: Duration,
    found: u32,
}

#[derive(Debug)]
struct Stack {
    frames: Vec<CpuFrame>,
    walked: Walked,
    label: [u64; 2],
}

/// The time that a thread has waited in one place.
pub(super) struct Wait<'a> {
    pub(super) thread: ThreadId,
    pub(super) os_thread: u32,
    pub(super) waited: Duration,
    pub(super) found: u32,
    pub(super) frames: &'a [CpuFrame],
    pub(super) walked: Walked,
    pub(super) label: [u64; 2],
}

/// The waiting threads of the process.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    waiters: HashMap<ThreadId, Waiter>,
    /// The first thread of the next turn.
    next: usize,
    label: Option<WaitLabel>,
}

/// Whether the system tells where threads wait.
pub(super) fn check() -> Result<()> {
    const CALL: &str = "CpuSamplerBuilder::wall_clock";
    let this = timer::this_thread();
    if turns(this).is_none_or(|turns| turns == 0) {
        let problem = "the system does not count how often threads run (`/proc/self/task/ID/schedstat`)";
        return Err(Error::rule(CALL, problem));
    }
    match fs::read_to_string(format!("/proc/self/task/{this}/syscall")) {
        Ok(_) => Ok(()),
        Err(error) => {
            let problem = format!("the system does not say where threads wait (`/proc/self/task/ID/syscall`): {error}");
            Err(Error::rule(CALL, problem))
        }
    }
}

impl Waiting {
    pub(super) fn new(label: Option<WaitLabel>) -> Self {
        Self {
            label,
            ..Self::default()
        }
    }

    /// Looks at threads. `walk` appends the frames of a stack, and `deliver` gets the waits that have ended, or last for long.
    pub(super) fn look(
        &mut self,
        threads: &[(ThreadId, u32)],
        maps: &mut Maps,
        mut walk: impl FnMut(&mut Maps, &Record<'_>, &mut Vec<CpuFrame>) -> Walked,
        mut deliver: impl FnMut(&Wait<'_>),
    ) {
        let there: HashSet<(ThreadId, u32)> = threads.iter().copied().collect();
        self.waiters.retain(|thread, waiter| {
            let is_there = there.contains(&(*thread, waiter.os_thread));
            if !is_there {
                waiter.end(*thread, &mut deliver);
            }
            is_there
        });
        let first = if self.next < threads.len() { self.next } else { 0 };
        let turn = threads.iter().cycle().skip(first).take(threads.len().min(TURN));
        self.next = first + TURN;
        for &(thread, os_thread) in turn {
            let now = Instant::now();
            let Some(turns) = turns(os_thread) else {
                continue;
            };
            let waiter = self.waiters.entry(thread).or_insert(Waiter {
                os_thread,
                seen: now,
                turns: 0,
                stack: None,
                waited: Duration::ZERO,
                found: 0,
            });
            let passed = now - std::mem::replace(&mut waiter.seen, now);
            if waiter.stack.is_none() || waiter.turns != turns {
                waiter.end(thread, &mut deliver);
                (waiter.turns, waiter.stack) = stack_of((os_thread, self.label), turns, maps, &mut walk);
            }
            if waiter.stack.is_some() {
                waiter.waited += passed;
                waiter.found += 1;
            }
            if waiter.waited >= LONGEST {
                waiter.tell(thread, &mut deliver);
            }
        }
    }

    /// Delivers all waits so far, and forgets their frames.
    pub(super) fn end(&mut self, mut deliver: impl FnMut(&Wait<'_>)) {
        for (thread, waiter) in &mut self.waiters {
            waiter.end(*thread, &mut deliver);
        }
    }
}

impl Waiter {
    /// Delivers the time so far.
    fn tell(&mut self, thread: ThreadId, deliver: &mut impl FnMut(&Wait<'_>)) {
        if let Some(stack) = self.stack.as_ref().filter(|_| self.found > 0) {
            deliver(&Wait {
                thread,
                os_thread: self.os_thread,
                waited: self.waited,
                found: self.found,
                frames: &stack.frames,
                walked: stack.walked,
                label: stack.label,
            });
        }
        (self.waited, self.found) = (Duration::ZERO, 0);
    }

    fn end(&mut self, thread: ThreadId, deliver: &mut impl FnMut(&Wait<'_>)) {
        self.tell(thread, deliver);
        self.stack = None;
    }
}

/// How often a thread was scheduled; nothing if it has ended.
fn turns(os_thread: u32) -> Option<u64> {
    let text = fs::read_to_string(format!("/proc/self/task/{os_thread}/schedstat")).ok()?;
    text.split_whitespace().nth(2)?.parse().ok()
}

/// The stack pointer and the instruction pointer of a thread that is blocked in the system.
fn registers(text: &str) -> Option<(usize, usize)> {
    // `running`, or the number of the call with its arguments, and the two registers.
    let mut last = text.split_whitespace().rev();
    let mut number = || usize::from_str_radix(last.next()?.strip_prefix("0x")?, 16).ok();
    let (ip, sp) = (number()?, number()?);
    (sp > 0 && ip > 0).then_some((sp, ip))
}

/// How often a thread was scheduled, and the stack in which it waits since then; none if it runs.
///
/// On a busy machine this thread loses its processor while it reads: the other one may have run meanwhile, and waits
/// again. If that were taken for running, the time of threads that wait often and for a short time would be lost.
fn stack_of(
    (os_thread, label): (u32, Option<WaitLabel>),
    mut turns: u64,
    maps: &mut Maps,
    mut walk: impl FnMut(&mut Maps, &Record<'_>, &mut Vec<CpuFrame>) -> Walked,
) -> (u64, Option<Stack>) {
    const TRIES: usize = 4;
    let mut words = Vec::new();
    for _ in 0..TRIES {
        if let Some((record, label)) = read((os_thread, label), turns, maps, &mut words) {
            let mut frames = Vec::new();
            let walked = walk(maps, &record, &mut frames);
            return (turns, Some(Stack { frames, walked, label }));
        }
        match self::turns(os_thread) {
            Some(now) if now != turns => turns = now,
            _ => break,
        }
    }
    (turns, None)
}

/// The stack and the label of a thread that has been blocked in the system since it was scheduled so often.
fn read<'a>(
    (os_thread, label): (u32, Option<WaitLabel>),
    turns_before: u64,
    maps: &mut Maps,
    words: &'a mut Vec<u64>,
) -> Option<(Record<'a>, [u64; 2])> {
    let text = fs::read_to_string(format!("/proc/self/task/{os_thread}/syscall")).ok()?;
    let (sp, ip) = registers(&text)?;
    if !sp.is_multiple_of(8) {
        return None;
    }
    let end = maps.at_now(sp)?.end;
    let count = WORDS.min(end.saturating_sub(sp) / 8);
    words.resize(HEADER + 2 + count, 0);
    let copied = timer::copy_mapped(sp, words.get_mut(HEADER + 2..)?);
    words.truncate(HEADER + 2 + copied);
    let length = words.len() as u64;
    let header = [
        (Header::Length as usize, length),
        (Header::Weight as usize, 1),
        (Header::Ip as usize, ip as u64),
        (Header::Sp as usize, sp as u64),
        (Header::Fp as usize, UNKNOWN as u64),
        (HEADER, sp as u64),
        (HEADER + 1, copied as u64),
    ];
    for (index, word) in header {
        *words.get_mut(index)? = word;
    }
    let label = label.map_or([0, 0], |label| label.of(os_thread));
    // It may have run while the words were copied.
    if turns(os_thread) != Some(turns_before) {
        return None;
    }
    Some((Record::take(&mut &**words)?, label))
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    #[test]
    fn the_registers_of_blocked_threads_are_read() {
        let blocked = "202 0x7f01 0x189 0x0 0x0 0x0 0xffffffff 0x7f55c0ffed10 0x7f55d0abc117\n";
        assert_eq!(registers(blocked), Some((0x7f55_c0ff_ed10, 0x7f55_d0ab_c117)));
        assert_eq!(registers("-1 0x7f10 0x7f20\n"), Some((0x7f10, 0x7f20)));
        for other in ["running\n", "", "0 0x0 0x0\n"] {
            assert_eq!(registers(other), None, "{other}");
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "Miri has no such files")]
    fn a_thread_waits_until_it_runs_again() {
        check().unwrap();
        let (tell, told) = mpsc::channel();
        let (wake, woken) = mpsc::channel::<()>();
        let sleeper = thread::spawn(move || {
            tell.send(timer::this_thread()).unwrap();
            let _ = woken.recv();
            tell.send(0).unwrap();
            let _ = woken.recv();
        });
        let os_thread = told.recv().unwrap();
        let threads = [(ThreadId::from_runtime(8), os_thread)];
        let label = WaitLabel::from((|os_thread| [u64::from(os_thread), 7]) as fn(u32) -> _);
        let (mut waiting, mut maps, mut waits) = (Waiting::new(Some(label)), Maps::default(), Vec::new());
        let mut turn = |waits: &mut Vec<(Duration, u32)>| {
            thread::sleep(Duration::from_millis(20));
            let walk = |_: &mut Maps, record: &Record<'_>, _: &mut Vec<CpuFrame>| {
                let sp = record.header(Header::Sp);
                assert!(record.word(sp).is_some());
                Walked::default()
            };
            waiting.look(&threads, &mut maps, walk, |wait| {
                assert_eq!(wait.label, [u64::from(os_thread), 7]);
                waits.push((wait.waited, wait.found));
            });
        };
        (0..4).for_each(|_| turn(&mut waits));
        assert_eq!(waits, []);
        wake.send(()).unwrap();
        told.recv().unwrap();
        turn(&mut waits);
        assert!(waits.len() == 1 && waits[0].1 == 4, "{waits:?}");
        assert!(waits[0].0 >= Duration::from_millis(60), "{waits:?}");
        drop(wake);
        sleeper.join().unwrap();
    }
}
