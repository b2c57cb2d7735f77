//! Classic pcap, for the oldest tools: microseconds, a single link type.

use std::borrow::Cow;

use pcap_file::pcap::{PcapHeader, PcapWriter, RawPcapPacket};
use pcap_file::{DataLink, Endianness, PcapResult, TsResolution};

use crate::epoch::since_1970;
use crate::error::WriteError;
use crate::record::{LinkType, Record, Settings};
use crate::replacing_file::ReplacingFile;

/// Little-endian on every machine, for reproducible files.
pub(crate) struct Pcap {
    writer: PcapWriter<ReplacingFile>,
    snaplen: usize,
}

impl Pcap {
    pub(crate) fn new(file: ReplacingFile, settings: &Settings) -> PcapResult<Pcap> {
        let snaplen = settings.kept();
        let header = PcapHeader {
            snaplen,
            datalink: match settings.link_type {
                LinkType::Ip => DataLink::RAW,
                LinkType::Radiotap => DataLink::IEEE802_11_RADIOTAP,
            },
            ts_resolution: TsResolution::MicroSecond,
            endianness: Endianness::Little,
            ..PcapHeader::default()
        };
        Ok(Pcap {
            writer: PcapWriter::with_header(file, header)?,
            snaplen: snaplen as usize,
        })
    }

    pub(crate) fn write(&mut self, record: &Record) -> Result<(), WriteError> {
        let timestamp = since_1970(record.time);
        let kept = record.bytes.len().min(self.snaplen);
        self.writer.write_raw_packet(&RawPcapPacket {
            ts_sec: u32::try_from(timestamp.as_secs()).map_err(|_| WriteError::TooLate)?,
            ts_frac: timestamp.subsec_micros(),
            incl_len: kept as u32,
            orig_len: record.bytes.len() as u32,
            data: Cow::Borrowed(&record.bytes[..kept]),
        })?;
        Ok(())
    }

    pub(crate) fn into_file(self) -> ReplacingFile {
        self.writer.into_writer()
    }
}
