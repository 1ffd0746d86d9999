//! Processes of Linux, from the files below `/proc`. Other systems than Windows have none, so that nothing is known there.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// The user of a process; `None` if it is not known.
pub(crate) fn user(process: u32) -> Option<u32> {
    let status = fs::read_to_string(format!("/proc/{process}/status")).ok()?;
    let ids = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
    // Real, effective, ...
    ids.split_whitespace().nth(1)?.parse().ok()
}

/// Whether the process runs; in doubt it does.
pub(crate) fn is_alive(process: u32) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{process}/stat")) else {
        return !cfg!(target_os = "linux");
    };
    // One that has ended and whose parent has not noticed is a zombie.
    let state = stat
        .rsplit_once(") ")
        .and_then(|(_, after)| after.chars().next());
    !matches!(state, Some('Z' | 'X'))
}

/// When the process was started.
pub(crate) fn started(process: u32) -> Option<SystemTime> {
    // Each processor for which there is a .NET runtime has ticks of this length here.
    const TICKS_A_SECOND: u64 = 100;
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    // The name may have spaces and parentheses; nothing after it does. The field after it is the third.
    let (_, after) = stat.rsplit_once(") ")?;
    let ticks: u64 = after.split(' ').nth(22 - 3)?.parse().ok()?;
    let machine = fs::read_to_string("/proc/stat").ok()?;
    let booted = machine
        .lines()
        .find_map(|line| line.strip_prefix("btime "))?;
    let seconds = booted.trim().parse::<u64>().ok()? + ticks / TICKS_A_SECOND;
    SystemTime::UNIX_EPOCH.checked_add(Duration::from_secs(seconds))
}

/// The executable of a process.
pub(crate) fn executable(process: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{process}/exe")).ok()
}

/// The executable as a file that this process can read, in a container, too.
pub(crate) fn image(process: u32) -> Option<PathBuf> {
    Some(PathBuf::from(format!("/proc/{process}/exe")))
}

/// The current folder of a process.
pub(crate) fn folder(process: u32) -> Option<PathBuf> {
    fs::read_link(format!("/proc/{process}/cwd")).ok()
}

/// Sends a signal.
#[cfg(unix)]
pub(crate) fn signal(process: u32, signal: i32) {
    if let Ok(process) = i32::try_from(process) {
        // SAFETY: it takes two numbers, and touches no memory of this process.
        unsafe { libc::kill(process, signal) };
    }
}

/// The environment with which a process was started; `None` if this user may not read it.
pub(crate) fn environment(process: u32) -> Option<BTreeMap<String, String>> {
    let bytes = fs::read(format!("/proc/{process}/environ")).ok()?;
    let variables = bytes.split(|byte| *byte == 0).filter_map(|variable| {
        let text = String::from_utf8_lossy(variable).into_owned();
        let (name, value) = text.split_once('=')?;
        Some((name.to_owned(), value.to_owned()))
    });
    // The runtime takes the first one of a name.
    let mut environment = BTreeMap::new();
    for (name, value) in variables {
        environment.entry(name).or_insert(value);
    }
    Some(environment)
}

/// The files that a process has mapped, each once; `None` if this user may not read them.
pub(crate) fn mappings(process: u32) -> Option<Vec<PathBuf>> {
    let maps = fs::read_to_string(format!("/proc/{process}/maps")).ok()?;
    let mut paths: Vec<PathBuf> = maps
        .lines()
        .filter_map(|line| {
            let at = line.find('/')?;
            Some(PathBuf::from(line[at..].trim_end_matches(" (deleted)")))
        })
        .collect();
    paths.sort();
    paths.dedup();
    Some(paths)
}

/// The words with which a process was started.
pub(crate) fn command_line(process: u32) -> Vec<String> {
    let bytes = fs::read(format!("/proc/{process}/cmdline")).unwrap_or_default();
    let words = bytes
        .split(|byte| *byte == 0)
        .filter(|word| !word.is_empty());
    words
        .map(|word| String::from_utf8_lossy(word).into_owned())
        .collect()
}

/// All processes that this user sees.
pub(crate) fn all() -> Vec<u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    let mut processes: Vec<u32> = entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect();
    processes.sort_unstable();
    processes
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn this_process_is_seen() {
        let own = std::process::id();
        let age = SystemTime::now().duration_since(started(own).unwrap());
        // The start of the machine is known in whole seconds.
        assert!(age.unwrap_or_default() < Duration::from_secs(3600));
        assert_eq!(executable(own), std::env::current_exe().ok());
        assert_eq!(folder(own), std::env::current_dir().ok());
        assert!(started(u32::MAX).is_none() && folder(u32::MAX).is_none());
    }
}
