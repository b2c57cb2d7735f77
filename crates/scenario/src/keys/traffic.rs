//! The keys of `[traffic]`, and of a flow's `traffic`.

use ropewalk_quantities::Bytes;

use super::{Default, Kind, Shape, key};
use crate::limits;
use crate::model::Traffic;

/// `[traffic]`.
pub(crate) static TRAFFIC: Shape = Shape {
    keys: &[&[
        key(
            "kind",
            Kind::Word(Traffic::kinds),
            Default::Toml("\"bulk\""),
            "As much as the transport takes (udp: so that the first link or radio is never idle), or messages at constant or exponentially distributed spacings.",
        ),
        key(
            "size",
            Kind::Bytes {
                least: Bytes::new(1),
                most: limits::LARGEST_TRANSFER,
            },
            Default::Words("goes on until the duration ends"),
            "How much a bulk transfer sends.",
        ),
        key(
            "rate",
            Kind::Rate,
            Default::Words("required for cbr and poisson"),
            "Application bits per second; for poisson, in the mean.",
        ),
        key(
            "message",
            Kind::Bytes {
                least: Bytes::new(1),
                most: limits::LARGEST_BUFFER,
            },
            Default::Toml("\"1000 B\""),
            "Size of a message of cbr and poisson.",
        ),
    ]],
    alternatives: &[],
};
