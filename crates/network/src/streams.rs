//! Named random streams: each user draws from its own, so that adding one shifts no other's draws.

use rand_pcg::Pcg64Mcg;
use sha2::{Digest, Sha256};

use crate::config::LinkConfig;
use crate::link::Link;

/// The stream of this name (such as `link/wifi/loss`) in the run of this seed.
pub fn stream(seed: u64, name: &str) -> Pcg64Mcg {
    let mut hash = Sha256::new();
    hash.update(seed.to_be_bytes());
    hash.update(name.as_bytes());
    let mut state = [0; 16];
    state.copy_from_slice(&hash.finalize()[..16]);
    Pcg64Mcg::new(u128::from_be_bytes(state))
}

/// Both directions of a link, there and back, with the streams that are theirs in the run of this
/// seed: whoever carries packets over them loses the same ones.
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
