//! A player of adaptive streaming: it requests the next chunk of a video when its buffer can hold it.

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::Time;
use ropewalk_scenario::{Chunks, Quality};

use super::chunk_sizes::ChunkSizes;
use super::request::{Request, ResponseStats};
use crate::outcome::{ChunksSummary, Stall};
use crate::playout::Playout;

/// Only one chunk is requested at a time.
const URGENCY: u8 = 3;

/// BOLA's gamma p: the value of playing a chunk of any quality, besides its utility; as in its authors'
/// evaluation.
const PLAYS: f64 = 5.0;

/// Fractions of the player's buffer. Below the first, the deadline of a chunk is half its playing time, so
/// that the buffer grows. Above the second, it exceeds the playing time, as MP-DASH extends deadlines (Han
/// et al., CoNEXT 2016, 5).
const LOW: f64 = 0.5;
const HIGH: f64 = 0.8;

#[derive(Debug)]
pub(super) struct Player {
    sizes: ChunkSizes,
    /// Rates of the qualities, bit/s.
    rates: Vec<f64>,
    quality: Quality,
    chunk: Time,
    most: Time,
    playout: Playout,
    number: u64,
    /// When to request it; `None` while one is being loaded.
    pub(super) next: Option<Time>,
    last: Option<usize>,
    /// Start of the measurements; then chunks that arrived, the sum of their rates, and changes of quality.
    from: Time,
    count: u64,
    rate_sum: f64,
    switches: u64,
}

impl Player {
    /// Creates a player that plays from `start` on, for at most this long.
    pub(super) fn new(
        chunks: &Chunks,
        [start, from]: [Time; 2],
        lasts: Time,
        random: Pcg64Mcg,
    ) -> Player {
        let chunk = chunks.chunk();
        Player {
            sizes: ChunkSizes::new(chunks, lasts, random),
            rates: chunks
                .rates()
                .iter()
                .map(|rate| rate.as_bps() as f64)
                .collect(),
            quality: chunks.quality,
            chunk,
            most: chunks.buffer_max,
            playout: Playout::new(chunks.buffer.unwrap_or(chunk), chunk, start),
            number: 0,
            next: Some(start),
            last: None,
            from,
            count: 0,
            rate_sum: 0.0,
            switches: 0,
        }
    }

    pub(super) fn next_request(&mut self, now: Time) -> Option<Request> {
        self.next.take_if(|next| *next <= now)?;
        let buffered = self.playout.buffered(now);
        let quality = match self.quality {
            Quality::Fixed(quality) => quality as usize,
            Quality::Bola => self.bola(buffered),
        };
        let changed = self
            .last
            .replace(quality)
            .is_some_and(|last| last != quality);
        if now >= self.from {
            self.switches += u64::from(changed);
        }
        let size = self.sizes.of(self.number, quality);
        self.number += 1;
        Some(Request {
            tag: quality as u32,
            size,
            urgency: URGENCY,
            span: Some(self.time_for_chunk(buffered)),
        })
    }

    pub(super) fn on_response(&mut self, now: Time) {
        self.playout.frame(now);
        if now >= self.from {
            self.count += 1;
            self.rate_sum += self.last.map_or(0.0, |quality| self.rates[quality]);
        }
        let over = (self.playout.buffered(now) + self.chunk).saturating_sub(self.most);
        // If playback waits for more than the buffer holds, the next chunk must be requested at once.
        self.next = Some(match self.playout.is_playing() {
            true => now + over,
            false => now,
        });
    }

    pub(super) fn buffered(&mut self, now: Time) -> Time {
        self.playout.buffered(now)
    }

    /// Returns the deadline of the next chunk, with this much in the buffer.
    fn time_for_chunk(&self, buffered: Time) -> Time {
        let (buffered, most) = (buffered.as_secs_f64(), self.most.as_secs_f64());
        let chunk = self.chunk.as_secs_f64();
        Time::from_secs_f64(match buffered < LOW * most {
            true => chunk / 2.0,
            false => chunk + (buffered - HIGH * most).max(0.0),
        })
    }

    /// Returns the best quality with this much in the buffer, by BOLA-BASIC (Spiteri, Urgaonkar and
    /// Sitaraman, INFOCOM 2016; IEEE/ACM Trans. Networking 28(4), 2020). It maximises (V (v + p) - Q) / S.
    /// The utility v is the logarithm of the rate, and V selects the highest quality when the buffer lacks
    /// one chunk.
    fn bola(&self, buffered: Time) -> usize {
        let utility = |rate: f64| (rate / self.rates[0]).ln();
        let room = (self.most.saturating_sub(self.chunk)).as_secs_f64();
        let highest = utility(self.rates[self.rates.len() - 1]);
        let weight = room / (highest + PLAYS);
        let worth = |rate: f64| (weight * (utility(rate) + PLAYS) - buffered.as_secs_f64()) / rate;
        let best = |best: usize, quality: usize| match worth(self.rates[quality])
            >= worth(self.rates[best])
        {
            true => quality,
            false => best,
        };
        (0..self.rates.len()).fold(0, best)
    }

    /// Returns the summary of players of the same video.
    pub(super) fn summary<'a>(
        players: impl Iterator<Item = &'a Player>,
        end: Time,
        responses: &ResponseStats,
    ) -> ChunksSummary {
        let (mut count, mut rates, mut switches, mut number) = (0, 0.0, 0, 0u32);
        let mut stall = Stall {
            count: 0,
            total_s: 0.0,
            share: 0.0,
        };
        for player in players {
            number += 1;
            count += player.count;
            rates += player.rate_sum;
            switches += player.switches;
            let own = player.playout.end(end);
            stall.count += own.count;
            stall.total_s += own.total_s;
            stall.share += own.share;
        }
        stall.share /= f64::from(number.max(1));
        ChunksSummary {
            count,
            rate_mbps: rates / count.max(1) as f64 / 1e6,
            switches,
            late_percent: responses.late.percent(),
            late_bytes: responses.late.late_bytes,
            response_s: responses.response_s,
            stall,
        }
    }
}

#[cfg(test)]
mod tests {
    use ropewalk_network::stream;
    use ropewalk_quantities::Rate;
    use ropewalk_scenario::ChunkSizes as Config;

    use super::*;

    fn player(rates: &[u64], quality: Quality) -> Player {
        let chunks = Chunks {
            sizes: Config::Drawn {
                preset: None,
                rates: rates
                    .iter()
                    .map(|kbps| Rate::from_bps(kbps * 1000))
                    .collect(),
                chunk: Time::from_secs(4),
            },
            quality,
            buffer: None,
            buffer_max: Time::from_secs(20),
        };
        Player::new(
            &chunks,
            [Time::ZERO; 2],
            Time::from_secs(60),
            stream(1, "x"),
        )
    }

    #[test]
    fn player_requests_chunks_while_buffer_has_space() {
        let s = Time::from_secs;
        let mut player = player(&[1000], Quality::Fixed(0));
        let mut requested = Vec::new();
        // Each chunk takes a second, so the buffer gains three seconds per chunk from the first on.
        let mut now = Time::ZERO;
        while now < s(40) {
            let request = player.next_request(now).expect("its time has come");
            assert_eq!(request.size, 500_000);
            assert_eq!(player.next_request(now), None, "one at a time");
            requested.push(now.as_secs_f64() as u64);
            player.on_response(now + s(1));
            now = player.next.expect("one more");
        }
        // At 6 the buffer holds 24 - 5 = 19: one more would exceed it by 3.
        assert_eq!(requested[..9], [0, 1, 2, 3, 4, 5, 9, 13, 17]);
        assert_eq!(player.playout.end(s(40)).count, 0);
    }

    #[test]
    fn chunk_deadline_is_short_while_buffer_is_low() {
        let player = player(&[1000], Quality::Fixed(0));
        let times =
            [0, 9, 10, 16, 18].map(|buffered| player.time_for_chunk(Time::from_secs(buffered)));
        assert_eq!(times, [2, 2, 4, 4, 6].map(Time::from_secs));
    }

    #[test]
    fn player_with_more_buffer_requests_higher_quality() {
        let player = player(&[500, 1000, 2000, 4000], Quality::Bola);
        let qualities: Vec<usize> = (0..=20)
            .map(|buffered| player.bola(Time::from_secs(buffered)))
            .collect();
        assert_eq!((qualities[0], qualities[16]), (0, 3));
        assert!(qualities.is_sorted(), "{qualities:?}");
        assert!(
            [1, 2].iter().all(|middle| qualities.contains(middle)),
            "{qualities:?}"
        );
    }

    #[test]
    fn late_chunk_stalls_playback() {
        let s = Time::from_secs;
        let mut player = player(&[1000], Quality::Fixed(0));
        for (requested, on_response) in [(0, 1), (1, 8), (8, 9)] {
            assert!(player.next_request(s(requested)).is_some());
            player.on_response(s(on_response));
        }
        // It plays from 1 to 5, and again from 8.
        let stall = player.playout.end(s(10));
        assert_eq!((stall.count, stall.total_s), (1, 3.0));
        // A full buffer must not block the request that playback waits for.
        assert_eq!(player.next, Some(s(9)));
    }
}
