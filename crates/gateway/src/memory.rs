//! Return of free memory to the system.
#![allow(unsafe_code)]

/// Returns freed memory that the allocator keeps.
///
/// glibc's allocator keeps freed memory below the highest block in use; musl's, of the packaged binaries,
/// returns a group of blocks once all of them are free.
pub(crate) fn trim() {
    #[cfg(target_env = "gnu")]
    // SAFETY: the call has no precondition.
    unsafe {
        libc::malloc_trim(0);
    }
}
