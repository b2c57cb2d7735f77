use ropewalk_quantities::Time;

use crate::SubflowState;

/// Delivery rate of a subflow over about one round trip, smoothed with a gain of 1/4.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DeliveryRate {
    since: Time,
    bytes: u64,
}

impl DeliveryRate {
    pub(crate) fn starting(now: Time) -> DeliveryRate {
        DeliveryRate {
            since: now,
            bytes: 0,
        }
    }

    #[inline]
    pub(crate) fn measure(&mut self, now: Time, bytes: u64, state: &mut SubflowState) {
        self.bytes += bytes;
        let span = now - self.since;
        if span >= state.srtt.max(Time::from_millis(10)) {
            let rate = self.bytes as f64 / span.as_secs_f64();
            state.delivery_rate = if state.delivery_rate == 0.0 {
                rate
            } else {
                state.delivery_rate + (rate - state.delivery_rate) / 4.0
            };
            *self = DeliveryRate::starting(now);
        }
    }
}
