//! Deficit round robin among streams, with formerly idle ones first.
//!
//! The scheduling of fq_codel (RFC 8290, section 4.1): a stream that gets something to send goes before busy
//! ones for one quantum, so that a thin stream is not queued behind a bulk stream. An empty stream keeps its
//! place behind the others for a round, so that it cannot go first again at once.

use std::collections::{BTreeMap, VecDeque};

use crate::stream::{DrrState, Stream};
use crate::{Payload, StreamId};

const QUANTUM: i64 = 16 << 10;

#[derive(Clone, Debug, Default)]
pub(crate) struct StreamDrr {
    sparse: VecDeque<StreamId>,
    bulk: VecDeque<StreamId>,
}

impl StreamDrr {
    pub(crate) fn enter<P>(&mut self, id: StreamId, stream: &mut Stream<P>) {
        if stream.drr_state == DrrState::Out {
            stream.drr_state = DrrState::Sparse;
            stream.deficit = QUANTUM;
            self.sparse.push_back(id);
        }
    }

    /// Returns the stream whose turn it is; removes streams with nothing that may be sent.
    pub(crate) fn next<P: Payload>(
        &mut self,
        streams: &mut BTreeMap<StreamId, Stream<P>>,
    ) -> Option<StreamId> {
        loop {
            let sparse = !self.sparse.is_empty();
            let lane = if sparse {
                &mut self.sparse
            } else {
                &mut self.bulk
            };
            let id = *lane.front()?;
            let Some(stream) = streams.get_mut(&id) else {
                lane.pop_front();
                continue;
            };
            let ready = stream.send.is_ready();
            if ready && stream.deficit > 0 {
                return Some(id);
            }
            lane.pop_front();
            if !ready && !sparse {
                stream.drr_state = DrrState::Out;
                continue;
            }
            if stream.deficit <= 0 {
                stream.deficit += QUANTUM;
            }
            stream.drr_state = DrrState::Bulk;
            self.bulk.push_back(id);
        }
    }

    /// Iterates in order over the streams that have something to send, or had it in this round.
    pub(crate) fn iter(&self) -> impl Iterator<Item = StreamId> + Clone + '_ {
        self.sparse.iter().chain(&self.bulk).copied()
    }

    pub(crate) fn only(&self) -> Option<StreamId> {
        let first = self.sparse.front().or(self.bulk.front());
        first.copied().filter(|_| self.len() == 1)
    }

    pub(crate) fn len(&self) -> usize {
        self.sparse.len() + self.bulk.len()
    }
}
