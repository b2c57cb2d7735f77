//! Replacements of the C library's functions.
//!
//! Each reads its C arguments, lets the safe part of the library decide, and otherwise calls the next
//! function of its name.
#![allow(unsafe_code)]

use std::os::fd::{BorrowedFd, RawFd};
use std::panic::{self, AssertUnwindSafe};

use crate::next;
use crate::settings::{Settings, settings};

mod connections;
mod names;
mod receives;
mod sends;
mod servers;

/// Runs before the program's main, while there is one thread.
#[used]
#[unsafe(link_section = ".init_array")]
static PREPARE: extern "C" fn() = {
    extern "C" fn prepare() {
        next::find_all();
        // A panic would be a bug of the library, and standard error belongs to the program.
        panic::set_hook(Box::new(|_| {}));
        settings();
    }
    prepare
};

/// Lets the safe part decide on a call and keeps errno; `None` without settings, or after a panic.
fn ruled<T>(rule: impl FnOnce(&'static Settings) -> Option<T>) -> Option<T> {
    let settings = settings()?;
    let errno = next::last_errno();
    let ruling = panic::catch_unwind(AssertUnwindSafe(|| rule(settings)));
    next::restore_errno(errno);
    ruling.ok().flatten()
}

/// Borrows the program's descriptor; `None` if it cannot be one.
fn borrowed<'a>(fd: RawFd) -> Option<BorrowedFd<'a>> {
    // SAFETY: not negative. The program must keep it open, as for every call; else our calls fail with EBADF.
    (fd >= 0).then(|| unsafe { BorrowedFd::borrow_raw(fd) })
}
