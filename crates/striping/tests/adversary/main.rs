//! Peers that have the keys and send whatever costs most: memory is bounded, and returns.

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
        assert!(outcome.left < 8 * MIB, "seed {seed}: {outcome:?}");
    }
}
