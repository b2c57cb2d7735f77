//! Frames of an 802.11 channel in a receiver's monitor mode: radiotap header, frame, frame check
//! sequence.

use std::path::Path;

use ropewalk_network::radio::{DATA_OVERHEAD_BYTES, FrameKind, Preamble, RecordedFrame, Standard};
use ropewalk_quantities::Time;
use ropewalk_wire::wifi::{MacAddress, MacFrame, Radiotap, fcs};

use crate::error::FileError;
use crate::packet_file::PacketFile;
use crate::record::{Direction, Interface, InterfaceCounts, LinkType, Record, Settings};

/// A file of frames from one or more channels.
#[derive(Debug)]
pub struct AirCapture {
    file: PacketFile,
    counts: Vec<InterfaceCounts>,
    bytes: Vec<u8>,
}

impl AirCapture {
    /// Creates a file with an interface for each channel. Errors: as [`PacketFile::create`].
    pub fn create(
        path: &Path,
        channels: &[&str],
        snaplen: Option<u32>,
        comment: &str,
    ) -> Result<AirCapture, FileError> {
        let interface = |name: &&str| Interface {
            name: (*name).to_owned(),
            speed: None,
        };
        let interfaces: Vec<Interface> = channels.iter().map(interface).collect();
        let settings = Settings {
            snaplen,
            comment: comment.to_owned(),
            link_type: LinkType::Radiotap,
        };
        Ok(AirCapture {
            file: PacketFile::create(path, &interfaces, &settings)?,
            counts: vec![InterfaceCounts::default(); channels.len()],
            bytes: Vec::new(),
        })
    }

    /// Writes a frame of the channel with this number; `packet` is the IP packet of a data frame.
    /// The time stamp is the end of the frame. A corrupted frame has a wrong check sequence and a
    /// comment with the reason. Errors: as [`PacketFile::write`]. Panics if there is no such
    /// channel, or the packet's length differs from the frame's.
    pub fn write<P>(
        &mut self,
        channel: usize,
        heard: &RecordedFrame<P>,
        packet: &[u8],
    ) -> Result<(), FileError> {
        let expected = match heard.kind {
            FrameKind::Data => (heard.bytes - DATA_OVERHEAD_BYTES) as usize,
            FrameKind::Rts | FrameKind::Cts | FrameKind::Ack => packet.len(),
        };
        assert_eq!(packet.len(), expected, "the length of the packet");
        self.bytes.clear();
        radiotap(channel, heard).emit(&mut self.bytes);
        let begin = self.bytes.len();
        mac_frame(channel, heard, packet).emit(&mut self.bytes);
        let check = fcs(&self.bytes[begin..]);
        let wrong = if heard.intact { 0 } else { 0xff };
        self.bytes.extend(check.map(|byte| byte ^ wrong));
        self.counts[channel].received += 1;
        self.file.write(&Record {
            time: heard.end,
            interface: channel,
            direction: Direction::Inbound,
            bytes: &self.bytes,
            comment: match (heard.intact, heard.collided) {
                (true, _) => None,
                (false, true) => Some("collision"),
                (false, false) => Some("frame error"),
            },
        })
    }

    /// Completes the file and returns its number of frames. Errors: as [`PacketFile::finish`].
    pub fn finish(self) -> Result<u64, FileError> {
        self.file.finish(&self.counts)
    }
}

/// A radio's locally administered MAC address, from channel and radio number.
fn address(channel: usize, radio: usize) -> MacAddress {
    let [high, low] = (radio as u16).to_be_bytes();
    [0x02, 0, 0, channel as u8, high, low]
}

fn micros(time: Time) -> u16 {
    // Duration fields have 15 bits (9.2.4.2).
    (time.as_nanos().div_ceil(1000)).min(32_767) as u16
}

fn radiotap<P>(channel: usize, heard: &RecordedFrame<P>) -> Radiotap {
    // Non-overlapping channels: 1, 6, 11; 36, 40, 44 and so on.
    let channel = channel as u16;
    let frequency_mhz = match heard.standard {
        Standard::B | Standard::G => 2412 + 25 * (channel % 3),
        Standard::A => 5180 + 20 * (channel % 4),
    };
    // Without received power, the value is below the range of any receiver.
    let dbm = |dbm: f64| dbm.round().clamp(-128.0, 127.0) as i8;
    Radiotap {
        time_us: heard.start.as_nanos() / 1000,
        rate: (heard.rate.kbps() / 500) as u8,
        short_preamble: heard.preamble == Preamble::Short && !heard.rate.is_ofdm(),
        bad_fcs: !heard.intact,
        frequency_mhz,
        ofdm: heard.rate.is_ofdm(),
        signal_dbm: dbm(heard.signal_dbm.unwrap_or(f64::NEG_INFINITY)),
        noise_dbm: dbm(heard.noise_dbm),
    }
}

fn mac_frame<'a, P>(channel: usize, heard: &RecordedFrame<P>, packet: &'a [u8]) -> MacFrame<'a> {
    let [receiver, transmitter] = [heard.to, heard.from].map(|radio| address(channel, radio));
    let duration_us = micros(heard.duration);
    match heard.kind {
        FrameKind::Data => MacFrame::Data {
            retry: heard.retry,
            duration_us,
            receiver,
            transmitter,
            sequence: heard.sequence,
            packet,
        },
        FrameKind::Rts => MacFrame::Rts {
            duration_us,
            receiver,
            transmitter,
        },
        FrameKind::Cts => MacFrame::Cts {
            duration_us,
            receiver,
        },
        FrameKind::Ack => MacFrame::Ack { receiver },
    }
}
