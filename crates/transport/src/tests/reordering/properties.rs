//! Whatever is answered, everything arrives.

use proptest::prelude::*;

use super::*;
use crate::CongestionConfig;
use crate::algorithm::Declared;
use crate::tests::properties::check;

/// Answers that make no sense of what they see.
fn rash(kind: u8) -> impl FnMut(&AckSigns, Option<Time>) -> Answer + Clone + Send + Sync {
    let mut acks = 0;
    move |signs, _| {
        acks += 1;
        let undo = signs.before.map(|before| Undo::exact(&before));
        let freeze = |resends| Freeze {
            until: signs.now + ms(70),
            resends,
        };
        match kind {
            0 => Answer {
                undo,
                ..Answer::NOTHING
            },
            1 => Answer::NOTHING.raise(acks),
            2 => Answer {
                undo,
                threshold: Some(acks),
                send_new: acks % 3,
                ..Answer::NOTHING
            },
            3 if acks % 50 == 0 => Answer::NOTHING.freeze(freeze(false)),
            4 => Answer::NOTHING.freeze(freeze(true)),
            5 => Answer {
                undo: undo.map(|undo| Undo {
                    ends_recovery: acks % 2 == 0,
                    ..undo
                }),
                freeze: (acks % 7 == 0).then(|| freeze(acks % 2 == 0)),
                ..Answer::NOTHING
            },
            _ => Answer {
                send_new: 2,
                ..Answer::NOTHING
            },
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn everything_arrives_whatever_is_answered(
        kind in 0u8..7,
        seed in any::<u64>(),
        loss in 0u64..150, late in 0u64..300, twice in 0u64..50,
        sack in any::<bool>(), timestamps in any::<bool>(), prr in any::<bool>(),
        rack in any::<bool>(), tail_loss_probe in any::<bool>(),
        congestion in prop::sample::select(CongestionConfig::defaults()),
        delays in prop::collection::vec(1u64..150, 1..4),
        bytes in 1u64..150_000,
    ) {
        let config = Config {
            congestion, sack, timestamps, prr, rack, tail_loss_probe,
            ..mptcp()
        };
        let (config, _) = answering(&config, rash(kind));
        check(&config, &delays, seed, loss, late, twice, bytes);
    }
}
