"""Statements of Alheid et al. 2016, sections IV.B and V: unequal networks, scenarios 3 and 4."""

from __future__ import annotations

from ...analysis.reproduction import ComparedValue
from .curves import KIB, NEAR_M, OUT_OF_ORDER, Curves, G, names, statement
from .network import COUPLINGS, POLICIES, claims
from .reasons import OF_DEAF, OF_DOOR, OF_EIFEL, OF_FAST, OF_SLOW, published_kb

FULL_M = 50  # D-SACK has its 15 Mbit/s below
EIFEL_M = 40  # Eifel has its 4 Mbit/s up to here
REASONS = {
    "none": OF_SLOW,
    "dsack": OF_FAST,
    "eifel": OF_EIFEL,
    "tcp-door": OF_DOOR,
    "f-rto": OF_DEAF,
}


def scenario_3(of: Curves) -> list[ComparedValue]:
    """Compare with the text about 54 and 2 Mbit/s."""
    stated = claims()
    near = of.between(0, FULL_M)
    best_path = of.one_tcp()
    more = stated["s3_out_of_order_larger"]
    mean = {policy: of.mean(OUT_OF_ORDER, policy) for policy in POLICIES}
    stored = {policy: KIB * of.mean("buffer_packets", policy, near) for policy in POLICIES}
    printed = [published_kb("tcp-door", of.number, coupling) for coupling in COUPLINGS]
    return [
        *_rates(of, "dsack", stated["s3_dsack_mbps"]),
        *(
            ComparedValue(
                f"{POLICIES[policy]}, most of all distances and couplings",
                of.most(G, [policy], of.distances),
                published=f"at most {stated['s3_none_most_mbps']}",
                unit="Mbit/s",
                band=(None, stated["s3_none_most_mbps"]),
                reason=REASONS[policy],
            )
            for policy in ("none", "eifel")
        ),
        *(
            statement(
                f"path that {POLICIES[policy]} uses",
                of.paths(policy) == path,
                _radio(path),
                _radio(of.paths(policy)),
                reason=REASONS[policy],
            )
            for policy, path in stated["s3_one_path"].items()
        ),
        *(
            statement(
                f"path that {POLICIES[policy]} uses",
                of.paths(policy) == "both",
                _radio("both"),
                _radio(of.paths(policy)),
                reason=REASONS[policy],
            )
            for policy in stated["s3_both_paths"]
        ),
        *(
            ComparedValue(
                f"{POLICIES[policy]} over {compared} at {NEAR_M} m, mean of the couplings",
                of.mean(G, policy) / value,
                published=words,
                band=band,
                reason=REASONS[policy],
            )
            for policy in stated["s3_both_paths"]
            for compared, value, words, band in (
                ("NoPR", of.mean(G, "none"), "above 1", (1.0, None)),
                ("one TCP on the best path", best_path, "below 1", (None, 1.0)),
            )
        ),
        statement(
            f"most out of order at {NEAR_M} m",
            min(mean[each] for each in more)
            > max(value for each, value in mean.items() if each not in more),
            names(more),
            names(sorted(mean, key=lambda each: -mean[each])[: len(more)]),
        ),
        ComparedValue(
            f"TCP-DOOR's memory, mean below {FULL_M} m",
            stored["tcp-door"],
            published=stated["s3_tcp_door_kb"],
            unit="KB",
            digits=0,
            reason=(
                f"The paper's table IV has {min(printed):g} to {max(printed):g} KB at {NEAR_M} m."
            ),
        ),
        statement(
            f"largest memory, below {FULL_M} m",
            max(stored, key=lambda each: stored[each]) == "tcp-door",
            POLICIES["tcp-door"],
            POLICIES[max(stored, key=lambda each: stored[each])],
        ),
        *_above_door(of),
    ]


def scenario_4(of: Curves) -> list[ComparedValue]:
    """Compare with the text about 6 and 2 Mbit/s."""
    stated = claims()
    least = min(of.mean(G, policy) for policy in ("dsack", "f-rto"))
    near, far = of.between(0, EIFEL_M + 1), of.between(EIFEL_M + 1, 101)
    eifel = of.mean(G, "eifel", near)
    return [
        *_rates(of, "dsack", stated["s4_dsack_mbps"]),
        *_rates(of, "f-rto", stated["s4_dsack_mbps"]),
        *(
            ComparedValue(
                f"{POLICIES[policy]}, mean of all distances and couplings",
                of.mean(G, policy, of.distances),
                published="{} to {}".format(*stated["s4_dsack_mbps"]),
                unit="Mbit/s",
                band=tuple(stated["s4_dsack_mbps"]),
                reason=REASONS[policy],
            )
            for policy in ("dsack", "f-rto")
        ),
        *(
            ComparedValue(
                f"{POLICIES[policy]} over the lesser of D-SACK and F-RTO, {NEAR_M} m",
                of.mean(G, policy) / least,
                published="below 1",
                band=(None, 1.0),
            )
            for policy in stated["s4_less"]
        ),
        ComparedValue(
            "NoPR, most of all distances and couplings",
            of.most(G, ["none"], of.distances),
            published=f"less than {stated['s4_none_most_mbps']}",
            unit="Mbit/s",
            band=(None, stated["s4_none_most_mbps"]),
            reason=OF_SLOW,
        ),
        ComparedValue(
            f"Eifel up to {near[-1]} m, mean of the couplings",
            eifel,
            published=stated["s4_eifel_mbps"],
            unit="Mbit/s",
            reason=OF_EIFEL,
        ),
        ComparedValue(
            f"Eifel's drop beyond {near[-1]} m",
            eifel - of.mean(G, "eifel", far),
            published=stated["s4_eifel_drop_mbps"],
            unit="Mbit/s",
            reason=OF_EIFEL,
        ),
        statement(
            "first and second by gThroughput, mean of the couplings",
            set(of.ranked()[:2]) == set(stated["s4_best"]),
            names(stated["s4_best"]),
            names(of.ranked()[:2]),
            reason=(
                "The paper also has less for Eifel than for F-RTO in this scenario: both "
                "statements cannot hold."
            ),
        ),
        *_above_door(of),
    ]


def _rates(of: Curves, policy: str, stated: int | list[int]) -> list[ComparedValue]:
    return [
        ComparedValue(
            f"{POLICIES[policy]} at {NEAR_M} m, {COUPLINGS[coupling]}",
            of.at(policy, coupling),
            published=stated if isinstance(stated, int) else f"{stated[0]} to {stated[1]}",
            unit="Mbit/s",
            reason=REASONS[policy],
            band=None if isinstance(stated, int) else (stated[0], stated[1]),
        )
        for coupling in COUPLINGS
    ]


def _above_door(of: Curves) -> list[ComparedValue]:
    """Compare section V: F-RTO and Eifel above TCP-DOOR over unequal networks."""
    return [
        ComparedValue(
            f"{POLICIES[policy]} over TCP-DOOR at {NEAR_M} m, mean of the couplings",
            of.mean(G, policy) / of.mean(G, "tcp-door"),
            published="above 1",
            band=(1.0, None),
            reason=REASONS[policy],
        )
        for policy in claims()["dissimilar_above_tcp_door"]
    ]


def _radio(path: str) -> str:
    return {"first": "the faster", "second": "the slower", "both": "both"}[path]
