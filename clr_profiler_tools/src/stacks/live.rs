//! Trees that threads of the program add to without waiting, while another thread reads them.
//!
//! Each thread has a tree of its own. Its counts are atomics that only this thread writes, so that a
//! reader needs no lock that the thread might hold: it may be interrupted anywhere, for example by
//! the signal that causes the results to be written.

use std::collections::HashMap;
use std::fmt;
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::atomic::{AtomicU32, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use crate::stacks::Stacks;
use crate::stacks::tree::Node;

/// The stacks of all threads of a program, including those that have ended.
#[derive(Debug, Clone)]
pub struct Live(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    limit: usize,
    /// The number of nodes of the running threads.
    used: AtomicUsize,
    threads: Mutex<Threads>,
}

#[derive(Debug)]
struct Threads {
    running: Vec<Arc<Tree>>,
    ended: Stacks,
    /// The number of threads so far.
    seen: u64,
}

impl Live {
    /// No stacks yet. `limit` is the number of nodes of the running threads, of some 80 bytes each; those
    /// that have ended get as many again. After that new ones are added below [`Stacks::OTHERS`]: no weight is
    /// lost, only the callers of a frame.
    #[must_use]
    pub fn with_limit(limit: usize) -> Self {
        Self(Arc::new(Shared {
            limit,
            used: AtomicUsize::new(0),
            threads: Mutex::new(Threads {
                running: Vec::new(),
                ended: Stacks::with_limit(limit),
                seen: 0,
            }),
        }))
    }

    /// The stacks of one more thread; for a `thread_local!`.
    #[must_use]
    pub fn join(&self) -> Local {
        let tree = Arc::new(Tree::new());
        let mut threads = self.0.lock();
        threads.running.push(Arc::clone(&tree));
        threads.seen += 1;
        drop(threads);
        let mut local = Local {
            shared: Arc::clone(&self.0),
            tree,
            children: HashMap::default(),
            recent: Vec::new(),
            others: Stacks::ROOT,
        };
        let root = local.push(Stacks::ROOT, 0).node();
        local.others = local.push(root, Stacks::OTHERS).node();
        local
    }

    /// A copy of the stacks. The weight of an [open](Local::open) node counts
    /// until `now`.
    #[must_use]
    pub fn stacks(&self, now: u64) -> Stacks {
        let threads = self.0.lock();
        let mut all = threads.ended.clone();
        all.double();
        for tree in &threads.running {
            tree.add_to(&mut all, now);
        }
        all
    }

    /// The number of threads so far.
    #[must_use]
    pub fn threads(&self) -> u64 {
        self.0.lock().seen
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Threads> {
        self.threads.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn reserve(&self) -> bool {
        let more = |used| (used < self.limit).then_some(used + 1);
        let reserved = self
            .used
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, more);
        reserved.is_ok()
    }
}

/// The stacks of one thread.
pub struct Local {
    shared: Arc<Shared>,
    tree: Arc<Tree>,
    children: HashMap<(Node, u64), Node, BuildHasherDefault<Mix>>,
    /// For each node the child that was last requested, with its frame.
    recent: Vec<(u64, Option<Place>)>,
    /// The node of frames for which there is no room.
    others: Node,
}

impl Local {
    /// The node of a frame that is called from `parent`.
    #[inline]
    pub fn child(&mut self, parent: Node, frame: u64) -> Node {
        self.place(parent, frame).node()
    }

    /// The same, as a place in memory.
    #[inline]
    pub(crate) fn place(&mut self, parent: Node, frame: u64) -> Place {
        match self.recent.get(parent.0 as usize) {
            Some((recent, Some(place))) if *recent == frame => *place,
            _ => self.find(parent, frame),
        }
    }

    /// The place of the node at which all stacks begin.
    #[cfg_attr(
        not(feature = "profilers"),
        allow(dead_code, reason = "profilers use it")
    )]
    pub(crate) fn root(&self) -> Place {
        Place(self.tree.cell(Stacks::ROOT).unwrap_or(&NO_CELL))
    }

    #[inline(never)]
    fn find(&mut self, parent: Node, frame: u64) -> Place {
        let known = self.children.get(&(parent, frame));
        let place = match known.and_then(|node| self.tree.cell(*node)) {
            Some(cell) => Place(cell),
            None if parent == self.others || self.shared.reserve() => self.push(parent, frame),
            None => return self.place(self.others, frame),
        };
        if let Some(recent) = self.recent.get_mut(parent.0 as usize) {
            *recent = (frame, Some(place));
        }
        place
    }

    fn push(&mut self, parent: Node, frame: u64) -> Place {
        let place = self.tree.push(parent, frame);
        let node = place.node();
        self.recent.push((0, None));
        if node != Stacks::ROOT {
            self.children.insert((parent, frame), node);
        }
        place
    }

    /// Adds weight and a number of times to the stack that ends at a node.
    #[inline]
    pub fn add(&self, node: Node, weight: u64, count: u64) {
        if let Some(cell) = self.tree.cell(node) {
            add(&cell.weight, weight);
            add(&cell.count, count);
        }
    }

    /// From `since` on the weight of this node grows by itself, as time does; that of the previous node
    /// no longer does. Nothing is added by that.
    #[inline]
    pub fn open(&self, node: Node, since: u64) {
        self.tree.open.store(node.0, Ordering::Relaxed);
        self.tree.since.store(since, Ordering::Relaxed);
    }
}

/// A node in the memory of its thread, to which hooks add without a look-up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Place(&'static Cell);

impl Place {
    #[inline]
    pub(crate) fn node(self) -> Node {
        Node(self.0.number.load(Ordering::Relaxed))
    }

    /// Adds weight to the stack that ends here.
    #[cfg_attr(
        not(feature = "profilers"),
        allow(dead_code, reason = "profilers use it")
    )]
    #[inline]
    pub(crate) fn add_weight(self, weight: u64) {
        add(&self.0.weight, weight);
    }

    /// Counts the stack that ends here.
    #[cfg_attr(
        not(feature = "profilers"),
        allow(dead_code, reason = "profilers use it")
    )]
    #[inline]
    pub(crate) fn count(self) {
        add(&self.0.count, 1);
    }
}

/// Without a read-modify-write operation: only one thread writes.
#[inline]
fn add(to: &AtomicU64, value: u64) {
    to.store(
        to.load(Ordering::Relaxed).wrapping_add(value),
        Ordering::Relaxed,
    );
}

impl Drop for Local {
    fn drop(&mut self) {
        let mut threads = self.shared.lock();
        let mine = |tree: &Arc<Tree>| Arc::ptr_eq(tree, &self.tree);
        if let Some(index) = threads.running.iter().position(mine) {
            threads.running.swap_remove(index);
            // Nothing grows after the thread has ended.
            self.tree.add_to(&mut threads.ended, 0);
            self.tree.give_back();
        }
        let below_others = |(parent, _): &&(Node, u64)| *parent == self.others;
        let free = self.children.keys().filter(below_others).count() + 1;
        let reserved = self.children.len().saturating_sub(free);
        self.shared.used.fetch_sub(reserved, Ordering::Relaxed);
    }
}

impl fmt::Debug for Local {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Local")
            .field("nodes", &self.recent.len())
            .finish_non_exhaustive()
    }
}

/// The number of nodes in the first chunk; each further one has twice as many.
const FIRST: usize = 64;
const CHUNKS: usize = 26;

/// The chunks of threads that have ended. They are never freed, so that a [`Place`] is valid for good.
static FREE: Mutex<[Vec<Chunk>; CHUNKS]> = Mutex::new([const { Vec::new() }; CHUNKS]);

type Chunk = &'static [Cell];

/// Counts that nobody reads.
static NO_CELL: Cell = Cell::new();

/// The nodes of a thread. They never move, so that they can be read while others are added.
#[derive(Debug)]
struct Tree {
    chunks: [OnceLock<Chunk>; CHUNKS],
    count: AtomicUsize,
    open: AtomicU32,
    since: AtomicU64,
}

#[derive(Debug)]
struct Cell {
    frame: AtomicU64,
    parent: AtomicU32,
    number: AtomicU32,
    weight: AtomicU64,
    count: AtomicU64,
}

impl Cell {
    const fn new() -> Self {
        Self {
            frame: AtomicU64::new(0),
            parent: AtomicU32::new(0),
            number: AtomicU32::new(0),
            weight: AtomicU64::new(0),
            count: AtomicU64::new(0),
        }
    }
}

/// A chunk, whose cells may have the contents of another thread's.
fn chunk(index: usize) -> Chunk {
    let free = FREE
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .get_mut(index)
        .and_then(Vec::pop);
    free.unwrap_or_else(|| {
        let cells: Vec<Cell> = (0..FIRST << index).map(|_| Cell::new()).collect();
        cells.leak()
    })
}

impl Tree {
    fn new() -> Self {
        Self {
            chunks: [const { OnceLock::new() }; CHUNKS],
            count: AtomicUsize::new(0),
            open: AtomicU32::new(0),
            since: AtomicU64::new(0),
        }
    }

    #[inline]
    fn place(node: Node) -> (usize, usize) {
        let index = node.0 as usize + FIRST;
        let chunk = (index.ilog2() - FIRST.ilog2()) as usize;
        (chunk, index - (FIRST << chunk))
    }

    #[inline]
    fn cell(&self, node: Node) -> Option<&'static Cell> {
        let (chunk, place) = Self::place(node);
        self.chunks.get(chunk)?.get()?.get(place)
    }

    /// Only for the thread itself.
    fn push(&self, parent: Node, frame: u64) -> Place {
        let count = self.count.load(Ordering::Relaxed);
        let node = Node(count as u32);
        let (index, _) = Self::place(node);
        if let Some(known) = self.chunks.get(index) {
            known.get_or_init(|| chunk(index));
        }
        let cell = self.cell(node).unwrap_or(&NO_CELL);
        cell.frame.store(frame, Ordering::Relaxed);
        cell.parent.store(parent.0, Ordering::Relaxed);
        cell.number.store(node.0, Ordering::Relaxed);
        cell.weight.store(0, Ordering::Relaxed);
        cell.count.store(0, Ordering::Relaxed);
        self.count.store(count + 1, Ordering::Release);
        Place(cell)
    }

    /// Gives the chunks to later threads. Nothing reads the tree anymore.
    fn give_back(&self) {
        let mut free = FREE.lock().unwrap_or_else(PoisonError::into_inner);
        for (free, chunk) in free.iter_mut().zip(&self.chunks) {
            free.extend(chunk.get());
        }
    }

    fn add_to(&self, all: &mut Stacks, now: u64) {
        let count = self.count.load(Ordering::Acquire) as u32;
        let open = self.open.load(Ordering::Relaxed);
        let since = self.since.load(Ordering::Relaxed);
        // Callers are created before their callees.
        let mut places = Vec::with_capacity(count as usize);
        for index in 0..count {
            let Some(cell) = self.cell(Node(index)) else {
                return;
            };
            let parent = cell.parent.load(Ordering::Relaxed) as usize;
            let place = match places.get(parent) {
                Some(parent) => all.place(*parent, cell.frame.load(Ordering::Relaxed)),
                None => Stacks::ROOT,
            };
            places.push(place);
            // The time outside of all calls does not count.
            if index == 0 {
                continue;
            }
            let mut weight = cell.weight.load(Ordering::Relaxed);
            if index == open {
                weight += now.saturating_sub(since);
            }
            all.add_times(place, weight, cell.count.load(Ordering::Relaxed));
        }
    }
}

/// A non-cryptographic hash of two numbers.
#[derive(Default)]
struct Mix(u64);

impl Hasher for Mix {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes
            .iter()
            .for_each(|byte| self.write_u64(u64::from(*byte)));
    }

    fn write_u32(&mut self, value: u32) {
        self.write_u64(u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        let mixed = (self.0 ^ value).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 = mixed ^ (mixed >> 32);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(stacks: &Stacks) -> Vec<(Vec<u64>, u64, u64)> {
        let mut all: Vec<_> = stacks.iter().collect();
        all.sort();
        all
    }

    #[test]
    fn threads_add_up_while_they_run_and_when_they_have_ended() {
        let live = Live::with_limit(1000);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    let mut local = live.join();
                    for _ in 0..1000 {
                        let one = local.child(Stacks::ROOT, 1);
                        let two = local.child(one, 2);
                        local.add(two, 3, 1);
                        local.add(one, 1, 2);
                    }
                    assert!(live.stacks(0).total() >= 4000);
                });
            }
        });
        let expected = vec![(vec![1], 8000, 16_000), (vec![1, 2], 24_000, 8000)];
        assert_eq!(sorted(&live.stacks(0)), expected);
        assert_eq!(live.0.used.load(Ordering::Relaxed), 0);
        assert_eq!(live.threads(), 8);
    }

    #[test]
    fn what_finds_no_place_keeps_its_frame() {
        let live = Live::with_limit(2);
        let mut local = live.join();
        for frame in [1, 2, 3, 4] {
            let below = (1..=frame).fold(Stacks::ROOT, |node, frame| local.child(node, frame));
            local.add(below, 10, 1);
        }
        let full = live.stacks(0);
        assert_eq!(full.total(), 40);
        let calls = full.calls_by_frame();
        for frame in [1, 2, 3, 4] {
            assert_eq!(calls[&frame], 1, "{frame}");
        }
        assert!(sorted(&full).contains(&(vec![Stacks::OTHERS, 3], 10, 1)));
        drop(local);
        // Another thread finds room again; the ended one keeps its nodes.
        let mut local = live.join();
        let node = local.child(Stacks::ROOT, 7);
        local.add(node, 1, 1);
        let calls = live.stacks(0).calls_by_frame();
        assert_eq!((calls[&7], calls[&4]), (1, 1));
    }

    #[test]
    fn an_open_node_grows_until_now() {
        let live = Live::with_limit(10);
        let mut local = live.join();
        let node = local.child(Stacks::ROOT, 5);
        local.add(node, 100, 1);
        local.open(node, 1000);
        assert_eq!(live.stacks(1050).total(), 150);
        drop(local);
        assert_eq!(live.stacks(2000).total(), 100);
    }

    #[test]
    fn nodes_do_not_move() {
        let live = Live::with_limit(100_000);
        let mut local = live.join();
        let mut node = Stacks::ROOT;
        for frame in 0..5000 {
            node = local.child(node, frame % 7);
        }
        local.add(node, 1, 1);
        let all = sorted(&live.stacks(0));
        assert_eq!(all.len(), 1);
        assert_eq!(all[0].0, (0..5000).map(|n| n % 7).collect::<Vec<_>>());
    }
}
