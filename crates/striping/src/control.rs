//! Control frames of streams, queued until a carrier takes them.

use std::collections::VecDeque;

use crate::StreamId;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// The stream's receive limit at the time of sending.
    Window {
        stream: StreamId,
    },
    Reset {
        stream: StreamId,
        code: u32,
        final_size: u64,
    },
    Stop {
        stream: StreamId,
        code: u32,
    },
}

/// In order of creation; frames that were in flight on a failed carrier go first.
#[derive(Clone, Debug, Default)]
pub(crate) struct ControlQueue(VecDeque<Control>);

impl ControlQueue {
    pub(crate) fn push(&mut self, control: Control) {
        self.0.push_back(control);
    }

    pub(crate) fn push_again(&mut self, control: Control) {
        if !self.0.contains(&control) {
            self.0.push_front(control);
        }
    }

    pub(crate) fn pop(&mut self) -> Option<Control> {
        self.0.pop_front()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
