//! What makes several TCP subflows one MPTCP connection (RFC 8684).

pub(crate) mod data_receiver;
pub(crate) mod data_sender;
pub mod keys;
mod reinjection;
