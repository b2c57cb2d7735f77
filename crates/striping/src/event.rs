//! What an association tells its driver, and what it refuses.

use thiserror::Error;

use crate::{CarrierId, StreamId};

/// Something that the driver should act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// The other end opened a stream.
    StreamOpened(StreamId),
    /// There is something to [`read`](crate::Association::read), after there was nothing.
    Readable(StreamId),
    /// There is room to [`write`](crate::Association::write), after it was refused.
    Writable(StreamId),
    /// The other end wrote no more, and all that it wrote has been read.
    StreamFinished(StreamId),
    /// The other end gave its direction of the stream up, or no carrier lived for too long: what was
    /// not read yet is lost.
    StreamReset {
        /// Which.
        stream: StreamId,
        /// Its reason.
        code: u32,
    },
    /// The other end will read no more; this end's direction has been reset.
    StreamStopped {
        /// Which.
        stream: StreamId,
        /// Its reason.
        code: u32,
    },
    /// Both directions have ended, all that was sent is acknowledged: nothing is left of the stream.
    StreamClosed(StreamId),
    /// A carrier was asked and nothing is heard from it. What it holds goes out elsewhere; the
    /// driver may dial its link anew.
    CarrierSuspected(CarrierId),
    /// It is heard again.
    CarrierTrusted(CarrierId),
    /// The association has ended: the other end closed it, or no carrier lived for too long
    /// ([`NO_CARRIER`]).
    Closed {
        /// Why.
        code: u32,
    },
}

/// Code of what ends since no carrier lived for [`Config::timeout`](crate::Config::timeout).
pub const NO_CARRIER: u32 = 0xffff_0001;

/// Code of what a peer refuses since it has too many streams.
pub const TOO_MANY_STREAMS: u32 = 0xffff_0002;

/// The other end broke the protocol; the association cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ProtocolError {
    /// It acknowledges more than was sent.
    #[error("{acknowledged} frames acknowledged of {sent} sent")]
    Acknowledged {
        /// What it says.
        acknowledged: u64,
        /// What there was.
        sent: u64,
    },
    /// It sent more of a stream than its window allows.
    #[error("stream {stream}: {received} bytes sent, its window allows {limit}")]
    Window {
        /// Of which.
        stream: u32,
        /// Distinct bytes that came.
        received: u64,
        /// What was allowed.
        limit: u64,
    },
    /// It sent past the end of a stream, or moved the end.
    #[error("stream {stream}: data up to {offset} past its end, or another end")]
    FinalSize {
        /// Of which.
        stream: u32,
        /// Where.
        offset: u64,
    },
    /// A frame of a stream that this end would have to have opened, and has not.
    #[error("stream {0} was never opened")]
    Unopened(u32),
    /// It opened streams far beyond those it may have.
    #[error("stream {0} is far beyond those that may be open")]
    TooManyStreams(u32),
    /// It says on what terms a carrier is used, which the end that dialled does.
    #[error("terms from the end that did not dial")]
    Terms,
    /// A stream in so many small pieces that nobody sends them by need.
    #[error("stream {0} in too many small pieces")]
    Pieces(u32),
}
