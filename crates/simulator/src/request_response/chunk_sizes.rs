//! Sizes of the chunks of a video in each quality.

use std::sync::Arc;

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::{Rate, Time};
use ropewalk_scenario::{ChunkSizes as Config, Chunks, Frames, Preset, Video};

use crate::video_frames::FrameSizes;

/// Frame rate of a video whose chunk sizes are drawn.
const FRAME_RATE: f64 = 30.0;

/// Sizes of consecutive chunks; starts over at the end of the video.
#[derive(Debug)]
pub(super) struct ChunkSizes {
    sizes: Table,
}

#[derive(Debug)]
enum Table {
    Listed(Arc<ropewalk_scenario::Ladder>),
    /// For each chunk, its bytes per bit/s of the quality's rate.
    Drawn {
        weights: Vec<f64>,
        rates: Vec<Rate>,
    },
}

impl ChunkSizes {
    pub(super) fn new(chunks: &Chunks, lasts: Time, random: Pcg64Mcg) -> ChunkSizes {
        let sizes = match &chunks.sizes {
            Config::Trace { ladder, .. } => Table::Listed(Arc::clone(ladder)),
            Config::Drawn {
                preset,
                rates,
                chunk,
            } => Table::Drawn {
                weights: match preset {
                    Some(preset) => {
                        let lasts = lasts + chunks.buffer_max;
                        film(*preset, rates[rates.len() - 1], *chunk, lasts, random)
                    }
                    None => vec![chunk.as_secs_f64() / 8.0],
                },
                rates: rates.clone(),
            },
        };
        ChunkSizes { sizes }
    }

    pub(super) fn of(&self, chunk: u64, quality: usize) -> u64 {
        match &self.sizes {
            Table::Listed(ladder) => {
                ladder.sizes[(chunk % ladder.sizes.len() as u64) as usize][quality]
            }
            Table::Drawn { weights, rates } => {
                let weight = weights[(chunk % weights.len() as u64) as usize];
                ((rates[quality].as_bps() as f64 * weight).round() as u64).max(1)
            }
        }
    }
}

/// Returns the sizes of a film's chunks from its frames, per bit/s of the mean rate.
fn film(preset: Preset, rate: Rate, chunk: Time, lasts: Time, random: Pcg64Mcg) -> Vec<f64> {
    let video = Video {
        frames: Frames::Drawn { preset, rate },
        frame_rate: FRAME_RATE,
        rate_max: None,
        deadline: Time::ZERO,
        buffer: None,
    };
    let mut frames = FrameSizes::new(&video, lasts, random);
    let chunks = (lasts.as_nanos() / chunk.as_nanos()).max(1);
    let (mut shown, mut weights) = (0, Vec::new());
    for number in 1..=chunks {
        // A frame belongs to the chunk in which it is shown first.
        let until = ((chunk * number).as_secs_f64() * FRAME_RATE).round() as u64;
        let mut bytes = 0;
        for _ in shown..until {
            bytes += frames.size();
            frames.advance();
        }
        shown = until;
        weights.push(bytes as f64 / rate.as_bps() as f64);
    }
    weights
}

#[cfg(test)]
mod tests {
    use ropewalk_network::stream;
    use ropewalk_scenario::Quality;

    use super::*;

    fn chunks(preset: Option<Preset>) -> Chunks {
        Chunks {
            sizes: Config::Drawn {
                preset,
                rates: [500_000, 2_000_000].map(Rate::from_bps).to_vec(),
                chunk: Time::from_secs(2),
            },
            quality: Quality::Bola,
            buffer: None,
            buffer_max: Time::from_secs(10),
        }
    }

    #[test]
    fn equal_chunks_have_the_configured_rate() {
        let sizes = ChunkSizes::new(&chunks(None), Time::from_secs(60), stream(1, "x"));
        for chunk in [0, 1, 77] {
            assert_eq!(
                [0, 1].map(|quality| sizes.of(chunk, quality)),
                [125_000, 500_000]
            );
        }
    }

    #[test]
    fn film_chunks_vary_around_the_configured_rate() {
        let film = chunks(Some(Preset::Film38));
        let sizes = ChunkSizes::new(&film, Time::from_secs(1990), stream(1, "x"));
        for (quality, wanted) in [(0, 125_000.0), (1, 500_000.0)] {
            let all: Vec<f64> = (0..1000)
                .map(|chunk| sizes.of(chunk, quality) as f64)
                .collect();
            let mean = all.iter().sum::<f64>() / 1000.0;
            assert!((mean / wanted - 1.0).abs() < 1e-3, "{mean}");
            let variance = all
                .iter()
                .map(|size| (size / mean - 1.0).powi(2))
                .sum::<f64>()
                / 1000.0;
            assert!(variance.sqrt() > 0.3, "{variance}");
        }
        // The film is the same in all qualities.
        assert!((sizes.of(5, 1) as f64 / sizes.of(5, 0) as f64 - 4.0).abs() < 1e-3);
    }
}
