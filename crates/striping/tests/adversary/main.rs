//! Adversaries with valid keys that send the most expensive input: memory is bounded, and returned.

mod aggregation;
mod draw;
mod end;
mod memory;
mod tunnel;

const MIB: usize = 1 << 20;

#[test]
fn tunnel_memory_is_bounded_under_adversaries_and_returns() {
    for seed in 0..6 {
        let outcome = tunnel::run(seed, 20_000);
        assert!(outcome.most < 64 * MIB, "seed {seed}: {outcome:?}");
        assert!(outcome.left < 4 * MIB, "seed {seed}: {outcome:?}");
    }
}

#[test]
fn association_memory_is_bounded_under_adversaries_and_returns() {
    for seed in 0..6 {
        let outcome = aggregation::run(seed, 20_000);
        let bound = aggregation::BOUND as usize;
        assert!(outcome.most < bound + bound / 2, "seed {seed}: {outcome:?}");
        assert!(outcome.left < MIB, "seed {seed}: {outcome:?}");
    }
}
