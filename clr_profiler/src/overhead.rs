//! [`Overhead`]: the cost of a profiler for its program.

use std::fmt;
use std::time::Duration;

use crate::lifetimes;
use crate::runtime::ProfilerInfo;

/// The cost of a profiler for its program so far; returned by [`ProfilerInfo::overhead`].
///
/// Its `Display` is one line for a summary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Overhead {
    /// The number of callbacks that the runtime has delivered; an estimate if frequent ones are among them.
    pub callbacks: u64,
    /// The time in these callbacks, by the clock, on all threads together.
    pub time: Duration,
    /// The standard error of [`time`](Self::time): zero if no callback was frequent.
    pub time_error: Duration,
    /// The number of method bodies that were rewritten, by ReJIT also.
    pub rewrites: u64,
    /// The number of rewrites that failed: the methods have kept their IL.
    pub refused_rewrites: u64,
    /// The bytes that the library itself holds: records of ids, bodies before and after rewrites with their
    /// tokens, requests of ReJIT, PDBs, and data of hooked functions.
    pub held_bytes: usize,
}

impl ProfilerInfo {
    /// The cost of the profiler for its program so far.
    ///
    /// The time is that of the callbacks of the profiler and its components, including the calls of the runtime
    /// that they make, and waiting. A callback within a callback counts once. It does not include hooks, code
    /// that rewritten methods call, threads of the profiler, and the work of the runtime itself, such as the
    /// compilation of longer methods.
    ///
    /// Most callbacks come with much more work of the runtime, and each of them is timed. The frequent ones are
    /// sampled, one of 64 at random: those of objects that are allocated and walked, transitions, handles, inlining,
    /// classes, precompiled code and EventPipe. [`Overhead::time_error`] is the standard error of that.
    ///
    /// [`held_bytes`](Overhead::held_bytes) is counted now, by size of the entries: it contains neither the
    /// overhead of the allocator nor data of the profiler, nor the tokens of a module to which another thread adds
    /// some at this moment. It takes time in proportion to the number of rewritten methods.
    ///
    /// May be called on any thread at any time, but not in hooks.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// # fn shutdown(info: &ProfilerInfo) {
    /// eprintln!("{}", info.overhead());
    /// // 1042 callbacks took 38.125 ms; 17 methods were rewritten, 2 refused; 51 kB are held
    /// # }
    /// ```
    #[must_use]
    pub fn overhead(&self) -> Overhead {
        let counted = self.costs().counted();
        Overhead {
            callbacks: counted.callbacks,
            time: Duration::from_nanos(counted.nanoseconds),
            time_error: Duration::from_nanos(counted.error),
            rewrites: counted.rewrites,
            refused_rewrites: counted.refused,
            held_bytes: self.held_bytes(),
        }
    }

    /// The [time of callbacks](Overhead::time) so far, without the rest of [`overhead`](Self::overhead).
    ///
    /// It reads counters, and takes no lock: for code that asks often. It may be called from any thread, and needs no events.
    ///
    /// ```
    /// # use clr_profiler::prelude::*;
    /// # fn check(info: &ProfilerInfo) {
    /// let before = info.callback_time();
    /// // Later:
    /// let since = info.callback_time() - before;
    /// # }
    /// ```
    #[must_use]
    pub fn callback_time(&self) -> Duration {
        Duration::from_nanos(self.costs().counted().nanoseconds)
    }

    fn held_bytes(&self) -> usize {
        let parts = [
            lifetimes::held_bytes(),
            #[cfg(feature = "rewrite")]
            crate::rewrite::held_bytes(self),
            #[cfg(feature = "rewrite")]
            crate::rejit::held_bytes(self),
            #[cfg(feature = "lines")]
            self.extension::<crate::image::AllSymbols>().held_bytes(),
            #[cfg(feature = "hooks")]
            crate::hooks::held_bytes(),
        ];
        parts.iter().sum()
    }
}

impl fmt::Display for Overhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            callbacks,
            rewrites,
            refused_rewrites,
            ..
        } = self;
        let time = self.time.as_secs_f64() * 1e3;
        write!(f, "{callbacks} callbacks took {time:.3} ms")?;
        if !self.time_error.is_zero() {
            write!(f, " (±{:.3})", self.time_error.as_secs_f64() * 1e3)?;
        }
        write!(
            f,
            "; {rewrites} methods were rewritten, {refused_rewrites} refused; {} kB are held",
            self.held_bytes.div_ceil(1000)
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_all_of_it() {
        let mut overhead = Overhead {
            callbacks: 12,
            time: Duration::from_micros(3456),
            time_error: Duration::ZERO,
            rewrites: 3,
            refused_rewrites: 1,
            held_bytes: 2001,
        };
        assert_eq!(
            overhead.to_string(),
            "12 callbacks took 3.456 ms; 3 methods were rewritten, 1 refused; 3 kB are held"
        );
        overhead.time_error = Duration::from_micros(7);
        assert!(overhead.to_string().contains("3.456 ms (±0.007);"));
    }
}
