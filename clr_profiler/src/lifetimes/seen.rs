//! Modules, assemblies, types and functions: the ids that were seen, and whether their targets are gone.
//!
//! An id contains the [`Epoch`] in which it was seen: a number that rises whenever a target goes. An id of
//! the current epoch is valid. An id of an older one is valid while its target is recorded here as seen by
//! then and not gone. Records of targets that are gone are removed, so the memory depends on the number of
//! existing targets.
//!
//! Functions, and types on some runtimes, are unloaded without a callback, together with the collectible
//! modules that they depend on. So before such a module is unloaded, the modules that the recorded types
//! and functions depend on are determined ([`unresolved`], [`resolved`]). As long as there is no such
//! module, types and functions are permanent, and are not recorded; except dynamic methods, whose numbers are never
//! those of other functions.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::TargetState;
use super::in_flight::InFlight;
use super::map::{Found, Map, Retired, Writer};
use crate::locks::lock;

/// The kind of an id's target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Module,
    Assembly,
    Class,
    Function,
}

impl Kind {
    /// Whether targets of this kind go only with a collectible module.
    fn goes_with_modules(self) -> bool {
        matches!(self, Self::Class | Self::Function)
    }
}

/// The time at which an id was seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Epoch(u32);

impl Epoch {
    /// Of an id that is always valid, as far as the library knows.
    pub(crate) const ALWAYS: Self = Self(0);
    /// Of an id that is valid only for comparisons.
    pub(crate) const GONE: Self = Self(u32::MAX);
}

/// The current epoch.
static EPOCH: AtomicU32 = AtomicU32::new(1);
/// Whether there may be collectible modules.
static HAS_COLLECTIBLE: AtomicBool = AtomicBool::new(false);
/// Whether a module was unloaded.
static HAS_UNLOADED: AtomicBool = AtomicBool::new(false);
/// Whether there was a dynamic method.
static HAS_DYNAMIC: AtomicBool = AtomicBool::new(false);
/// Whether functions and types are recorded, because some can go.
static FOLLOWS: AtomicBool = AtomicBool::new(false);
/// For each existing target: twice the epoch in which it was first seen, plus one while it is being loaded.
static SEEN: Map = Map::new();
static LEDGER: Mutex<Ledger> = Mutex::new(Ledger::new());

/// The maximum number of unloaded modules that are remembered.
const REMEMBERED: usize = 1024;

/// The state that only writers need.
struct Ledger {
    writer: Writer,
    /// The number of running profilers.
    profilers: u32,
    /// Whether a module is collectible, for modules whose load was seen.
    modules: BTreeMap<usize, bool>,
    /// The last modules that were unloaded, with their assemblies until these are gone, because the runtime
    /// may still name them.
    going: VecDeque<(usize, Option<usize>)>,
    /// Types and functions whose dependencies are not known yet.
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

    /// Records a target.
    fn add(&mut self, kind: Kind, number: usize) -> Epoch {
        let epoch = EPOCH.load(Ordering::Relaxed);
        self.set(number, epoch << 1);
        if kind.goes_with_modules() {
            self.unresolved.insert((kind, number));
        }
        Epoch(epoch)
    }

    /// Begins an epoch: ids that were seen before are valid only if their targets are recorded.
    fn next_epoch(&mut self) {
        EPOCH.fetch_add(1, Ordering::SeqCst);
    }
}

/// The epoch for an id that the runtime names now.
#[inline]
pub(crate) fn stamp(kind: Kind, number: usize) -> Epoch {
    let is_permanent = kind.goes_with_modules() && !FOLLOWS.load(Ordering::Acquire);
    if is_permanent && !(kind == Kind::Function && HAS_DYNAMIC.load(Ordering::Acquire)) {
        return Epoch::ALWAYS;
    }
    let call = InFlight::begin();
    // Read before the lookup, so that an id whose target goes in between has an older epoch.
    let epoch = EPOCH.load(Ordering::SeqCst);
    match SEEN.find(number, &call) {
        Found::Value(_) => Epoch(epoch),
        // No dynamic method.
        Found::Never if is_permanent => Epoch::ALWAYS,
        Found::Never | Found::Removed => first_seen(kind, number),
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

/// The epoch for the id of a dynamic method, which is unloaded on its own, with a callback.
#[cold]
pub(crate) fn is_dynamic(number: usize) -> Epoch {
    HAS_DYNAMIC.store(true, Ordering::SeqCst);
    let mut ledger = lock(&LEDGER);
    let epoch = EPOCH.load(Ordering::Relaxed);
    if !ledger.is_known(number) {
        ledger.set(number, epoch << 1);
    }
    Epoch(epoch)
}

/// The epoch for the id of a target that the runtime starts to load.
#[cold]
pub(crate) fn begins_to_load(number: usize) -> Epoch {
    let mut ledger = lock(&LEDGER);
    ledger.going.retain(|(module, _)| *module != number);
    let epoch = EPOCH.load(Ordering::Relaxed);
    ledger.set(number, epoch << 1 | 1);
    Epoch(epoch)
}

/// The epoch for the id of a target that the runtime has loaded, or failed to load.
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
        // Other code may have the id since the load began.
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

/// The state of an id that was seen in this epoch. The caller is in a call in flight.
#[inline]
pub(crate) fn state(kind: Kind, number: usize, seen: Epoch) -> TargetState {
    if seen == Epoch::ALWAYS {
        return TargetState::Live;
    }
    // Targets of other kinds can be loading.
    if seen.0 == EPOCH.load(Ordering::SeqCst) && kind == Kind::Function {
        return TargetState::Live;
    }
    known_state(kind, number, seen)
}

fn known_state(kind: Kind, number: usize, seen: Epoch) -> TargetState {
    if seen == Epoch::GONE {
        return TargetState::Gone;
    }
    match SEEN.get(number, &InFlight::begin()) {
        Some(since) if since >> 1 > seen.0 => TargetState::Gone,
        // For types that are loading, the runtime itself refuses unavailable information.
        Some(since) if since & 1 == 1 && kind != Kind::Class => TargetState::Loading,
        Some(_) => TargetState::Live,
        None => TargetState::Gone,
    }
}

/// The current epoch.
pub(crate) fn now() -> Epoch {
    Epoch(EPOCH.load(Ordering::SeqCst))
}

/// Records whether a loaded module is collectible.
pub(crate) fn module_has_loaded(module: usize, is_collectible: bool) {
    lock(&LEDGER).modules.insert(module, is_collectible);
    if is_collectible {
        may_be_collectible();
    }
}

/// Records that there may be a collectible module.
pub(crate) fn may_be_collectible() {
    HAS_COLLECTIBLE.store(true, Ordering::SeqCst);
    FOLLOWS.store(true, Ordering::SeqCst);
}

/// Whether a module is collectible, if that is recorded.
pub(crate) fn is_collectible(module: usize) -> Option<bool> {
    lock(&LEDGER).modules.get(&module).copied()
}

/// Whether there are or were collectible modules, as far as is known.
pub(crate) fn may_have_collectible() -> bool {
    HAS_COLLECTIBLE.load(Ordering::SeqCst)
}

/// Records that modules were unloaded before the profiler was attached, or that the first one is about to be. Whether this
/// was not recorded yet.
pub(crate) fn note_unloads() -> bool {
    !HAS_UNLOADED.swap(true, Ordering::SeqCst)
}

/// Whether a module was unloaded, or is about to be.
pub(crate) fn has_unloaded() -> bool {
    HAS_UNLOADED.load(Ordering::SeqCst)
}

/// Takes a recorded type or function whose dependencies are not known yet.
pub(crate) fn unresolved() -> Option<(Kind, usize, Epoch)> {
    let (kind, number) = lock(&LEDGER).unresolved.pop_first()?;
    Some((kind, number, now()))
}

/// Takes a recorded type or function, and returns whether its dependencies are not known yet.
pub(crate) fn takes_unresolved(kind: Kind, number: usize) -> bool {
    lock(&LEDGER).unresolved.remove(&(kind, number))
}

/// Records the collectible modules that a target depends on. `None` means that they cannot be determined:
/// the target then no longer counts as existing.
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

/// Records that a module is unloaded: the ids of the module, its assembly and their recorded dependents are
/// refused from now on. The caller waits for the calls that may not have seen this.
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

/// Records that a module is gone: the number of its assembly may be reused.
pub(crate) fn module_is_gone(module: usize) {
    let mut ledger = lock(&LEDGER);
    let mut going = ledger.going.iter_mut();
    if let Some(gone) = going.find(|(gone, _)| *gone == module) {
        gone.1 = None;
    }
}

/// Records that a target goes: its id is refused from now on. Returns whether it was recorded; the caller
/// then waits for the calls that may not have seen this.
pub(crate) fn goes(number: usize) -> bool {
    let mut ledger = lock(&LEDGER);
    if !ledger.is_known(number) {
        return false;
    }
    // The runtime must not be asked about it later.
    for kind in [Kind::Class, Kind::Function] {
        ledger.unresolved.remove(&(kind, number));
    }
    ledger.set(number, 0);
    ledger.next_epoch();
    true
}

/// Takes memory that only calls in flight may still read.
pub(super) fn take_retired() -> Retired {
    lock(&LEDGER).writer.take_retired()
}

/// Keeps memory for whose readers nobody has waited.
pub(super) fn keep_retired(retired: Retired) {
    lock(&LEDGER).writer.keep_retired(retired);
}

/// The bytes of all records.
pub(super) fn held_bytes() -> usize {
    let ledger = lock(&LEDGER);
    let dependents = ledger.dependents.values().map(|all| all.len() + 3);
    SEEN.held_bytes(&ledger.writer)
        + ledger.modules.len() * size_of::<(usize, bool)>()
        + ledger.going.len() * size_of::<(usize, Option<usize>)>()
        + ledger.unresolved.len() * size_of::<(Kind, usize)>()
        + dependents.sum::<usize>() * size_of::<usize>()
}

/// Begins a profiler. If it is the only one, clears all records and returns true.
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
    HAS_DYNAMIC.store(false, Ordering::SeqCst);
    FOLLOWS.store(by_attach, Ordering::SeqCst);
    true
}

pub(super) fn end() {
    let mut ledger = lock(&LEDGER);
    ledger.profilers = ledger.profilers.saturating_sub(1);
}
