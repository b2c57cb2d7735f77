//! Records of one direction of a carrier: their numbers, and the change of their key.
//!
//! Both ends count the encrypted bytes, and change to the next key after the same record
//! ([`RecordKey::rekey`]) without any message.

use crate::noise::{NoiseError, RecordKey, TAG_LEN};

/// Bytes after which the key changes, at the end of the record: half of the 64 GiB that is common, and far
/// below the limit of AES-GCM (RFC 8446, section 5.5: 2^24.5 records of 16 KiB).
const KEY_BYTES: u64 = 1 << 35;

/// Key of one direction, and number of the next record.
#[derive(Debug)]
pub struct RecordSequence {
    key: RecordKey,
    number: u64,
    bytes: u64,
    most: u64,
}

impl RecordSequence {
    /// Creates a sequence; `number` is that of the next record.
    #[must_use]
    pub fn new(key: RecordKey, number: u64) -> RecordSequence {
        RecordSequence::changing_after(KEY_BYTES, key, number)
    }

    /// Creates a sequence with another number of bytes per key; both ends must use the same.
    #[must_use]
    pub fn changing_after(most: u64, key: RecordKey, number: u64) -> RecordSequence {
        RecordSequence {
            key,
            number,
            bytes: 0,
            most,
        }
    }

    /// Encrypts the next record in place; returns the tag to append.
    #[must_use]
    pub fn seal(&mut self, data: &mut [u8]) -> [u8; TAG_LEN] {
        let tag = self.key.seal(self.number, b"", data);
        self.advance(data.len());
        tag
    }

    /// Decrypts the next record in place; `sealed` ends with the tag. Returns the length of the plaintext,
    /// which is at the front. Errors: it is not the peer's next record.
    pub fn open(&mut self, sealed: &mut [u8]) -> Result<usize, NoiseError> {
        let len = self.key.open(self.number, b"", sealed)?.len();
        self.advance(len);
        Ok(len)
    }

    fn advance(&mut self, len: usize) {
        self.number += 1;
        self.bytes += len as u64;
        if self.bytes >= self.most {
            self.key = self.key.rekey();
            self.bytes = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::keys::SecretKey;
    use crate::noise::{Initiator, Purpose, Responder, SessionKeys};
    use proptest::prelude::*;

    fn sessions() -> [SessionKeys; 2] {
        let [near, far] = [1, 2].map(|byte| SecretKey::from_bytes([byte; 32]));
        let (mut initiator, hello) = Initiator::new(Purpose::Carrier, &near, &far.public(), b"");
        let (responder, _) = Responder::read(Purpose::Carrier, &far, &hello).unwrap();
        let (answer, theirs) = responder.answer(b"");
        [initiator.finish(&answer).unwrap().0, theirs]
    }

    #[test]
    fn key_changes_after_the_record_that_reaches_its_limit() {
        let [near, far] = sessions();
        for (seal, open) in [(near.seal, far.open), (far.seal, near.open)] {
            let mut sealing = RecordSequence::changing_after(100, seal, 1);
            let mut sealed = Vec::new();
            for byte in 0..4 {
                let mut record = vec![byte; 50];
                let tag = sealing.seal(&mut record);
                record.extend(tag);
                sealed.push(record);
            }
            // Without the change, the first two records open.
            let opens = |number: usize| {
                open.open(number as u64 + 1, b"", &mut sealed[number].clone())
                    .is_ok()
            };
            assert_eq!([0, 1, 2, 3].map(opens), [true, true, false, false]);
            let mut opening = RecordSequence::changing_after(100, open, 1);
            for (byte, mut record) in (0..).zip(sealed) {
                assert_eq!(opening.open(&mut record), Ok(50));
                assert_eq!(record[..50], [byte; 50]);
            }
        }
    }

    proptest! {
        #[test]
        fn both_ends_change_keys_at_the_same_record(
            lens in prop::collection::vec(0usize..300, 1..60),
            most in 1u64..1000,
        ) {
            let [near, far] = sessions();
            let mut sealing = RecordSequence::changing_after(most, near.seal, 1);
            let mut opening = RecordSequence::changing_after(most, far.open, 1);
            for len in lens {
                let mut record = vec![7; len];
                let tag = sealing.seal(&mut record);
                record.extend(tag);
                prop_assert_eq!(opening.open(&mut record), Ok(len));
                prop_assert!(sealing.bytes < most && sealing.bytes == opening.bytes);
            }
        }
    }
}
