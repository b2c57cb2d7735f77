//! Data that must take another way: what a failed or timed-out subflow holds
//! (RFC 8684, 3.3.6), and what blocks the receive window (Raiciu et al., NSDI 2012).

use ropewalk_quantities::Time;

use crate::SubflowState;
use crate::endpoint::Endpoint;
use crate::scoreboard::Sent;

impl Endpoint {
    /// Everything that the subflow holds unacknowledged may go out again on the others.
    pub(crate) fn reinject_from(&mut self, subflow: usize) {
        if !self.multipath {
            return;
        }
        let (una, reinject) = (self.tx.una(), &mut self.tx.reinject);
        let flow = &mut self.subflows[subflow];
        flow.sender.board_mut().reinject(|start, end| {
            reinject.insert(start.max(una), end.max(una));
        });
        for (data_seq, len) in flow.queue.drain(..) {
            reinject.insert(data_seq.max(una), (data_seq + u64::from(len)).max(una));
        }
        self.table[subflow].queued = 0;
        self.queueing &= !(1 << subflow);
    }

    /// Sends the oldest of it on the subflow of the least round-trip time among those whose window
    /// has room: before all that the scheduler may have queued there, since it holds up the rest.
    pub(crate) fn poll_reinjection(&mut self, now: Time) -> Option<(usize, Sent)> {
        let has_room =
            |state: &SubflowState| state.usable && state.cwnd >= state.in_flight + state.mss;
        let subflow = (0..self.table.len())
            .filter(|&subflow| has_room(&self.table[subflow]))
            .min_by_key(|&subflow| self.table[subflow].srtt)?;
        let (start, end) = self.tx.reinject.take_first(self.table[subflow].mss)?;
        Some(self.send_data(now, subflow, start, (end - start) as u32))
    }

    /// The window is full: send what blocks it again on a subflow that has room, and halve the
    /// window of the one that holds it up, at most once a round trip.
    pub(crate) fn poll_opportunistic(&mut self, now: Time) -> Option<(usize, Sent)> {
        if !self.config.opportunistic_retransmission && !self.config.penalisation {
            return None;
        }
        let free = (0..self.table.len())
            .filter(|&subflow| self.table[subflow].can_send())
            .min_by_key(|&subflow| self.table[subflow].srtt)?;
        let start = self.tx.una().max(self.tx.opportunistic);
        let (holder, end) = self
            .holder_of(start)
            .filter(|&(holder, _)| holder != free)?;
        if self.config.penalisation
            && now.saturating_sub(self.subflows[holder].penalised) >= self.table[holder].srtt
        {
            self.subflows[holder].penalised = now;
            let state = &mut self.table[holder];
            state.cwnd = (state.cwnd / 2).max(state.mss);
            state.ssthresh = state.cwnd.max(2 * state.mss);
        }
        if !self.config.opportunistic_retransmission {
            return None;
        }
        self.tx.opportunistic = end;
        Some(self.send_data(now, free, start, (end - start) as u32))
    }

    /// The subflow that has this data in flight, and the end of the segment that holds it.
    fn holder_of(&self, data_seq: u64) -> Option<(usize, u64)> {
        self.subflows.iter().enumerate().find_map(|(number, flow)| {
            let ends = flow
                .sender
                .board()
                .iter()
                .filter(|sent| !sent.is_fin())
                .map(|sent| (sent.data_seq, sent.data_seq + u64::from(sent.len)));
            let mut holding = ends.filter(|&(start, end)| start <= data_seq && data_seq < end);
            holding.next().map(|(_, end)| (number, end))
        })
    }
}
