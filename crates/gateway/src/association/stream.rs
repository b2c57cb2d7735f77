//! Stream of an association: its two directions, and the relaying of a TCP connection over it.

use std::io::{self, IoSlice};
use std::mem;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::{Buf, BufMut, Bytes, BytesMut};
use ropewalk_striping::StreamId;
use socket2::SockRef;
use tokio::net::TcpStream;
use tokio::sync::Notify;

use super::{Association, StreamEntry};
use crate::classes::Urgency;
use crate::fair_rate_limiter::{FairRateLimiter, Sender};
use crate::lock::lock;

/// Bytes read from a socket at once: a carrier's largest frame.
const READ: usize = 64 << 10;

/// Maximum taken from a stream for one write.
const WRITE: usize = 256 << 10;
const PIECES: usize = 16;

/// Error code of a stream that was dropped by its owner.
pub const ABANDONED: u32 = 1;

/// Error code of a stream whose TCP connection failed.
pub const BROKEN: u32 = 2;

/// Stream of an association. Dropping it resets the directions that have not ended.
pub struct Stream {
    association: Association,
    id: StreamId,
    readable: Arc<Notify>,
    writable: Arc<Notify>,
    /// Written data are delivered even after the stream is dropped.
    finished: AtomicBool,
    put_back: Mutex<Bytes>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StreamError {
    /// The peer reset it, or the association has ended.
    #[error("reset with code {0}")]
    Reset(u32),
    #[error("stopped with code {0}")]
    Stopped(u32),
}

impl Stream {
    pub(super) fn new(association: Association, id: StreamId) -> Stream {
        let mut state = association.0.lock();
        let entry: &mut StreamEntry = state.streams.entry(id).or_insert_with(StreamEntry::new);
        let (readable, writable) = (Arc::clone(&entry.readable), Arc::clone(&entry.writable));
        drop(state);
        Stream {
            association,
            id,
            readable,
            writable,
            finished: AtomicBool::new(false),
            put_back: Mutex::default(),
        }
    }

    pub fn id(&self) -> StreamId {
        self.id
    }

    pub(crate) fn carrier_address(&self) -> Option<SocketAddr> {
        self.association.carrier_address()
    }

    /// Sets its target, for status, and its urgency.
    pub(crate) fn set_target(&self, target: String, urgency: Urgency) {
        if let Some(entry) = self.association.0.lock().streams.get_mut(&self.id) {
            entry.target = Some(target);
            entry.urgency = urgency;
        }
    }

    /// Waits for data and appends them to `pieces`; `false` at the end. Errors: the peer reset the stream.
    pub async fn read(&self, pieces: &mut Vec<Bytes>) -> Result<bool, StreamError> {
        let before = pieces.len();
        let is_more = self.take(0, pieces).await?;
        self.release(pieces[before..].iter().map(Bytes::len).sum());
        Ok(is_more)
    }

    /// As [`read`](Stream::read), but the taken bytes stay in the receive window until they are released, so
    /// the peer cannot replace them by more. First releases `released` bytes that were taken before. Errors:
    /// the peer reset the stream.
    pub(crate) async fn take(
        &self,
        released: usize,
        pieces: &mut Vec<Bytes>,
    ) -> Result<bool, StreamError> {
        let mut released = released as u64;
        let put_back = mem::take(&mut *lock(&self.put_back));
        if !put_back.is_empty() {
            self.release(mem::take(&mut released) as usize);
            pieces.push(put_back);
            return Ok(true);
        }
        loop {
            let (got, end) = self.association.0.step(|state, now| {
                state.core.release(now, self.id, mem::take(&mut released));
                let before = pieces.len();
                let mut len = 0;
                while len < WRITE
                    && pieces.len() < PIECES
                    && let Some(piece) = state.core.take(self.id)
                {
                    len += piece.len();
                    pieces.push(piece);
                }
                (pieces.len() > before, self.read_end(state))
            });
            if got {
                return Ok(true);
            }
            // The release may have ended the stream, so the end is looked up again.
            match end.or_else(|| self.read_end(&self.association.0.lock())) {
                Some(Ok(())) => return Ok(false),
                Some(Err(code)) => return Err(StreamError::Reset(code)),
                None => self.readable.notified().await,
            }
        }
    }

    /// Releases taken bytes: the peer may send as many more.
    pub(crate) fn release(&self, bytes: usize) {
        if bytes > 0 {
            let step = |state: &mut super::State, now| {
                state.core.release(now, self.id, bytes as u64);
            };
            self.association.0.step(step);
        }
    }

    /// Waits until the peer has reset the stream or the association has ended.
    pub(crate) async fn reset_by_peer(&self) -> StreamError {
        loop {
            if let Some(Err(code)) = self.read_end(&self.association.0.lock()) {
                return StreamError::Reset(code);
            }
            self.readable.notified().await;
        }
    }

    fn read_end(&self, state: &super::State) -> Option<Result<(), u32>> {
        state.streams.get(&self.id).and_then(|entry| entry.read_end)
    }

    /// Reads an item of at most `most` bytes at the front of the stream. `parse` returns the item and its
    /// length, or that it is incomplete. `None` if there is no valid item.
    pub async fn read_first<T, E>(
        &self,
        most: usize,
        parse: impl Fn(&[u8]) -> Result<Option<(T, usize)>, E>,
    ) -> Option<T> {
        let mut pieces = Vec::new();
        let mut bytes = BytesMut::new();
        loop {
            if let Some((first, len)) = parse(&bytes).ok()? {
                bytes.advance(len);
                self.release(len);
                let mut put_back = lock(&self.put_back);
                *put_back = bytes.freeze();
                return Some(first);
            }
            if bytes.len() > most || !self.take(0, &mut pieces).await.ok()? {
                return None;
            }
            for piece in pieces.drain(..) {
                bytes.extend_from_slice(&piece);
            }
        }
    }

    /// Waits until the whole payload is accepted. Errors: the peer stopped reading.
    pub async fn write(&self, mut payload: Bytes) -> Result<(), StreamError> {
        loop {
            let stopped = self.association.0.step(|state, now| {
                let entry = state.streams.get_mut(&self.id);
                if let Some(code) = entry.as_ref().and_then(|entry| entry.stopped) {
                    return Some(code);
                }
                let deadline =
                    (entry.as_ref()).and_then(|entry| entry.urgency.deadline(now, entry.written));
                let taken = match deadline {
                    Some(deadline) => state.core.write_by(self.id, &mut payload, deadline),
                    None => state.core.write(self.id, &mut payload),
                };
                if let Some(entry) = entry {
                    entry.written += taken as u64;
                }
                None
            });
            if let Some(code) = stopped {
                return Err(StreamError::Stopped(code));
            }
            if payload.is_empty() {
                return Ok(());
            }
            self.writable.notified().await;
        }
    }

    /// Writes the whole payload if the buffer has space; returns whether. Errors: the peer stopped reading.
    pub(crate) fn write_now(&self, mut payload: Bytes) -> Result<bool, StreamError> {
        let written = self.association.0.step(|state, _| {
            let entry = state.streams.get_mut(&self.id);
            if let Some(code) = entry.as_ref().and_then(|entry| entry.stopped) {
                return Err(code);
            }
            let has_room = state
                .core
                .room(self.id)
                .is_some_and(|room| room >= payload.len() as u64);
            if has_room {
                let taken = state.core.write(self.id, &mut payload);
                if let Some(entry) = entry {
                    entry.written += taken as u64;
                }
            }
            Ok(has_room)
        });
        written.map_err(StreamError::Stopped)
    }

    /// Returns the number of written bytes that have not been sent yet.
    pub(crate) fn unsent(&self) -> u64 {
        let state = self.association.0.lock();
        let known = state.core.stream_statistics(self.id);
        known.map_or(0, |known| known.waiting.as_u64())
    }

    /// Waits for buffer space; returns how many bytes can be written at once.
    async fn room(&self) -> Result<usize, StreamError> {
        loop {
            match self.room_now()? {
                0 => self.writable.notified().await,
                room => return Ok(room),
            }
        }
    }

    /// Returns how many bytes can be written at once, 0 if the buffer is full.
    fn room_now(&self) -> Result<usize, StreamError> {
        let (room, stopped) = self.association.0.step(|state, _| {
            let entry = state.streams.get(&self.id);
            let stopped = entry.and_then(|entry| entry.stopped);
            (state.core.room(self.id), stopped)
        });
        match stopped {
            Some(code) => Err(StreamError::Stopped(code)),
            None => Ok(room.unwrap_or(0).min(READ as u64) as usize),
        }
    }

    pub fn finish(&self) {
        self.finished.store(true, Ordering::Relaxed);
        self.association
            .0
            .step(|state, _| state.core.finish(self.id));
    }

    /// Resets the written direction: the peer's reader gets an error.
    pub fn reset(&self, code: u32) {
        self.association
            .0
            .step(|state, _| state.core.reset(self.id, code));
    }

    /// Stops reading: the peer's writer gets an error.
    pub fn stop(&self, code: u32) {
        self.association
            .0
            .step(|state, _| state.core.stop(self.id, code));
    }

    /// Relays between a TCP connection and the stream until both directions have ended, within the given
    /// rates. A stream reset, or the death of this process, resets the connection.
    pub async fn carry(self, socket: &TcpStream, rates: Option<[&FairRateLimiter; 2]>) {
        let unlimited = FairRateLimiter::new(None);
        let [up, down] = rates.unwrap_or([&unlimited; 2]);
        // From here on, closing the socket resets the connection, so that nobody takes a part for the whole.
        // The kernel does so too when this process is killed.
        let _ = SockRef::from(socket).set_linger(Some(Duration::ZERO));
        let (up, down) = (self.carry_up(socket, up), self.carry_down(socket, down));
        if tokio::try_join!(up, down).is_ok() {
            let _ = SockRef::from(socket).set_linger(None);
        }
    }

    /// Copies from the connection to the stream. Reads no more than the stream can buffer.
    async fn carry_up(
        &self,
        socket: &TcpStream,
        rate: &FairRateLimiter,
    ) -> Result<(), StreamError> {
        let mut sender = Sender::default();
        loop {
            let ready = async {
                self.room().await?;
                let ready = socket.readable().await;
                let turn = rate.turn(&mut sender).await;
                // Memory may have become short while nothing was readable.
                Ok::<_, StreamError>((ready, turn, self.room_now()?))
            };
            let (ready, mut turn, room) = match ready.await {
                Ok((.., 0)) => continue,
                Ok(ready) => ready,
                // The stream's other direction may still be in use.
                Err(StreamError::Stopped(_)) => return Ok(()),
                Err(reset) => return Err(reset),
            };
            let room = room.min(turn.left());
            let mut buffer = BytesMut::with_capacity(room);
            let read = ready.and_then(|()| socket.try_read_buf(&mut (&mut buffer).limit(room)));
            match read {
                Ok(0) => {
                    self.finish();
                    return Ok(());
                }
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => continue,
                Err(_) => {
                    self.reset(BROKEN);
                    return Ok(());
                }
            }
            turn.take(buffer.len());
            drop(turn);
            match self.write(compact(buffer)).await {
                Ok(()) => {}
                Err(StreamError::Stopped(_)) => return Ok(()),
                Err(reset) => return Err(reset),
            }
        }
    }

    async fn carry_down(
        &self,
        socket: &TcpStream,
        rate: &FairRateLimiter,
    ) -> Result<(), StreamError> {
        let mut sender = Sender::default();
        let mut pieces = Vec::with_capacity(PIECES);
        let mut written = 0;
        while self.take(written, &mut pieces).await? {
            written = pieces.iter().map(Bytes::len).sum();
            let writing = async {
                let mut left = written;
                while left > 0 {
                    let mut turn = rate.turn(&mut sender).await;
                    let len = left.min(turn.left());
                    turn.take(len);
                    drop(turn);
                    write_front(socket, &mut pieces, len).await?;
                    left -= len;
                }
                io::Result::Ok(())
            };
            // The target may never read again; then only the peer can end the stream.
            let done = tokio::select! {
                biased;
                done = writing => done,
                reset = self.reset_by_peer() => return Err(reset),
            };
            if done.is_err() {
                self.stop(BROKEN);
                return Ok(());
            }
        }
        // The connection may be gone already.
        let _ = SockRef::from(socket).shutdown(std::net::Shutdown::Write);
        Ok(())
    }
}

/// Takes the content of a read buffer; copies short content, so that the buffer becomes free.
fn compact(buffer: BytesMut) -> Bytes {
    match buffer.len() < buffer.capacity() / 4 {
        true => Bytes::copy_from_slice(&buffer),
        false => buffer.freeze(),
    }
}

impl Drop for Stream {
    fn drop(&mut self) {
        self.association.0.step(|state, _| {
            if !self.finished.load(Ordering::Relaxed) {
                state.core.reset(self.id, ABANDONED);
            }
            state.core.stop(self.id, ABANDONED);
            state.streams.remove(&self.id);
        });
    }
}

async fn write_front(
    socket: &TcpStream,
    pieces: &mut Vec<Bytes>,
    mut len: usize,
) -> io::Result<()> {
    let mut done = 0;
    while len > 0 {
        let mut slices = [IoSlice::new(&[]); PIECES];
        let (mut count, mut left) = (0, len);
        for (slice, piece) in slices.iter_mut().zip(&pieces[done..]) {
            let part = &piece[..piece.len().min(left)];
            *slice = IoSlice::new(part);
            count += usize::from(left > 0);
            left -= part.len();
        }
        match socket.try_write_vectored(&slices[..count]) {
            Ok(mut written) => {
                len -= written;
                while done < pieces.len() && written >= pieces[done].len() {
                    written -= pieces[done].len();
                    done += 1;
                }
                if written > 0 {
                    pieces[done].advance(written);
                }
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => socket.writable().await?,
            Err(error) => return Err(error),
        }
    }
    pieces.drain(..done);
    Ok(())
}
