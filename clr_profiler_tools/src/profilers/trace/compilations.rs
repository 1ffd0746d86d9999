//! The cost of spans before the first call: code with spans is longer, and takes longer to compile.

use std::cell::RefCell;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use clr_profiler::il::token::MethodDef;
use clr_profiler::prelude::*;

use crate::spans::thread_time;

/// The costs so far in nanoseconds of CPU time: those of compiling methods with spans, from the moment at which they are rewritten. On
/// .NET 8 three fifths of that are the spans'.
static SPENT: AtomicU64 = AtomicU64::new(0);

/// The costs up to which methods get spans when they are first compiled.
static LIMIT: AtomicU64 = AtomicU64::new(u64::MAX);

/// The methods that get spans when they are first compiled, whatever that costs. On a busy machine the first few, which load the helper, may
/// take all of the time that is allowed at a start: a small program would have no spans. The C# compiler gets to twice as many on a
/// quiet machine.
const FIRST: u32 = 64;

/// The methods that got spans because their compilation began; those that several rules change at once are one.
static CHANGED: AtomicU32 = AtomicU32::new(0);

/// A compilation on this thread.
#[derive(Debug, Clone, Copy)]
struct Begun {
    /// The module and the method, if it gets spans.
    key: Option<(usize, MethodDef)>,
    /// The time of the thread. Reading it costs a call of the system: it is zero where nobody asks for it.
    at: u64,
    /// The time of compilations within it.
    within: u64,
}

#[derive(Debug, Default)]
struct Compilations {
    /// The method that was rewritten last: that of the next compilation.
    rewritten: Option<Begun>,
    /// Each within the one before.
    begun: Vec<Begun>,
}

thread_local! {
    static OWN: RefCell<Compilations> = RefCell::default();
}

/// Another run of the tool begins.
pub(super) fn forget() {
    SPENT.store(0, Ordering::Relaxed);
    LIMIT.store(u64::MAX, Ordering::Relaxed);
    CHANGED.store(0, Ordering::Relaxed);
}

/// A method gets spans, because its compilation begins.
pub(super) fn rewrite(module: ModuleId, method: MethodDef) {
    rewrite_key((module.raw(), method));
}

fn rewrite_key(key: (usize, MethodDef)) {
    if LIMIT.load(Ordering::Relaxed) == u64::MAX {
        return;
    }
    OWN.with_borrow_mut(|own| {
        // Several rules may change it.
        if own.rewritten.is_none_or(|known| known.key != Some(key)) {
            CHANGED.fetch_add(1, Ordering::Relaxed);
            own.rewritten = Some(Begun {
                key: Some(key),
                at: thread_time(),
                within: 0,
            });
        }
    });
}

/// A compilation begins on this thread.
pub(super) fn begin() {
    OWN.with_borrow_mut(|own| {
        let rewritten = own.rewritten.take();
        let is_within = own.begun.iter().any(|one| one.key.is_some());
        own.begun.push(rewritten.unwrap_or_else(|| Begun {
            key: None,
            at: if is_within { thread_time() } else { 0 },
            within: 0,
        }));
    });
}

/// The compilation on this thread that began last ends. Its method is asked for if it may have got spans.
pub(super) fn end(method: impl FnOnce() -> Result<(ModuleId, MethodDef)>) -> Result<()> {
    end_key(|| method().map(|(module, method)| (module.raw(), method)))
}

fn end_key(key: impl FnOnce() -> Result<(usize, MethodDef)>) -> Result<()> {
    let ended = OWN.with_borrow_mut(|own| {
        let ended = own.begun.pop().filter(|ended| ended.at > 0)?;
        Some((ended, thread_time().saturating_sub(ended.at)))
    });
    let Some((ended, whole)) = ended else {
        return Ok(());
    };
    if let Some(rewritten) = ended.key {
        // Code that was set without a compilation is that of another method, and its time began before this one.
        if rewritten != key()? {
            return Ok(());
        }
        SPENT.fetch_add(whole.saturating_sub(ended.within), Ordering::Relaxed);
    }
    OWN.with_borrow_mut(|own| {
        if let Some(around) = own.begun.last_mut() {
            around.within += whole;
        }
    });
    Ok(())
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
    spent() > LIMIT.load(Ordering::Relaxed) && CHANGED.load(Ordering::Relaxed) >= FIRST
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, PoisonError};

    use super::*;

    /// The process has one limit, and one sum.
    static ALONE: Mutex<()> = Mutex::new(());

    #[test]
    fn the_first_methods_get_spans_whatever_they_cost() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        forget();
        // All that may be spent is spent.
        SPENT.store(1_000, Ordering::Relaxed);
        limit(999.0);
        for row in 1..=FIRST {
            assert!(!are_too_dear(), "{row}");
            // Two rules change it.
            let key = (7, MethodDef::from_row(row).unwrap());
            rewrite_key(key);
            rewrite_key(key);
            begin();
            end_key(|| Ok(key)).unwrap();
        }
        assert!(are_too_dear());
        // Time passes, and more is allowed.
        limit(1e15);
        assert!(!are_too_dear());
        forget();
    }

    #[test]
    fn compilations_of_methods_with_spans_are_charged_once() {
        const TIME: u64 = 3_000_000;
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        let [outer, inner, plain] = [1, 2, 3].map(|row| (7, MethodDef::from_row(row).unwrap()));
        let work = || {
            let until = thread_time() + TIME;
            while thread_time() < until {}
        };
        let charged = |compile: &dyn Fn()| {
            let before = spent();
            compile();
            ((spent() - before) as f64 / TIME as f64).round() as u64
        };
        let compile = |key, has_spans, within: &dyn Fn()| {
            if has_spans {
                // Two rules change it.
                rewrite_key(key);
                rewrite_key(key);
            }
            begin();
            work();
            within();
            end_key(|| Ok(key)).unwrap();
        };
        limit(1e15);
        assert_eq!(charged(&|| compile(plain, false, &|| {})), 0);
        assert_eq!(charged(&|| compile(outer, true, &|| {})), 1);
        let both = || compile(outer, true, &|| compile(inner, true, &|| {}));
        assert_eq!(charged(&both), 2);
        // Others within it are not charged.
        let other = || compile(outer, true, &|| compile(plain, false, &work));
        assert_eq!(charged(&other), 1);
        // Code that is set without a compilation.
        rewrite_key(inner);
        assert_eq!(charged(&|| compile(plain, false, &work)), 0);
        // Nor is the time since then that of a compilation: all of it belongs to the one around it.
        let stale = || {
            rewrite_key(inner);
            work();
            compile(plain, false, &|| {});
        };
        assert_eq!(charged(&|| compile(outer, true, &stale)), 3);
        OWN.with_borrow(|own| assert!(own.begun.is_empty() && own.rewritten.is_none()));
        forget();
        assert!(!are_too_dear());
    }
}
