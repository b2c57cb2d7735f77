//! Queues of the redundant mode: for each carrier or link, the data that others have sent and it has not.

use std::collections::VecDeque;

/// A queue of copies for each key, oldest first.
#[derive(Debug)]
pub(crate) struct CopyQueues<K, T>(Vec<(K, VecDeque<T>)>);

impl<K, T> Default for CopyQueues<K, T> {
    fn default() -> CopyQueues<K, T> {
        CopyQueues(Vec::new())
    }
}

impl<K: Copy + PartialEq, T> CopyQueues<K, T> {
    pub(crate) fn of(&mut self, key: K) -> Option<&mut VecDeque<T>> {
        let mut all = self.0.iter_mut();
        all.find(|(of, _)| *of == key).map(|(_, copies)| copies)
    }

    pub(crate) fn has_copies_for(&self, key: K) -> bool {
        let mut all = self.0.iter();
        all.any(|(of, copies)| *of == key && !copies.is_empty())
    }

    pub(crate) fn queues(&mut self) -> impl Iterator<Item = &mut VecDeque<T>> {
        self.0.iter_mut().map(|(_, copies)| copies)
    }

    /// Adds a copy to a queue, after dropping copies at its front that are `is_old`; returns the queue.
    pub(crate) fn add(&mut self, key: K, copy: T, is_old: impl Fn(&T) -> bool) -> &mut VecDeque<T> {
        let known = self.0.iter().position(|(of, _)| *of == key);
        let known = known.unwrap_or_else(|| {
            self.0.push((key, VecDeque::new()));
            self.0.len() - 1
        });
        let copies = &mut self.0[known].1;
        while copies.front().is_some_and(&is_old) {
            copies.pop_front();
        }
        copies.push_back(copy);
        copies
    }

    pub(crate) fn remove(&mut self, key: K) {
        self.0.retain(|(of, _)| *of != key);
    }

    pub(crate) fn clear(&mut self) {
        self.0.clear();
    }
}
