//! Frames as a capture shows them: at a radio, or to a monitor that misses nothing.

use ropewalk_quantities::Time;

use super::config::Preamble;
use super::standard::{DataRate, Standard};
use super::station::FrameKind;
use crate::medium::Carried;

/// Where frames are listened to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ear {
    /// At a radio, by its number: what it sends, and what it reads, in error or not.
    Radio(usize),
    /// Everywhere: each frame once, in error if the radio that it is for did not get it.
    Monitor,
}

/// A frame that was listened to. Frames come in the order in which they end.
#[derive(Clone, Copy, Debug)]
pub struct Heard<P> {
    /// When its preamble began.
    pub start: Time,
    /// When it ended.
    pub end: Time,
    /// What it is.
    pub kind: FrameKind,
    /// The radio that sends it, by its number.
    pub from: usize,
    /// The radio that it is for.
    pub to: usize,
    /// Of the sender.
    pub standard: Standard,
    /// Of its payload.
    pub rate: DataRate,
    /// Of a DSSS or CCK frame.
    pub preamble: Preamble,
    /// MPDU, frame check sequence included.
    pub bytes: u32,
    /// What it reserves after its end.
    pub duration: Time,
    /// Whether it has been sent before.
    pub retry: bool,
    /// Of data: its number, modulo 4096.
    pub sequence: u16,
    /// With which power it came, dBm; to the monitor and to its own sender, as at its receiver;
    /// `None` where that does not hear it.
    pub signal_dbm: Option<f64>,
    /// Noise of the radio that listens, or that the frame is for, dBm.
    pub noise_dbm: f64,
    /// Whether it was read without error.
    pub intact: bool,
    /// Whether its receiver lost it to others in the air.
    pub collided: bool,
    /// What a data frame carries.
    pub packet: Option<Carried<P>>,
}

impl<P> Heard<P> {
    /// What is known of the frame, and what it carries.
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
