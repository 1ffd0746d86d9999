//! The process to attach to, and the endpoints of its runtime.

use std::path::{Path, PathBuf};

use crate::Result;

/// The endpoints on which the runtime of a process may listen.
#[derive(Debug)]
pub(super) struct Places {
    /// Sockets or pipes, in the order in which to try them.
    pub(super) paths: Vec<PathBuf>,
    /// Sockets of processes with this id whose names have another time of the start: a runtime under an emulator knows
    /// another one. Most are left by processes that have ended.
    pub(super) others: Vec<PathBuf>,
    /// For the message if it listens on none of them: the name of the process in parentheses, or
    /// nothing.
    pub(super) name: String,
    /// When it was started, in ticks since the machine's start; `None` if that is not known.
    pub(super) start: Option<u64>,
    /// ... and the reason, if it is known.
    pub(super) switched_off: Option<String>,
}

/// The sockets in a folder whose names are those of runtimes in processes with this id.
#[cfg(unix)]
fn sockets(folder: &Path, process: u32) -> Vec<PathBuf> {
    let prefix = format!("dotnet-diagnostic-{process}-");
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let named = entries.filter(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        name.starts_with(&prefix) && name.ends_with("-socket")
    });
    named.map(|entry| entry.path()).collect()
}

#[cfg(target_os = "linux")]
pub(super) use linux::{check_library_seen, diagnostics_places, start_time};
#[cfg(not(target_os = "linux"))]
pub(super) use other::{check_library_seen, diagnostics_places, start_time};

#[cfg(target_os = "linux")]
mod linux {
    use std::ffi::OsStr;
    use std::fs;
    use std::io;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::MetadataExt;

    use super::*;
    use crate::Error;

    /// Any of these with the value 0 keeps the runtime from listening.
    const SWITCHES: [&[u8]; 4] = [
        b"DOTNET_EnableDiagnostics",
        b"DOTNET_EnableDiagnostics_IPC",
        b"COMPlus_EnableDiagnostics",
        b"COMPlus_EnableDiagnostics_IPC",
    ];

    /// The sockets on which the runtime of this process would listen.
    ///
    /// The runtime builds the name from the process id, as the process itself sees it, and the time
    /// of its start, so that the socket that a dead process left is not mistaken for that of
    /// a new process with the same id. The folder is `TMPDIR`, as the process sees it.
    pub(in crate::attach) fn diagnostics_places(process: u32) -> Result<Places> {
        let about = PathBuf::from(format!("/proc/{process}"));
        let stat = match fs::read(about.join("stat")) {
            Ok(stat) => stat,
            Err(error) if is_gone(&error) => return Err(Error::NoSuchProcess { process }),
            Err(source) => return Err(Error::Connection { process, source }),
        };
        let Some((name, start)) = name_and_start(&stat) else {
            let source = io::Error::other(format!("{}/stat cannot be read", about.display()));
            return Err(Error::Connection { process, source });
        };

        // Another user's process does not show it.
        let environment = fs::read(about.join("environ")).unwrap_or_default();
        let variables = || environment.split(|byte| *byte == 0);
        let switched_off = variables().find_map(|variable| {
            let at = variable.iter().position(|byte| *byte == b'=')?;
            let (name, value) = (&variable[..at], &variable[at + 1..]);
            let is_off = SWITCHES.contains(&name)
                && std::str::from_utf8(value).is_ok_and(crate::launch::is_zero);
            is_off.then(|| String::from_utf8_lossy(variable).into_owned())
        });

        let theirs = variables().find_map(|variable| variable.strip_prefix(b"TMPDIR="));
        let theirs = theirs.filter(|folder| !folder.is_empty());
        let mut folders: Vec<PathBuf> = Vec::new();
        for folder in [
            theirs.map(|folder| PathBuf::from(OsStr::from_bytes(folder))),
            Some(std::env::temp_dir()),
            Some(PathBuf::from("/tmp")),
        ] {
            folders.extend(folder.filter(|folder| !folders.contains(folder)));
        }
        // A process in a container has another root folder and another id there.
        let inside = about.join("root");
        let (mut paths, mut others) = (Vec::new(), Vec::new());
        for (prefix, process) in [
            (Path::new("/"), process),
            (&inside, innermost_id(&about).unwrap_or(process)),
        ] {
            for folder in &folders {
                let folder = prefix.join(folder.strip_prefix("/").unwrap_or(folder));
                let path = folder.join(format!("dotnet-diagnostic-{process}-{start}-socket"));
                let found = sockets(&folder, process);
                others.extend(found.into_iter().filter(|other| *other != path));
                paths.push(path);
            }
        }
        Ok(Places {
            paths,
            others,
            name: format!(" ({name})"),
            start: Some(start),
            switched_off,
        })
    }

    /// When the process with this id was started; `None` if there is none.
    pub(in crate::attach) fn start_time(process: u32) -> Option<u64> {
        let stat = fs::read(format!("/proc/{process}/stat")).ok()?;
        Some(name_and_start(&stat)?.1)
    }

    /// Refuses a library that the process does not see under the path where this process does.
    pub(in crate::attach) fn check_library_seen(process: u32, library: &Path) -> Result<()> {
        let below_root = library.strip_prefix("/").unwrap_or(library);
        let theirs = Path::new("/proc")
            .join(process.to_string())
            .join("root")
            .join(below_root);
        let is_other = match (fs::metadata(&theirs), fs::metadata(library)) {
            (Ok(theirs), Ok(ours)) => (theirs.dev(), theirs.ino()) != (ours.dev(), ours.ino()),
            (Err(error), _) => is_gone(&error),
            // It was there a moment ago; if it has vanished, the runtime will report that.
            (Ok(_), Err(_)) => false,
        };
        if is_other {
            return Err(Error::LibraryNotSeen {
                process,
                path: library.to_owned(),
            });
        }
        Ok(())
    }

    /// No such file, or the process ended while its files were read.
    fn is_gone(error: &io::Error) -> bool {
        const ESRCH: i32 = 3;
        error.kind() == io::ErrorKind::NotFound || error.raw_os_error() == Some(ESRCH)
    }

    /// Name and start time (in ticks since the machine's start) from `/proc/PID/stat`.
    fn name_and_start(stat: &[u8]) -> Option<(String, u64)> {
        let text = String::from_utf8_lossy(stat);
        // The name may hold spaces and parentheses; nothing after it does.
        let (before, after) = text.rsplit_once(") ")?;
        let (_, name) = before.split_once(" (")?;
        // The field after the name is the third; the start time is the 22nd.
        let start = after.split(' ').nth(22 - 3)?.parse().ok()?;
        Some((name.to_owned(), start))
    }

    /// The id of the process in its own namespace.
    fn innermost_id(about: &Path) -> Option<u32> {
        let status = fs::read_to_string(about.join("status")).ok()?;
        let ids = status
            .lines()
            .find_map(|line| line.strip_prefix("NSpid:"))?;
        ids.split_whitespace().next_back()?.parse().ok()
    }

    #[cfg(test)]
    mod tests {
        use super::*;

        #[test]
        fn odd_names_do_not_hide_the_start_time() {
            let fields: Vec<String> = (4..=52).map(|field| field.to_string()).collect();
            let stat = format!("17 (a) b (c)) S {}", fields.join(" "));
            assert_eq!(
                name_and_start(stat.as_bytes()),
                Some(("a) b (c)".to_owned(), 22))
            );
            assert_eq!(name_and_start(b"17 (a) S 4 5"), None);
            assert_eq!(name_and_start(b""), None);
        }

        #[test]
        fn this_process_is_found() {
            let process = std::process::id();
            let places = diagnostics_places(process).unwrap();
            let first = places.paths.first().unwrap().to_string_lossy().into_owned();
            assert!(
                first.contains(&format!("/dotnet-diagnostic-{process}-"))
                    && first.ends_with("-socket"),
                "{first}"
            );
            assert!(places.name.starts_with(" ("), "{}", places.name);
            assert_eq!(innermost_id(Path::new("/proc/self")), Some(process));
        }

        #[test]
        fn a_process_that_does_not_exist() {
            // Ids end at 2^22 on Linux.
            assert!(matches!(
                diagnostics_places(u32::MAX),
                Err(Error::NoSuchProcess { process: u32::MAX })
            ));
        }

        #[test]
        fn a_library_that_is_not_there_for_the_process() {
            let process = std::process::id();
            let here = std::env::current_exe().unwrap();
            check_library_seen(process, &here).unwrap();
            let error = check_library_seen(process, Path::new("/no/such/lib.so")).unwrap_err();
            assert!(matches!(error, Error::LibraryNotSeen { .. }), "{error:?}");
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod other {
    use super::*;

    /// The named pipe on which the runtime of this process would listen.
    #[cfg(windows)]
    pub(in crate::attach) fn diagnostics_places(process: u32) -> Result<Places> {
        if super::super::peer::is_gone(process) {
            return Err(crate::Error::NoSuchProcess { process });
        }
        Ok(Places {
            paths: vec![format!(r"\\.\pipe\dotnet-diagnostic-{process}").into()],
            others: Vec::new(),
            name: String::new(),
            start: None,
            switched_off: None,
        })
    }

    /// The sockets of processes with this id, the newest first: their names end with a key that
    /// can only be computed from the process's start time.
    #[cfg(not(windows))]
    pub(in crate::attach) fn diagnostics_places(process: u32) -> Result<Places> {
        let mut found = Vec::new();
        for folder in [std::env::temp_dir(), PathBuf::from("/tmp")] {
            for path in sockets(&folder, process) {
                let age = path.metadata().and_then(|about| about.modified()).ok();
                found.push((age, path));
            }
        }
        found.sort();
        found.dedup();
        Ok(Places {
            paths: found.into_iter().rev().map(|(_, path)| path).collect(),
            others: Vec::new(),
            name: String::new(),
            start: None,
            switched_off: None,
        })
    }

    /// Unknown.
    pub(in crate::attach) fn start_time(_process: u32) -> Option<u64> {
        None
    }

    /// All processes share one file system.
    pub(in crate::attach) fn check_library_seen(_process: u32, _library: &Path) -> Result<()> {
        Ok(())
    }

    #[cfg(all(test, windows))]
    mod tests {
        use super::*;
        use crate::Error;

        #[test]
        fn a_process_that_does_not_exist() {
            assert!(diagnostics_places(std::process::id()).is_ok());
            let mut child = std::process::Command::new("cmd")
                .args(["/c", "exit"])
                .spawn()
                .unwrap();
            let ended = child.id();
            child.wait().unwrap();
            // The child is there as long as its handle; ids are multiples of four.
            for process in [ended, u32::MAX] {
                let places = diagnostics_places(process);
                assert!(
                    matches!(places, Err(Error::NoSuchProcess { .. })),
                    "{places:?}"
                );
            }
        }
    }
}
