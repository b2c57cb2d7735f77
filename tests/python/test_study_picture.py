"""The picture of a study: lines, dots, maps or hulls, by kind of varied keys."""

import polars as pl
import pytest

import ropewalk
from ropewalk.analysis.study import StudyResults

DELAYS = {"link.dsl.delay": {"from": "10 ms", "to": "80 ms", "steps": 5}}
RATES = {"link.dsl.rate": {"from": "1 Mbit/s", "to": "100 Mbit/s", "steps": 5, "scale": "log"}}
SCHEDULERS = {"transport.scheduler": ["min-rtt", "round-robin"]}
OVER_DELAY = ("delay of dsl (ms)", "goodput (Mbit/s)", "linear")
MAP = ("delay of dsl (ms)", "rate of dsl (Mbit/s)", "linear")


@pytest.fixture(scope="module")
def short():
    return ropewalk.Scenario.load("start/two-links").with_({"duration": "1 s"})


@pytest.mark.parametrize(
    ("vary", "drawn"),
    [
        (DELAYS | SCHEDULERS, [OVER_DELAY]),
        (RATES, [("rate of dsl (Mbit/s)", "goodput (Mbit/s)", "log")]),
        (SCHEDULERS, [("scheduler", "goodput (Mbit/s)", "linear")]),
        (DELAYS | RATES, [MAP]),
        (DELAYS | RATES | SCHEDULERS, [MAP, MAP]),
        (DELAYS | {"link.dsl.rate": ["5 Mbit/s", "9 Mbit/s"]}, [OVER_DELAY]),
    ],
    ids=["lines", "powers", "names", "map", "maps", "few"],
)
def test_it_is_drawn_as_its_keys_ask_for(short, vary, drawn):
    made = ropewalk.study(short, vary)
    figure = made.plot()
    axes = [each for each in figure.axes if each.get_xlabel()]
    assert [(each.get_xlabel(), each.get_ylabel(), each.get_xscale()) for each in axes] == drawn
    assert figure.get_suptitle() == "Two unequal links"
    colours = [each.get_images()[0].get_clim() for each in axes if each.get_images()]
    assert len(set(colours)) <= 1, "maps beside each other have the same colours"
    assert made.plot(width="column").get_figwidth() == 3.5


def test_keys_that_step_together_are_one_axis(short):
    vary = {"link.dsl.delay": ["10 ms", "20 ms"], "link.cable.delay": ["5 ms", "9 ms"]}
    made = ropewalk.study(short, vary, zip=[list(vary)])
    (axes,) = made.plot().axes
    assert axes.get_xlabel() == "delay of dsl (ms), with delay of cable"
    assert axes.get_legend() is None


def test_values_at_equal_ratios_are_ticks_of_a_logarithmic_axis(short):
    buffers = ["256 KiB", "512 KiB", "1 MiB", "2 MiB"]
    key = "transport.receive_buffer"
    (axes,) = (
        of(short, {key: buffers}, **{key: buffers, "goodput_mbps": [1.0, 2, 3, 4]}).plot().axes
    )
    assert (axes.get_xlabel(), axes.get_xscale()) == ("receive buffer (KiB)", "log")
    axes.figure.canvas.draw()
    shown = [each.get_text() for each in axes.get_xticklabels()]
    assert shown == ["256", "512", "1,024", "2,048"]


def of(short, vary, **columns):
    known = {"seed": 1, "status": "done", "error": None, "point": ""}
    points = pl.DataFrame({**columns}).with_columns(
        pl.lit(value).alias(name) for name, value in known.items()
    )
    return StudyResults(short, {"verb": "simulate", "vary": vary}, points)


def test_study_picture_draws_hulls_of_lateness_and_cost(short):
    rates, schedulers = ["1 Mbit/s", "2 Mbit/s", "3 Mbit/s"], ["min-rtt", "redundant"]
    made = of(
        short,
        {"traffic.rate": rates, "transport.scheduler": schedulers},
        **{
            "traffic.rate": rates * 2,
            "transport.scheduler": [each for each in schedulers for _ in rates],
            "video_late_percent": [9.0, 5, 1, 3, 2, 0],
            "cost": [1.0, 6, 5, 2, 4, 8],
        },
    )
    above, below = made.plot().axes
    assert above.get_ylabel() == "video late (%)"
    assert (below.get_xlabel(), below.get_ylabel()) == ("cost", "video late (%)")
    names = [text.get_text() for text in below.get_legend().get_texts()]
    assert names == schedulers
    hulls = [
        each.get_xydata().tolist() for each in below.get_lines() if len(each.get_marker()) > 1
    ]
    assert hulls == [[[1, 9], [5, 1]], [[2, 3], [4, 2], [8, 0]]]


def test_study_picture_limits_series_and_names_the_limit(short):
    vary = {
        "link.dsl.delay": ["1 ms", "2 ms"],
        "transport.scheduler": [f"s{number}" for number in range(30)],
    }
    made = of(
        short,
        vary,
        **{
            "link.dsl.delay": vary["link.dsl.delay"] * 30,
            "transport.scheduler": [name for name in vary["transport.scheduler"] for _ in "12"],
            "goodput_mbps": [float(number) for number in range(60)],
        },
    )
    (axes,) = made.plot().axes
    assert axes.get_title("left") == "the first 18 of 30 series"
    assert len(axes.get_lines()) == 18


def test_study_picture_draws_equal_numbers(short):
    vary = {"duration": ["1 s", "2 s"]}
    made = of(short, vary, duration=vary["duration"], goodput_mbps=[5.0, 5.0])
    (axes,) = made.plot().axes
    assert axes.get_ylabel() == "goodput (Mbit/s)"
    assert axes.get_lines()[0].get_ydata().tolist() == [5.0, 5.0]


def test_study_picture_without_two_finished_values_is_refused(short):
    vary = {"duration": ["1 s", "2 s"]}
    one = of(short, {"duration": ["1 s"]}, duration=["1 s"], goodput_mbps=[5.0])
    failed = of(short, vary, duration=vary["duration"], goodput_mbps=[5.0, 6.0])
    failed = StudyResults(short, failed.study, failed.points.with_columns(status=pl.lit("failed")))
    for made in (one, failed):
        with pytest.raises(ValueError, match="there is nothing to draw"):
            made.plot()
        assert made._repr_png_() is None
        assert "<table" in made._repr_html_()
