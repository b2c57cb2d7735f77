//! Packet files in the format of their extension.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::error::{FileError, into_io};
use crate::pcap::Pcap;
use crate::pcapng::Pcapng;
use crate::record::{Interface, InterfaceCounts, Record, Settings};
use crate::replacing_file::{ReplacingFile, is_stream};

/// A pcapng or classic pcap file.
///
/// It appears under its name when it is [finished](PacketFile::finish). If dropped before, it
/// leaves an older file of that name in place. A FIFO, a device or standard output is written at
/// once in pieces of 1 MiB, as pcapng unless the name ends in `.pcap`.
pub struct PacketFile {
    path: PathBuf,
    format: Format,
    interfaces: usize,
    packets: u64,
}

enum Format {
    Pcapng(Pcapng),
    Pcap(Pcap),
}

impl PacketFile {
    /// Creates a file for the extension `.pcapng` or `.pcap`. Fails if the extension is unknown, or
    /// the file cannot be created.
    pub fn create(
        path: &Path,
        interfaces: &[Interface],
        settings: &Settings,
    ) -> Result<PacketFile, FileError> {
        let ending = path.extension().unwrap_or_default();
        let classic = ending.eq_ignore_ascii_case("pcap");
        if !classic && !ending.eq_ignore_ascii_case("pcapng") && !is_stream(path) {
            return Err(FileError::UnknownEnding {
                path: path.to_owned(),
                what: "packet file",
                allowed: ".pcapng, .pcap",
            });
        }
        let file = ReplacingFile::create(path)?;
        let begun = if classic {
            Pcap::new(file, settings).map(Format::Pcap)
        } else {
            Pcapng::new(file, interfaces, settings).map(Format::Pcapng)
        };
        Ok(PacketFile {
            path: path.to_owned(),
            format: begun.map_err(|error| FileError::io(path, into_io(error)))?,
            interfaces: interfaces.len(),
            packets: 0,
        })
    }

    /// Writes a packet. Times may be out of order, though some readers expect order. Fails if the
    /// file cannot be written, or the time exceeds the format: the year 2106 in classic pcap, 2554
    /// in pcapng. Panics if there is no such interface.
    pub fn write(&mut self, record: &Record) -> Result<(), FileError> {
        assert!(
            record.interface < self.interfaces,
            "interface {} of {}",
            record.interface,
            self.interfaces
        );
        let written = match &mut self.format {
            Format::Pcapng(file) => file.write(record),
            Format::Pcap(file) => file.write(record),
        };
        if let Err(error) = written {
            return Err(error.in_file(&self.path, record.time));
        }
        self.packets += 1;
        Ok(())
    }

    /// Completes the file with each interface's counts (pcapng only), and returns its number of
    /// packets. Fails if the file cannot be written; then nothing appears. Panics if the number of
    /// counts differs from the number of interfaces.
    pub fn finish(self, counts: &[InterfaceCounts]) -> Result<u64, FileError> {
        assert_eq!(counts.len(), self.interfaces, "counts of each interface");
        let file = match self.format {
            Format::Pcapng(mut file) => {
                let counted = file.write_counts(counts);
                counted.map_err(|error| FileError::io(&self.path, into_io(error)))?;
                file.into_file()
            }
            Format::Pcap(file) => file.into_file(),
        };
        file.finish()?;
        Ok(self.packets)
    }
}

impl fmt::Debug for PacketFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PacketFile")
            .field("path", &self.path)
            .field("packets", &self.packets)
            .finish_non_exhaustive()
    }
}
