//! Random choices of an adversary, all from one seed.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;

pub struct Draw(Pcg64Mcg);

impl Draw {
    pub fn new(seed: u64) -> Draw {
        Draw(Pcg64Mcg::seed_from_u64(seed))
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0.next_u64() % end
    }

    pub fn one<T: Copy>(&mut self, of: &[T]) -> T {
        of[self.below(of.len() as u64) as usize]
    }

    /// A number of any magnitude up to this many bits.
    pub fn magnitude(&mut self, bits: u64) -> u64 {
        let bits = self.below(bits + 1);
        self.below(1 << bits)
    }

    pub fn once_in(&mut self, times: u64) -> bool {
        self.below(times) == 0
    }
}
