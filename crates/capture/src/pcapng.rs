//! pcapng: packets with interfaces, nanoseconds, directions and comments.

use std::borrow::Cow;
use std::mem;
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
use ropewalk_quantities::Rate;

use crate::epoch::{EPOCH, since_1970};
use crate::error::WriteError;
use crate::record::{Direction, Interface, InterfaceCounts, LinkType, Record, Settings};
use crate::replacing_file::ReplacingFile;

/// Time stamp resolution: 10^-9 s.
const NANOSECONDS: u8 = 9;
/// Largest option length: the field has 16 bits.
const LONGEST_OPTION: usize = u16::MAX as usize;

/// One section, little-endian on every machine, for reproducible files.
pub(crate) struct Pcapng {
    writer: PcapNgWriter<ReplacingFile>,
    /// Interfaces until the first packet decides their link type.
    interfaces: Vec<InterfaceDescriptionBlock<'static>>,
    link_type: LinkType,
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
        let snaplen = settings.kept();
        let describe = |interface: &Interface| {
            let name = fitting(&interface.name).to_owned();
            let mut options = vec![
                InterfaceDescriptionOption::IfName(name.into()),
                InterfaceDescriptionOption::IfTsResol(NANOSECONDS),
            ];
            let speed = interface.speed.map(Rate::as_bps);
            options.extend(speed.map(InterfaceDescriptionOption::IfSpeed));
            InterfaceDescriptionBlock {
                linktype: DataLink::RAW,
                snaplen,
                options,
            }
        };
        Ok(Pcapng {
            writer: PcapNgWriter::with_section_header(file, section)?,
            interfaces: interfaces.iter().map(describe).collect(),
            link_type: settings.link_type,
            snaplen: snaplen as usize,
            last: EPOCH,
        })
    }

    pub(crate) fn write(&mut self, record: &Record) -> Result<(), WriteError> {
        let timestamp = since_1970(record.time);
        if u64::try_from(timestamp.as_nanos()).is_err() {
            return Err(WriteError::TooLate);
        }
        self.last = self.last.max(timestamp);
        self.begin(record.bytes)?;
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

    pub(crate) fn write_counts(&mut self, counts: &[InterfaceCounts]) -> PcapResult<()> {
        self.begin(&[])?;
        let nanos = self.last.as_nanos() as u64;
        for (interface_id, counts) in (0..).zip(counts) {
            self.writer.write_pcapng_block(InterfaceStatisticsBlock {
                interface_id,
                // The upper half comes first in either byte order, but the library writes a plain
                // little-endian number.
                timestamp: nanos.rotate_left(32),
                options: vec![
                    InterfaceStatisticsOption::IsbIfRecv(counts.received),
                    InterfaceStatisticsOption::IsbIfDrop(counts.dropped),
                ],
            })?;
        }
        Ok(())
    }

    /// Writes the interface descriptions once.
    ///
    /// libpcap (until 1.10), and so tcpdump, cannot read a file whose second interface has
    /// LINKTYPE_RAW. It accepts LINKTYPE_IPV4 and LINKTYPE_IPV6, with which readers still check
    /// each packet's version.
    fn begin(&mut self, first_packet: &[u8]) -> PcapResult<()> {
        let version = first_packet.first().map(|byte| byte >> 4);
        let linktype = match (self.interfaces.len(), version) {
            (0, _) => return Ok(()),
            _ if self.link_type == LinkType::Radiotap => DataLink::IEEE802_11_RADIOTAP,
            (2.., Some(4)) => DataLink::IPV4,
            (2.., Some(6)) => DataLink::IPV6,
            _ => DataLink::RAW,
        };
        for mut interface in mem::take(&mut self.interfaces) {
            interface.linktype = linktype;
            self.writer.write_pcapng_block(interface)?;
        }
        Ok(())
    }

    pub(crate) fn into_file(self) -> ReplacingFile {
        self.writer.into_inner()
    }
}

/// The part of a text that fits the 16-bit option length, which the library does not check.
fn fitting(text: &str) -> &str {
    let mut end = text.len().min(LONGEST_OPTION);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
