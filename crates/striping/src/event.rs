//! What an association reports to its driver, and its protocol errors.

use thiserror::Error;

use crate::{CarrierId, StreamId};

/// Something for the driver to act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// The peer opened a stream.
    StreamOpened(StreamId),
    /// There is something to [`read`](crate::Association::read) again.
    Readable(StreamId),
    /// There is room to [`write`](crate::Association::write) again.
    Writable(StreamId),
    /// The peer has finished the stream, and all of it has been read.
    StreamFinished(StreamId),
    /// The peer has reset its direction of the stream, or no carrier was up for too long: what was not read
    /// yet is lost.
    StreamReset {
        /// Which.
        stream: StreamId,
        /// Its reason.
        code: u32,
    },
    /// The peer will read no more; this end's direction has been reset.
    StreamStopped {
        /// Which.
        stream: StreamId,
        /// Its reason.
        code: u32,
    },
    /// Both directions have ended and all is acknowledged: no state of the stream is left.
    StreamClosed(StreamId),
    /// A carrier was probed and has not answered in time. What it has in flight is sent again on others; the
    /// driver may dial its link again.
    CarrierSuspected(CarrierId),
    /// A suspected carrier was heard again.
    CarrierTrusted(CarrierId),
    /// The association has ended: the peer closed it, or no carrier was up for too long ([`NO_CARRIER`]).
    Closed {
        /// Why.
        code: u32,
    },
}

/// Error code if no carrier was up for [`Config::timeout`](crate::Config::timeout).
pub const NO_CARRIER: u32 = 0xffff_0001;

/// Error code for a stream that exceeds the peer's limit.
pub const TOO_MANY_STREAMS: u32 = 0xffff_0002;

/// Error code of a stream that was reset since the association took too much memory.
pub const OUT_OF_MEMORY: u32 = 0xffff_0005;

/// The peer violated the protocol; the association cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ProtocolError {
    /// It acknowledged more frames than were sent.
    #[error("{acknowledged} frames acknowledged of {sent} sent")]
    Acknowledged {
        /// The count that it acknowledged.
        acknowledged: u64,
        /// The count that was sent.
        sent: u64,
    },
    /// It sent more of a stream than the window allows.
    #[error("stream {stream}: {received} bytes sent, its window allows {limit}")]
    Window {
        /// The stream.
        stream: u32,
        /// Distinct bytes received.
        received: u64,
        /// The limit.
        limit: u64,
    },
    /// It sent beyond the end of a stream, or changed where the end is.
    #[error("stream {stream}: data up to {offset} past its end, or another end")]
    FinalSize {
        /// The stream.
        stream: u32,
        /// The offending offset.
        offset: u64,
    },
    /// A frame of a stream that only this end could have opened, and has not.
    #[error("stream {0} was never opened")]
    Unopened(u32),
    /// It opened streams far beyond the limit.
    #[error("stream {0} is far beyond those that may be open")]
    TooManyStreams(u32),
    /// It set a carrier's terms, which only the initiator may do.
    #[error("terms from the end that did not dial")]
    Terms,
    /// It sent a stream in far more fragments than any sender needs.
    #[error("stream {0} in too many small pieces")]
    Pieces(u32),
}
