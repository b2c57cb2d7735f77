//! Frames as recorded for a capture: at a radio, or by a monitor that misses nothing.

use ropewalk_quantities::Time;

use super::config::Preamble;
use super::standard::{DataRate, Standard};
use super::station::FrameKind;
use crate::medium::Carried;

/// Where frames are recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listener {
    /// At a radio, by number: the frames that it transmits, and those it receives with or without errors.
    Radio(usize),
    /// Everywhere: each frame once, with errors if its receiver did not get it.
    Monitor,
}

/// A recorded frame. Frames are in the order of their ends.
#[derive(Clone, Copy, Debug)]
pub struct Heard<P> {
    /// Start of its preamble.
    pub start: Time,
    /// End of the frame.
    pub end: Time,
    /// Its kind.
    pub kind: FrameKind,
    /// Number of the transmitting radio.
    pub from: usize,
    /// Number of the receiving radio.
    pub to: usize,
    /// The transmitter's standard.
    pub standard: Standard,
    /// Rate of its payload.
    pub rate: DataRate,
    /// Preamble of a DSSS or CCK frame.
    pub preamble: Preamble,
    /// Length of the MPDU, frame check sequence included.
    pub bytes: u32,
    /// Its duration field.
    pub duration: Time,
    /// Its retry flag.
    pub retry: bool,
    /// Sequence number of a data frame, modulo 4096.
    pub sequence: u16,
    /// Received power in dBm; for the monitor and for the transmitter itself, that at the receiver; `None`
    /// where the receiver does not hear it.
    pub signal_dbm: Option<f64>,
    /// Noise of the recording radio, or of the receiver, dBm.
    pub noise_dbm: f64,
    /// Whether it was received without errors.
    pub intact: bool,
    /// Whether it was lost at its receiver in a collision.
    pub collided: bool,
    /// The packet of a data frame.
    pub packet: Option<Carried<P>>,
}

impl<P> Heard<P> {
    /// Separates the frame from its packet.
    pub fn split(self) -> (Heard<()>, Option<Carried<P>>) {
        let packet = self.packet;
        let bare = Heard {
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
