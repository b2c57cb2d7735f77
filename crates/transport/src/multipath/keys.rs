//! Keys, tokens and HMACs of the handshake and of addresses (RFC 8684, 3.1, 3.2 and 3.4.1).

use core::net::IpAddr;

use hmac::{Hmac, KeyInit, Mac};
use sha2::{Digest, Sha256};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Keys {
    pub(crate) own: u64,
    pub(crate) remote: u64,
    nonce_seed: u64,
}

impl Keys {
    pub(crate) fn new(own: u64, nonce_seed: u64) -> Keys {
        Keys {
            own,
            remote: 0,
            nonce_seed,
        }
    }

    pub(crate) fn nonce(&self, subflow: usize) -> u32 {
        token(self.nonce_seed ^ subflow as u64)
    }

    /// HMAC of a join that this side sends.
    pub(crate) fn own_hmac(&self, own_nonce: u32, remote_nonce: u32) -> [u8; 32] {
        join_hmac(self.own, self.remote, own_nonce, remote_nonce)
    }

    /// HMAC of a join that the peer must send.
    pub(crate) fn remote_hmac(&self, own_nonce: u32, remote_nonce: u32) -> [u8; 32] {
        join_hmac(self.remote, self.own, remote_nonce, own_nonce)
    }
}

/// Token of a connection: the first 32 bits of the key's SHA-256.
pub fn token(key: u64) -> u32 {
    let hash = Sha256::digest(key.to_be_bytes());
    u32::from_be_bytes([hash[0], hash[1], hash[2], hash[3]])
}

/// Initial data sequence number: the last 64 bits of the key's SHA-256.
pub fn initial_data_sequence_number(key: u64) -> u64 {
    let hash = Sha256::digest(key.to_be_bytes());
    let mut last = [0; 8];
    last.copy_from_slice(&hash[24..]);
    u64::from_be_bytes(last)
}

/// HMAC-SHA256 of a join: the key is the sender's key before the receiver's, the message the sender's random
/// number before the receiver's (RFC 8684, 3.2).
pub fn join_hmac(
    sender_key: u64,
    receiver_key: u64,
    sender_nonce: u32,
    receiver_nonce: u32,
) -> [u8; 32] {
    let mut mac = keyed(sender_key, receiver_key);
    mac.update(&sender_nonce.to_be_bytes());
    mac.update(&receiver_nonce.to_be_bytes());
    mac.finalize().into_bytes().into()
}

/// HMAC of an ADD_ADDR, its last 64 bits: the key is the sender's key before the receiver's, the message the
/// address's identifier, the address and the port, zero if it has none (RFC 8684, 3.4.1).
pub fn add_address_hmac(
    sender_key: u64,
    receiver_key: u64,
    address_id: u8,
    address: IpAddr,
    port: Option<u16>,
) -> u64 {
    let mut mac = keyed(sender_key, receiver_key);
    mac.update(&[address_id]);
    match address {
        IpAddr::V4(address) => mac.update(&address.octets()),
        IpAddr::V6(address) => mac.update(&address.octets()),
    }
    mac.update(&port.unwrap_or(0).to_be_bytes());
    let hmac: [u8; 32] = mac.finalize().into_bytes().into();
    let mut last = [0; 8];
    last.copy_from_slice(&hmac[24..]);
    u64::from_be_bytes(last)
}

fn keyed(sender_key: u64, receiver_key: u64) -> Hmac<Sha256> {
    let mut key = [0; 16];
    key[..8].copy_from_slice(&sender_key.to_be_bytes());
    key[8..].copy_from_slice(&receiver_key.to_be_bytes());
    <Hmac<Sha256> as KeyInit>::new_from_slice(&key).expect("HMAC takes keys of any length")
}

/// The first 64 bits, as in MP_JOIN's SYN-ACK.
pub(crate) fn truncate_64(hmac: &[u8; 32]) -> u64 {
    let mut first = [0; 8];
    first.copy_from_slice(&hmac[..8]);
    u64::from_be_bytes(first)
}

/// The first 160 bits, as in MP_JOIN's third segment.
pub(crate) fn truncate_160(hmac: &[u8; 32]) -> [u8; 20] {
    let mut first = [0; 20];
    first.copy_from_slice(&hmac[..20]);
    first
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    // Captured between two Linux 6.18 hosts (tests/reference/mptcp-handshake-vectors.json).
    const KEY_A: u64 = 0x91aa_2012_8dac_826f;
    const KEY_B: u64 = 0x46fe_363d_617f_8852;

    #[test]
    fn tokens_and_initial_data_sequence_numbers_equal_linux() {
        assert_eq!(token(KEY_A), 0x7c03_7e83);
        assert_eq!(token(KEY_B), 0x173b_55b7);
        assert_eq!(initial_data_sequence_number(KEY_A), 0xf83b_d545_ff2a_fafc);
        assert_eq!(initial_data_sequence_number(KEY_B), 0xc1b8_a2ae_0831_2623);
    }

    /// RFC 8684, 3.2: a nonce protects a join against replay, so none may repeat.
    #[test]
    fn join_nonces_are_unique() {
        let ends = [KEY_A, KEY_B, KEY_A ^ KEY_B].map(|seed| Keys::new(KEY_A, seed));
        let nonces: BTreeSet<u32> = ends
            .iter()
            .flat_map(|keys| (0..64).map(|subflow| keys.nonce(subflow)))
            .collect();
        assert_eq!(nonces.len(), 3 * 64);
    }

    #[test]
    fn join_hmacs_as_linux_has_them() {
        let (rand_a, rand_b) = (0x96d6_0b8d, 0xbbeb_4c2b);
        let from_b = join_hmac(KEY_B, KEY_A, rand_b, rand_a);
        assert_eq!(truncate_64(&from_b), 0xcb38_1e20_ebbb_30cd);
        let from_a = truncate_160(&join_hmac(KEY_A, KEY_B, rand_a, rand_b));
        let hex: String = from_a.iter().map(|byte| format!("{byte:02x}")).collect();
        assert_eq!(hex, "c3fc76fc85d3159b8dc3535510d2f8c929f2b002");
    }
}
