//! The one place where the library may write something: that a profiler did not start, or that its
//! code failed, and only where the environment asks for it.
//!
//! `CLR_PROFILER_DIAGNOSTICS` is `stderr` or the path of a file to append to. Unset, empty or
//! `off`, nothing is written.

use std::ffi::OsString;
use std::fmt::{Display, Write as _};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use super::failure::{Failure, FailureCause, FailurePlace};
use crate::runtime::lock;

/// The environment variable.
const VARIABLE: &str = "CLR_PROFILER_DIAGNOSTICS";

/// Where lines go, if somebody wants them.
fn target() -> Option<OsString> {
    let target = std::env::var_os(VARIABLE)?;
    (!target.is_empty() && target != "off").then_some(target)
}

/// Writes one line, if somebody wants it.
pub(crate) fn write(line: &dyn Display) {
    let Some(target) = target() else {
        return;
    };
    let line = format!("clr_profiler: {line}\n");
    // Whoever asked for this can see that nothing came: a failure to write has nowhere to go.
    if target == "stderr" {
        let _ = std::io::stderr().write_all(line.as_bytes());
    } else {
        let _ = open(Path::new(&target)).and_then(|mut file| file.write_all(line.as_bytes()));
    }
}

/// Opens a file to append to. A new one can be read by its user alone, and no link is followed but
/// those of the system's own streams: somebody else may have put it there.
fn open(path: &Path) -> io::Result<File> {
    let mut options = File::options();
    options.append(true).create(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
        if !path.starts_with("/dev") && !path.starts_with("/proc") {
            options.custom_flags(libc::O_NOFOLLOW);
        }
    }
    options.open(path)
}

/// Failures that are alike: the first is written, the others are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Kind {
    place: FailurePlace,
    component: Option<Arc<str>>,
    /// The name of the code; none for a panic.
    error: Option<String>,
    retired: bool,
}

/// How often each kind came since the counts were written.
static COUNTS: Mutex<Vec<(Kind, u64)>> = Mutex::new(Vec::new());

/// Writes the failure if it is the first of its kind, and counts it otherwise.
pub(super) fn failure(failure: &Failure) {
    if target().is_none() {
        return;
    }
    let kind = Kind {
        place: failure.place(),
        component: failure.component.clone(),
        error: match failure.cause() {
            FailureCause::Error(error) => Some(error.hresult().to_string()),
            FailureCause::Panic(_) => None,
        },
        retired: failure.retired(),
    };
    let mut counts = lock(&COUNTS);
    if let Some((_, count)) = counts.iter_mut().find(|(known, _)| *known == kind) {
        *count += 1;
        return;
    }
    counts.push((kind, 1));
    drop(counts);
    write(failure);
}

/// Writes how often each kind came, if any came more than once.
pub(crate) fn counts() {
    let counts = std::mem::take(&mut *lock(&COUNTS));
    if counts.iter().all(|(_, count)| *count == 1) {
        return;
    }
    let mut line = String::new();
    for (number, (kind, count)) in counts.iter().enumerate() {
        let before = if number == 0 { "in all, " } else { "; " };
        let times = if *count == 1 { "time" } else { "times" };
        // A `String` takes everything.
        let _ = match &kind.error {
            Some(error) => write!(
                line,
                "{before}{} failed {count} {times} ({error})",
                kind.place
            ),
            None => write!(line, "{before}{} panicked {count} {times}", kind.place),
        };
    }
    write(&line);
}
