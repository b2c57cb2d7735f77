//! The C library's own functions: the next ones after this library's in the search order of the dynamic
//! linker (RTLD_NEXT, dlsym(3)), so that other preloaded libraries keep working.
#![allow(unsafe_code)]

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::os::fd::{AsRawFd, BorrowedFd};
use std::ptr;

use libc::{addrinfo, hostent, mmsghdr, msghdr, size_t, sockaddr, socklen_t, ssize_t, timespec};
use rustix::io::Errno;

/// Declares functions that call the next one of their name; `or` is the result if there is none.
///
/// They are "C-unwind" since some are cancellation points (pthreads(7)), which glibc implements by unwinding
/// the stack.
macro_rules! next {
    ($(fn $name:ident($($argument:ident: $type:ty),*) -> $result:ty, or $missing:expr;)*) => {
        $(
            /// Calls the next function of this name.
            ///
            /// # Safety
            /// As for the C library's function.
            #[allow(clippy::too_many_arguments)]
            pub(crate) unsafe fn $name($($argument: $type),*) -> $result {
                type Function = unsafe extern "C-unwind" fn($($type),*) -> $result;
                match found::$name() {
                    // SAFETY: the signature is the C library's, and the caller fulfils the manual's
                    // requirements.
                    address if !address.is_null() => unsafe {
                        std::mem::transmute::<*mut c_void, Function>(address)($($argument),*)
                    },
                    _ => {
                        set_errno(Errno::NOSYS);
                        $missing
                    }
                }
            }
        )*

        mod found {
            use std::ffi::{CStr, c_void};
            use std::ptr;
            use std::sync::atomic::{AtomicPtr, Ordering};

            $(
                pub(super) fn $name() -> *mut c_void {
                    static FOUND: AtomicPtr<c_void> = AtomicPtr::new(ptr::null_mut());
                    const NAME: &CStr =
                        match CStr::from_bytes_with_nul(concat!(stringify!($name), "\0").as_bytes()) {
                            Ok(name) => name,
                            Err(_) => c"",
                        };
                    let mut address = FOUND.load(Ordering::Relaxed);
                    if address.is_null() {
                        // SAFETY: the name ends with a zero.
                        address = unsafe { libc::dlsym(libc::RTLD_NEXT, NAME.as_ptr()) };
                        FOUND.store(address, Ordering::Relaxed);
                    }
                    address
                }
            )*

            /// Finds all functions while there is one thread: dlsym takes the dynamic linker's lock, which a
            /// child of a program with threads may inherit locked.
            pub(super) fn all() {
                $($name();)*
            }
        }
    };
}

next! {
    fn socket(domain: c_int, kind: c_int, protocol: c_int) -> c_int, or -1;
    fn connect(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int, or -1;
    fn bind(fd: c_int, address: *const sockaddr, length: socklen_t) -> c_int, or -1;
    fn listen(fd: c_int, backlog: c_int) -> c_int, or -1;
    fn accept(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int, or -1;
    fn accept4(fd: c_int, address: *mut sockaddr, length: *mut socklen_t, flags: c_int) -> c_int, or -1;
    fn getsockname(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int, or -1;
    fn getpeername(fd: c_int, address: *mut sockaddr, length: *mut socklen_t) -> c_int, or -1;
    fn getsockopt(fd: c_int, level: c_int, option: c_int, value: *mut c_void, length: *mut socklen_t) -> c_int, or -1;
    fn setsockopt(fd: c_int, level: c_int, option: c_int, value: *const c_void, length: socklen_t) -> c_int, or -1;
    fn recvfrom(fd: c_int, buffer: *mut c_void, room: size_t, flags: c_int, address: *mut sockaddr, length: *mut socklen_t) -> ssize_t, or -1;
    fn __recvfrom_chk(fd: c_int, buffer: *mut c_void, room: size_t, size: size_t, flags: c_int, address: *mut sockaddr, length: *mut socklen_t) -> ssize_t, or -1;
    fn recvmsg(fd: c_int, message: *mut msghdr, flags: c_int) -> ssize_t, or -1;
    fn recvmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int, timeout: *mut timespec) -> c_int, or -1;
    fn sendto(fd: c_int, data: *const c_void, size: size_t, flags: c_int, address: *const sockaddr, length: socklen_t) -> ssize_t, or -1;
    fn sendmsg(fd: c_int, message: *const msghdr, flags: c_int) -> ssize_t, or -1;
    fn sendmmsg(fd: c_int, messages: *mut mmsghdr, count: c_uint, flags: c_int) -> c_int, or -1;
    fn getaddrinfo(node: *const c_char, service: *const c_char, hints: *const addrinfo, found: *mut *mut addrinfo) -> c_int, or libc::EAI_SYSTEM;
    fn getnameinfo(address: *const sockaddr, length: socklen_t, host: *mut c_char, host_room: socklen_t, service: *mut c_char, service_room: socklen_t, flags: c_int) -> c_int, or libc::EAI_SYSTEM;
    fn gethostbyname(name: *const c_char) -> *mut hostent, or ptr::null_mut();
    fn gethostbyname2(name: *const c_char, family: c_int) -> *mut hostent, or ptr::null_mut();
    fn gethostbyname_r(name: *const c_char, entry: *mut hostent, buffer: *mut c_char, room: size_t, result: *mut *mut hostent, h_errno: *mut c_int) -> c_int, or libc::ENOSYS;
    fn gethostbyname2_r(name: *const c_char, family: c_int, entry: *mut hostent, buffer: *mut c_char, room: size_t, result: *mut *mut hostent, h_errno: *mut c_int) -> c_int, or libc::ENOSYS;
    fn gethostbyaddr(address: *const c_void, length: socklen_t, family: c_int) -> *mut hostent, or ptr::null_mut();
    fn gethostbyaddr_r(address: *const c_void, length: socklen_t, family: c_int, entry: *mut hostent, buffer: *mut c_char, room: size_t, result: *mut *mut hostent, h_errno: *mut c_int) -> c_int, or libc::ENOSYS;
}

pub(crate) fn find_all() {
    found::all();
}

pub(crate) fn set_errno(errno: Errno) {
    restore_errno(errno.raw_os_error());
}

/// Returns errno(3); zero if it was never set.
pub(crate) fn last_errno() -> c_int {
    // SAFETY: the address is this thread's errno.
    unsafe { *libc::__errno_location() }
}

pub(crate) fn restore_errno(errno: c_int) {
    // SAFETY: as above.
    unsafe { *libc::__errno_location() = errno };
}

/// Resets TCP_FASTOPEN_CONNECT (tcp(7)): with it, connect() would send nothing.
pub(crate) fn no_deferred_connect(socket: BorrowedFd<'_>) {
    let off: c_int = 0;
    let value = (&raw const off).cast();
    let size = std::mem::size_of::<c_int>() as socklen_t;
    let option = libc::TCP_FASTOPEN_CONNECT;
    // SAFETY: the value lives until the call is over. A kernel without the option cannot have it set.
    unsafe { setsockopt(socket.as_raw_fd(), libc::IPPROTO_TCP, option, value, size) };
}
