//! The results of native calls on real runtimes, from recordings.

use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

use stand_in::{NativeMethod, Recorded};

/// The runtimes of the matrix: the prefix of a recording's runtime, and the newest
/// `ICorProfilerCallback` and `ICorProfilerInfo` of each.
pub const RUNTIMES: [(&str, u32, u32); 4] = [
    (".NET Core 3.1", 9, 11),
    (".NET 8", 11, 14),
    (".NET 9", 11, 15),
    (".NET 10", 11, 15),
];

/// The result of a method on one runtime.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub enum Seen {
    /// In this scenario it succeeded.
    Succeeds(String),
    /// In this scenario it was called, and it has succeeded in none.
    Fails(String),
}

/// The results on each runtime, by method.
#[derive(Debug, Default)]
pub struct Real(BTreeMap<(String, usize), Seen>);

impl Real {
    /// Reads every recording of a folder.
    ///
    /// # Errors
    ///
    /// If one cannot be read, or there is none.
    pub fn read(folder: &Path) -> io::Result<Self> {
        let mut real = Self::default();
        let mut count = 0;
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path
                .extension()
                .is_some_and(|extension| extension == "recording")
            {
                real.add(&Recorded::read(&path)?);
                count += 1;
            }
        }
        if count == 0 {
            let message = format!("there is no recording in {}", folder.display());
            return Err(io::Error::new(io::ErrorKind::NotFound, message));
        }
        Ok(real)
    }

    fn add(&mut self, recorded: &Recorded) {
        let runtime = RUNTIMES
            .iter()
            .position(|(name, ..)| recorded.runtime.starts_with(name));
        let Some(runtime) = runtime else {
            return;
        };
        // Test modules do not matter; the test's name is enough to find it.
        let scenario = recorded.scenario.rsplit("::").next().unwrap_or_default();
        for count in &recorded.counts {
            let seen = if count.successes > 0 {
                Seen::Succeeds(scenario.to_owned())
            } else {
                Seen::Fails(scenario.to_owned())
            };
            self.insert(&count.method.name(), runtime, seen);
        }
    }

    /// Records a result; the better one counts, and the first by name among equals.
    pub fn insert(&mut self, native: &str, runtime: usize, seen: Seen) {
        let place = self.0.entry((native.to_owned(), runtime));
        place
            .and_modify(|known| {
                if seen < *known {
                    *known = seen.clone();
                }
            })
            .or_insert(seen);
    }

    /// The result of a method on this runtime.
    pub fn get(&self, native: &str, runtime: usize) -> Option<&Seen> {
        self.0.get(&(native.to_owned(), runtime))
    }
}

/// Whether a runtime has the interface of a method.
pub(super) fn is_offered(method: &NativeMethod, runtime: usize) -> bool {
    let (_, callback, info) = RUNTIMES[runtime];
    let newer = |prefix: &str, newest: u32| {
        let version = method.interface.strip_prefix(prefix)?;
        Some(version.parse().unwrap_or(1) > newest)
    };
    let is_newer = newer("ICorProfilerCallback", callback).or(newer("ICorProfilerInfo", info));
    !is_newer.unwrap_or(false)
}
