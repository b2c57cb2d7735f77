//! Connection level of MPTCP (RFC 8684): several TCP subflows as one connection.

pub(crate) mod data_receiver;
pub(crate) mod data_sender;
pub mod keys;
pub(crate) mod peer_window;
pub(crate) mod receive_autotuning;
