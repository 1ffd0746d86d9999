//! The signals that the system may still queue: `RLIMIT_SIGPENDING` limits those of a user, in all processes.

/// Whether fewer can be queued than this process has threads, with some to spare.
///
/// The runtime stops threads by signals, one for each. `false` where the system does not say.
#[cfg(target_os = "linux")]
pub(crate) fn are_scarce() -> bool {
    let status = std::fs::read_to_string("/proc/self/status");
    status.is_ok_and(|status| are_scarce_in(&status) == Some(true))
}

/// The system has no such limit.
#[cfg(not(target_os = "linux"))]
pub(crate) fn are_scarce() -> bool {
    false
}

/// The same of `/proc/self/status`; nothing if it has not the lines.
#[cfg(any(target_os = "linux", test))]
fn are_scarce_in(status: &str) -> Option<bool> {
    /// Those of others, which come and go.
    const SPARE: u64 = 16;
    let value = |name| {
        let mut lines = status.lines();
        lines
            .find_map(|line| line.strip_prefix(name))
            .map(str::trim)
    };
    let (queued, limit) = value("SigQ:")?.split_once('/')?;
    let (queued, limit): (u64, u64) = (queued.parse().ok()?, limit.parse().ok()?);
    let threads: u64 = value("Threads:")?.parse().ok()?;
    Some(limit.saturating_sub(queued) < threads.saturating_add(SPARE))
}

#[cfg(test)]
mod tests {
    use super::are_scarce_in;

    #[test]
    fn each_thread_needs_one() {
        for (queued, limit, threads, expected) in [
            ("0", "95432", "20", Some(false)),
            ("0", "0", "20", Some(true)),
            ("100", "136", "20", Some(false)),
            ("101", "136", "20", Some(true)),
            ("9", "8", "1", Some(true)),
            ("0", "18446744073709551615", "20", Some(false)),
            ("x", "8", "1", None),
        ] {
            let status = format!("Name:\tdotnet\nThreads:\t{threads}\nSigQ:\t{queued}/{limit}\n");
            assert_eq!(are_scarce_in(&status), expected, "{status}");
        }
        assert_eq!(are_scarce_in("Threads:\t1\n"), None);
    }
}
