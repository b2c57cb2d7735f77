//! Which packets the link loses, at random.

use rand_pcg::Pcg64Mcg;

use crate::config::Loss;
use crate::uniform::uniform;

/// A loss model with its state and its stream of random numbers.
#[derive(Clone, Debug)]
pub(crate) struct LossModel {
    loss: Loss,
    state: State,
    stream: Pcg64Mcg,
}

/// Where a Gilbert-Elliott channel is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Good,
    Bad,
}

impl LossModel {
    /// From its configuration; a channel starts in the good state.
    pub(crate) fn new(loss: Loss, stream: Pcg64Mcg) -> LossModel {
        LossModel {
            loss: match loss {
                Loss::Bernoulli(0.0) => Loss::None,
                other => other,
            },
            state: State::Good,
            stream,
        }
    }

    /// Whether the next packet is lost.
    ///
    /// No loss draws nothing, Bernoulli one number a packet, Gilbert-Elliott
    /// two in either state: one for the transition and one for the packet,
    /// whose fate depends on the state *before* the transition, as in netem.
    #[inline]
    pub(crate) fn loses(&mut self) -> bool {
        match self.loss {
            Loss::None => false,
            Loss::Bernoulli(probability) => uniform(&mut self.stream) < probability,
            Loss::GilbertElliott { p, r, h, k } => {
                let (leave, delivered, other) = match self.state {
                    State::Good => (p, k, State::Bad),
                    State::Bad => (r, h, State::Good),
                };
                if uniform(&mut self.stream) < leave {
                    self.state = other;
                }
                uniform(&mut self.stream) >= delivered
            }
        }
    }
}
