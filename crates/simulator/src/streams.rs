//! Named random streams: each user draws from its own, so that adding one shifts no other's draws.

use rand_pcg::Pcg64Mcg;
use sha2::{Digest, Sha256};

/// The stream of this name (such as `link/wifi/loss`) in the run of this seed.
pub(crate) fn stream(seed: u64, name: &str) -> Pcg64Mcg {
    let mut hash = Sha256::new();
    hash.update(seed.to_be_bytes());
    hash.update(name.as_bytes());
    let mut state = [0; 16];
    state.copy_from_slice(&hash.finalize()[..16]);
    Pcg64Mcg::new(u128::from_be_bytes(state))
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
