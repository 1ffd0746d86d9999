//! [`Counter`] and [`Recorder`]: operations of the library that patched methods do themselves.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, AtomicU64, Ordering};

/// A number in a cache line of its own.
#[derive(Default)]
#[repr(align(64))]
struct Count(AtomicU64);

/// Counts the calls of methods: see [`Patch::count`](super::Patch::count).
///
/// Clones are the same counter. Several methods may have the same one.
#[derive(Clone, Default)]
pub struct Counter(Arc<Count>);

impl Counter {
    /// A counter at zero.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The number of calls so far.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.0.load(Ordering::Relaxed)
    }

    /// The address of the number, which is valid as long as the library.
    pub(super) fn keep(&self) -> usize {
        let count: &'static Count = kept(&self.0);
        count.0.as_ptr().expose_provenance()
    }
}

/// The data of a counter or recorder that compiled code has the address of: it lives as long as the library, because that
/// code is never told from code that runs.
fn kept<T>(data: &Arc<T>) -> &'static T {
    Box::leak(Box::new(Arc::clone(data)))
}

impl fmt::Debug for Counter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Counter").field(&self.count()).finish()
    }
}

#[repr(C, align(64))]
struct Numbers {
    count: AtomicU64,
    sum: AtomicI64,
    min: AtomicI64,
    max: AtomicI64,
}

/// Records a number of each call of methods: see [`Patch::record`](super::Patch::record).
///
/// Clones are the same recorder. While calls are recorded, the figures need not be those of the same calls.
#[derive(Clone)]
pub struct Recorder(Arc<Numbers>);

impl Recorder {
    /// A recorder without numbers.
    #[must_use]
    pub fn new() -> Self {
        Self(Arc::new(Numbers {
            count: AtomicU64::new(0),
            sum: AtomicI64::new(0),
            min: AtomicI64::new(i64::MAX),
            max: AtomicI64::new(i64::MIN),
        }))
    }

    /// How many numbers were recorded.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.count.load(Ordering::Relaxed)
    }

    /// The sum of all numbers, modulo 2^64.
    #[must_use]
    pub fn sum(&self) -> i64 {
        self.0.sum.load(Ordering::Relaxed)
    }

    /// The lowest number, if there is one.
    #[must_use]
    pub fn min(&self) -> Option<i64> {
        (self.count() > 0).then(|| self.0.min.load(Ordering::Relaxed))
    }

    /// The highest number, if there is one.
    #[must_use]
    pub fn max(&self) -> Option<i64> {
        (self.count() > 0).then(|| self.0.max.load(Ordering::Relaxed))
    }

    /// The addresses of the figures.
    pub(super) fn keep(&self) -> Addresses {
        let numbers: &'static Numbers = kept(&self.0);
        Addresses {
            count: numbers.count.as_ptr().expose_provenance(),
            sum: numbers.sum.as_ptr().expose_provenance(),
            min: numbers.min.as_ptr().expose_provenance(),
            max: numbers.max.as_ptr().expose_provenance(),
        }
    }
}

impl Default for Recorder {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder")
            .field("count", &self.count())
            .field("sum", &self.sum())
            .field("min", &self.min())
            .field("max", &self.max())
            .finish()
    }
}

/// The addresses of a recorder's figures, which are valid as long as the library.
pub(super) struct Addresses {
    pub(super) count: usize,
    pub(super) sum: usize,
    pub(super) min: usize,
    pub(super) max: usize,
}
