"""802.11 formulas: times of the standard, published numbers, numbers of other simulators."""

import csv
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, seed, settings
from hypothesis import strategies as st

from places import ROOT
from ropewalk.model import wifi
from ropewalk.model.wifi.bianchi import attempt_probability, throughput
from ropewalk.model.wifi.ceiling import cliques
from ropewalk.model.wifi.single_link import frame_time

REFERENCE = ROOT / "tests/reference/wifi"
NS3_BASIC = {"802.11b": [1, 2, 5.5, 11], "802.11a": None, "802.11g": None}
RADIOS = [
    *(("802.11b", rate) for rate in (1, 2, 5.5, 11)),
    *(
        (standard, rate)
        for standard in ("802.11a", "802.11g")
        for rate in (6, 9, 12, 18, 24, 36, 48, 54)
    ),
]


def rows(name, **wanted):
    with (REFERENCE / name).open() as file:
        found = [
            row
            for row in csv.DictReader(file)
            if all(row[key] == value for key, value in wanted.items())
        ]
    assert found
    return found


@pytest.mark.parametrize(
    ("radio", "times"),
    [
        (wifi.radio("802.11b"), (10, 20, 50, 364, 222)),
        (wifi.radio("802.11a"), (16, 9, 34, 94, 45)),
        (wifi.radio("802.11g"), (10, 20, 50, 110, 50)),
        (wifi.radio("802.11g", slot_us=9), (10, 9, 28, 88, 39)),
    ],
)
def test_interframe_spaces(radio, times):
    spaces = (radio.sifs_us, radio.slot_us, radio.difs_us, radio.eifs_us, radio.timeout_us)
    assert spaces == times


@pytest.mark.parametrize(
    ("radio", "mpdu", "time"),
    [
        (wifi.radio("802.11b", 11), 1064, 966),
        (wifi.radio("802.11b", 5.5), 1064, 1740),
        (wifi.radio("802.11b", 1), 14, 304),
        (wifi.radio("802.11b", 2, preamble="short"), 14, 152),
        (wifi.radio("802.11b", 1, preamble="short"), 14, 304),
        (wifi.radio("802.11a", 6), 14, 44),
        (wifi.radio("802.11a", 54), 1064, 180),
        (wifi.radio("802.11g", 6), 14, 50),
        (wifi.radio("802.11g", 54), 1064, 186),
    ],
)
def test_times_of_frames(radio, mpdu, time):
    assert radio.frame_us(mpdu) == time


@pytest.mark.parametrize(
    ("rate", "basic", "answer"),
    [
        (11, [1, 2], 2),
        (1, [1, 2], 1),
        (11, [1], 1),
        (5.5, [1, 2, 5.5, 11], 5.5),
        (5.5, [11], 5.5),
        (54, [1, 2, 6, 12, 24], 24),
        (54, [1, 2], 24),
        (9, [24], 6),
        (11, [1, 6], 1),
    ],
)
def test_answers_have_the_fastest_basic_rate_of_their_class(rate, basic, answer):
    assert wifi.radio("802.11g", rate, basic_rates_mbps=basic).ack_mbps == answer


def test_80211g_knows_80211bs_frames():
    g = wifi.radio("802.11g", 11, eifs_rate_mbps=1, preamble="short")
    b = wifi.radio("802.11b", 11, preamble="short")
    assert g.frame_us(1064) == b.frame_us(1064)
    assert (g.eifs_us, g.timeout_us) == (b.eifs_us, b.timeout_us)
    assert g.contention_window(0) == 15


@pytest.mark.parametrize(
    ("standard", "rate", "rts", "goodput"),
    [
        ("802.11b", 1, False, 0.8531),
        ("802.11b", 2, False, 1.5792),
        ("802.11b", 5.5, False, 3.4438),
        ("802.11b", 11, False, 5.1982),
        ("802.11b", 11, True, 3.6117),
        ("802.11a", 6, False, 4.9829),
        ("802.11a", 9, False, 7.0578),
        ("802.11a", 12, False, 9.0754),
        ("802.11a", 18, False, 12.3935),
        ("802.11a", 24, False, 15.3404),
        ("802.11a", 24, True, 12.3172),
        ("802.11a", 36, False, 19.7287),
        ("802.11a", 48, False, 23.1548),
        ("802.11a", 54, False, 24.5776),
        ("802.11g", 6, False, 4.6784),
        ("802.11g", 12, False, 8.1136),
        ("802.11g", 24, False, 12.7796),
        ("802.11g", 54, False, 18.6047),
    ],
)
def test_one_link_alone(standard, rate, rts, goodput):
    """Datagrams of 1000 bytes; ns-3.44 agrees within 0.3 %."""
    radio = wifi.radio(standard, rate, basic_rates_mbps=NS3_BASIC[standard], rts=rts)
    assert round(wifi.link_goodput_mbps(radio, 1028, 1000), 4) == goodput


def test_one_link_alone_is_ns3s():
    for row in rows("ns3-wifi.csv", tag="single"):
        standard, rate = f"802.11{row['std']}", rate_of(row["mode"])
        basic = [1] if row["ack_mode"] == "1 Mbit/s" else NS3_BASIC[standard]
        slot = int(row["slot_us"])
        radio = wifi.radio(standard, rate, basic_rates_mbps=basic, slot_us=slot)
        payload = int(row["udp_payload_B"])
        ours = wifi.link_goodput_mbps(radio, payload + 28, payload)
        assert ours == pytest.approx(float(row["goodput_mbps"]), rel=0.004), row


def rate_of(mode):
    """Parse a rate from ns-3's mode name, such as DsssRate5_5Mbps."""
    return float(mode.split("Rate")[1].removesuffix("Mbps").replace("_", "."))


@pytest.mark.parametrize("standard", NS3_BASIC)
def test_parts_of_an_exchange_sum_to_it(standard):
    for rts, size in itertools.product((False, True), (40, 1000, 1500)):
        radio = wifi.radio(standard, rts=rts)
        times = wifi.exchange(radio, size)
        handshake = radio.rts_us + radio.cts_us + 2 * radio.sifs_us if rts else 0
        busy = handshake + radio.frame_us(size + 36) + radio.sifs_us + radio.ack_us
        assert times.busy_us == pytest.approx(radio.difs_us + busy)
        assert times.backoff == radio.contention_window(0) / 2 * radio.slot_us
        assert times.headers >= 8 * 36 / radio.rate_mbps - 1e-9


@pytest.mark.parametrize("f", [0.1, 0.3, 0.5])
def test_tries_of_a_frame_are_a_cut_geometric_series(f):
    """Sums over all outcomes of four tries, weighted by probability."""
    radio = wifi.radio("802.11b", 11, tries=4)
    times = wifi.exchange(radio, 1500)
    failed = radio.difs_us + radio.frame_us(1536) + radio.timeout_us
    busy = backoff = 0.0
    for failures in range(5):
        happens = f**failures * ((1 - f) if failures < 4 else 1)
        busy += happens * (failures * failed + (times.busy_us if failures < 4 else 0))
        tried = [31, 63, 127, 255][: failures + 1]
        backoff += happens * sum(tried) / 2 * 20
    frame = frame_time(radio, 1500, f)
    assert frame.delivered == pytest.approx(1 - f**4)
    assert frame.busy_us == pytest.approx(busy)
    assert frame.backoff_us == pytest.approx(backoff)


@pytest.mark.parametrize(
    ("window", "doublings", "stations", "share", "collision"),
    [
        (32, 3, 5, 0.8097, None),
        (32, 3, 10, 0.7532, None),
        (32, 3, 20, 0.6788, None),
        (32, 3, 50, 0.5529, None),
        (32, 5, 5, 0.8102, 0.1781),
        (32, 5, 10, 0.7579, 0.2898),
        (32, 5, 20, 0.6975, 0.3988),
        (32, 5, 50, 0.6109, 0.5324),
        (128, 3, 5, 0.8250, None),
        (128, 3, 50, 0.7252, None),
    ],
)
def test_bianchis_own_numbers(window, doublings, stations, share, collision):
    """His parameters: 1 Mbit/s, payload 8184 bit, slot 50, SIFS 28, DIFS 128, delay 1 us."""
    windows = [window * 2 ** min(i, doublings) - 1 for i in range(1000)]
    sending, p = attempt_probability(windows, stations)
    frame = 272 + 128 + 8184
    ours = throughput(
        sending,
        stations,
        slot=50,
        payload=8184,
        success=frame + 28 + 1 + 112 + 128 + 128 + 1,
        failure=frame + 128 + 1,
    )
    assert round(ours, 4) == share
    assert collision is None or round(p, 4) == collision


def test_attempts_without_a_limit_are_bianchis_equation_7():
    for p in (0.05, 0.3, 0.45):
        stations = 1 + math.log(1 - p) / math.log(1 - tau(p))
        if stations > 50:
            continue
        found = attempt_probability([32 * 2 ** min(i, 5) - 1 for i in range(2000)], 5)
        assert found[0] == pytest.approx(tau(found[1]), rel=1e-9)


def tau(p, window=32, doublings=5):
    return 2 * (1 - 2 * p) / ((1 - 2 * p) * (window + 1) + p * window * (1 - (2 * p) ** doublings))


@pytest.mark.parametrize("row", rows("dcf-oracle.csv"), ids=lambda row: " ".join(row.values()))
def test_a_cell_is_that_of_a_dcf_slot_by_slot(row):
    """Bianchi's own error: 3 % up to 10 stations, 6 % up to 50."""
    standard, stations = f"802.11{row['std']}", int(row["n"])
    radio = wifi.radio(standard, float(row["rate_mbps"]), basic_rates_mbps=NS3_BASIC[standard])
    payload = int(row["udp_payload_B"])
    cell = wifi.saturated_cell(
        radio, stations, payload + 28, payload, eifs=row["eifs_after_collision"] == "1"
    )
    band = 0.03 if stations <= 10 else 0.06
    assert cell.goodput_mbps == pytest.approx(float(row["throughput_mbps"]), rel=band)
    assert cell.collision == pytest.approx(float(row["p_collision_per_attempt"]), abs=0.03)


@pytest.mark.parametrize(("eifs", "goodput"), [(False, 4.462), (True, 4.145)])
def test_a_cell_of_fifty_is_within_bianchis_error(eifs, goodput):
    """Slot-by-slot DCF: 802.11b at 11 Mbit/s, datagrams of 1000 bytes."""
    radio = wifi.radio("802.11b", 11, basic_rates_mbps=NS3_BASIC["802.11b"])
    cell = wifi.saturated_cell(radio, 50, 1028, 1000, eifs=eifs)
    assert cell.goodput_mbps == pytest.approx(goodput, rel=0.06)
    assert cell.collision == pytest.approx(0.5357, rel=0.06)


def test_a_cell_of_one_station_is_a_link():
    radio = wifi.radio("802.11g")
    alone = wifi.link_goodput_mbps(radio, 1500)
    assert wifi.saturated_cell(radio, 1, 1500).goodput_mbps == pytest.approx(alone)


def test_more_tries_drop_fewer_frames():
    dropped = [wifi.saturated_cell(wifi.radio(tries=n), 10, 1500).dropped for n in range(1, 9)]
    assert (np.diff(dropped) < 0).all()


def test_error_ratios_are_ns3s():
    for row in rows("ns3-error-rate.csv"):
        ours = 1 - wifi.bit_success(rate_of(row["mode"]), float(row["snr_db"])) ** int(row["bits"])
        assert ours == pytest.approx(float(row["per_nist"]), abs=1e-5), row


@pytest.mark.parametrize(("standard", "rate"), RADIOS)
def test_the_needed_ratio_is_where_a_tenth_is_in_error(standard, rate):
    radio = wifi.radio(standard, rate)
    needed = wifi.snr_needed_db(radio, 1536)
    assert wifi.frame_error(radio, needed, 1536) == pytest.approx(0.1, abs=1e-9)
    errors = wifi.frame_error(radio, needed + np.arange(-5, 5, 0.5), 1536)
    assert (np.diff(errors) <= 0).all()


def test_fading_is_ns3s():
    """Lost frames of 2000, within 4 standard errors and half a frame."""
    wanted = [
        *rows("ns3-wifi.csv", tag="per-nakagami", std="b"),
        *rows("ns3-wifi.csv", tag="per-nakagami-nist"),
    ]
    for row in wanted:
        distance = float(row["distance_m"])
        loss = wifi.log_distance_loss_db(distance, float(row["exponent_or_range_m"]))
        snr = 16.0206 - loss - wifi.noise_dbm(7)
        radio = wifi.radio(f"802.11{row['std']}", rate_of(row["mode"]))
        m = 1.5 if distance < 80 else 0.75
        ours = float(wifi.faded_frame_error(radio, snr, 1036, m))
        band = 4 * math.sqrt(ours * (1 - ours) / 2000) + 0.0005
        assert float(row["broadcast_per"]) == pytest.approx(ours, abs=band), row


@pytest.mark.parametrize("m", [0.5, 0.75, 1, 1.5, 4])
def test_fading_is_the_mean_over_gamma_distributed_powers(m):
    draws = np.random.default_rng(1).gamma(m, 1 / m, 100_000)
    radio = wifi.radio("802.11a", 24)
    drawn = wifi.frame_error(radio, 18 + 10 * np.log10(draws), 1036)
    ours = wifi.faded_frame_error(radio, 18, 1036, m)
    assert ours == pytest.approx(drawn.mean(), abs=4 * drawn.std() / math.sqrt(draws.size))


def test_fading_vanishes_for_large_m():
    radio = wifi.radio("802.11b", 11)
    assert wifi.faded_frame_error(radio, 7, 1036, 1e4) == pytest.approx(
        wifi.frame_error(radio, 7, 1036), rel=0.05
    )


def test_two_rays_meet_free_space_where_they_cross():
    crossing = 4 * math.pi * 1.5 * 1.5 * 2.4e9 / 299_792_458
    near, far = wifi.two_ray_loss_db([crossing, crossing * (1 + 1e-9)], 2.4e9)
    assert near == pytest.approx(far, abs=1e-6)


def all_hear(nodes, channels=("one",)):
    return {name: set(itertools.permutations(nodes, 2)) for name in channels}


def chain(hops, channels=("one",)):
    return [wifi.Hop(channels[i % len(channels)], str(i), str(i + 1)) for i in range(hops)]


def tcp(route, basic, tries=7, errors=None, **more):
    """Return the loads of a TCP like ns-3's; errors apply to frames with segments."""
    radio = wifi.radio(basic_rates_mbps=basic, tries=tries)

    def frame_error(hop, packet_bytes):
        return (errors or {}).get(hop, 0) if packet_bytes > 500 else 0

    more |= {"ack_bytes": 52, "frame_error": frame_error}
    return wifi.loads(route, lambda hop, packet_bytes: radio, 1500, 1448, **more)


@pytest.mark.parametrize("hops", [1, 2, 4])
def test_a_chain_of_which_all_hear_each_other_is_between_in_turn_and_ceiling(hops):
    measured = [
        float(row["goodput_mbps"])
        for row in rows("ns3-wifi.csv", tag="chain-near", hops=str(hops), channels="1")
    ]
    hears = all_hear(map(str, range(hops + 1)))
    flow = tcp(chain(hops), NS3_BASIC["802.11b"])
    most = wifi.ceilings([flow], hears).goodput_mbps[0]
    expected = wifi.ceilings([flow], hears, in_turn=True).goodput_mbps[0]
    assert expected < np.mean(measured)
    assert max(measured) < most


def test_no_tcp_of_ns3s_on_a_diamond_is_above_the_ceiling():
    hears = all_hear(["S", "R1", "R2", "D"], ("one", "two"))
    upper = [wifi.Hop("one", "S", "R1"), wifi.Hop("one", "R1", "D")]
    lower = [wifi.Hop("two", "S", "R2"), wifi.Hop("two", "R2", "D")]
    same = [wifi.Hop("one", "S", "R2"), wifi.Hop("one", "R2", "D")]
    for tag, routes in (
        ("diamond-tcp1", [upper]),
        ("diamond-1ch", [upper, same]),
        ("diamond-2ch", [upper, lower]),
    ):
        for row in rows("ns3-wifi.csv", tag=tag, ack_mode="1 Mbit/s"):
            error = {route[0]: float(row["fer_first_hop"]) for route in routes}
            every = int(row["delayed_ack"])
            flows = [tcp(route, [1], 4, error, ack_every=every) for route in routes]
            most = sum(wifi.ceilings(flows, hears).goodput_mbps)
            assert float(row["goodput_mbps"]) <= most * 1.01, row


def test_a_second_channel_doubles_and_a_second_route_does_not():
    hears = all_hear(["S", "R1", "R2", "D"], ("one", "two"))
    upper = tcp([wifi.Hop("one", "S", "R1"), wifi.Hop("one", "R1", "D")], [1])
    lower = tcp([wifi.Hop("two", "S", "R2"), wifi.Hop("two", "R2", "D")], [1])
    same = tcp([wifi.Hop("one", "S", "R2"), wifi.Hop("one", "R2", "D")], [1])
    one = wifi.ceilings([upper], hears, in_turn=True).goodput_mbps[0]
    both = wifi.ceilings([upper, lower], hears, in_turn=True)
    assert sum(both.goodput_mbps) == pytest.approx(2 * one)
    assert len(both.bottlenecks) == 2
    shared = wifi.ceilings([upper, same], hears, in_turn=True)
    assert sum(shared.goodput_mbps) == pytest.approx(one)
    assert len(shared.bottlenecks[0]) == 8


def test_hops_out_of_each_others_hearing_share_nothing():
    hears = {"one": {("0", "1"), ("1", "0"), ("2", "3"), ("3", "2")}}
    apart = [wifi.Hop("one", "0", "1"), wifi.Hop("one", "2", "3")]
    alone = wifi.ceilings([tcp(apart[:1], [1])], hears).goodput_mbps[0]
    both = wifi.ceilings([tcp([hop], [1]) for hop in apart], hears)
    assert both.goodput_mbps == pytest.approx((alone, alone))


def test_a_wired_hop_bounds_a_flow():
    flows = [tcp(chain(1), [1]), ()]
    found = wifi.ceilings(flows, all_hear("01"), most_mbps=[0.5, 3.0])
    assert found.goodput_mbps == pytest.approx((0.5, 3.0))
    assert found.bottlenecks == ()


def test_a_saturated_link_reaches_its_ceiling():
    route = chain(1)
    radio = wifi.radio()
    flow = wifi.loads(route, lambda *of: radio, 1028, 1000, frame_error=lambda *of: 0.3)
    most = wifi.ceilings([flow], all_hear("01")).goodput_mbps[0]
    assert most == pytest.approx(wifi.link_goodput_mbps(radio, 1028, 1000, frame_error=0.3))


@seed(1)
@settings(max_examples=60, deadline=None)
@given(st.integers(2, 6), st.data())
def test_cliques_match_exhaustive_search(count, data):
    nodes = [f"{side}{i}" for i in range(count) for side in "ab"]
    pairs = data.draw(st.sets(st.sampled_from(list(itertools.permutations(nodes, 2)))))
    hops = [wifi.Hop("one", f"a{i}", f"b{i}") for i in range(count)]
    hears = {"one": pairs}

    def together(group):
        return all(wifi.conflicts(*pair, hears) for pair in itertools.combinations(group, 2))

    every = [
        frozenset(group)
        for size in range(1, count + 1)
        for group in itertools.combinations(hops, size)
        if together(group)
    ]
    largest = {group for group in every if not any(group < other for other in every)}
    found = list(cliques(hops, hears))
    assert len(found) == len(set(found))
    assert set(found) == largest


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: wifi.radio("802.11n"), "standard is '802.11n'"),
        (lambda: wifi.radio("802.11b", 54), "rate_mbps is 54: 802.11b has 1, 2, 5.5, 11"),
        (lambda: wifi.radio(basic_rates_mbps=[]), "basic_rates_mbps is empty"),
        (lambda: wifi.radio(basic_rates_mbps=[6]), "basic_rates_mbps is 6"),
        (lambda: wifi.radio(tries=0), "tries is 0"),
        (lambda: wifi.radio(preamble="medium"), "preamble is 'medium'"),
        (lambda: wifi.radio(slot_us=0), "slot_us is 0"),
        (lambda: wifi.link_goodput_mbps(wifi.radio(), 100, 101), "payload_bytes is 101"),
        (lambda: wifi.link_goodput_mbps(wifi.radio(), 100, frame_error=2), "frame_error is 2"),
        (lambda: wifi.saturated_cell(wifi.radio(), 0, 1500), "stations is 0"),
        (lambda: attempt_probability([], 2), "windows is empty"),
        (lambda: wifi.bit_success(7, 3), "rate_mbps is 7"),
        (lambda: wifi.snr_needed_db(wifi.radio(), 100, 1), "most is 1"),
        (lambda: wifi.faded_frame_error(wifi.radio(), 3, 100, 0.2), "m is 0.2"),
        (lambda: wifi.log_distance_loss_db(0, 3), "distance_m is 0"),
        (lambda: wifi.log_distance_loss_db(1, 0), "exponent is 0"),
        (lambda: wifi.ceilings([()], {}), r"flows\[0\] uses no airtime"),
        (
            lambda: tcp(chain(1), [1], errors={chain(1)[0]: 1}),
            "frame_error is 1 from 0 to 1",
        ),
    ],
)
def test_invalid_arguments_are_rejected(call, message):
    with pytest.raises(ValueError, match=message):
        call()
