//! Framing of a carrier: consecutive frames, in the clear or in encrypted records.
//!
//! A record is its length (two bytes, tag included) and whole frames, encrypted together
//! ([`RecordSequence`]). Records are numbered from zero in each direction, so one that was dropped, repeated
//! or moved does not decrypt.

use std::collections::VecDeque;
use std::io::{self, IoSlice};
use std::sync::Arc;

use bytes::{Buf, Bytes, BytesMut};
use ropewalk_wire::gateway::{Frame, MAX_HEADER_LEN, MalformedFrame};

use crate::budget::Budget;
use crate::buffer_pool::BufferPool;
use crate::noise::{NoiseError, TAG_LEN};
use crate::record_sequence::RecordSequence;

/// Longest plaintext of a record: with the tag, its length fits two bytes.
pub const MAX_RECORD: usize = u16::MAX as usize - TAG_LEN;

/// Size at which a record ends, in bytes. It also ends after a ping. The peer decrypts a record only when its
/// last byte has arrived, so bytes after a ping would lengthen the measured RTT.
const MIN_RECORD: usize = 4 << 10;

/// Shorter payloads are copied, so that they do not keep the whole read buffer in memory.
const COPIED: usize = 4 << 10;

/// Reason why a carrier must end.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A record does not decrypt.
    #[error(transparent)]
    Noise(#[from] NoiseError),
    /// A frame is malformed.
    #[error(transparent)]
    Frame(#[from] MalformedFrame),
    /// A record ends within a frame.
    #[error("a record that ends within a frame")]
    Cut,
}

/// Encoder of frames.
#[derive(Debug)]
pub struct Encoder {
    key: Option<RecordSequence>,
    buffer: BytesMut,
    pieces: VecDeque<Bytes>,
    len: usize,
}

/// Decoder of frames.
#[derive(Debug)]
pub struct Decoder {
    key: Option<RecordSequence>,
    /// Bytes read and not decoded.
    buffers: BufferPool,
    /// Encrypted: the rest of the record that was decrypted last.
    record: BytesMut,
}

impl Encoder {
    /// Creates an encoder, plain without a key.
    #[must_use]
    pub fn new(key: Option<RecordSequence>) -> Encoder {
        Encoder {
            key,
            buffer: BytesMut::new(),
            pieces: VecDeque::new(),
            len: 0,
        }
    }

    /// Appends a frame.
    pub fn push(&mut self, frame: &Frame<Bytes>) {
        let payload = match frame {
            Frame::Data { payload, .. } => payload.clone(),
            _ => Bytes::new(),
        };
        if self.key.is_some() {
            if self.len + frame.header_len() + payload.len() > MAX_RECORD {
                self.finish();
            }
            if self.len == 0 {
                self.buffer.extend_from_slice(&[0; 2]);
            }
        }
        let mut header = [0; MAX_HEADER_LEN];
        let header_len = frame.emit_header(payload.len(), &mut header);
        self.buffer.extend_from_slice(&header[..header_len]);
        self.len += header_len + payload.len();
        if self.key.is_some() || payload.len() < COPIED {
            self.buffer.extend_from_slice(&payload);
        } else {
            self.pieces.push_back(self.buffer.split().freeze());
            self.pieces.push_back(payload);
        }
        let ends = matches!(frame, Frame::Ping { .. }) || self.len >= MIN_RECORD;
        if self.key.is_some() && ends {
            self.finish();
        }
    }

    /// Makes the pending frames ready to be written, encrypted if there is a key.
    pub fn finish(&mut self) {
        if self.len == 0 {
            return;
        }
        if let Some(key) = &mut self.key {
            let tag = key.seal(&mut self.buffer[2..]);
            self.buffer.extend_from_slice(&tag);
            let len = (self.buffer.len() - 2) as u16;
            self.buffer[..2].copy_from_slice(&len.to_be_bytes());
        }
        if !self.buffer.is_empty() {
            self.pieces.push_back(self.buffer.split().freeze());
        }
        self.len = 0;
    }

    /// Whether everything ready has been written.
    #[must_use]
    pub fn is_written(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Writes ready bytes, as far as `write` accepts them in one call. Fails like `write`.
    pub fn write(
        &mut self,
        write: impl FnOnce(&[IoSlice<'_>]) -> io::Result<usize>,
    ) -> io::Result<usize> {
        let mut slices = [IoSlice::new(&[]); 16];
        let mut count = 0;
        for (slice, piece) in slices.iter_mut().zip(&self.pieces) {
            *slice = IoSlice::new(piece);
            count += 1;
        }
        let written = write(&slices[..count])?;
        let mut left = written;
        while let Some(piece) = self.pieces.front_mut() {
            if piece.len() > left {
                piece.advance(left);
                break;
            }
            left -= piece.len();
            self.pieces.pop_front();
        }
        Ok(written)
    }
}

impl Decoder {
    /// Creates a decoder, plain without a key.
    #[must_use]
    pub fn new(key: Option<RecordSequence>) -> Decoder {
        Decoder {
            key,
            buffers: BufferPool::default(),
            record: BytesMut::new(),
        }
    }

    pub(crate) fn count_in(&mut self, budget: Arc<Budget>) {
        self.buffers.count_in(budget);
    }

    /// Whether it keeps read buffers besides the current one.
    pub(crate) fn has_full(&self) -> bool {
        self.buffers.has_full()
    }

    /// Frees the unused read buffers.
    pub(crate) fn release_memory(&mut self) {
        self.buffers.release_memory();
    }

    /// Returns the buffer to read into.
    pub fn space(&mut self) -> &mut BytesMut {
        self.buffers.space()
    }

    /// Returns the next frame; `None` if it is incomplete. Errors: the carrier must end.
    pub fn frame(&mut self) -> Result<Option<Frame<Bytes>>, RecordError> {
        let copied = match self.buffers.should_copy() {
            true => usize::MAX,
            false => COPIED,
        };
        if self.key.is_none() {
            return take_frame(self.buffers.current(), copied);
        }
        while self.record.is_empty() {
            match self.open()? {
                None => {
                    // An empty slice keeps its buffer, too.
                    self.record = BytesMut::new();
                    return Ok(None);
                }
                Some(record) => self.record = record,
            }
        }
        match take_frame(&mut self.record, copied)? {
            None => Err(RecordError::Cut),
            frame => Ok(frame),
        }
    }

    fn open(&mut self) -> Result<Option<BytesMut>, RecordError> {
        let Some(key) = &mut self.key else {
            return Ok(None);
        };
        let buffer = self.buffers.current();
        let Some(len) = buffer.first_chunk() else {
            return Ok(None);
        };
        let len = usize::from(u16::from_be_bytes(*len));
        if buffer.len() < 2 + len {
            return Ok(None);
        }
        let mut record = buffer.split_to(2 + len);
        record.advance(2);
        let len = key.open(&mut record)?;
        record.truncate(len);
        Ok(Some(record))
    }
}

/// Takes the next frame. Payloads shorter than `copied` are copied.
fn take_frame(buffer: &mut BytesMut, copied: usize) -> Result<Option<Frame<Bytes>>, RecordError> {
    let Some((frame, header_len)) = Frame::parse(buffer)? else {
        return Ok(None);
    };
    let payload_len = match frame {
        Frame::Data { payload, .. } => payload,
        _ => 0,
    };
    if buffer.len() < header_len + payload_len {
        return Ok(None);
    }
    buffer.advance(header_len);
    Ok(Some(frame.map(|len| match len < copied {
        true => {
            let payload = Bytes::copy_from_slice(&buffer[..len]);
            buffer.advance(len);
            payload
        }
        false => buffer.split_to(len).freeze(),
    })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::SecretKey;
    use crate::noise::{Initiator, Purpose, RecordKey, Responder};
    use proptest::prelude::*;

    fn keys() -> (RecordKey, RecordKey) {
        let (ours, theirs) = (
            SecretKey::from_bytes([1; 32]),
            SecretKey::from_bytes([2; 32]),
        );
        let (mut initiator, hello) = Initiator::new(Purpose::Carrier, &ours, &theirs.public(), b"");
        let (responder, _) = Responder::read(Purpose::Carrier, &theirs, &hello).unwrap();
        let (answer, session) = responder.answer(b"");
        (initiator.finish(&answer).unwrap().0.seal, session.open)
    }

    /// Returns a sequence whose key changes every few records.
    fn sequence(key: RecordKey) -> RecordSequence {
        RecordSequence::changing_after(6000, key, 0)
    }

    fn frames(lens: &[usize]) -> Vec<Frame<Bytes>> {
        let mut frames = vec![Frame::Ping { token: 7 }];
        for (index, &len) in lens.iter().enumerate() {
            frames.push(Frame::Data {
                stream: 1,
                offset: index as u64,
                fin: index == 1,
                payload: Bytes::from(vec![index as u8; len]),
            });
        }
        frames
    }

    /// Encodes one record, or plain group of frames, for each list of lengths.
    fn encoded(key: Option<RecordKey>, runs: &[&[usize]], most: usize) -> Vec<u8> {
        let mut encoder = Encoder::new(key.map(sequence));
        let mut bytes = Vec::new();
        for lens in runs {
            for frame in frames(lens) {
                encoder.push(&frame);
            }
            encoder.finish();
            while !encoder.is_written() {
                let wrote = encoder.write(|slices| {
                    let slice = slices.iter().find(|slice| !slice.is_empty()).unwrap();
                    let len = slice.len().min(most);
                    bytes.extend_from_slice(&slice[..len]);
                    Ok(len)
                });
                assert!(wrote.unwrap() > 0);
            }
        }
        bytes
    }

    fn decoded(
        key: Option<RecordKey>,
        bytes: &[u8],
        step: usize,
    ) -> Result<Vec<Frame<Bytes>>, RecordError> {
        let mut decoder = Decoder::new(key.map(sequence));
        let mut frames = Vec::new();
        for piece in bytes.chunks(step) {
            decoder.space().extend_from_slice(piece);
            while let Some(frame) = decoder.frame()? {
                frames.push(frame);
            }
        }
        Ok(frames)
    }

    #[test]
    fn frames_round_trip() {
        let runs: [&[usize]; 4] = [&[0, 1, 5000], &[], &[65_472], &[4096, 4095]];
        let expected: Vec<_> = runs.iter().flat_map(|lens| frames(lens)).collect();
        for step in [1, 17, 5000, 1 << 20] {
            let (seal, open) = keys();
            let bytes = encoded(Some(seal), &runs, 40_000);
            assert_eq!(decoded(Some(open), &bytes, step).unwrap(), expected);
            let bytes = encoded(None, &runs, 1000);
            assert_eq!(decoded(None, &bytes, step).unwrap(), expected);
        }
    }

    #[test]
    fn records_that_are_none_end_the_carrier() {
        let open = |change: &dyn Fn(&mut Vec<u8>)| {
            let (seal, open) = keys();
            let mut bytes = encoded(Some(seal), &[&[10], &[20]], usize::MAX);
            change(&mut bytes);
            decoded(Some(open), &bytes, usize::MAX)
        };
        assert_eq!(open(&|_| ()).unwrap().len(), 4);
        let is_noise = |result: Result<_, _>| {
            assert!(
                matches!(result, Err(RecordError::Noise(NoiseError::Record))),
                "{result:?}"
            );
        };
        is_noise(open(&|bytes| bytes[5] ^= 1));
        // Too short; too long; empty; the first record twice.
        is_noise(open(&|bytes| {
            bytes.remove(10);
        }));
        is_noise(open(&|bytes| bytes[1] += 1));
        is_noise(open(&|bytes| bytes[..2].fill(0)));
        is_noise(open(&|bytes| {
            let first = 2 + usize::from(u16::from_be_bytes([bytes[0], bytes[1]]));
            bytes.drain(..first);
        }));
        // An oversized record only waits for more, at most its length.
        let frames = open(&|bytes| bytes[..2].fill(0xff)).unwrap();
        assert_eq!(frames, []);
    }

    #[test]
    fn record_ends_after_a_ping_or_a_long_frame() {
        let (seal, open) = keys();
        // The ping; a short frame and one that fills the record; the rest.
        let bytes = encoded(Some(seal), &[&[100, 4096, 100, 200]], usize::MAX);
        let mut ends = Vec::new();
        let mut end = 0;
        while end < bytes.len() {
            end += 2 + usize::from(u16::from_be_bytes([bytes[end], bytes[end + 1]]));
            ends.push(end);
        }
        let mut decoder = Decoder::new(Some(sequence(open)));
        let mut start = 0;
        let arrived = ends.iter().map(|&end| {
            decoder.space().extend_from_slice(&bytes[start..end]);
            start = end;
            std::iter::from_fn(|| decoder.frame().unwrap()).count()
        });
        assert_eq!(arrived.collect::<Vec<_>>(), [1, 2, 2]);
    }

    #[test]
    fn a_record_ends_with_a_frame() {
        let (seal, open) = keys();
        let mut record = vec![0, 0, 6, 0, 0];
        let tag = seal.seal(0, b"", &mut record[2..]);
        record.extend(tag);
        record[1] = record.len() as u8 - 2;
        let error = decoded(Some(open), &record, 100).unwrap_err();
        assert!(matches!(error, RecordError::Cut), "{error}");
    }

    proptest! {
        #[test]
        fn any_bytes_are_frames_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200), step in 1usize..50) {
            let _ = decoded(None, &bytes, step);
            let _ = decoded(Some(keys().1), &bytes, step);
        }
    }
}
