//! Frames about streams that are not data: kept until a carrier takes them.

use std::collections::VecDeque;

/// What is to be said of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Control {
    /// Its newest limit, whatever that is when a carrier takes it.
    Window {
        stream: u32,
    },
    Reset {
        stream: u32,
        code: u32,
        final_size: u64,
    },
    Stop {
        stream: u32,
        code: u32,
    },
}

/// In the order in which they came up; those that a dead carrier held go first.
#[derive(Clone, Debug, Default)]
pub(crate) struct ControlQueue(VecDeque<Control>);

impl ControlQueue {
    pub(crate) fn push(&mut self, control: Control) {
        self.0.push_back(control);
    }

    /// Back to the front, after its carrier died.
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
