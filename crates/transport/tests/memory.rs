//! Memory of a connection, measured by a counting allocator.

#![expect(
    unsafe_code,
    reason = "every allocator is declared so; this one hands all to the system's"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::Arc;

use ropewalk_quantities::Time;
use ropewalk_transport::{Config, Endpoint, Event, Profile, Segment};

struct Counting;

thread_local! {
    /// Bytes that this thread has allocated and not freed, and their maximum.
    static HELD: Cell<(usize, usize)> = const { Cell::new((0, 0)) };
}

unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.with(|held| {
            let now = held.get().0 + layout.size();
            held.set((now, held.get().1.max(now)));
        });
        // SAFETY: as the caller's.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        HELD.with(|held| held.set((held.get().0.saturating_sub(layout.size()), held.get().1)));
        // SAFETY: as the caller's.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn held() -> (usize, usize) {
    HELD.with(|held| {
        let (now, most) = held.get();
        held.set((now, now));
        (now, most)
    })
}

struct Pair {
    ends: [Endpoint; 2],
    now: Time,
}

impl Pair {
    /// Runs a round trip: each endpoint sends, and the other receives, except for the client's segments with
    /// these numbers.
    fn round(&mut self, lost: std::ops::Range<usize>) {
        for from in [0, 1] {
            let mut sent = Vec::new();
            let mut segment = Segment::EMPTY;
            while let Some(subflow) = self.ends[from].poll_transmit(self.now, &mut segment) {
                sent.push((subflow, segment));
            }
            self.now += Time::from_millis(10);
            for (number, (subflow, segment)) in sent.iter().enumerate() {
                if from == 1 || !lost.contains(&number) {
                    self.ends[1 - from].handle_segment(self.now, *subflow, segment);
                }
            }
        }
        for end in &mut self.ends {
            if end.poll_timeout().is_some_and(|time| time <= self.now) {
                end.handle_timeout(self.now);
            }
            end.read(u64::MAX);
            while let Some(event) = end.poll_event() {
                if event == Event::Eof {
                    end.close();
                }
            }
        }
    }
}

/// A simulator of 10 000 flows has 20 000 endpoints. After a transfer with a loss, its scoreboard and the
/// data behind the gap are freed.
#[test]
fn idle_connection_frees_memory_after_transfer() {
    let config = Arc::new(Config {
        multipath: false,
        ..Config::profile(Profile::Linux)
    });
    let (before, _) = held();
    let mut pair = Pair {
        ends: [
            Endpoint::client(&config, 1, 1, 2),
            Endpoint::server(&config, 3, 4),
        ],
        now: Time::ZERO,
    };
    let fresh = held().0 - before;
    let both = fresh + size_of_val(&pair.ends);
    assert!(both < 4300, "{both}");

    pair.ends[0].connect();
    let mut left = 1_000_000;
    let mut most = 0;
    for round in 0..200 {
        left -= pair.ends[0].write(left);
        if left == 0 {
            pair.ends[0].close();
        }
        pair.round(if round == 5 { 3..5 } else { 0..0 });
        most = most.max(held().0 - before);
    }
    assert_eq!(pair.ends[1].delivered(), 1_000_000);
    assert!(pair.ends.iter().all(Endpoint::is_closed));
    let over = held().0 - before;
    assert!(most > fresh + 4000, "{most} {fresh}");
    // The rest is CUBIC of the sender, its state before the loss, and the windows then.
    assert!(over <= fresh + 700, "{over} {fresh} {most}");
}
