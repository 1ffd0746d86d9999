//! The memory of the process.

/// The freed bytes from which on it is worth it to have the whole process return its memory.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const MANY: usize = 16 << 20;

/// Returns freed memory to the operating system after this number of bytes was freed; a no-op if it is 16 MB or less. An allocator
/// keeps the memory of lists that were freed in parts, and cannot use it for larger ones.
///
/// The allocator is that of the whole process: it is locked meanwhile, and the program's own free memory is returned, too.
pub(crate) fn release_memory(freed: usize) {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    if freed > MANY {
        // SAFETY: the allocator is that of the C library, which may be called for this from any thread; memory that is in use
        // is not touched.
        unsafe { libc::malloc_trim(0) };
    }
    #[cfg(not(all(target_os = "linux", target_env = "gnu")))]
    let _ = freed;
}
