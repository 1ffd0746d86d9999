//! The runtimes that every scenario runs on.

use std::env;
use std::sync::OnceLock;

use clr_profiler_test::{Pinned, Runtime};

use crate::sample::seed;

/// The runtimes that the calling test runs on: one of the [`matrix`], by its name and the seed, or those that
/// `SCENARIO_RUNTIMES` names.
///
/// # Panics
///
/// As [`matrix`].
pub fn runtimes() -> Vec<&'static Runtime> {
    runtimes_where(|_| true)
}

/// As [`runtimes`], of those runtimes of which this is true; none if there are none.
///
/// A test that skips runtimes asks here, so that its sample is never one that it skips.
///
/// # Panics
///
/// As [`matrix`].
pub fn runtimes_where(is_wanted: impl Fn(&Runtime) -> bool) -> Vec<&'static Runtime> {
    let mut wanted: Vec<_> = matrix()
        .iter()
        .filter(|runtime| is_wanted(runtime))
        .collect();
    if named().is_none() && !wanted.is_empty() {
        wanted = vec![wanted[seed() % wanted.len()]];
    }
    // `.ci/reach` reads this line: a test that has chosen none has passed without a runtime.
    let names: Vec<_> = wanted.iter().map(|runtime| &*runtime.name).collect();
    println!("chosen runtimes: {}", names.join(", "));
    wanted
}

/// Whether it is .NET Core 3.1 for Windows.
///
/// That compiles some methods twice in a row: the JIT asks again whether it may inline their callees, or inlines none.
/// Which methods these are differs.
pub fn compiles_twice(runtime: &Runtime) -> bool {
    cfg!(windows) && runtime.major < 5
}

/// The ways in which the calling test runs a program: one of these, by its name and the seed, or all if
/// `SCENARIO_RUNTIMES` names runtimes.
pub fn ways<T: Copy>(all: &[T]) -> Vec<T> {
    match (named(), all.len()) {
        (None, count @ 1..) => vec![all[seed() % count]],
        _ => all.to_vec(),
    }
}

/// The runtimes that `SCENARIO_RUNTIMES` names.
fn named() -> Option<String> {
    let named = env::var("SCENARIO_RUNTIMES").ok();
    named.filter(|named| !named.is_empty())
}

/// .NET Core 3.1 and .NET 8, 9 and 10, fetched if need be, and an installed one that is newer.
///
/// `SCENARIO_RUNTIMES` names some of them by their major versions, such as `3,9`, or `all`; or these and further versions
/// by all of their numbers, such as `8.0.15`.
///
/// # Panics
///
/// In CI, if one is missing. Elsewhere a message on stderr says so, and the scenario continues without it.
pub fn matrix() -> &'static [Runtime] {
    static RUNTIMES: OnceLock<Vec<Runtime>> = OnceLock::new();
    RUNTIMES.get_or_init(|| {
        let only = named().filter(|named| named != "all");
        let is_named = |name: &str| {
            let mut names = only.iter().flat_map(|names| names.split(','));
            names.any(|wanted| wanted == name)
        };
        let is_wanted = |major: u32| only.is_none() || is_named(&major.to_string());
        let others = Pinned::OTHER_VERSIONS.iter();
        let mut runtimes: Vec<Runtime> = Pinned::RUNTIMES
            .iter()
            .filter(|pinned| is_wanted(pinned.major()) || is_named(pinned.version))
            .chain(others.filter(|pinned| is_named(pinned.version)))
            .filter_map(|pinned| match Runtime::fetched(pinned) {
                Ok(runtime) => Some(runtime),
                Err(error) => {
                    assert!(
                        env::var_os("CI").is_none(),
                        "{} is missing: {error}",
                        pinned.name
                    );
                    eprintln!("NOT TESTED on {}: {error}", pinned.name);
                    None
                }
            })
            .collect();
        runtimes.extend(installed_newer_than(10).filter(|runtime| is_wanted(runtime.major)));
        assert!(!runtimes.is_empty(), "there is no runtime to test on");
        runtimes
    })
}

/// An installed runtime that is newer than the fetched ones.
fn installed_newer_than(major: u32) -> Option<Runtime> {
    let newest = Runtime::installed().ok()?.pop()?;
    (newest.major > major).then_some(newest)
}
