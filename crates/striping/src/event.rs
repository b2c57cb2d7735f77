//! Events that an association reports to its driver, and its protocol errors.

use thiserror::Error;

use crate::{CarrierId, StreamId};

/// An event for the driver to act on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Event {
    /// The peer opened a stream.
    StreamOpened(StreamId),
    /// There are data to [`read`](crate::Association::read) again.
    Readable(StreamId),
    /// There is space to [`write`](crate::Association::write) again.
    Writable(StreamId),
    /// The peer has finished the stream, and all of it has been read.
    StreamFinished(StreamId),
    /// The peer has reset its direction of the stream, or no carrier was up for too long. Unread data are
    /// lost.
    StreamReset {
        /// Stream number.
        stream: StreamId,
        /// Error code of the peer.
        code: u32,
    },
    /// The peer reads no more; this end's direction has been reset.
    StreamStopped {
        /// Stream number.
        stream: StreamId,
        /// Error code of the peer.
        code: u32,
    },
    /// Both directions have ended, all data are acknowledged, and no state of the stream is left.
    StreamClosed(StreamId),
    /// A carrier has not answered a probe in time. Its data in flight are retransmitted on others; the driver
    /// may dial its link again.
    CarrierSuspected(CarrierId),
    /// A suspected carrier was heard again.
    CarrierTrusted(CarrierId),
    /// The association has ended: the peer closed it, or no carrier was up for too long ([`NO_CARRIER`]).
    Closed {
        /// Error code.
        code: u32,
    },
}

/// Error code if no carrier was up for [`Config::timeout`](crate::Config::timeout).
pub const NO_CARRIER: u32 = 0xffff_0001;

/// Error code for a stream that exceeds the peer's limit.
pub const TOO_MANY_STREAMS: u32 = 0xffff_0002;

/// Error code of a stream that was reset to free memory.
pub const OUT_OF_MEMORY: u32 = 0xffff_0005;

/// A violation of the protocol by the peer; the association cannot go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum ProtocolError {
    /// It acknowledged more frames than were sent.
    #[error("peer acknowledged {acknowledged} frames, but only {sent} were sent")]
    Acknowledged {
        /// Acknowledged frames.
        acknowledged: u64,
        /// Sent frames.
        sent: u64,
    },
    /// It sent more of a stream than the window allows.
    #[error("stream {stream}: peer sent {received} bytes, the window allows {limit}")]
    Window {
        /// Stream number.
        stream: u32,
        /// Distinct bytes received.
        received: u64,
        /// Limit in bytes.
        limit: u64,
    },
    /// It sent beyond the end of a stream, or moved the end.
    #[error("stream {stream}: peer sent data up to {offset}, past the end, or moved the end")]
    FinalSize {
        /// Stream number.
        stream: u32,
        /// The offending offset.
        offset: u64,
    },
    /// It sent a frame of a stream that only this end could have opened, and has not.
    #[error("stream {0}: peer sent a frame, but the stream was never opened")]
    Unopened(u32),
    /// It opened streams far beyond the limit.
    #[error("stream {0}: number far beyond the limit of open streams")]
    TooManyStreams(u32),
    /// It set a carrier's terms, which only the initiator may do.
    #[error("peer set the terms of a carrier, which only the dialling end may do")]
    Terms,
    /// It sent a stream in far more fragments than any sender needs.
    #[error("stream {0}: peer sent too many small fragments")]
    Pieces(u32),
}
