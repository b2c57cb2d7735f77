//! Packets of a pcapng (draft-ietf-opsawg-pcapng) or classic pcap file.
//!
//! The `pcap-parser` crate reads blocks and headers; this module keeps the interfaces and picks the
//! options.

use std::collections::{HashSet, VecDeque};
use std::io::Read;
use std::net::IpAddr;
use std::path::Path;

use pcap_parser::traits::{PcapNGPacketBlock, PcapReaderIterator};
use pcap_parser::{
    Block, EnhancedPacketBlock, InterfaceDescriptionBlock, InterfaceStatisticsBlock,
    LegacyPcapBlock, LegacyPcapReader, OptionCode, PcapBlockOwned, PcapError, PcapHeader,
    PcapNGOption, PcapNGReader, SimplePacketBlock,
};

use crate::record::Direction;

use super::bytes::Bytes;
use super::content::Content;
use super::error::ReadError;
use super::input::{Input, LastError};
use super::interface::{CapturedInterface, Clock};
use super::layers::Layers;
use super::packet::CapturedPacket;
use super::tunnel::Unwrapping;

const BUFFER: usize = 1 << 20;
/// Longest accepted block, in bytes: above the snap length of any program.
const LONGEST: usize = 1 << 24;
/// Type of a pcapng file's first block, and its magic number.
const SECTION_HEADER: u32 = 0x0a0d_0d0a;
/// The obsolete Packet Block, which is counted but not read.
const OBSOLETE_PACKET: u32 = 2;
const EPB_FLAGS: u16 = 2;
const COUNTERS: [(u16, &str); 5] = [
    (4, "ifrecv"),
    (5, "ifdrop"),
    (6, "filteraccept"),
    (7, "osdrop"),
    (8, "usrdeliv"),
];

/// Reads the packets of a capture in bounded memory.
///
/// Memory grows only with the number of interfaces, endpoints with segments, and packets in
/// reassembly.
pub struct CaptureReader {
    blocks: Box<dyn PcapReaderIterator + Send + Sync>,
    size: u64,
    last_error: LastError,
    is_over: bool,
    ends_within_packet: bool,
    packets: Packets,
}

impl std::fmt::Debug for CaptureReader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CaptureReader")
            .field("position", &self.position())
            .field("packets", &self.packets.count)
            .finish_non_exhaustive()
    }
}

impl CaptureReader {
    /// Opens a capture; `-` is standard input; gzip is decompressed. Fails if the file cannot be
    /// read, or is neither pcapng nor pcap.
    pub fn open(
        path: &Path,
        unwrapping: Unwrapping,
        local: HashSet<IpAddr>,
    ) -> Result<CaptureReader, ReadError> {
        CaptureReader::new(Input::open(path)?, unwrapping, local)
    }

    /// Reads a capture from memory or a pipe; gzip is decompressed. Errors: as
    /// [`CaptureReader::open`].
    pub fn from_bytes(
        bytes: impl Read + Send + Sync + 'static,
        unwrapping: Unwrapping,
        local: HashSet<IpAddr>,
    ) -> Result<CaptureReader, ReadError> {
        CaptureReader::new(Input::new(Box::new(bytes), 0)?, unwrapping, local)
    }

    fn new(
        input: Input,
        unwrapping: Unwrapping,
        local: HashSet<IpAddr>,
    ) -> Result<CaptureReader, ReadError> {
        let head = &input.head;
        let Some(magic) = head.first_chunk().filter(|_| head.len() >= 12) else {
            return Err(ReadError::TooShort(head.len()));
        };
        let magic = u32::from_be_bytes(*magic);
        let blocks: Result<Box<dyn PcapReaderIterator + Send + Sync>, _> = match magic {
            SECTION_HEADER => {
                PcapNGReader::new(BUFFER, input.bytes).map(|blocks| Box::new(blocks) as _)
            }
            _ => LegacyPcapReader::new(BUFFER, input.bytes).map(|blocks| Box::new(blocks) as _),
        };
        let blocks = blocks.map_err(|error| match error {
            PcapError::HeaderNotRecognized if magic != SECTION_HEADER => ReadError::Magic(magic),
            PcapError::Incomplete(_) => ReadError::TooShort(head.len()),
            other => ReadError::Block {
                at: 0,
                what: reason(&other).to_owned(),
            },
        })?;
        Ok(CaptureReader {
            blocks,
            size: input.size,
            last_error: input.last_error,
            is_over: false,
            ends_within_packet: false,
            packets: Packets::new(unwrapping, local),
        })
    }

    /// Reads the next packet; `None` at the end and after an error. Fails if the file cannot be
    /// read, or a block violates the format.
    pub fn next_packet(&mut self) -> Result<Option<CapturedPacket>, ReadError> {
        loop {
            if let Some(packet) = self.packets.ready.pop_front() {
                return Ok(Some(packet));
            }
            if self.is_over {
                return Ok(None);
            }
            if let Err(error) = self.next_block() {
                self.is_over = true;
                return Err(error);
            }
        }
    }

    /// Uncompressed bytes up to the last packet.
    pub fn position(&self) -> u64 {
        self.blocks.consumed() as u64
    }

    /// File size in bytes; 0 if unknown, as for a pipe or a compressed file.
    pub fn size(&self) -> u64 {
        self.size
    }

    /// Whether the file ends within a packet, as after a killed capture.
    pub fn ends_within_packet(&self) -> bool {
        self.ends_within_packet
    }

    /// Interfaces so far, of all sections.
    pub fn interfaces(&self) -> &[CapturedInterface] {
        &self.packets.interfaces
    }

    /// Number of IP fragments whose packet was never complete.
    pub fn lost_fragments(&self) -> u64 {
        self.packets.layers.lost_fragments()
    }

    fn next_block(&mut self) -> Result<(), ReadError> {
        let at = self.blocks.consumed();
        match self.blocks.next() {
            Ok((size, block)) => {
                let taken = self.packets.take(block);
                self.blocks.consume(size);
                return taken.map_err(|what| ReadError::Block {
                    at: self.blocks.consumed(),
                    what,
                });
            }
            Err(PcapError::Eof) => self.is_over = true,
            Err(PcapError::UnexpectedEof) => {
                self.is_over = true;
                self.ends_within_packet = true;
            }
            Err(PcapError::Incomplete(_)) => return self.refill(),
            Err(PcapError::BufferTooSmall) => {
                let held = self.blocks.data().len();
                if held >= LONGEST {
                    let what = format!("a block of more than {LONGEST} bytes");
                    return Err(ReadError::Block { at, what });
                }
                // Doubles the buffer, since unread data fill it.
                self.blocks.grow((2 * held).max(2 * BUFFER));
                return self.refill();
            }
            Err(error) => {
                let what = reason(&error).to_owned();
                return Err(ReadError::Block { at, what });
            }
        }
        Ok(())
    }

    fn refill(&mut self) -> Result<(), ReadError> {
        if self.blocks.refill().is_ok() {
            return Ok(());
        }
        let error = self.last_error.lock().expect("no thread panics with it");
        let error = { error }.take();
        Err(error
            .unwrap_or_else(|| std::io::ErrorKind::Other.into())
            .into())
    }
}

fn reason<I>(error: &PcapError<I>) -> &'static str {
    match error {
        PcapError::NomError(..) | PcapError::OwnedNomError(..) => {
            "lengths of the block contradict each other"
        }
        _ => "no block of the format",
    }
}

struct Packets {
    layers: Layers,
    local: HashSet<IpAddr>,
    interfaces: Vec<CapturedInterface>,
    section: usize,
    is_big_endian: bool,
    count: u64,
    time_ns: i64,
    ready: VecDeque<CapturedPacket>,
}

struct Frame<'a> {
    interface: usize,
    time_ns: Option<i64>,
    direction: Option<Direction>,
    comments: Vec<String>,
    bytes: Bytes<'a>,
}

impl Packets {
    fn new(unwrapping: Unwrapping, local: HashSet<IpAddr>) -> Packets {
        Packets {
            layers: Layers::new(unwrapping),
            local,
            interfaces: Vec::new(),
            section: 0,
            is_big_endian: false,
            count: 0,
            time_ns: 0,
            ready: VecDeque::new(),
        }
    }

    fn take(&mut self, block: PcapBlockOwned<'_>) -> Result<(), String> {
        match block {
            PcapBlockOwned::LegacyHeader(header) => self.file_header(&header),
            PcapBlockOwned::Legacy(packet) => {
                self.classic(&packet);
                Ok(())
            }
            PcapBlockOwned::NG(Block::SectionHeader(section)) => {
                self.is_big_endian = section.big_endian();
                self.section = self.interfaces.len();
                Ok(())
            }
            PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                self.interface(&interface)
            }
            PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => self.enhanced(&packet),
            PcapBlockOwned::NG(Block::SimplePacket(packet)) => self.simple(&packet),
            PcapBlockOwned::NG(Block::InterfaceStatistics(statistics)) => {
                self.statistics(&statistics)
            }
            PcapBlockOwned::NG(Block::Unknown(block)) => {
                let kind = match self.is_big_endian {
                    true => block.block_type.swap_bytes(),
                    false => block.block_type,
                };
                if kind == OBSOLETE_PACKET {
                    let interface = self.numbered(0)?;
                    self.count += 1;
                    self.ready.push_back(CapturedPacket {
                        number: self.count,
                        time_ns: self.time_ns,
                        interface,
                        direction: None,
                        is_whole: false,
                        comments: Vec::new(),
                        content: Content {
                            skipped: Some("obsolete packet block".into()),
                            ..Content::default()
                        },
                    });
                }
                Ok(())
            }
            PcapBlockOwned::NG(_) => Ok(()),
        }
    }

    fn file_header(&mut self, header: &PcapHeader) -> Result<(), String> {
        if header.version_major != 2 {
            let (major, minor) = (header.version_major, header.version_minor);
            return Err(ReadError::Version(major, minor).to_string());
        }
        self.interfaces.push(CapturedInterface {
            name: None,
            // The upper half is the length of frame check sequences.
            link_type: header.network.0 as u16,
            snap_length: header.snaplen,
            speed: None,
            statistics: Default::default(),
            clock: match header.is_nanosecond_precision() {
                true => Clock::NANOSECONDS,
                false => Clock::MICROSECONDS,
            },
        });
        Ok(())
    }

    fn classic(&mut self, packet: &LegacyPcapBlock<'_>) {
        let clock = self.interfaces[0].clock;
        let fraction = clock.nanoseconds(packet.ts_usec.into());
        self.push(Frame {
            interface: 0,
            time_ns: Some(i64::from(packet.ts_sec) * 1_000_000_000 + fraction),
            direction: None,
            comments: Vec::new(),
            bytes: Bytes {
                data: packet.data,
                on_wire: packet.data.len().max(packet.origlen as usize),
            },
        });
    }

    fn interface(&mut self, block: &InterfaceDescriptionBlock<'_>) -> Result<(), String> {
        let mut name = None;
        let mut speed = None;
        let mut resolution = 6;
        let mut offset_s = 0;
        for option in &block.options {
            match (option.code, option.as_bytes().unwrap_or_default()) {
                (OptionCode::IfName, text) => name = Some(lossy(text)),
                (OptionCode::IfSpeed, value) => speed = self.u64(value),
                (OptionCode::IfTsresol, &[value]) => resolution = value,
                (OptionCode::IfTsoffset, value) => {
                    offset_s = self.u64(value).map_or(0, u64::cast_signed);
                }
                _ => {}
            }
        }
        let clock = Clock::new(resolution, offset_s)
            .ok_or_else(|| format!("if_tsresol {resolution:#04x} of an interface"))?;
        self.interfaces.push(CapturedInterface {
            name,
            link_type: block.linktype.0 as u16,
            snap_length: block.snaplen,
            speed,
            statistics: Default::default(),
            clock,
        });
        Ok(())
    }

    fn enhanced(&mut self, block: &EnhancedPacketBlock<'_>) -> Result<(), String> {
        let interface = self.numbered(block.if_id)?;
        let mut direction = None;
        let mut comments = Vec::new();
        for option in &block.options {
            match (option.code, option.as_bytes().unwrap_or_default()) {
                (OptionCode::EndOfOpt, _) => break,
                (OptionCode::Comment, text) => comments.push(lossy(text)),
                (OptionCode(EPB_FLAGS), value) => {
                    direction = match self.u32(value).map(|flags| flags & 3) {
                        Some(1) => Some(Direction::Inbound),
                        Some(2) => Some(Direction::Outbound),
                        _ => None,
                    };
                }
                _ => {}
            }
        }
        let data = block.packet_data();
        let ticks = u64::from(block.ts_high) << 32 | u64::from(block.ts_low);
        self.push(Frame {
            interface,
            time_ns: Some(self.interfaces[interface].clock.nanoseconds(ticks)),
            direction,
            comments,
            bytes: Bytes {
                data,
                on_wire: data.len().max(block.origlen as usize),
            },
        });
        Ok(())
    }

    fn simple(&mut self, block: &SimplePacketBlock<'_>) -> Result<(), String> {
        let interface = self.numbered(0)?;
        let kept = match self.interfaces[interface].snap_length as usize {
            0 => usize::MAX,
            kept => kept,
        };
        let data = block.packet_data();
        self.push(Frame {
            interface,
            time_ns: None,
            direction: None,
            comments: Vec::new(),
            bytes: Bytes {
                data: &data[..data.len().min(kept)],
                on_wire: data.len().max(block.origlen as usize),
            },
        });
        Ok(())
    }

    fn statistics(&mut self, block: &InterfaceStatisticsBlock<'_>) -> Result<(), String> {
        let interface = self.numbered(block.if_id)?;
        let count = |option: &PcapNGOption<'_>| {
            let value = self.u64(option.as_bytes().ok()?)?;
            let name = COUNTERS.iter().find(|(code, _)| option.code.0 == *code)?.1;
            Some((name, value))
        };
        let counts: Vec<_> = block.options.iter().filter_map(count).collect();
        self.interfaces[interface].statistics.extend(counts);
        Ok(())
    }

    fn numbered(&self, number: u32) -> Result<usize, String> {
        let index = self.section + number as usize;
        if index < self.interfaces.len() {
            return Ok(index);
        }
        let known = self.interfaces.len() - self.section;
        Err(format!("interface {number} of {known}"))
    }

    fn push(&mut self, frame: Frame<'_>) {
        self.count += 1;
        self.time_ns = frame.time_ns.unwrap_or(self.time_ns);
        let link_type = self.interfaces[frame.interface].link_type;
        let (direction, contents) = self.layers.read(link_type, frame.bytes);
        let mut comments = frame.comments;
        for content in contents {
            let source = content.segment.as_ref().map(|segment| segment.source.ip());
            let direction = frame.direction.or(direction).or_else(|| {
                let source = source.filter(|_| !self.local.is_empty())?;
                Some(match self.local.contains(&source) {
                    true => Direction::Outbound,
                    false => Direction::Inbound,
                })
            });
            self.ready.push_back(CapturedPacket {
                number: self.count,
                time_ns: self.time_ns,
                interface: frame.interface,
                direction,
                is_whole: frame.bytes.is_whole() && !content.is_short,
                comments: std::mem::take(&mut comments),
                content,
            });
        }
    }

    fn u32(&self, value: &[u8]) -> Option<u32> {
        let value = value.try_into().ok()?;
        Some(match self.is_big_endian {
            true => u32::from_be_bytes(value),
            false => u32::from_le_bytes(value),
        })
    }

    fn u64(&self, value: &[u8]) -> Option<u64> {
        let value = value.try_into().ok()?;
        Some(match self.is_big_endian {
            true => u64::from_be_bytes(value),
            false => u64::from_le_bytes(value),
        })
    }
}

fn lossy(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}
