//! Recorder of frames on a channel, for captures.

use ropewalk_quantities::Time;

use super::Channel;
use super::air::Fate;
use crate::radio::power::to_dbm;
use crate::radio::reception::ReceptionResult;
use crate::radio::recorded_frame::{CapturePoint, RecordedFrame};
use crate::radio::station::{Frame, FrameKind};

impl<P: Copy> Channel<P> {
    /// Records a frame that ended, for the monitor or for its transmitter.
    pub(super) fn record_sent(&mut self, radio: usize, now: Time, frame: &Frame, fate: Fate) {
        let Some(listening) = &self.listening else {
            return;
        };
        let (intact, collided) = match listening.capture_point {
            CapturePoint::Monitor => (fate.received, !fate.received && fate.overlapped),
            CapturePoint::Radio(own) if own == radio => (true, false),
            CapturePoint::Radio(_) => return,
        };
        self.keep(radio, frame.to as usize, now, frame, intact, collided);
    }

    #[inline]
    pub(super) fn record_received(
        &mut self,
        radio: usize,
        from: usize,
        now: Time,
        frame: &Frame,
        read: ReceptionResult,
        overlapped: bool,
    ) {
        if let Some(listening) = &self.listening
            && listening.capture_point == CapturePoint::Radio(radio)
            && read != ReceptionResult::BadHeader
        {
            let intact = read == ReceptionResult::Good;
            self.keep(from, radio, now, frame, intact, !intact && overlapped);
        }
    }

    #[cold]
    fn keep(
        &mut self,
        from: usize,
        at: usize,
        now: Time,
        frame: &Frame,
        intact: bool,
        collided: bool,
    ) {
        let sender = &self.stations[from];
        let (standard, preamble) = sender.timing.kind();
        let mut places = self
            .neighbours
            .of(from)
            .map(|place| self.neighbours.at(place));
        let signal = places.find(|(radio, _)| *radio == at);
        let packet = match frame.kind {
            FrameKind::Data => sender.queue.front().map(|first| first.carried),
            FrameKind::Rts | FrameKind::Cts | FrameKind::Ack => None,
        };
        let heard = RecordedFrame {
            start: now - (frame.shape.end - frame.shape.start),
            end: now,
            kind: frame.kind,
            from,
            to: frame.to as usize,
            standard,
            rate: frame.shape.rate,
            preamble,
            bytes: frame.shape.bytes,
            duration: frame.duration,
            retry: frame.retry,
            sequence: sender.sequence,
            signal_dbm: signal.map(|(_, power)| to_dbm(power)),
            noise_dbm: to_dbm(self.stations[at].receiver.noise()),
            intact,
            collided,
            packet,
        };
        if let Some(listening) = &mut self.listening {
            listening.heard.push_back(heard);
        }
    }
}
