//! State shared by the two ends of a connection, which are threads of one process with one clock.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use ropewalk_quantities::Time;
use ropewalk_simulator::RequestResponse;

use super::connection_plan::ConnectionPlan;
use super::due_times::DueTimes;
use super::error::{Side, TrafficError};

/// One connection of a run, borrowed by its client's and its server's thread.
#[derive(Debug)]
pub struct Session {
    plan: ConnectionPlan,
    start: Instant,
    state: Mutex<State>,
    changed: Condvar,
    writes: Mutex<WriteLog>,
    due_times: Mutex<DueTimes>,
    requests: Option<Mutex<RequestResponse>>,
}

#[derive(Debug, Default)]
struct State {
    port: Option<u16>,
    complete: Option<Time>,
    stopped: bool,
    ends: [End; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct End {
    /// The end has its results, and keeps the socket open for the other end.
    measured: bool,
    left: bool,
}

impl Session {
    /// The connection is opened at `start`, time zero of all results, which must leave both threads
    /// time to begin.
    pub fn new(plan: ConnectionPlan, start: Instant) -> Session {
        Session {
            requests: plan.requests().map(Mutex::new),
            plan,
            start,
            state: Mutex::default(),
            changed: Condvar::new(),
            writes: Mutex::default(),
            due_times: Mutex::default(),
        }
    }

    /// ConnectionPlan of the connection.
    pub fn plan(&self) -> &ConnectionPlan {
        &self.plan
    }

    /// Stops both ends within a tenth of a second.
    pub fn stop(&self) {
        self.state().stopped = true;
        self.changed.notify_all();
    }

    pub(crate) fn now(&self) -> Time {
        Time::from_nanos(self.start.elapsed().as_nanos() as u64)
    }

    /// Waits for the start, and until the server listens; returns its port.
    pub(crate) fn wait_for_start(&self) -> Result<u16, TrafficError> {
        let mut state = self.state();
        loop {
            self.check_state(&state, Side::Client)?;
            let before = self.start.saturating_duration_since(Instant::now());
            if let Some(port) = state.port
                && before.is_zero()
            {
                return Ok(port);
            }
            if self.now() >= self.plan.duration {
                return Err(TrafficError::NoServer);
            }
            let pause = if before.is_zero() { PAUSE } else { before };
            state = self.wait(state, pause);
        }
    }

    pub(crate) fn listening(&self, port: u16) {
        self.state().port = Some(port);
        self.changed.notify_all();
    }

    pub(crate) fn complete(&self, at: Time) {
        self.state().complete = Some(at);
        self.changed.notify_all();
    }

    /// Waits until the transfer is complete, at most until `until`; returns the completion time.
    pub(crate) fn wait_complete(&self, until: Time) -> Option<Time> {
        let state = self.state();
        if state.complete.is_some() {
            return state.complete;
        }
        let pause = until.saturating_sub(self.now());
        self.wait(state, Duration::from_nanos(pause.as_nanos()))
            .complete
    }

    /// Records that this end has its results. Waits until the other has, or has ended.
    pub(crate) fn measured(&self, side: Side) {
        let mut state = self.state();
        state.ends[side as usize].measured = true;
        self.changed.notify_all();
        let until = Instant::now() + GRACE;
        loop {
            let other = state.ends[side.other() as usize];
            let left = until.saturating_duration_since(Instant::now());
            if other.measured || other.left || state.stopped || left.is_zero() {
                return;
            }
            state = self.wait(state, left);
        }
    }

    /// Returns an error if continuing is useless.
    pub(crate) fn check(&self, side: Side) -> Result<(), TrafficError> {
        self.check_state(&self.state(), side)
    }

    /// Marks this end as running until the returned guard is dropped.
    pub(crate) fn enter(&self, side: Side) -> Presence<'_> {
        Presence {
            session: self,
            side,
        }
    }

    pub(crate) fn writes(&self) -> MutexGuard<'_, WriteLog> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn requests(&self) -> Option<MutexGuard<'_, RequestResponse>> {
        let requests = self.requests.as_ref()?;
        Some(requests.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn due_times(&self) -> MutexGuard<'_, DueTimes> {
        let times = self.due_times.lock();
        times.unwrap_or_else(PoisonError::into_inner)
    }

    fn check_state(&self, state: &State, side: Side) -> Result<(), TrafficError> {
        let other = state.ends[side.other() as usize];
        if state.stopped {
            return Err(TrafficError::Stopped);
        }
        if other.left && !other.measured {
            return Err(TrafficError::Gone(side.other()));
        }
        Ok(())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>, pause: Duration) -> MutexGuard<'a, State> {
        let waited = self.changed.wait_timeout(state, pause);
        waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// Interval of polling for events that cause no wake-up.
const PAUSE: Duration = Duration::from_millis(50);

/// Time that a finished end waits for the other, which only has to read counters.
const GRACE: Duration = Duration::from_secs(2);

pub(crate) struct Presence<'a> {
    session: &'a Session,
    side: Side,
}

impl Drop for Presence<'_> {
    fn drop(&mut self) {
        self.session.state().ends[self.side as usize].left = true;
        self.session.changed.notify_all();
    }
}

/// Write times of a bulk transfer's unread bytes, as many as fit the socket buffers.
#[derive(Debug, Default)]
pub(crate) struct WriteLog(VecDeque<(u64, Time)>);

impl WriteLog {
    /// Records that bytes from this offset are about to be written: the other end may have them
    /// before the write returns. Called again if the write accepted none.
    pub(crate) fn writing(&mut self, offset: u64, at: Time) {
        match self.0.back_mut() {
            Some(last) if last.0 == offset => last.1 = at,
            _ => self.0.push_back((offset, at)),
        }
    }

    /// Write time of the byte at this offset; later calls must not go back.
    pub(crate) fn written_at(&mut self, offset: u64) -> Option<Time> {
        while self.0.get(1).is_some_and(|&(next, _)| next <= offset) {
            self.0.pop_front();
        }
        let &(first, at) = self.0.front()?;
        (first <= offset).then_some(at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_byte_has_the_time_of_its_write() {
        let at = Time::from_millis;
        let mut log = WriteLog::default();
        assert_eq!(log.written_at(0), None);
        log.writing(0, at(1));
        log.writing(100, at(2));
        // The write at 2 ms accepted nothing, the one at 3 ms did.
        log.writing(100, at(3));
        log.writing(300, at(4));
        for (offset, millis) in [(0, 1), (99, 1), (100, 3), (299, 3), (300, 4), (5_000, 4)] {
            assert_eq!(log.written_at(offset), Some(at(millis)), "{offset}");
        }
        assert_eq!(log.0.len(), 1, "what was asked for is forgotten");
    }
}
