//! The sizes of a video's frames: from a trace, or drawn like those of encoders whose moments are known.

use std::f64::consts::TAU;
use std::sync::Arc;

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::{Rate, Time};
use ropewalk_scenario::{Frames, Preset, Video};

use crate::uniform::uniform;

/// Most frames that are drawn; a longer run has them again.
const MOST_DRAWN: usize = 10_000_000;

/// A sequence of frames without an end.
#[derive(Clone, Debug)]
pub(crate) struct FrameSizes {
    /// Again from the first when it ends; never empty.
    sizes: Arc<[u32]>,
    at: usize,
}

impl FrameSizes {
    /// Of a video that goes on for so long; random numbers are taken where sizes are drawn.
    pub(crate) fn new(video: &Video, lasts: Time, random: Pcg64Mcg) -> FrameSizes {
        let sizes = match &video.frames {
            Frames::Trace {
                sizes, rate: None, ..
            } => Arc::clone(sizes),
            Frames::Trace {
                sizes,
                rate: Some(rate),
                ..
            } => scaled(
                &sizes
                    .iter()
                    .map(|&size| f64::from(size))
                    .collect::<Vec<_>>(),
                *rate,
                video.frame_rate,
            ),
            Frames::Drawn { preset, rate } => {
                let count = (lasts.as_secs_f64() * video.frame_rate).ceil() as usize;
                let weights = draw(
                    *preset,
                    video.frame_rate,
                    count.clamp(1, MOST_DRAWN),
                    random,
                );
                scaled(&weights, *rate, video.frame_rate)
            }
        };
        FrameSizes { sizes, at: 0 }
    }

    /// Bytes of the next frame.
    pub(crate) fn size(&self) -> u64 {
        u64::from(self.sizes[self.at])
    }

    /// Goes on to the frame after it.
    pub(crate) fn advance(&mut self) {
        self.at = (self.at + 1) % self.sizes.len();
    }
}

/// Sizes in these proportions whose mean is what a rate leaves for a frame.
fn scaled(weights: &[f64], rate: Rate, frame_rate: f64) -> Arc<[u32]> {
    let mean = rate.as_bps() as f64 / 8.0 / frame_rate;
    let factor = mean * weights.len() as f64 / weights.iter().sum::<f64>();
    let size = |weight: &f64| (weight * factor).round().clamp(1.0, f64::from(u32::MAX)) as u32;
    weights.iter().map(size).collect()
}

/// In which order the frames of a film's group leave the encoder, by their places in it: a B frame after those
/// that it refers to.
const CODING_ORDER: [u32; 16] = [0, 8, 4, 2, 1, 3, 6, 5, 7, 12, 10, 9, 11, 14, 13, 15];

/// How an encoder's frames differ: by their place in the group of pictures, by the scene, which is
/// log-normal and lasts for a while, and by a log-normal noise that changes slowly.
///
/// Of the films, weights and deviations are chosen so that the moments are those of Star Wars IV, CIF, H.264 with
/// hierarchical B frames, in the video trace library of Arizona State University (Van der Auwera, David and
/// Reisslein, IEEE Trans. Broadcasting 54(3), 2008): coefficient of variation and peak over mean of frames 1.286,
/// 11.5 (quantiser 28), 1.074, 11.1 (38), 1.140, 14.9 (48).
struct Encoder {
    /// Weight of each frame of a group.
    group: Vec<f64>,
    /// Mean length of a scene, in seconds.
    scene_s: f64,
    scene_sigma: f64,
    noise_sigma: f64,
    /// Correlation of a frame's noise with the one before.
    noise_kept: f64,
    /// No frame is larger than so many means.
    peak: f64,
}

impl Encoder {
    fn of(preset: Preset) -> Encoder {
        match preset {
            Preset::Film28 => Encoder::film(0.58, 0.587, 11.3),
            Preset::Film38 => Encoder::film(0.62, 0.506, 10.9),
            Preset::Film48 => Encoder::film(0.64, 0.611, 14.7),
            Preset::Live => Encoder {
                group: (0..30).map(|at| if at == 0 { 5.0 } else { 1.0 }).collect(),
                scene_s: 4.0,
                scene_sigma: 0.45,
                noise_sigma: 0.25,
                noise_kept: 0.8,
                peak: 13.0,
            },
        }
    }

    /// Groups of 16: an I frame, and B frames in four levels, of which each has the weight of the one
    /// above times `ratio`.
    fn film(ratio: f64, scene_sigma: f64, peak: f64) -> Encoder {
        Encoder {
            group: CODING_ORDER
                .map(|at: u32| match at {
                    0 => 1.0,
                    _ => ratio.powi(4 - at.trailing_zeros() as i32),
                })
                .to_vec(),
            scene_s: 6.0,
            scene_sigma,
            noise_sigma: 0.2,
            noise_kept: 0.9,
            peak,
        }
    }
}

/// So many frames' sizes, as shares of their mean in the long run.
fn draw(preset: Preset, frame_rate: f64, count: usize, mut random: Pcg64Mcg) -> Vec<f64> {
    let encoder = Encoder::of(preset);
    let mean = encoder.group.iter().sum::<f64>() / encoder.group.len() as f64;
    let renewed = (1.0 - encoder.noise_kept * encoder.noise_kept).sqrt();
    let mut noise = normal(&mut random);
    let (mut scene, mut left) = (1.0, 0.0);
    (0..count)
        .map(|at| {
            if left <= 0.0 {
                scene = log_normal(encoder.scene_sigma, normal(&mut random));
                left += -uniform(&mut random).ln() * encoder.scene_s * frame_rate;
            }
            left -= 1.0;
            noise = encoder.noise_kept * noise + renewed * normal(&mut random);
            let place = encoder.group[at % encoder.group.len()] / mean;
            (place * scene * log_normal(encoder.noise_sigma, noise)).min(encoder.peak)
        })
        .collect()
}

/// Of mean 1.
fn log_normal(sigma: f64, normal: f64) -> f64 {
    (sigma * normal - sigma * sigma / 2.0).exp()
}

/// Box and Muller's.
fn normal(random: &mut Pcg64Mcg) -> f64 {
    let radius = (-2.0 * uniform(random).ln()).sqrt();
    radius * (TAU * uniform(random)).cos()
}

#[cfg(test)]
mod tests {
    use ropewalk_network::stream;

    use super::*;

    /// Coefficient of variation and peak over mean.
    fn moments(sizes: &[f64]) -> (f64, f64) {
        let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
        let squares = sizes.iter().map(|size| (size - mean).powi(2)).sum::<f64>();
        let peak = sizes.iter().copied().fold(0.0, f64::max);
        ((squares / sizes.len() as f64).sqrt() / mean, peak / mean)
    }

    /// Published for 53,984 frames of Star Wars IV: frames' and groups' coefficient of variation and peak
    /// over mean. Medians of 21 videos as long.
    #[test]
    fn moments_are_those_published() {
        for (preset, published) in [
            (Preset::Film28, [1.286, 11.47, 0.619, 6.54]),
            (Preset::Film38, [1.074, 11.11, 0.523, 6.62]),
            (Preset::Film48, [1.140, 14.92, 0.650, 8.29]),
        ] {
            let mut found = [const { Vec::new() }; 4];
            for seed in 1..=21 {
                let sizes = draw(preset, 30.0, 53_984, stream(seed, "video"));
                let groups: Vec<f64> = sizes
                    .chunks_exact(16)
                    .map(|group| group.iter().sum())
                    .collect();
                let ((cov, peak), (group_cov, group_peak)) = (moments(&sizes), moments(&groups));
                for (all, value) in found.iter_mut().zip([cov, peak, group_cov, group_peak]) {
                    all.push(value);
                }
            }
            let bands = [(0.92, 1.08), (0.92, 1.08), (0.85, 1.15), (0.55, 1.10)];
            for ((mut all, published), (least, most)) in found.into_iter().zip(published).zip(bands)
            {
                all.sort_by(f64::total_cmp);
                let ratio = all[10] / published;
                assert!(
                    (least..=most).contains(&ratio),
                    "{preset:?} {published}: {}",
                    all[10]
                );
            }
        }
    }

    #[test]
    fn the_rate_is_that_of_the_run() {
        let video = |frames| Video {
            frames,
            frame_rate: 25.0,
            deadline: Time::from_millis(200),
            buffer: None,
        };
        let rate = Rate::from_bps(3_500_000);
        let drawn = video(Frames::Drawn {
            preset: Preset::Live,
            rate,
        });
        let traced = video(Frames::Trace {
            name: String::new(),
            sizes: [100, 300, 200].into(),
            rate: Some(rate),
        });
        for (video, lasts_s) in [(drawn, 75), (traced, 3)] {
            let lasts = Time::from_secs(lasts_s);
            let mut frames = FrameSizes::new(&video, lasts, stream(1, "video"));
            let mut sum = 0;
            for _ in 0..25 * lasts_s {
                sum += frames.size();
                frames.advance();
            }
            let mbps = sum as f64 * 8.0 / lasts_s as f64;
            assert!((mbps / 3.5e6 - 1.0).abs() < 1e-3, "{mbps}");
        }
    }
}
