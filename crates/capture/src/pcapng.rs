//! pcapng: packets with interfaces, nanoseconds, directions and comments.

use std::borrow::Cow;
use std::time::Duration;

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{
    InterfaceDescriptionBlock, InterfaceDescriptionOption,
};
use pcap_file::pcapng::blocks::interface_statistics::{
    InterfaceStatisticsBlock, InterfaceStatisticsOption,
};
use pcap_file::pcapng::blocks::section_header::{SectionHeaderBlock, SectionHeaderOption};
use pcap_file::{DataLink, Endianness, PcapResult};

use crate::epoch::{EPOCH, since_1970};
use crate::error::WriteError;
use crate::packet_file::{Direction, Interface, InterfaceCounts, Record, Settings};
use crate::replacing_file::ReplacingFile;

/// Times on file are multiples of 10^-9 s.
const NANOSECONDS: u8 = 9;
/// What the length of an option can tell.
const LONGEST_OPTION: usize = u16::MAX as usize;

/// One section, little-endian on every machine: the same run, the same file.
pub(crate) struct Pcapng {
    writer: PcapNgWriter<ReplacingFile>,
    snaplen: usize,
    last: Duration,
}

impl Pcapng {
    pub(crate) fn new(
        file: ReplacingFile,
        interfaces: &[Interface],
        settings: &Settings,
    ) -> PcapResult<Pcapng> {
        let mut options = Vec::new();
        if !settings.comment.is_empty() {
            let comment = fitting(&settings.comment).to_owned();
            options.push(SectionHeaderOption::Comment(comment.into()));
        }
        let application = concat!("ropewalk ", env!("CARGO_PKG_VERSION"));
        options.push(SectionHeaderOption::UserApplication(application.into()));
        let section = SectionHeaderBlock {
            endianness: Endianness::Little,
            options,
            ..SectionHeaderBlock::default()
        };
        let mut writer = PcapNgWriter::with_section_header(file, section)?;
        let snaplen = settings.snaplen.unwrap_or(0);
        for interface in interfaces {
            let mut options = vec![
                InterfaceDescriptionOption::IfName(fitting(&interface.name).into()),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ];
            if let Some(speed) = interface.speed {
                options.push(InterfaceDescriptionOption::IfSpeed(speed.as_bps()));
            }
            writer.write_pcapng_block(InterfaceDescriptionBlock {
                linktype: DataLink::RAW,
                snaplen,
                options,
            })?;
        }
        let snaplen = if snaplen == 0 {
            usize::MAX
        } else {
            snaplen as usize
        };
        Ok(Pcapng {
            writer,
            snaplen,
            last: EPOCH,
        })
    }

    pub(crate) fn write(&mut self, record: &Record) -> Result<(), WriteError> {
        let timestamp = since_1970(record.time);
        if u64::try_from(timestamp.as_nanos()).is_err() {
            return Err(WriteError::TooLate);
        }
        self.last = self.last.max(timestamp);
        let flags = match record.direction {
            Direction::Inbound => 1,
            Direction::Outbound => 2,
        };
        let mut options = Vec::with_capacity(2);
        options.push(EnhancedPacketOption::Flags(flags));
        if let Some(comment) = record.comment {
            options.push(EnhancedPacketOption::Comment(fitting(comment).into()));
        }
        let kept = record.bytes.len().min(self.snaplen);
        self.writer.write_pcapng_block(EnhancedPacketBlock {
            interface_id: record.interface as u32,
            timestamp,
            original_len: record.bytes.len() as u32,
            data: Cow::Borrowed(&record.bytes[..kept]),
            options,
        })?;
        Ok(())
    }

    /// Adds what each interface did until the last packet.
    pub(crate) fn write_counts(&mut self, counts: &[InterfaceCounts]) -> PcapResult<()> {
        let nanos = self.last.as_nanos() as u64;
        for (interface_id, counts) in (0..).zip(counts) {
            self.writer.write_pcapng_block(InterfaceStatisticsBlock {
                interface_id,
                // The upper half comes first in the file, whatever its byte order;
                // the library writes a plain little-endian number.
                timestamp: nanos.rotate_left(32),
                options: vec![
                    InterfaceStatisticsOption::IsbIfRecv(counts.received),
                    InterfaceStatisticsOption::IsbIfDrop(counts.dropped),
                ],
            })?;
        }
        Ok(())
    }

    pub(crate) fn into_file(self) -> ReplacingFile {
        self.writer.into_inner()
    }
}

/// As much of a text as an option holds; the library would write more than it says.
fn fitting(text: &str) -> &str {
    let mut end = text.len().min(LONGEST_OPTION);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
