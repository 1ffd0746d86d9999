//! The cost of spans before the first call: code with spans is longer, and takes longer to compile.

use std::cell::RefCell;
use std::collections::HashSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, PoisonError, RwLock};

use clr_profiler::il::token::MethodDef;
use clr_profiler::prelude::*;

use crate::spans::thread_time;

/// The methods with spans.
static TRACED: LazyLock<RwLock<HashSet<(ModuleId, MethodDef)>>> = LazyLock::new(RwLock::default);

/// The costs so far in nanoseconds of CPU time: those of compiling methods with spans. On .NET 8 three fifths of that are the spans', and
/// rewriting a method takes about the rest.
static SPENT: AtomicU64 = AtomicU64::new(0);

/// The costs up to which methods get spans when they are first compiled.
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);

thread_local! {
    /// The compilations on this thread, each within the one before: when it began, and the time of those within it.
    static BEGUN: RefCell<Vec<(u64, u64)>> = const { RefCell::new(Vec::new()) };
}

/// Another run of the tool begins.
pub(super) fn forget() {
    let mut traced = TRACED.write().unwrap_or_else(PoisonError::into_inner);
    traced.clear();
    SPENT.store(0, Ordering::Relaxed);
    LIMIT.store(u64::MAX, Ordering::Relaxed);
}

/// Whether there is a budget for them.
fn are_limited() -> bool {
    LIMIT.load(Ordering::Relaxed) != u64::MAX
}

/// A method has code with spans.
pub(super) fn add(module: ModuleId, method: MethodDef) {
    if !are_limited() {
        return;
    }
    let mut traced = TRACED.write().unwrap_or_else(PoisonError::into_inner);
    traced.insert((module, method));
}

/// A compilation begins on this thread.
pub(super) fn begin() {
    if !are_limited() {
        return;
    }
    BEGUN.with_borrow_mut(|begun| begun.push((thread_time(), 0)));
}

/// The compilation on this thread that began last ends.
pub(super) fn end(module: ModuleId, method: MethodDef) {
    let own = BEGUN.with_borrow_mut(|begun| {
        let (began, within) = begun.pop()?;
        let whole = thread_time().saturating_sub(began);
        if let Some((_, time)) = begun.last_mut() {
            *time += whole;
        }
        Some(whole.saturating_sub(within))
    });
    let traced = TRACED.read().unwrap_or_else(PoisonError::into_inner);
    if let Some(own) = own.filter(|_| traced.contains(&(module, method))) {
        SPENT.fetch_add(own, Ordering::Relaxed);
    }
}

/// The costs so far.
pub(super) fn spent() -> u64 {
    SPENT.load(Ordering::Relaxed)
}

/// Sets the costs up to which methods get spans when they are first compiled.
pub(super) fn limit(most: f64) {
    LIMIT.store(most as u64, Ordering::Relaxed);
}

/// Whether methods that are first compiled now have to wait for their spans.
pub(super) fn are_too_dear() -> bool {
    spent() > LIMIT.load(Ordering::Relaxed)
}
