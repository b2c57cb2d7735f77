//! Named random streams: each user has its own, so adding one does not affect the draws of another.

use rand_pcg::Pcg64Mcg;
use sha2::{Digest, Sha256};

use crate::config::LinkConfig;
use crate::link::Link;

/// Returns the random stream of this name (such as `link/wifi/loss`) for this seed.
pub fn stream(seed: u64, name: &str) -> Pcg64Mcg {
    let mut hash = Sha256::new();
    hash.update(seed.to_be_bytes());
    hash.update(name.as_bytes());
    let mut state = [0; 16];
    state.copy_from_slice(&hash.finalize()[..16]);
    Pcg64Mcg::new(u128::from_be_bytes(state))
}

/// Creates both directions of a link with their random streams. Every run with the same seed loses the same
/// packets.
pub(crate) fn directions<P: Copy>(link: &LinkConfig, seed: u64) -> [Link<P>; 2] {
    let round_trip = link.round_trip();
    [(&link.forward, ""), (&link.reverse, "/reverse")].map(|(direction, suffix)| {
        let draws = |of: &str| stream(seed, &format!("link/{}{suffix}/{of}", link.name));
        Link::new(
            direction,
            round_trip,
            &link.down,
            draws("loss"),
            draws("jitter"),
            draws("slot"),
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_core::Rng;

    #[test]
    fn a_stream_depends_on_seed_and_name_alone() {
        let draw = |seed, name| stream(seed, name).next_u64();
        assert_eq!(draw(7, "link/wifi/loss"), draw(7, "link/wifi/loss"));
        assert_ne!(draw(7, "link/wifi/loss"), draw(8, "link/wifi/loss"));
        assert_ne!(draw(7, "link/wifi/loss"), draw(7, "link/lte/loss"));
    }
}
