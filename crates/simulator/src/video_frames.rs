//! Frame sizes of a video: from a trace, or drawn with the moments of known encoders.

use std::sync::Arc;

use rand_pcg::Pcg64Mcg;
use ropewalk_quantities::{Rate, Time};
use ropewalk_scenario::{Frames, Preset, Video};

use crate::random::{log_normal, normal, uniform};

/// Maximum number of drawn frames; longer runs repeat them.
const MAX_DRAWN: usize = 10_000_000;

#[derive(Clone, Debug)]
pub(crate) struct FrameSizes {
    /// Repeated from the start; never empty.
    sizes: Arc<[u32]>,
    at: usize,
}

impl FrameSizes {
    /// Creates the sizes for a video of this duration. Uses random numbers only if sizes are drawn.
    pub(crate) fn new(video: &Video, lasts: Time, random: Pcg64Mcg) -> FrameSizes {
        let (weights, rate) = match &video.frames {
            Frames::Trace { sizes, rate, .. } => match (rate, video.rate_max) {
                (None, None) => {
                    let sizes = Arc::clone(sizes);
                    return FrameSizes { sizes, at: 0 };
                }
                (rate, _) => (sizes.iter().map(|&size| f64::from(size)).collect(), *rate),
            },
            Frames::Drawn { preset, rate } => {
                let count = (lasts.as_secs_f64() * video.frame_rate).ceil() as usize;
                let count = count.clamp(1, MAX_DRAWN);
                let weights: Vec<f64> = draw(*preset, video.frame_rate, count, random);
                (weights, Some(*rate))
            }
        };
        let sizes = scaled(&weights, rate, video.rate_max, video.frame_rate);
        FrameSizes { sizes, at: 0 }
    }

    pub(crate) fn size(&self) -> u64 {
        u64::from(self.sizes[self.at])
    }

    pub(crate) fn advance(&mut self) {
        self.at = (self.at + 1) % self.sizes.len();
    }
}

/// Scales sizes to the mean frame of a rate, if given. In a second that would exceed `most`, all frames are
/// reduced by the same factor.
fn scaled(weights: &[f64], rate: Option<Rate>, most: Option<Rate>, frame_rate: f64) -> Arc<[u32]> {
    let of_a_frame = |rate: Rate| rate.as_bps() as f64 / 8.0 / frame_rate;
    let second = (frame_rate.round() as usize).max(1);
    let seconds: Vec<(f64, f64)> = (weights.chunks(second))
        .map(|frames| {
            let most = most.map_or(f64::INFINITY, |most| of_a_frame(most) * frames.len() as f64);
            (frames.iter().sum(), most)
        })
        .collect();
    let whole = |factor: f64| -> f64 {
        let each = seconds.iter().map(|(sum, most)| (factor * sum).min(*most));
        each.sum()
    };
    let factor = rate.map_or(1.0, |rate| {
        let wanted = of_a_frame(rate) * weights.len() as f64;
        let mut low = wanted / weights.iter().sum::<f64>();
        if whole(low) >= wanted * (1.0 - EXACT) {
            return low;
        }
        // The other seconds get the bytes that the largest seconds lose.
        let mut high = low;
        for _ in 0..DOUBLINGS {
            if whole(high) >= wanted {
                break;
            }
            high *= 2.0;
        }
        while high - low > EXACT * high {
            let middle = f64::midpoint(low, high);
            match whole(middle) < wanted {
                true => low = middle,
                false => high = middle,
            }
        }
        high
    });
    let sizes = weights
        .chunks(second)
        .zip(&seconds)
        .flat_map(|(frames, (sum, most))| {
            let factor = factor.min(most / sum);
            let size =
                move |weight: &f64| (weight * factor).round().clamp(1.0, f64::from(u32::MAX));
            frames.iter().map(move |weight| size(weight) as u32)
        });
    sizes.collect()
}

const EXACT: f64 = 1e-9;
/// Doublings of the factor after which all seconds are at their maximum.
const DOUBLINGS: u32 = 40;

/// Coding order of the frames in a group of pictures of a film, by display position: a B frame follows the
/// frames that it references.
const CODING_ORDER: [u32; 16] = [0, 8, 4, 2, 1, 3, 6, 5, 7, 12, 10, 9, 11, 14, 13, 15];

/// Model of an encoder's frame sizes: weight by position in the group of pictures, times a log-normal
/// factor per scene, times log-normal noise that changes slowly.
///
/// The parameters for films match the moments of Star Wars IV, CIF, H.264 with hierarchical B frames (Van
/// der Auwera, David and Reisslein, IEEE Trans. Broadcasting 54(3), 2008; video trace library of Arizona
/// State University): coefficient of variation and peak to mean ratio of frames 1.286, 11.5 (quantiser 28),
/// 1.074, 11.1 (38), 1.140, 14.9 (48).
struct Encoder {
    group: Vec<f64>,
    scene_s: f64,
    scene_sigma: f64,
    noise_sigma: f64,
    /// Autocorrelation of the noise from frame to frame.
    noise_kept: f64,
    /// Largest frame, in means.
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

    /// Returns groups of 16: an I frame, and B frames in four levels, each with `ratio` times the weight of
    /// the level above.
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

/// Returns the sizes of `count` frames, relative to their long-term mean.
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

#[cfg(test)]
mod tests {
    use ropewalk_network::stream;

    use super::*;

    /// Coefficient of variation and peak to mean ratio.
    fn moments(sizes: &[f64]) -> (f64, f64) {
        let mean = sizes.iter().sum::<f64>() / sizes.len() as f64;
        let squares = sizes.iter().map(|size| (size - mean).powi(2)).sum::<f64>();
        let peak = sizes.iter().copied().fold(0.0, f64::max);
        ((squares / sizes.len() as f64).sqrt() / mean, peak / mean)
    }

    /// Published for 53,984 frames of Star Wars IV: coefficient of variation (frames, groups) and peak to
    /// mean ratio, compared with medians of 21 videos of the same length.
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
            rate_max: None,
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

    #[test]
    fn no_second_has_more_than_the_bound_and_the_mean_stays() {
        let rate = Rate::from_bps(3_500_000);
        let most = Rate::from_bps(6_000_000);
        let video = |rate_max| Video {
            frames: Frames::Drawn {
                preset: Preset::Film28,
                rate,
            },
            frame_rate: 25.0,
            rate_max,
            deadline: Time::from_millis(200),
            buffer: None,
        };
        let seconds = |rate_max| -> Vec<f64> {
            let lasts = Time::from_secs(200);
            let mut frames = FrameSizes::new(&video(rate_max), lasts, stream(1, "video"));
            let of_a_second = |_| {
                let mut sum = 0;
                for _ in 0..25 {
                    sum += frames.size();
                    frames.advance();
                }
                sum as f64 * 8.0
            };
            (0..200).map(of_a_second).collect()
        };
        let (free, bound) = (seconds(None), seconds(Some(most)));
        let mean = |of: &[f64]| of.iter().sum::<f64>() / of.len() as f64;
        assert!(free.iter().any(|second| *second > 8e6), "{free:?}");
        assert!(bound.iter().all(|second| *second < 6.001e6), "{bound:?}");
        assert!(
            (mean(&bound) / 3.5e6 - 1.0).abs() < 1e-3,
            "{}",
            mean(&bound)
        );
        // Smaller seconds grow by the same factor.
        let factors = free.iter().zip(&bound).filter(|(_, bound)| **bound < 5.9e6);
        let factors: Vec<f64> = factors.map(|(free, bound)| bound / free).collect();
        assert!(
            factors.len() > 50
                && factors
                    .iter()
                    .all(|one| (one / factors[0] - 1.0).abs() < 1e-2)
        );
        assert!(factors[0] > 1.0);
    }
}
