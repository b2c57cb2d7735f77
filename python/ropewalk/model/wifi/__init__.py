"""Formulas for IEEE 802.11b, a and g: times, one link, one cell, many hops, frame errors.

Times are in whole microseconds (`_us`), as in the standard's tables; rates in Mbit/s; powers in
dBm; ratios in dB. An MPDU is a frame from MAC header to checksum: an IP packet and 36 bytes.
Functions raise `ValueError` for arguments out of bounds.

The formulas cover the distributed coordination function with fixed rates. Each states effects that
only `simulate` has, such as collisions with hidden stations.

References
----------
IEEE Std 802.11-2020, clauses 10.3 (DCF), 15 (DSSS), 16 (HR/DSSS), 17 (OFDM), 18 (ERP).
"""

from ...support.deprecation import renamed
from .bianchi import SaturatedCell, saturated_cell
from .ceiling import Ceiling, ceilings, conflicts
from .fading import faded_frame_error
from .frame_error import bit_success, frame_error, snr_needed_db
from .propagation import friis_loss_db, log_distance_loss_db, noise_dbm, two_ray_loss_db
from .radio import PhyTiming, radio
from .route import Hop, Load, loads
from .single_link import Exchange, exchange, link_goodput_mbps

__all__ = [
    "Ceiling",
    "Exchange",
    "Hop",
    "Load",
    "PhyTiming",
    "SaturatedCell",
    "bit_success",
    "ceilings",
    "conflicts",
    "exchange",
    "faded_frame_error",
    "frame_error",
    "friis_loss_db",
    "link_goodput_mbps",
    "loads",
    "log_distance_loss_db",
    "noise_dbm",
    "radio",
    "saturated_cell",
    "snr_needed_db",
    "two_ray_loss_db",
]
__getattr__ = renamed(__name__, {"Cell": "SaturatedCell", "Radio": "PhyTiming"})
