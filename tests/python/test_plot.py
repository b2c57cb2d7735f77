"""Pictures are drawn without a display, with reproducible bytes."""

import matplotlib
import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

import ropewalk
from ropewalk.output import plot

OVER_TIME = [plot.goodput, plot.windows, plot.reorder_buffer, plot.overview]
START = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}


@pytest.mark.parametrize("draw", [*OVER_TIME, plot.delays], ids=lambda draw: draw.__name__)
@pytest.mark.parametrize("ending", plot.FORMATS)
def test_each_picture_is_written_in_each_format(results, tmp_path, draw, ending):
    path = plot.save(draw(results), tmp_path / f"picture{ending}")
    content = path.read_bytes()
    assert content.startswith(START[ending])
    assert len(content) > 4000


@pytest.mark.parametrize("ending", plot.FORMATS)
def test_the_same_results_give_the_same_bytes(results, tmp_path, ending):
    first = plot.save(plot.goodput(results), tmp_path / f"first{ending}")
    second = plot.save(plot.goodput(results), tmp_path / f"second{ending}")
    assert first.read_bytes() == second.read_bytes()


def test_drawing_changes_no_setting_of_the_user(results, tmp_path):
    before = dict(matplotlib.rcParams)
    plot.save(plot.overview(results), tmp_path / "page.png")
    assert dict(matplotlib.rcParams) == before


def test_axes_are_labelled_with_units(results):
    for draw in (plot.goodput, plot.windows, plot.reorder_buffer, plot.delays):
        labels = " ".join(
            axes.get_xlabel() + " " + axes.get_ylabel() for axes in draw(results).axes
        )
        assert any(unit in labels for unit in ("Mbit/s", "kB", "ms"))


def test_goodput_names_subflows_total_and_capacity(results):
    (axes,) = plot.goodput(results).axes
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names[0].startswith("delivered in order")
    assert names[1:] == ["95 % interval", "sum of link rates", "cable", "dsl"]
    assert axes.get_legend().get_title().get_text() == "means of 3 runs"
    (axes,) = plot.goodput(results, seed=6).axes
    names = [text.get_text() for text in axes.get_legend().get_texts()]
    assert names[1:] == ["sum of link rates", "cable", "dsl"]


@pytest.mark.parametrize("draw", OVER_TIME, ids=lambda draw: draw.__name__)
def test_another_seed_can_be_shown(results, draw):
    assert draw(results, seed=6).axes
    with pytest.raises(ValueError, match="seed = 1: allowed: that of a run"):
        draw(results, seed=1)


@pytest.mark.parametrize("draw", OVER_TIME, ids=lambda draw: draw.__name__)
def test_missing_timeline_error_names_step(two_links, draw):
    with pytest.raises(ValueError, match="step"):
        draw(ropewalk.simulate(two_links))


def test_one_link_and_many_subflows_can_be_drawn(two_links, tmp_path):
    alone = two_links.with_({"transport.protocol": "tcp"})
    many = two_links.with_({"transport.subflows_per_path": 6})
    for scenario in (alone, many):
        results = ropewalk.simulate(scenario, step="100 ms")
        plot.save(plot.overview(results), tmp_path / "page.png")
    titles = [axes.get_title("left") for axes in plot.windows(results).axes]
    assert len(set(titles)) == 12


def test_a_run_that_delivers_nothing_can_be_drawn(two_links, tmp_path):
    dark = {"link.dsl.down": [["0 s", "30 s"]], "link.cable.down": [["0 s", "30 s"]]}
    results = ropewalk.simulate(two_links.with_(dark | {"duration": "2 s"}), step="100 ms")
    assert results.runs[0]["delivered_bytes"] == 0
    plot.save(plot.overview(results), tmp_path / "page.png")


def test_windows_mark_where_losses_were_undone(two_links):
    jitter = {"link.cable.jitter": '{ amount = "5 ms", reorder = true }', "duration": "1 s"}

    def marks(answer):
        scenario = two_links.with_({**jitter, "transport.reordering": answer})
        results = ropewalk.simulate(scenario, step="5 ms")
        figure = plot.windows(results)
        (legend,) = figure.legends
        names = [text.get_text() for text in legend.get_texts()]
        lines = [line for axes in figure.axes for line in axes.lines if line.get_marker() == "^"]
        return results, names, sum(len(line.get_xdata()) for line in lines)

    results, names, count = marks("eifel")
    undone = results.timeline["undone"]
    assert undone.sum() == results.subflows["undone"].sum() > 0
    assert count == (undone > 0).sum()
    assert names == ["in flight", "cwnd", "ssthresh", "undone: late, not lost"]
    results, names, count = marks("none")
    assert "undone" not in results.timeline.columns
    assert (names, count) == (["in flight", "cwnd", "ssthresh"], 0)


def test_delays_picture_names_unit_and_deadline():
    def drawn(traffic):
        link = "[[link]]\nname = 'a'\nrate = '2 Mbit/s'\ndelay = '10 ms'\n"
        results = ropewalk.simulate(
            ropewalk.Scenario(f"duration = '3 s'\n{link}[traffic]\n{traffic}")
        )
        (axes,) = plot.delays(results).axes
        legend = axes.get_legend().get_texts()[-1].get_text()
        return axes.get_ylabel(), axes.get_lines()[-1].get_xdata()[0], legend

    label, _, legend = drawn("kind = 'bulk'")
    assert label == "share of packets delivered"
    assert legend.startswith("99 % within")
    assert drawn("kind = 'cbr'\nrate = '1 Mbit/s'\ndeadline = '70 ms'") == (
        "share of messages delivered",
        70,
        "deadline, 70 ms",
    )
    assert drawn("kind = 'video'\npreset = 'live'\nrate = '1 Mbit/s'") == (
        "share of frames delivered",
        200,
        "deadline, 200 ms",
    )


def overlap(first, second):
    return first.get_window_extent().overlaps(second.get_window_extent())


@pytest.mark.parametrize("width", [None, "page"])
def test_windows_legend_does_not_overlap_titles(two_links, width):
    lossy = two_links.with_({"link.dsl.loss": "0.2 %"})
    figure = plot.windows(ropewalk.simulate(lossy, runs=5, step="100 ms"), width=width)
    figure.draw_without_rendering()
    (legend,) = figure.legends
    assert not any(overlap(legend, axes._left_title) for axes in figure.axes)


def test_ticks_of_many_numbers_do_not_run_into_each_other():
    points = pl.DataFrame({"a_value": np.linspace(0.01, 0.2, 40), "b": ["x"] * 40})
    points = points.with_columns(goodput_mbps=pl.col("a_value"))
    for width in (None, "column"):
        figure = plot.heat_map(points, "a_value", "b", width=width)
        figure.draw_without_rendering()
        ticks = figure.axes[0].get_xticks()
        points_apart = 72 * figure.axes[0].get_window_extent().width / figure.dpi / 40
        assert points_apart * (ticks[1] - ticks[0]) > 12
        assert all(len(each.get_text()) <= 6 for each in figure.axes[0].get_xticklabels())


def test_delays_of_several_results_have_own_colours(two_links):
    axes = Figure().subplots()
    for scheduler in ("min-rtt", "blest", "round-robin"):
        changed = two_links.with_({"transport.scheduler": scheduler})
        plot.delays(ropewalk.simulate(changed), ax=axes)
    curves = axes.get_lines()
    assert len({each.get_color() for each in curves}) == len(curves) == 3
    labels = [each.get_text() for each in axes.get_legend().get_texts()]
    assert [label.partition(":")[0] for label in labels] == [
        f"transport.scheduler {each}" for each in ("min-rtt", "blest", "round-robin")
    ]
    plot.delays(ropewalk.simulate(two_links), ax=axes, label="mine")
    assert axes.get_lines()[-1].get_label().startswith("mine: 95 % within")


def test_flows_of_one_entry_are_one_area():
    scenario = ropewalk.Scenario({
        "duration": "1 s",
        "link": [{"name": "a", "rate": "20 Mbit/s", "delay": "10 ms"}],
        "flow": [
            {"name": "many", "protocol": "tcp", "count": 10},
            {"name": "one", "protocol": "tcp"},
        ],
    })  # fmt: skip
    figure = plot.flows(ropewalk.simulate(scenario, step="100 ms"))
    assert figure.axes[0].get_legend_handles_labels()[1] == ["many (10 flows)", "one"]


def test_the_overview_of_a_call_has_no_empty_panel():
    call = {"kind": "cbr", "rate": "64 kbit/s", "message": "160 B"}
    links = [{"name": name, "rate": "20 Mbit/s", "delay": "10 ms"} for name in ("a", "b")]
    scenario = ropewalk.Scenario({"duration": "2 s", "link": links, "traffic": call})
    figure = plot.overview(ropewalk.simulate(scenario, step="100 ms"))
    assert figure.axes[0].get_ylim()[1] < 0.2
    labels = figure.axes[0].get_legend_handles_labels()[1]
    assert "sum of link rates: 40" in labels
    assert not any("reorder buffer" in axes.get_ylabel() for axes in figure.axes)
