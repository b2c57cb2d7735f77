//! Memory that a thread has allocated and not freed.

#![expect(
    unsafe_code,
    reason = "every allocator is declared so; this one hands all to the system's"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

struct Counting;

thread_local! {
    /// Bytes now, and the most since [`held`] was last called.
    static HELD: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.with(|held| {
            let now = held.get().0 + layout.size();
            held.set((now, held.get().1.max(now)));
        });
        // SAFETY: the caller's guarantees.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.with(|held| held.set((held.get().0.saturating_sub(layout.size()), held.get().1)));
        // SAFETY: the caller's guarantees.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

pub fn held() -> (usize, usize) {
    HELD.with(|held| {
        let (now, most) = held.get();
        held.set((now, now));
        (now, most)
    })
}
