//! Receive buffer of a stream: reorders parts, in bounded memory.

use std::collections::{BTreeMap, VecDeque};

use crate::{Payload, ProtocolError};

/// Consecutive pieces that together are shorter are joined, since each piece has an overhead.
const JOIN_BELOW: usize = 1024;
/// Limit of fragments for small windows; beyond that, one per [`BYTES_PER_PIECE`].
const PIECES: usize = 4096;
const BYTES_PER_PIECE: u64 = 256;

#[derive(Clone, Debug)]
pub(crate) struct ReceiveBuffer<P> {
    ready: VecDeque<P>,
    /// Received behind a gap: disjoint, by offset.
    early: BTreeMap<u64, P>,
    early_bytes: u64,
    /// End of the data in order.
    in_order_end: u64,
    /// Bytes taken and released by the reader.
    pub(crate) read: u64,
    final_size: Option<u64>,
    highest: u64,
    /// The reader has stopped: arriving data are dropped.
    pub(crate) discard: bool,
}

impl<P: Payload> ReceiveBuffer<P> {
    pub(crate) fn new() -> ReceiveBuffer<P> {
        ReceiveBuffer {
            ready: VecDeque::new(),
            early: BTreeMap::new(),
            early_bytes: 0,
            in_order_end: 0,
            read: 0,
            final_size: None,
            highest: 0,
            discard: false,
        }
    }

    /// Adds a received part; duplicate bytes are dropped. Returns the number of new bytes. `limit` is the
    /// window: distinct bytes that may arrive in total.
    pub(crate) fn insert(
        &mut self,
        stream: u32,
        offset: u64,
        mut payload: P,
        fin: bool,
        limit: u64,
    ) -> Result<u64, ProtocolError> {
        let end = offset + payload.len() as u64;
        self.check_final_size(stream, end, fin)?;
        self.highest = self.highest.max(end);
        if end <= self.in_order_end {
            return Ok(0);
        }
        let before = self.received();
        let mut start = offset;
        if start < self.in_order_end {
            let _ = payload.split_to((self.in_order_end - start) as usize);
            start = self.in_order_end;
        }
        if start == self.in_order_end && self.early.is_empty() {
            self.push_ready(payload);
        } else {
            self.insert_early(start, payload);
            self.promote_early();
        }
        if self.received() > limit {
            return Err(ProtocolError::Window {
                stream,
                received: self.received(),
                limit,
            });
        }
        if self.early.len() > PIECES + (limit.saturating_sub(self.read) / BYTES_PER_PIECE) as usize
        {
            return Err(ProtocolError::Pieces(stream));
        }
        Ok(self.received() - before)
    }

    fn check_final_size(&mut self, stream: u32, end: u64, fin: bool) -> Result<(), ProtocolError> {
        let wrong = match self.final_size {
            Some(size) => end > size || fin && end != size,
            None => fin && end < self.highest,
        };
        if wrong {
            return Err(ProtocolError::FinalSize {
                stream,
                offset: end,
            });
        }
        if fin {
            self.final_size = Some(end);
        }
        Ok(())
    }

    fn push_ready(&mut self, payload: P) {
        let len = payload.len() as u64;
        self.in_order_end += len;
        if self.discard {
            self.read += len;
        } else if len > 0 {
            match self.ready.back_mut() {
                None => self.ready.push_back(payload),
                Some(last) => {
                    if let Err(payload) = last.append(payload) {
                        match last.len() + payload.len() {
                            len @ 0..JOIN_BELOW => {
                                *last = P::join([last.clone(), payload].into_iter(), len);
                            }
                            _ => self.ready.push_back(payload),
                        }
                    }
                }
            }
        }
    }

    fn insert_early(&mut self, mut start: u64, mut payload: P) {
        if let Some((begin, piece)) = self.early.range(..=start).next_back() {
            let piece_end = begin + piece.len() as u64;
            if piece_end > start {
                let known = (piece_end - start).min(payload.len() as u64);
                let _ = payload.split_to(known as usize);
                start += known;
            }
        }
        while !payload.is_empty() {
            let end = start + payload.len() as u64;
            let next = self.early.range(start..end).next();
            let Some((begin, piece_len)) = next.map(|(begin, piece)| (*begin, piece.len() as u64))
            else {
                self.keep_early(start, payload);
                return;
            };
            if begin > start {
                let new = payload.split_to((begin - start) as usize);
                self.keep_early(start, new);
            }
            let known = piece_len.min(payload.len() as u64);
            let _ = payload.split_to(known as usize);
            start = begin + known;
        }
    }

    fn keep_early(&mut self, start: u64, payload: P) {
        self.early_bytes += payload.len() as u64;
        if let Some((begin, piece)) = self.early.range_mut(..start).next_back()
            && begin + piece.len() as u64 == start
            && piece.len() + payload.len() < JOIN_BELOW
        {
            let len = piece.len() + payload.len();
            *piece = P::join([piece.clone(), payload].into_iter(), len);
            return;
        }
        self.early.insert(start, payload);
    }

    fn promote_early(&mut self) {
        while let Some(entry) = self.early.first_entry() {
            if *entry.key() != self.in_order_end {
                break;
            }
            let piece = entry.remove();
            self.early_bytes -= piece.len() as u64;
            self.push_ready(piece);
        }
    }

    /// Takes the next piece in order. It counts as held until it is [released](ReceiveBuffer::release).
    pub(crate) fn take(&mut self) -> Option<P> {
        self.ready.pop_front()
    }

    pub(crate) fn release(&mut self, bytes: u64) {
        if !self.discard {
            self.read = self.in_order_end.min(self.read + bytes);
        }
    }

    pub(crate) fn pieces(&self) -> usize {
        self.ready.len() + self.early.len()
    }

    pub(crate) fn discard(&mut self) {
        self.discard = true;
        self.ready.clear();
        self.read = self.in_order_end;
    }

    pub(crate) fn is_readable(&self) -> bool {
        !self.ready.is_empty()
    }

    pub(crate) fn received(&self) -> u64 {
        self.in_order_end + self.early_bytes
    }

    /// Returns the bytes held: in total, and behind a gap.
    pub(crate) fn held(&self) -> (u64, u64) {
        (self.received() - self.read, self.early_bytes)
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.final_size == Some(self.read)
    }

    /// Whether the end is known, and everything before it has arrived.
    pub(crate) fn is_whole(&self) -> bool {
        self.final_size == Some(self.in_order_end)
    }
}
