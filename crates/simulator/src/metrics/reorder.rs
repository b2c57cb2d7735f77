//! Reordering metrics: how far packets arrive out of their order of transmission.

mod buffer_density;
mod density;
mod extents;
#[cfg(test)]
mod tests;

use crate::outcome::ReorderingMetrics;
use buffer_density::BufferDensity;
use density::Density;
use extents::Extents;

/// Metrics of RFC 5236 and RFC 4737, over packets numbered in the order of first transmission.
///
/// Memory is bounded for any number of packets.
#[derive(Clone, Debug)]
pub(crate) struct Reorder {
    /// Packets with a smaller number do not belong to the sample; `None` until the first arrival.
    first: Option<u64>,
    density: Density,
    buffer_density: BufferDensity,
    extents: Extents,
}

impl Reorder {
    /// Creates metrics of a stream from its first packet, which has number 0.
    ///
    /// Beyond the threshold, RFC 5236's densities count a packet as lost: it is both the largest
    /// displacement and the largest buffer occupancy.
    pub(crate) fn new(threshold: u32) -> Reorder {
        Reorder {
            first: Some(0),
            density: Density::new(threshold),
            buffer_density: BufferDensity::new(threshold),
            extents: Extents::new(),
        }
    }

    /// Creates metrics of a stream from now on. The next arrival is the first of the sample; packets sent
    /// before it are ignored.
    pub(crate) fn joining(threshold: u32) -> Reorder {
        Reorder {
            first: None,
            ..Reorder::new(threshold)
        }
    }

    #[inline]
    pub(crate) fn arrival(&mut self, number: u64) {
        let first = *self.first.get_or_insert(number);
        if let Some(number) = number.checked_sub(first) {
            self.density.arrival(number);
            self.buffer_density.arrival(number);
            self.extents.arrival(number);
        }
    }

    pub(crate) fn metrics(&self) -> ReorderingMetrics {
        ReorderingMetrics {
            reordered_ratio: self.extents.reordered_ratio(),
            extents: self.extents.counts.to_vec(),
            density: self.density.shares(),
            buffer_density: self.buffer_density.shares(),
        }
    }
}
