//! Deficit round robin among streams, with formerly idle ones first.
//!
//! The scheduling of fq_codel (RFC 8290, section 4.1): a stream that gets something to send goes before busy
//! ones for one quantum, so that a thin stream is not queued behind a bulk stream. An empty stream keeps its
//! place behind the others for a round, so that it cannot go first again at once.

use std::collections::{BTreeMap, VecDeque};

use crate::Payload;
use crate::stream::{Stream, Turn};

const QUANTUM: i64 = 16 << 10;

#[derive(Clone, Debug, Default)]
pub(crate) struct Turns {
    sparse: VecDeque<u32>,
    bulk: VecDeque<u32>,
}

impl Turns {
    pub(crate) fn enter<P>(&mut self, number: u32, stream: &mut Stream<P>) {
        if stream.turn == Turn::Out {
            stream.turn = Turn::Sparse;
            stream.deficit = QUANTUM;
            self.sparse.push_back(number);
        }
    }

    /// Returns the stream whose turn it is; removes streams with nothing that may be sent.
    pub(crate) fn next<P: Payload>(
        &mut self,
        streams: &mut BTreeMap<u32, Stream<P>>,
    ) -> Option<u32> {
        loop {
            let sparse = !self.sparse.is_empty();
            let lane = if sparse {
                &mut self.sparse
            } else {
                &mut self.bulk
            };
            let number = *lane.front()?;
            let Some(stream) = streams.get_mut(&number) else {
                lane.pop_front();
                continue;
            };
            let ready = stream.send.is_ready();
            if ready && stream.deficit > 0 {
                return Some(number);
            }
            lane.pop_front();
            if !ready && !sparse {
                stream.turn = Turn::Out;
                continue;
            }
            if stream.deficit <= 0 {
                stream.deficit += QUANTUM;
            }
            stream.turn = Turn::Bulk;
            self.bulk.push_back(number);
        }
    }

    /// Iterates in order over the streams that have something to send, or had it in this round.
    pub(crate) fn iter(&self) -> impl Iterator<Item = u32> + Clone + '_ {
        self.sparse.iter().chain(&self.bulk).copied()
    }

    pub(crate) fn only(&self) -> Option<u32> {
        let first = self.sparse.front().or(self.bulk.front());
        first.copied().filter(|_| self.len() == 1)
    }

    pub(crate) fn len(&self) -> usize {
        self.sparse.len() + self.bulk.len()
    }
}
