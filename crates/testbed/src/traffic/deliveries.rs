//! Data received by the server's application, and their delays.

use ropewalk_quantities::Time;
use ropewalk_scenario::Traffic;
use ropewalk_simulator::{
    ApplicationSummary, Histogram, MessageSchedule, RequestResponse, Timeliness,
};

use super::connection_plan::ConnectionPlan;
use super::session::WriteLog;

#[derive(Debug)]
pub(crate) struct Deliveries {
    warmup: Time,
    size: Option<u64>,
    /// Due times of messages; `None`: a bulk client's log of writes.
    schedule: Option<MessageSchedule>,
    traffic: Traffic,
    timeliness: Option<Timeliness>,
    /// Size of a bulk transfer's pieces with a measured delay; and the end of the next such piece
    /// or message.
    unit: u64,
    next_mark: u64,
    pub(crate) bytes: u64,
    pub(crate) warmup_bytes: u64,
    pub(crate) delays: Histogram,
    pub(crate) last: Option<Time>,
    longest_gap: Time,
}

impl Deliveries {
    pub(crate) fn new(plan: &ConnectionPlan) -> Deliveries {
        let schedule = plan.schedule();
        let unit = plan.unit().max(1);
        Deliveries {
            warmup: plan.warmup,
            size: plan.size(),
            traffic: plan.traffic.clone(),
            timeliness: Timeliness::of(&plan.traffic, Time::ZERO, plan.warmup),
            next_mark: schedule.as_ref().map_or(unit, MessageSchedule::message),
            schedule,
            unit,
            bytes: 0,
            warmup_bytes: 0,
            delays: Histogram::new(),
            last: None,
            longest_gap: Time::ZERO,
        }
    }

    pub(crate) fn read(&mut self, now: Time, bytes: u64, writes: &mut WriteLog) {
        self.count(now, bytes);
        let end = self.bytes;
        while self.next_mark <= end || self.is_complete() && self.next_mark < end + self.unit {
            if let Some(schedule) = &mut self.schedule {
                let (due, size) = (schedule.next(), schedule.message());
                schedule.advance();
                self.next_mark += schedule.message();
                if let Some(timeliness) = &mut self.timeliness {
                    timeliness.arrived(now, size, due);
                }
                self.delay(now, Some(due));
            } else {
                let written = writes.written_at(self.next_mark.min(end) - 1);
                self.delay(now, written);
                self.next_mark += self.unit;
            }
        }
    }

    /// Records requested data read now; the reader may request more.
    pub(crate) fn answered(&mut self, now: Time, bytes: u64, requests: &mut RequestResponse) {
        self.count(now, bytes);
        requests.delivered(now, self.bytes);
        while let Some(answer) = requests.take_arrived() {
            self.delay(now, Some(answer.written));
        }
    }

    pub(crate) fn datagram(&mut self, now: Time, bytes: u64, due: Option<Time>) {
        self.count(now, bytes);
        self.delay(now, due);
    }

    fn count(&mut self, now: Time, bytes: u64) {
        self.bytes += bytes;
        if now < self.warmup {
            self.warmup_bytes = self.bytes;
        }
        self.longest_gap = self.longest_gap(now).unwrap_or(Time::ZERO);
        self.last = Some(now);
    }

    fn delay(&mut self, now: Time, written: Option<Time>) {
        if let Some(written) = written
            && now >= self.warmup
        {
            self.delays.record(now.saturating_sub(written));
        }
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.size == Some(self.bytes)
    }

    /// Timeliness of messages with a deadline, or of a video, until `end`.
    pub(crate) fn application(&self, end: Time) -> ApplicationSummary {
        let (Some(timeliness), Some(schedule)) = (&self.timeliness, &self.schedule) else {
            return ApplicationSummary::default();
        };
        let mut schedule = schedule.clone();
        let undelivered = std::iter::from_fn(|| {
            let next = (schedule.message(), schedule.next());
            schedule.advance();
            Some(next)
        });
        let late = timeliness.late(end, undelivered);
        late.summary(&self.traffic, &self.delays, timeliness.stall(end))
    }

    /// Longest gap between deliveries after the warm-up and the first delivery, for a run that ends
    /// at `end`; `None` without deliveries.
    pub(crate) fn longest_gap(&self, end: Time) -> Option<Time> {
        let gap = end.saturating_sub(self.last?.max(self.warmup));
        Some(self.longest_gap.max(gap))
    }
}
