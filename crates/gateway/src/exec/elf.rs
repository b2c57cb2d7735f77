//! Parser of ELF headers (elf(5)), to check whether a library can be loaded into a program.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

const PT_DYNAMIC: u32 = 2;
const PT_INTERP: u32 = 3;
const PT_NOTE: u32 = 4;

/// Maximum read of a segment; notes and the interpreter's path are shorter.
const LONGEST: u64 = 4096;

#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Elf {
    /// Machine type (EI_CLASS, EI_DATA, e_machine), which must be the same in both.
    pub(super) kind: (u8, u8, u16),
    /// Dynamic linker; `None` if the program is static.
    pub(super) interpreter: Option<String>,
    /// Has a dynamic section, as libraries and static position-independent executables do.
    pub(super) dynamic: bool,
    /// Has the note of Go's linker: Go programs make system calls without libc.
    pub(super) go: bool,
}

struct ElfSegment {
    kind: u32,
    offset: u64,
    size: u64,
}

impl Elf {
    /// Reads the header; `None` if the file is not ELF. Fails like pread(2), or with UnexpectedEof.
    pub(super) fn read(file: &File) -> io::Result<Option<Elf>> {
        let mut header = [0; 64];
        let length = file.read_at(&mut header, 0)?;
        if !header.starts_with(b"\x7fELF") || length < 52 {
            return Ok(None);
        }
        let fields = FieldReader {
            wide: header[4] == 2,
            big_endian: header[5] == 2,
        };
        let mut elf = Elf {
            kind: (header[4], header[5], fields.u16(&header, 18)),
            interpreter: None,
            dynamic: false,
            go: false,
        };
        for segment in fields.segments(file, &header)? {
            let mut bytes = vec![0; segment.size.min(LONGEST) as usize];
            match segment.kind {
                PT_INTERP => {
                    file.read_exact_at(&mut bytes, segment.offset)?;
                    let path = bytes.split(|&b| b == 0).next().unwrap_or_default();
                    elf.interpreter = Some(String::from_utf8_lossy(path).into_owned());
                }
                PT_NOTE => {
                    file.read_exact_at(&mut bytes, segment.offset)?;
                    elf.go |= fields.has_note_of(&bytes, b"Go\0\0");
                }
                PT_DYNAMIC => elf.dynamic = true,
                _ => {}
            }
        }
        Ok(Some(elf))
    }
}

#[derive(Clone, Copy)]
struct FieldReader {
    wide: bool,
    big_endian: bool,
}

impl FieldReader {
    fn segments(self, file: &File, header: &[u8; 64]) -> io::Result<Vec<ElfSegment>> {
        let (table, sizes) = if self.wide { (32, 54) } else { (28, 42) };
        let table = self.word(header, table);
        let size = usize::from(self.u16(header, sizes));
        let count = usize::from(self.u16(header, sizes + 2));
        if size < if self.wide { 56 } else { 32 } {
            return Ok(Vec::new());
        }
        let mut entries = vec![0; size * count];
        file.read_exact_at(&mut entries, table)?;
        let segment = |entry: &[u8]| {
            let (offset, length) = if self.wide { (8, 32) } else { (4, 16) };
            ElfSegment {
                kind: self.u32(entry, 0),
                offset: self.word(entry, offset),
                size: self.word(entry, length),
            }
        };
        Ok(entries.chunks_exact(size).map(segment).collect())
    }

    /// Whether one of the notes has that owner. A note is the lengths of owner and content, a type, and both,
    /// each padded to four bytes.
    fn has_note_of(self, mut notes: &[u8], owner: &[u8]) -> bool {
        while notes.len() >= 12 {
            let owner_length = self.u32(notes, 0) as usize;
            let content_length = self.u32(notes, 4) as usize;
            if notes[12..].starts_with(owner) && owner_length == owner.len() {
                return true;
            }
            let filled = 12 + owner_length.next_multiple_of(4) + content_length.next_multiple_of(4);
            notes = notes.get(filled..).unwrap_or_default();
        }
        false
    }

    fn word(self, bytes: &[u8], at: usize) -> u64 {
        if !self.wide {
            return u64::from(self.u32(bytes, at));
        }
        let bytes = bytes[at..at + 8].try_into().expect("eight bytes");
        if self.big_endian {
            u64::from_be_bytes(bytes)
        } else {
            u64::from_le_bytes(bytes)
        }
    }

    fn u32(self, bytes: &[u8], at: usize) -> u32 {
        let bytes = bytes[at..at + 4].try_into().expect("four bytes");
        if self.big_endian {
            u32::from_be_bytes(bytes)
        } else {
            u32::from_le_bytes(bytes)
        }
    }

    fn u16(self, bytes: &[u8], at: usize) -> u16 {
        let bytes = [bytes[at], bytes[at + 1]];
        if self.big_endian {
            u16::from_be_bytes(bytes)
        } else {
            u16::from_le_bytes(bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    pub(crate) fn file(segments: &[(u32, &[u8])]) -> File {
        let mut bytes = vec![0; 64 + 56 * segments.len()];
        bytes[..6].copy_from_slice(b"\x7fELF\x02\x01");
        bytes[18] = 62;
        bytes[32] = 64;
        bytes[54] = 56;
        bytes[56] = segments.len() as u8;
        for (place, (kind, content)) in segments.iter().enumerate() {
            let (entry, offset) = (64 + 56 * place, bytes.len() as u64);
            bytes[entry..entry + 4].copy_from_slice(&kind.to_le_bytes());
            bytes[entry + 8..entry + 16].copy_from_slice(&offset.to_le_bytes());
            bytes[entry + 32..entry + 40].copy_from_slice(&(content.len() as u64).to_le_bytes());
            bytes.extend_from_slice(content);
        }
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&bytes).unwrap();
        file
    }

    #[test]
    fn reads_segments() {
        let gnu = b"\x04\0\0\0\x04\0\0\0\x01\0\0\0GNU\0abcd";
        let go = b"\x04\0\0\0\x03\0\0\0\x04\0\0\0Go\0\0abc\0";
        let both = [&gnu[..], go].concat();
        let read = |segments: &[(u32, &[u8])]| Elf::read(&file(segments)).unwrap().unwrap();

        let program = read(&[
            (PT_INTERP, b"/lib/ld.so\0"),
            (PT_DYNAMIC, b""),
            (PT_NOTE, gnu),
        ]);
        assert_eq!(program.kind, (2, 1, 62));
        assert_eq!(program.interpreter.as_deref(), Some("/lib/ld.so"));
        assert!(program.dynamic && !program.go);
        let program = read(&[(PT_NOTE, &both)]);
        assert!(program.go && !program.dynamic && program.interpreter.is_none());
    }

    #[test]
    fn reads_this_program() {
        let own = File::open(std::env::current_exe().unwrap()).unwrap();
        let own = Elf::read(&own).unwrap().unwrap();
        assert!(!own.go);
        assert_eq!(
            own.interpreter.is_some(),
            cfg!(not(target_feature = "crt-static"))
        );
    }

    #[test]
    fn truncated_or_other_file_is_reported() {
        let cut = file(&[(PT_NOTE, b"abc")]);
        cut.set_len(100).unwrap();
        assert!(Elf::read(&cut).is_err());
        let mut text = tempfile::tempfile().unwrap();
        text.write_all(b"#!/bin/sh\n").unwrap();
        assert_eq!(Elf::read(&text).unwrap(), None);
    }
}
