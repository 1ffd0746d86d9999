//! The totals of the waits.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::time::{Duration, Instant, SystemTime};

use crate::profilers::named_stacks::{NamedStacks, named};
use crate::stacks::{Frame, Node};

/// The limit for holders with a row of their own.
const HOLDERS: usize = 10_000;

/// The key of a thread that waits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Waiter(pub(crate) u64);

/// Waits, their sum, and the longest one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) waits: u64,
    pub(crate) waited: Duration,
    pub(crate) longest: Duration,
}

impl Row {
    fn add(&mut self, waited: Duration) {
        self.waits += 1;
        self.waited += waited;
        self.longest = self.longest.max(waited);
    }
}

/// The number of a thread that had a lock, in the order in which they were seen: `None` for those beyond the limit.
pub(crate) type Holder = Option<u64>;

/// A thread that had a lock.
#[derive(Clone)]
struct Thread {
    /// The operating system's id, which a later thread may get.
    id: u64,
    name: Option<String>,
}

#[derive(Clone)]
struct Wait {
    since: Instant,
    node: Node,
    method: u64,
    /// `None` if the runtime does not tell.
    holder: Option<Holder>,
}

#[derive(Clone)]
pub(crate) struct Profile {
    pub(crate) began: (SystemTime, Instant),
    /// Weights are nanoseconds.
    pub(crate) stacks: NamedStacks,
    /// The waits that have not ended.
    open: HashMap<Waiter, Wait>,
    pub(crate) all: Row,
    /// By the number of the frame of the method that waits.
    pub(crate) methods: HashMap<u64, Row>,
    pub(crate) holders: HashMap<Holder, Row>,
    /// By their numbers.
    threads: Vec<Thread>,
    /// The numbers of those that may run, by the operating system's ids.
    running: HashMap<u64, u64>,
    /// How many of the waits have not ended; of a copy [until now](Self::until_now).
    pub(crate) waiting: usize,
}

impl Profile {
    pub(crate) fn new() -> Self {
        Self {
            began: (SystemTime::now(), Instant::now()),
            stacks: NamedStacks::new(),
            open: HashMap::new(),
            all: Row::default(),
            methods: HashMap::new(),
            holders: HashMap::new(),
            threads: Vec::new(),
            running: HashMap::new(),
            waiting: 0,
        }
    }

    /// Whether this thread has its name already, or gets none.
    pub(crate) fn knows(&self, holder: u64) -> bool {
        self.running.contains_key(&holder) || self.threads.len() >= HOLDERS
    }

    /// A thread begins: one with the same id has ended.
    pub(crate) fn thread_begins(&mut self, id: u64) {
        self.running.remove(&id);
    }

    /// The frames are innermost first.
    pub(crate) fn begins(
        &mut self,
        waiter: Waiter,
        since: Instant,
        stack: &[Frame],
        holder: Option<(u64, Option<String>)>,
    ) {
        let native = [named("[native]")];
        let stack = if stack.is_empty() { &native } else { stack };
        let own = stack.iter().find(|frame| !is_of_lock(&frame.name));
        let method = own
            .or(stack.last())
            .map_or(0, |own| self.stacks.number(own));
        let holder = holder.map(|(id, name)| {
            let number = self.threads.len();
            match self.running.entry(id) {
                Entry::Occupied(number) => Some(*number.get()),
                Entry::Vacant(_) if number >= HOLDERS => None,
                Entry::Vacant(place) => {
                    self.threads.push(Thread { id, name });
                    Some(*place.insert(number as u64))
                }
            }
        });
        let node = self.stacks.node(stack.iter());
        let wait = Wait {
            since,
            node,
            method,
            holder,
        };
        self.open.insert(waiter, wait);
    }

    /// Whether the beginning of a wait is known that ends now. The time is that of the runtime, which begins later for some locks.
    pub(crate) fn ends(&mut self, waiter: Waiter, waited: Duration, now: Instant) -> bool {
        let Some(wait) = self.open.remove(&waiter) else {
            return false;
        };
        self.add(&wait, waited.max(now.saturating_duration_since(wait.since)));
        true
    }

    fn add(&mut self, wait: &Wait, waited: Duration) {
        let nanoseconds = u64::try_from(waited.as_nanos()).unwrap_or(u64::MAX);
        self.stacks.stacks.add_to(wait.node, nanoseconds);
        self.all.add(waited);
        self.methods.entry(wait.method).or_default().add(waited);
        if let Some(holder) = wait.holder {
            self.holders.entry(holder).or_default().add(waited);
        }
    }

    /// A copy, in which the waits that have not ended count until now.
    pub(crate) fn until_now(&self) -> Self {
        let mut copy = self.clone();
        let open = std::mem::take(&mut copy.open);
        copy.waiting = open.len();
        for wait in open.values() {
            copy.add(wait, wait.since.elapsed());
        }
        copy
    }

    /// The words for a thread that had a lock.
    pub(crate) fn holder(&self, holder: Holder) -> String {
        let Some(Thread { id, name }) = holder.and_then(|number| self.threads.get(number as usize))
        else {
            return "(other threads)".to_owned();
        };
        let name = name.as_ref().map(|name| format!(" ({name})"));
        format!("thread {id}{}", name.unwrap_or_default())
    }
}

/// Whether a frame is of the lock itself, and not of the code that takes it.
fn is_of_lock(name: &str) -> bool {
    let own = ["System.Threading.Monitor.", "System.Threading.Lock."];
    own.iter().any(|part| name.starts_with(part)) || name.starts_with("System.Diagnostics.Tracing.")
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);
    /// The unit of the runtime's times: the clock of the profile has moved by less between two calls.
    const S: Duration = Duration::from_secs(1);

    fn stack(names: &[&str]) -> Vec<Frame> {
        names.iter().map(|name| named(name)).collect()
    }

    #[test]
    fn waits_add_up_by_method_and_holder() {
        let mut profile = Profile::new();
        let enter = "System.Threading.Monitor.Enter(object, ref bool)";
        let sells = stack(&[enter, "Shop.Sell()", "Shop.Main()"]);
        for (waiter, holder, time) in [(1, 7, 30), (2, 7, 10), (1, 8, 20)] {
            let waiter = Waiter(waiter);
            let name = (!profile.knows(holder)).then(|| "till".to_owned());
            profile.begins(waiter, Instant::now(), &sells, Some((holder, name)));
            assert!(profile.ends(waiter, time * S, Instant::now()));
        }
        assert!(
            !profile.ends(Waiter(1), S, Instant::now()),
            "it does not wait"
        );
        let row = |waits, waited, longest| Row {
            waits,
            waited: waited * S,
            longest: longest * S,
        };
        assert_eq!(profile.all, row(3, 60, 30));
        let rows = profile.methods.iter();
        let rows: Vec<_> = rows
            .map(|(method, row)| (profile.stacks.frame(*method), *row))
            .collect();
        assert_eq!(rows, [(named("Shop.Sell()"), row(3, 60, 30))]);
        assert_eq!(profile.holders[&Some(0)], row(2, 40, 30));
        assert_eq!(profile.holders[&Some(1)], row(1, 20, 20));
        assert_eq!(profile.holder(Some(0)), "thread 7 (till)");
        let stacks: Vec<_> = profile.stacks.stacks.iter().collect();
        assert_eq!(stacks.len(), 1);
        assert_eq!((stacks[0].1, stacks[0].2), (60_000_000_000, 3));
        let innermost = profile.stacks.frame(*stacks[0].0.last().unwrap());
        assert_eq!(&*innermost.name, enter);
    }

    #[test]
    fn threads_with_the_same_id_are_two() {
        let mut profile = Profile::new();
        for name in ["first", "second"] {
            profile.thread_begins(7);
            assert!(!profile.knows(7));
            for _ in 0..2 {
                profile.begins(
                    Waiter(1),
                    Instant::now(),
                    &[],
                    Some((7, Some(name.to_owned()))),
                );
                assert!(profile.knows(7));
                assert!(profile.ends(Waiter(1), S, Instant::now()));
            }
        }
        for (number, name) in [(0, "thread 7 (first)"), (1, "thread 7 (second)")] {
            assert_eq!(profile.holders[&Some(number)].waits, 2);
            assert_eq!(profile.holder(Some(number)), name);
        }
    }

    /// The runtime's clock has begun later.
    #[test]
    fn a_wait_is_as_long_as_it_was_seen() {
        let mut profile = Profile::new();
        let since = Instant::now();
        profile.begins(Waiter(1), since, &[], None);
        // The profiler takes longer, and that is no wait.
        std::thread::sleep(2 * MS);
        assert!(profile.ends(Waiter(1), Duration::ZERO, since + MS));
        assert_eq!(profile.all.waited, MS);
    }

    #[test]
    fn waits_that_have_not_ended_count_until_now() {
        let mut profile = Profile::new();
        profile.begins(Waiter(1), Instant::now(), &[], None);
        std::thread::sleep(2 * MS);
        let copy = profile.until_now();
        assert_eq!((copy.waiting, copy.all.waits), (1, 1));
        assert!(copy.all.waited >= 2 * MS);
        assert_eq!(profile.all.waits, 0);
        assert!(profile.ends(Waiter(1), 3 * S, Instant::now()));
        assert_eq!(profile.until_now().all.waited, 3 * S);
        assert!(profile.holders.is_empty(), "the runtime did not tell");
    }
}
