//! The memory of the process.

/// Returns memory that was freed to the operating system. An allocator keeps the memory of lists that were freed in parts, and cannot
/// use it for larger ones.
pub(crate) fn release_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    // SAFETY: the allocator is that of the C library, which may be called for this from any thread; memory that is in use
    // is not touched.
    unsafe {
        libc::malloc_trim(0);
    }
}
