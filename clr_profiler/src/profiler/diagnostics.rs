//! The library's only output: that a profiler did not start, or that its code failed, and only if the
//! environment requests it.
//!
//! `CLR_PROFILER_DIAGNOSTICS` is `stderr` or the path of a file to append to. If it is unset, empty or `off`,
//! nothing is written.
//!
//! `CLR_PROFILER_STARTED` is the path of a file to which the class id of each started profiler is appended, so that a
//! test knows that the profiler has run. If it is unset or empty, nothing is written.

use std::ffi::OsString;
use std::fmt::{Display, Write as _};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::{Arc, Mutex};

use uuid::Uuid;

use super::failure::{Failure, FailureCause, FailurePlace};
use crate::runtime::lock;

/// The environment variable.
const VARIABLE: &str = "CLR_PROFILER_DIAGNOSTICS";

/// The destination of lines, if diagnostics are requested.
fn target() -> Option<OsString> {
    let target = std::env::var_os(VARIABLE)?;
    (!target.is_empty() && target != "off").then_some(target)
}

/// Writes one line, if diagnostics are requested.
pub(crate) fn write(line: &dyn Display) {
    let Some(target) = target() else {
        return;
    };
    let line = format!("clr_profiler: {line}\n");
    // A failure to write cannot be reported anywhere; the user sees that the output is missing.
    if target == "stderr" {
        let _ = std::io::stderr().write_all(line.as_bytes());
    } else {
        let _ = open(Path::new(&target)).and_then(|mut file| file.write_all(line.as_bytes()));
    }
}

/// The environment variable of the file of started profilers.
const STARTED: &str = "CLR_PROFILER_STARTED";

/// Records that a profiler has started, if that is requested.
pub(crate) fn confirm(clsid: Uuid) {
    if let Some(path) = std::env::var_os(STARTED).filter(|path| !path.is_empty()) {
        let line = format!("{{{}}}\n", clsid.hyphenated());
        // As above: the test sees that the line is missing.
        let _ = open(Path::new(&path)).and_then(|mut file| file.write_all(line.as_bytes()));
    }
}

/// Opens a file to append to. Only the user may read a new file. Another user may have created an existing
/// one: links are not followed, except for those of the system's own streams, and in a folder that everybody
/// can write to, a file of another user is refused.
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
    let file = options.open(path)?;
    #[cfg(unix)]
    if !is_own(&file, path)? {
        return Err(io::ErrorKind::PermissionDenied.into());
    }
    Ok(file)
}

/// Whether no other user can have created the file, or it is not a regular file.
#[cfg(unix)]
fn is_own(file: &File, path: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;

    const OTHERS_WRITE: u32 = 0o002;
    const STICKY: u32 = 0o1000;

    let about = file.metadata()?;
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).metadata()?;
    if !about.is_file() || folder.mode() & OTHERS_WRITE == 0 {
        return Ok(true);
    }
    // The owner of `/proc/self` is the user of this process. On systems without `/proc`, on which the library
    // is not tested, the owner is not checked.
    let user = Path::new("/proc/self").metadata().map(|own| own.uid());
    let is_of_folder = folder.mode() & STICKY != 0 && about.uid() == folder.uid();
    Ok(is_of_folder || user.map_or(true, |user| about.uid() == user))
}

/// The key by which failures are equal: the first is written, the others are counted.
#[derive(Debug, Clone, PartialEq, Eq)]
struct FailureKey {
    place: FailurePlace,
    component: Option<Arc<str>>,
    profiler: Option<Arc<str>>,
    /// The name of the code; `None` for a panic.
    error: Option<String>,
    disabled: bool,
}

/// How often each kind of failure occurred since the counts were last written.
static COUNTS: Mutex<Vec<(FailureKey, u64)>> = Mutex::new(Vec::new());

/// Writes the failure if it is the first of its kind, and counts it otherwise.
pub(super) fn failure(failure: &Failure) {
    if target().is_none() {
        return;
    }
    let kind = FailureKey {
        place: failure.place(),
        component: failure.component.clone(),
        profiler: failure.profiler.clone(),
        error: match failure.cause() {
            FailureCause::Error(error) => Some(error.hresult().to_string()),
            FailureCause::Panic(_) => None,
        },
        disabled: failure.disabled(),
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

/// Writes how often each kind of failure occurred, if any occurred more than once.
pub(crate) fn counts() {
    let counts = std::mem::take(&mut *lock(&COUNTS));
    if counts.iter().all(|(_, count)| *count == 1) {
        return;
    }
    let mut line = String::new();
    for (number, (kind, count)) in counts.iter().enumerate() {
        let before = if number == 0 { "in all, " } else { "; " };
        let times = if *count == 1 { "time" } else { "times" };
        // Writing to a `String` cannot fail.
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt, PermissionsExt, chown, symlink};

    use super::*;

    #[test]
    fn files_that_others_may_have_put_there_are_not_taken() {
        let folder = std::env::temp_dir().join(format!("diagnostics-{}", std::process::id()));
        fs::create_dir(&folder).unwrap();
        let mode = |mode| fs::set_permissions(&folder, fs::Permissions::from_mode(mode)).unwrap();
        let (file, link) = (folder.join("file"), folder.join("link"));
        assert_eq!(
            open(&file).unwrap().metadata().unwrap().mode() & 0o777,
            0o600
        );
        symlink(&file, &link).unwrap();
        for shared in [0o777, 0o1777] {
            mode(shared);
            open(&file).unwrap();
            assert!(open(&link).is_err());
        }
        // Only root can change the owner of the file.
        if chown(&file, Some(65_534), None).is_ok() {
            for shared in [0o777, 0o1777] {
                mode(shared);
                let error = open(&file).unwrap_err();
                assert_eq!(error.kind(), io::ErrorKind::PermissionDenied);
            }
            mode(0o755);
            open(&file).unwrap();
        }
        fs::remove_dir_all(&folder).unwrap();
    }
}
