//! Modules, assemblies, types and functions: which ids were seen, and which of them are gone.
//!
//! An id says when it was seen, as an [`Epoch`]: their number rises whenever something goes. An id of
//! this epoch is good; of an older one it is good while it is known here, as something that was there
//! then and still is. What is gone is forgotten, so that all of this takes room for what is there.
//!
//! Functions, and types on some runtimes, go without a word, with the collectible modules that they
//! depend on. So those that were seen are looked at when such a module goes, before it does: which
//! modules they depend on is found out then ([`unresolved`], [`resolved`]). While there is no such module
//! and no dynamic method types and functions last, and are not written down.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::State;
use super::in_flight::{InFlight, Waited};
use super::map::{Map, Writer};
use crate::locks::lock;

/// What an id stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Module,
    Assembly,
    Class,
    Function,
}

impl Kind {
    /// Whether things of this kind can be gone only if there was a collectible module.
    fn goes_with_modules(self) -> bool {
        matches!(self, Self::Class | Self::Function)
    }
}

/// When an id was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Epoch(u32);

impl Epoch {
    /// Of an id that is good for ever, as far as the library knows.
    pub(crate) const ALWAYS: Self = Self(0);
    /// Of an id that is good for nothing but to be compared.
    pub(crate) const GONE: Self = Self(u32::MAX);
}

/// The epoch of now.
static EPOCH: AtomicU32 = AtomicU32::new(1);
/// Whether there may be collectible modules.
static HAS_COLLECTIBLE: AtomicBool = AtomicBool::new(false);
/// Whether a module was unloaded.
static HAS_UNLOADED: AtomicBool = AtomicBool::new(false);
/// Whether functions and types are written down: some can go.
static FOLLOWS: AtomicBool = AtomicBool::new(false);
/// For each thing that is there, the epoch in which it was first seen, twice; and one more while it is
/// being loaded.
static SEEN: Map = Map::new();
static LEDGER: Mutex<Ledger> = Mutex::new(Ledger::new());

/// How many modules are remembered that have gone.
const REMEMBERED: usize = 1024;

/// What only those need who write.
struct Ledger {
    writer: Writer,
    /// The profilers that run.
    profilers: u32,
    /// Whether a module is collectible, of those whose loading was seen.
    modules: BTreeMap<usize, bool>,
    /// The modules that have gone last, with their assemblies until these are gone: the runtime may still
    /// name them.
    going: VecDeque<(usize, Option<usize>)>,
    /// Types and functions of which it is not known yet what they depend on.
    unresolved: BTreeSet<(Kind, usize)>,
    /// The types and functions that depend on a collectible module.
    dependents: BTreeMap<usize, Vec<usize>>,
}

impl Ledger {
    const fn new() -> Self {
        Self {
            writer: Writer::new(),
            profilers: 0,
            modules: BTreeMap::new(),
            going: VecDeque::new(),
            unresolved: BTreeSet::new(),
            dependents: BTreeMap::new(),
        }
    }

    fn is_known(&self, number: usize) -> bool {
        SEEN.get(number, &InFlight::begin()).is_some()
    }

    fn is_going(&self, number: usize) -> bool {
        let mut going = self.going.iter();
        going.any(|(module, assembly)| *module == number || *assembly == Some(number))
    }

    fn set(&mut self, number: usize, value: u32) {
        SEEN.set(&mut self.writer, number, value);
    }

    /// Writes down what is there from now on.
    fn add(&mut self, kind: Kind, number: usize) -> Epoch {
        let epoch = EPOCH.load(Ordering::Relaxed);
        self.set(number, epoch << 1);
        if kind.goes_with_modules() {
            self.unresolved.insert((kind, number));
        }
        Epoch(epoch)
    }

    /// What was seen by now is good only if it is known.
    fn next_epoch(&mut self) {
        EPOCH.fetch_add(1, Ordering::SeqCst);
    }
}

/// When this thing is seen, which the runtime names now.
#[inline]
pub(crate) fn stamp(kind: Kind, number: usize) -> Epoch {
    if kind.goes_with_modules() && !FOLLOWS.load(Ordering::Acquire) {
        return Epoch::ALWAYS;
    }
    let call = InFlight::begin();
    // Before it is looked for: what goes in between is of an older epoch then.
    let epoch = EPOCH.load(Ordering::SeqCst);
    match SEEN.get(number, &call) {
        Some(_) => Epoch(epoch),
        None => first_seen(kind, number),
    }
}

#[cold]
fn first_seen(kind: Kind, number: usize) -> Epoch {
    let mut ledger = lock(&LEDGER);
    if ledger.is_known(number) {
        return Epoch(EPOCH.load(Ordering::Relaxed));
    }
    if ledger.is_going(number) {
        return Epoch::GONE;
    }
    ledger.add(kind, number)
}

/// When this function is seen, a dynamic method: such go by themselves, and a callback says so.
#[cold]
pub(crate) fn is_dynamic(number: usize) -> Epoch {
    FOLLOWS.store(true, Ordering::SeqCst);
    let mut ledger = lock(&LEDGER);
    let epoch = EPOCH.load(Ordering::Relaxed);
    if !ledger.is_known(number) {
        ledger.set(number, epoch << 1);
    }
    Epoch(epoch)
}

/// When this thing is seen, which the runtime begins to load.
#[cold]
pub(crate) fn begins_to_load(number: usize) -> Epoch {
    let mut ledger = lock(&LEDGER);
    ledger.going.retain(|(module, _)| *module != number);
    let epoch = EPOCH.load(Ordering::Relaxed);
    ledger.set(number, epoch << 1 | 1);
    Epoch(epoch)
}

/// When this thing is seen, which the runtime has loaded, or failed to.
#[cold]
pub(crate) fn has_loaded(kind: Kind, number: usize, success: bool) -> Epoch {
    let mut ledger = lock(&LEDGER);
    if !success {
        ledger.set(number, 0);
        ledger.next_epoch();
        return Epoch::GONE;
    }
    let is_followed = !kind.goes_with_modules() || FOLLOWS.load(Ordering::Acquire);
    let now = Epoch(EPOCH.load(Ordering::Relaxed));
    match SEEN.get(number, &InFlight::begin()) {
        // Others may have it since it began to load.
        Some(since) if since & 1 == 1 => {
            ledger.set(number, since & !1);
            if is_followed && kind.goes_with_modules() {
                ledger.unresolved.insert((kind, number));
            }
            now
        }
        Some(_) => now,
        None if is_followed => ledger.add(kind, number),
        None => Epoch::ALWAYS,
    }
}

/// What can be said of an id that was seen then. For a call that has begun.
#[inline]
pub(crate) fn state(kind: Kind, number: usize, seen: Epoch) -> State {
    if seen == Epoch::ALWAYS {
        return State::There;
    }
    // Others can be loading.
    if seen.0 == EPOCH.load(Ordering::SeqCst) && kind == Kind::Function {
        return State::There;
    }
    known_state(kind, number, seen)
}

fn known_state(kind: Kind, number: usize, seen: Epoch) -> State {
    if seen == Epoch::GONE {
        return State::Gone;
    }
    match SEEN.get(number, &InFlight::begin()) {
        Some(since) if since >> 1 > seen.0 => State::Gone,
        // Of types the runtime itself tells what it knows by then.
        Some(since) if since & 1 == 1 && kind != Kind::Class => State::Loading,
        Some(_) => State::There,
        None => State::Gone,
    }
}

/// The epoch of now.
pub(crate) fn now() -> Epoch {
    Epoch(EPOCH.load(Ordering::SeqCst))
}

/// Notes whether a module is collectible, once it has been loaded.
pub(crate) fn module_has_loaded(module: usize, is_collectible: bool) {
    lock(&LEDGER).modules.insert(module, is_collectible);
    if is_collectible {
        may_be_collectible();
    }
}

/// Notes that it cannot be told of a module that was loaded whether it is collectible.
pub(crate) fn may_be_collectible() {
    HAS_COLLECTIBLE.store(true, Ordering::SeqCst);
    FOLLOWS.store(true, Ordering::SeqCst);
}

/// Whether a module is collectible, if that was noted.
pub(crate) fn is_collectible(module: usize) -> Option<bool> {
    lock(&LEDGER).modules.get(&module).copied()
}

/// Whether there are or were collectible modules, as far as is known.
pub(crate) fn may_have_collectible() -> bool {
    HAS_COLLECTIBLE.load(Ordering::SeqCst)
}

/// Whether a module was unloaded, or is about to be.
pub(crate) fn has_unloaded() -> bool {
    HAS_UNLOADED.load(Ordering::SeqCst)
}

/// A type or function that was seen, and of which it is not known yet what it depends on.
pub(crate) fn unresolved() -> Option<(Kind, usize, Epoch)> {
    let (kind, number) = lock(&LEDGER).unresolved.pop_first()?;
    Some((kind, number, now()))
}

/// Notes the collectible modules that something depends on. None at all where that cannot be told: then
/// it is not sure any more that it is there.
pub(crate) fn resolved(number: usize, modules: Option<&BTreeSet<usize>>) {
    let mut ledger = lock(&LEDGER);
    if !ledger.is_known(number) {
        return;
    }
    match modules {
        Some(modules) => {
            for module in modules {
                ledger.dependents.entry(*module).or_default().push(number);
            }
        }
        None => {
            ledger.set(number, 0);
            ledger.next_epoch();
        }
    }
}

/// From now on a module and its assembly are refused, and what is known to depend on it. The calls that
/// have not seen that are to be waited for.
pub(crate) fn module_goes(module: usize, assembly: Option<usize>) {
    let mut ledger = lock(&LEDGER);
    ledger.modules.remove(&module);
    HAS_UNLOADED.store(true, Ordering::SeqCst);
    match ledger.going.iter_mut().find(|(going, _)| *going == module) {
        Some(going) => going.1 = going.1.or(assembly),
        None => ledger.going.push_back((module, assembly)),
    }
    if ledger.going.len() > REMEMBERED {
        ledger.going.pop_front();
    }
    let dependents = ledger.dependents.remove(&module).unwrap_or_default();
    for number in dependents.into_iter().chain([module]).chain(assembly) {
        ledger.set(number, 0);
    }
    ledger.next_epoch();
}

/// A module is gone: the number of its assembly can be that of another one.
pub(crate) fn module_is_gone(module: usize) {
    let mut ledger = lock(&LEDGER);
    let mut going = ledger.going.iter_mut();
    if let Some(gone) = going.find(|(gone, _)| *gone == module) {
        gone.1 = None;
    }
}

/// From now on this is refused. Whether it was known: then calls that have not seen that are to be waited
/// for.
pub(crate) fn goes(number: usize) -> bool {
    let mut ledger = lock(&LEDGER);
    if !ledger.is_known(number) {
        return false;
    }
    ledger.set(number, 0);
    ledger.next_epoch();
    true
}

/// Frees memory that nobody reads from any more.
pub(crate) fn free_retired(waited: &Waited) {
    lock(&LEDGER).writer.free_retired(waited);
}

/// A profiler begins. Whether it is the only one, so that nothing is known of what others have seen.
pub(super) fn begin(by_attach: bool) -> bool {
    let mut ledger = lock(&LEDGER);
    ledger.profilers += 1;
    if ledger.profilers > 1 {
        return false;
    }
    for (number, _) in SEEN.all(&ledger.writer) {
        ledger.set(number, 0);
    }
    ledger.modules.clear();
    ledger.going.clear();
    ledger.unresolved.clear();
    ledger.dependents.clear();
    ledger.next_epoch();
    HAS_COLLECTIBLE.store(by_attach, Ordering::SeqCst);
    HAS_UNLOADED.store(false, Ordering::SeqCst);
    FOLLOWS.store(by_attach, Ordering::SeqCst);
    true
}

pub(super) fn end() {
    let mut ledger = lock(&LEDGER);
    ledger.profilers = ledger.profilers.saturating_sub(1);
}
