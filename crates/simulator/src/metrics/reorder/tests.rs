use std::collections::{BTreeSet, VecDeque};

use rand_core::Rng;
use rand_pcg::Pcg64Mcg;

use super::*;

/// Metrics of arrivals that are numbered from 1, as in the RFCs.
fn metrics(threshold: u32, arrivals: &[u64]) -> ReorderingMetrics {
    let mut reorder = Reorder::new(threshold);
    for number in arrivals {
        reorder.arrival(number - 1);
    }
    reorder.metrics()
}

fn counts<T: Copy>(shares: &[(T, f64)], total: u32) -> Vec<(T, f64)> {
    let total = f64::from(total);
    shares.iter().map(|&(k, s)| (k, s * total)).collect()
}

/// RFC 5236, section 8 a, tables 1 to 4.
#[test]
fn rfc_5236_without_loss() {
    let metrics = metrics(4, &[1, 4, 2, 5, 3, 6, 7, 8]);
    let density = [(-2, 0.125), (-1, 0.125), (0, 0.5), (1, 0.125), (2, 0.125)];
    assert_eq!(metrics.density, density);
    assert_eq!(metrics.buffer_density, [0.625, 0.25, 0.125]);
}

/// RFC 5236, section 8 b, tables 5 and 6.
#[test]
fn rfc_5236_with_a_loss() {
    let metrics = metrics(3, &[1, 2, 4, 5, 6, 7]);
    assert_eq!(metrics.density, [(0, 1.0)]);
    let sixth = 1.0 / 6.0;
    assert_eq!(metrics.buffer_density, [0.5, sixth, sixth, sixth]);
}

/// RFC 5236, section 8 c, tables 7 and 8.
#[test]
fn rfc_5236_with_a_duplicate() {
    let metrics = metrics(2, &[1, 3, 2, 3, 4, 5]);
    assert_eq!(metrics.density, [(-1, 0.2), (0, 0.6), (1, 0.2)]);
    assert_eq!(metrics.buffer_density, [0.8, 0.2]);
}

/// RFC 5236, section 4, examples 4 and 5: the reorder sets.
#[test]
fn rfc_5236_reorder_sets() {
    let without_loss = metrics(4, &[1, 2, 3, 5, 4, 6]).density;
    assert_eq!(counts(&without_loss, 6), [(-1, 1.0), (0, 4.0), (1, 1.0)]);
    let with_loss = metrics(4, &[1, 2, 5, 3, 6, 2]).density;
    let expected = [(-2, 1.0), (0, 3.0), (2, 1.0)];
    assert_eq!(counts(&with_loss, 5), expected);
}

/// RFC 5236, section 6: the effect of a rogue packet is limited to its share.
#[test]
fn rfc_5236_discards_a_rogue_packet() {
    let mut arrivals = vec![1, 5430];
    arrivals.extend(2..=100);
    let metrics = metrics(4, &arrivals);
    assert_eq!(metrics.density, [(0, 1.0)]);
}

/// The RFC's pseudocode would forget packet 9 here, and wait for it once more.
#[test]
fn the_packet_that_fills_the_buffer_is_kept() {
    // 4 is given up when 9 arrives; 5 to 7 leave, 9 stays and waits for 8.
    let metrics = metrics(3, &[1, 2, 3, 5, 6, 7, 9, 8, 10]);
    let occupancies = [0, 0, 0, 1, 2, 3, 1, 0, 0];
    let share = |k| occupancies.iter().filter(|&&o| o == k).count() as f64 / 9.0;
    assert_eq!(metrics.buffer_density, [0, 1, 2, 3].map(share));
}

/// RFC 4737, section 7.
#[test]
fn rfc_4737_extents() {
    // One packet late: 4 has 4.
    let late = metrics(8, &[1, 2, 3, 5, 6, 7, 8, 4, 9, 10]);
    assert_eq!(late.extents, [0, 0, 0, 1]);
    assert_eq!(late.reordered_ratio, 0.1);
    // One packet early: 5 has 1, 6 has 2.
    let early = metrics(8, &[1, 2, 3, 4, 7, 5, 6, 8, 9, 10]);
    assert_eq!(early.extents, [1, 1]);
    assert_eq!(early.reordered_ratio, 0.2);
    // A block late: 4 has 4, 5 has 5, 6 has 6.
    let block = metrics(8, &[1, 2, 3, 7, 8, 9, 10, 4, 5, 6, 11]);
    assert_eq!(block.extents, [0, 0, 0, 1, 1, 1]);
    assert_eq!(block.reordered_ratio, 3.0 / 11.0);
    // Two events, and a loss or two: 4 has 2, 5 has 3, 11 has 2.
    let two = [1, 2, 3, 6, 7, 4, 5, 8, 9, 10, 12, 13, 11, 14, 15, 16];
    let two = metrics(8, &two);
    assert_eq!(two.extents, [0, 2, 1]);
    assert_eq!(two.reordered_ratio, 3.0 / 16.0);
}

#[test]
fn duplicates_count_nowhere() {
    let once = metrics(8, &[1, 2, 4, 3, 5]);
    let twice = metrics(8, &[1, 1, 2, 4, 2, 4, 3, 1, 5, 3, 5]);
    assert_eq!(once, twice);
}

#[test]
fn nothing_has_no_shares() {
    let nothing = metrics(8, &[]);
    assert_eq!(nothing.reordered_ratio, 0.0);
    assert!(nothing.extents.is_empty() && nothing.density.is_empty());
    assert!(nothing.buffer_density.is_empty());
}

#[test]
fn joining_ignores_packets_sent_before() {
    let mut reorder = Reorder::joining(4);
    for number in [1000, 1003, 998, 1001, 999, 1004, 1002, 1005, 1006, 1007] {
        reorder.arrival(number);
    }
    assert_eq!(reorder.metrics(), metrics(4, &[1, 4, 2, 5, 3, 6, 7, 8]));
}

#[test]
fn extents_are_bounded() {
    let mut reorder = Reorder::new(64);
    let mut stream = Pcg64Mcg::new(5);
    for number in 0..1_000_000_u64 {
        // A third is lost, and a tenth arrives up to 100,000 late.
        let draw = stream.next_u64();
        match draw % 30 {
            0..10 => {}
            10..13 => reorder.arrival(number.saturating_sub(draw >> 32) % 100_000),
            _ => reorder.arrival(number),
        }
    }
    assert!(reorder.extents.counts.len() <= 2 * (1 << 16));
}

/// Random sequences with late and early packets, losses and duplicates.
fn sequences() -> impl Iterator<Item = (u32, Vec<u64>)> {
    let mut stream = Pcg64Mcg::new(11);
    (0..2_000).map(move |_| {
        let mut below = |n: u64| stream.next_u64() % n;
        let threshold = below(9) as u32;
        let spread = below(12) + 1;
        let mut arrivals = Vec::new();
        for number in 0..below(60) {
            match below(10) {
                0 => {}
                1 => arrivals.extend([(number + below(spread), number); 2]),
                2 => arrivals.push((number + below(40), number)),
                _ => arrivals.push((number + below(spread), number)),
            }
        }
        arrivals.sort_by_key(|&(when, _)| when);
        (
            threshold,
            arrivals.into_iter().map(|(_, number)| number).collect(),
        )
    })
}

/// RFC 5236's pseudocode of section 7.1, verbatim.
fn rfc_5236_density(threshold: u32, arrivals: &[u64]) -> Vec<(i64, f64)> {
    let most = i64::from(threshold);
    let mut coming = arrivals.iter().map(|&number| number as i64);
    let (mut index, mut window, mut buffer) = (0_i64, VecDeque::new(), BTreeSet::new());
    let mut frequencies = std::collections::BTreeMap::new();
    while window.len() <= threshold as usize {
        match coming.next() {
            Some(number) if window.contains(&number) => {}
            Some(number) => window.push_back(number),
            None => break,
        }
    }
    while !window.is_empty() {
        if window.contains(&index) || buffer.contains(&index) {
            let number = window.pop_front().unwrap();
            let displacement = index - number;
            if displacement.abs() <= most {
                *frequencies.entry(displacement).or_insert(0) += 1;
                buffer.remove(&index);
                if displacement < 0 {
                    buffer.insert(number);
                }
                index += 1;
            }
            let new = coming.find(|number| {
                *number >= index && !buffer.contains(number) && !window.contains(number)
            });
            window.extend(new);
        } else {
            let least = window.iter().chain(&buffer).min().unwrap();
            index = if index < *least { *least } else { index + 1 };
        }
    }
    let total: u32 = frequencies.values().sum();
    let share = |(displacement, count)| (displacement, f64::from(count) / f64::from(total));
    frequencies.into_iter().map(share).collect()
}

#[test]
fn density_is_the_rfcs_pseudocode() {
    for (threshold, arrivals) in sequences() {
        let mut reorder = Reorder::new(threshold);
        arrivals.iter().for_each(|&number| reorder.arrival(number));
        let expected = rfc_5236_density(threshold, &arrivals);
        assert_eq!(
            reorder.metrics().density,
            expected,
            "{threshold} {arrivals:?}"
        );
    }
}

#[test]
fn extents_are_their_definition() {
    for (_, arrivals) in sequences() {
        let mut unique = Vec::new();
        for &number in &arrivals {
            if !unique.contains(&number) {
                unique.push(number);
            }
        }
        let extents: Vec<usize> = (0..unique.len())
            .filter_map(|i| Some(i - (0..i).find(|&j| unique[j] > unique[i])?))
            .collect();
        let mut expected = vec![0; extents.iter().max().copied().unwrap_or(0)];
        extents.iter().for_each(|extent| expected[extent - 1] += 1);

        let mut reorder = Reorder::new(8);
        arrivals.iter().for_each(|&number| reorder.arrival(number));
        let metrics = reorder.metrics();
        assert_eq!(metrics.extents, expected, "{arrivals:?}");
        let ratio = extents.len() as f64 / unique.len().max(1) as f64;
        assert_eq!(metrics.reordered_ratio, ratio);
    }
}
