//! Threads of the system.

/// The id of the calling thread in the system; `None` if the system does not tell.
#[cfg(target_os = "linux")]
pub fn os_thread() -> Option<u32> {
    let path = std::fs::read_link("/proc/thread-self").ok()?;
    path.file_name()?.to_str()?.parse().ok()
}

/// The id of the calling thread in the system.
#[cfg(windows)]
pub fn os_thread() -> Option<u32> {
    #[link(name = "kernel32")]
    unsafe extern "system" {
        safe fn GetCurrentThreadId() -> u32;
    }
    Some(GetCurrentThreadId())
}
