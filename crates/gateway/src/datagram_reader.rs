//! Reading of datagrams from a stream.

use bytes::Bytes;

use crate::association::Stream;
use crate::datagram::{self, Datagram};

/// Reader that keeps the incomplete datagram between two reads.
#[derive(Debug, Default)]
pub(crate) struct DatagramReader {
    pieces: Vec<Bytes>,
    waiting: Vec<u8>,
}

impl DatagramReader {
    /// Waits for data, and calls `each` with the datagrams that are complete now. Returns false once the
    /// stream has ended or is malformed. Dropping the future loses nothing.
    pub(crate) async fn read(
        &mut self,
        stream: &Stream,
        mut each: impl FnMut(Datagram<'_>),
    ) -> bool {
        let Ok(true) = stream.read(&mut self.pieces).await else {
            return false;
        };
        for piece in self.pieces.drain(..) {
            self.waiting.extend_from_slice(&piece);
        }
        let mut done = 0;
        loop {
            match datagram::parse(&self.waiting[done..]) {
                Ok(Some((datagram, len))) => {
                    done += len;
                    each(datagram);
                }
                Ok(None) => break,
                Err(_) => return false,
            }
        }
        self.waiting.drain(..done);
        true
    }
}
