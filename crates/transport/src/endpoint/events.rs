//! Events for the application.

use std::collections::VecDeque;

use crate::event::Event;

/// Events to poll, and which of the once-only events have occurred.
#[derive(Debug, Default)]
pub(super) struct Events {
    queue: VecDeque<Event>,
    pub(super) connected: bool,
    eof: bool,
    pub(super) closed: bool,
}

impl Events {
    #[inline]
    pub(super) fn poll(&mut self) -> Option<Event> {
        if self.queue.is_empty() {
            return None;
        }
        self.take()
    }

    /// Takes an event; frees the queue's memory with the last one, since most connections have few.
    #[cold]
    #[inline(never)]
    fn take(&mut self) -> Option<Event> {
        let event = self.queue.pop_front();
        if self.queue.is_empty() {
            self.queue = VecDeque::new();
        }
        event
    }

    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    pub(super) fn after(&self, count: usize) -> impl Iterator<Item = Event> + '_ {
        self.queue.range(count..).copied()
    }

    /// Adds the event of an established subflow; the first one connects.
    pub(super) fn established(&mut self, subflow: usize) {
        self.queue.push_back(match self.connected {
            false => Event::Connected,
            true => Event::SubflowEstablished(subflow),
        });
        self.connected = true;
    }

    pub(super) fn subflow_failed(&mut self, subflow: usize) {
        self.queue.push_back(Event::SubflowFailed(subflow));
    }

    pub(super) fn eof(&mut self) {
        if !self.eof {
            self.eof = true;
            self.queue.push_back(Event::Eof);
        }
    }

    pub(super) fn closed(&mut self) {
        self.end_with(Event::Closed);
    }

    pub(super) fn aborted(&mut self) {
        self.end_with(Event::Aborted);
    }

    fn end_with(&mut self, event: Event) {
        if !self.closed {
            self.closed = true;
            self.queue.push_back(event);
        }
    }
}
