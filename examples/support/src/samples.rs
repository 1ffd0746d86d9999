//! Programs to profile.

use std::path::{Path, PathBuf};

/// The sample program: a small shop, ready to run on .NET Core 3.1 and newer.
///
/// It takes about half a second, prints the same lines in every run, and uses the constructs that a
/// profiler meets: nested and generic types and methods, value types, arrays, `ref` and `out`, lambdas,
/// iterators, an exception, a dynamic method, a second thread, and a method that is compiled again
/// with optimisations. The argument `exit=N` sets its exit code; others are printed.
///
/// Its source is `Sample.cs` next to it; `tests/roslyn/build.sh` builds it again.
#[must_use]
pub fn sample() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("samples")
        .join("Sample.dll")
}
