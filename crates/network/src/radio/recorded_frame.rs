//! Frames recorded for a capture, at a radio or by a monitor that misses nothing.

use ropewalk_quantities::Time;

use super::config::Preamble;
use super::standard::{DataRate, Standard};
use super::station::FrameKind;
use crate::medium::MediumPacket;

/// Place where frames are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CapturePoint {
    /// At a radio, by index: frames that it transmits, and frames that it receives with or without errors.
    Radio(usize),
    /// Everywhere: each frame once, with errors if its receiver did not get it.
    Monitor,
}

/// Recorded frame. Frames are sorted by their ends.
#[derive(Clone, Copy, Debug)]
pub struct RecordedFrame<P> {
    /// Start of the preamble.
    pub start: Time,
    /// End of the frame.
    pub end: Time,
    /// Kind of the frame.
    pub kind: FrameKind,
    /// Index of the transmitting radio.
    pub from: usize,
    /// Index of the receiving radio.
    pub to: usize,
    /// Standard of the transmitter.
    pub standard: Standard,
    /// Rate of the payload.
    pub rate: DataRate,
    /// Preamble of a DSSS or CCK frame.
    pub preamble: Preamble,
    /// Length of the MPDU, FCS included.
    pub bytes: u32,
    /// Duration field.
    pub duration: Time,
    /// Retry flag.
    pub retry: bool,
    /// Sequence number of a data frame, modulo 4096.
    pub sequence: u16,
    /// Received power, dBm; for the monitor and the transmitter itself, at the receiver. `None` if the
    /// receiver is out of reach.
    pub signal_dbm: Option<f64>,
    /// Noise of the recording radio or of the receiver, dBm.
    pub noise_dbm: f64,
    /// Whether the frame was received without errors.
    pub intact: bool,
    /// Whether its receiver lost the frame in a collision.
    pub collided: bool,
    /// Packet of a data frame.
    pub packet: Option<MediumPacket<P>>,
}

impl<P> RecordedFrame<P> {
    /// Separates the frame from its packet.
    pub fn split(self) -> (RecordedFrame<()>, Option<MediumPacket<P>>) {
        let packet = self.packet;
        let bare = RecordedFrame {
            start: self.start,
            end: self.end,
            kind: self.kind,
            from: self.from,
            to: self.to,
            standard: self.standard,
            rate: self.rate,
            preamble: self.preamble,
            bytes: self.bytes,
            duration: self.duration,
            retry: self.retry,
            sequence: self.sequence,
            signal_dbm: self.signal_dbm,
            noise_dbm: self.noise_dbm,
            intact: self.intact,
            collided: self.collided,
            packet: None,
        };
        (bare, packet)
    }
}
