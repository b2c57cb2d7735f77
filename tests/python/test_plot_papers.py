"""Pictures for papers: bands, axes of callers, widths, many links, fonts, studies."""

import math
import warnings

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure

import ropewalk
from ropewalk.output import plot, style
from ropewalk.output.plot.timelines import Steps
from ropewalk.results.statistics import student_t

MANY = 12


@pytest.fixture(scope="module")
def many():
    links = "".join(
        f"[[link]]\nname = 'link-{i}'\nrate = '{4 + i} Mbit/s'\ndelay = '{10 + 5 * i} ms'\n"
        f"loss = '0.05 %'\n"
        for i in range(MANY)
    )
    scenario = ropewalk.Scenario(f"title = 'Twelve links'\nduration = '2 s'\n{links}")
    return ropewalk.simulate(scenario, runs=2, step="50 ms")


def legend(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


@pytest.mark.parametrize(
    "draw", [plot.goodput, plot.delays, plot.reorder_buffer], ids=lambda draw: draw.__name__
)
def test_axes_of_others_are_drawn_on_and_returned(results, draw):
    axes = Figure().subplots()
    axes.set_title("mine")
    assert draw(results, ax=axes) is axes
    assert axes.get_title() == "mine"
    assert axes.get_xlabel()
    with pytest.raises(ValueError, match="width is of a figure"):
        draw(results, ax=axes, width="page")


def test_windows_of_one_subflow_draw_on_given_axes(results):
    axes = Figure().subplots()
    assert plot.windows(results, subflow="cable", ax=axes) is axes
    with pytest.raises(ValueError, match="one ax shows one subflow"):
        plot.windows(results, ax=axes)
    with pytest.raises(ValueError, match="subflow = 'lte': allowed: dsl, cable"):
        plot.windows(results, subflow="lte")


@pytest.mark.parametrize(("width", "inches", "points"), [("column", 3.5, 7), ("page", 7.16, 8)])
def test_a_paper_gets_its_width_its_letters_and_no_title(results, width, inches, points):
    for figure in (
        plot.goodput(results, width=width),
        plot.overview(results, width=width),
        ropewalk.predict(results.scenario).plot(width=width),
    ):
        assert figure.get_figwidth() == inches
        assert figure.get_suptitle() == ""
        assert figure.axes[0].xaxis.label.get_fontsize() == points
    with pytest.raises(ValueError, match="width = 'poster': allowed: column, page"):
        plot.goodput(results, width="poster")


def test_a_band_is_the_interval_of_the_mean_by_students_t(results):
    steps = Steps(results.connection, results.seeds)
    values = steps.values("goodput_mbps")
    curve = steps.curve(values)
    at = 5
    runs = [
        results.connection.filter(pl.col("seed") == seed)["goodput_mbps"][at]
        for seed in results.seeds
    ]
    assert curve.mean[at] == pytest.approx(np.mean(runs))
    expected = student_t(2) * np.std(runs, ddof=1) / math.sqrt(3)
    assert curve.half[at] == pytest.approx(expected)
    (axes,) = plot.goodput(results).axes
    assert "95 % interval" in legend(axes)
    (axes,) = plot.goodput(results, seed=5).axes
    assert "95 % interval" not in legend(axes)
    assert axes.get_legend().get_title().get_text() == ""


def test_runs_that_are_alike_have_no_band():
    links = "[[link]]\nname = 'a'\nrate = '5 Mbit/s'\ndelay = '5 ms'\n"
    same = ropewalk.simulate(
        ropewalk.Scenario(f"duration = '1 s'\n{links}"), runs=3, step="100 ms"
    )
    (axes,) = plot.goodput(same).axes
    assert "95 % interval" not in legend(axes)
    assert axes.get_legend().get_title().get_text() == "3 runs, all alike"


def test_the_last_step_is_left_out_where_it_is_a_part(results):
    seed = results.seeds[0]
    one = results.connection.filter(results.connection["seed"] == seed)
    ends = one["time_s"].to_list()
    assert ends[-1] - ends[-2] < 0.9 * (ends[1] - ends[0]), "the transfer ends within a step"
    assert Steps(one, [seed]).edges[-1] == ends[-2]
    (axes,) = plot.goodput(results, seed=seed).axes
    assert axes.get_xlim()[1] == ends[-2]


def test_more_links_than_colours_get_distinct_styles(many, tmp_path):
    (axes,) = plot.goodput(many).axes
    looks = {
        (patch.get_facecolor(), patch.get_hatch())
        for patch in axes.patches
        if patch.get_label().startswith("link-")
    }
    assert len(looks) == MANY
    assert len({(style.colour(index), style.line(index)) for index in range(36)}) == 36
    plot.save(plot.overview(many), tmp_path / "page.png")


def test_goodput_above_capacity_is_explained_in_the_picture(many, results):
    def explained(axes):
        return any("behind a gap" in text.get_text() for text in axes.texts)

    small = results.scenario.with_({"transport.receive_buffer": "64 KiB"})
    slow = ropewalk.simulate(small, step="200 ms")
    seen = set()
    for runs, seed in ((many, None), (slow, None), *((results, seed) for seed in results.seeds)):
        (axes,) = plot.goodput(runs, seed=seed).axes
        delivered = max(
            np.nanmax(patch.get_data().values)
            for patch in axes.patches
            if patch.get_label().startswith("delivered in order")
        )
        above = delivered > runs.scenario.capacity_mbps
        assert explained(axes) == above
        seen.add(bool(above))
    assert seen == {True, False}, "both were seen"


def test_shares_picture_matches_results_with_competitors(two_links):
    other = "[[competitor]]\nname = 'rival'\npaths = ['cable']\n"
    scenario = ropewalk.Scenario(two_links.text + other).with_({"duration": "2 s"})
    results = ropewalk.simulate(scenario, runs=2)
    (axes,) = plot.shares(results).axes
    assert any(name.startswith("rival") for name in legend(axes))
    rows = results.link_flows.filter(pl.col("flow") == "rival", pl.col("link") == "cable")
    widths = [
        bar.get_width()
        for bars in axes.containers
        if bars.get_label().startswith("rival")
        for bar in bars
    ]
    assert max(widths) == pytest.approx(100 * rows["share"].mean())
    with pytest.raises(ValueError, match="only one flow"):
        plot.shares(ropewalk.simulate(two_links))


def test_missing_letters_use_fallback_fonts_without_warning(two_links, tmp_path):
    letter = "\U000f1234"  # private use: no installed font has it

    def saved(name):
        runs = ropewalk.simulate(two_links.with_({"title": f"列车 {letter}"}))
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            plot.save(plot.delays(runs), tmp_path / name)
        return (tmp_path / name).read_bytes()

    assert style.fonts_with(letter) == ()
    before = saved("before.png")
    file = tmp_path / "Test-Sans.ttf"
    a_font(letter, file)
    from matplotlib.font_manager import fontManager

    fontManager.addfont(file)
    try:
        style._fonts_with.cache_clear()
        assert style.fonts_with(f"a {letter}") == ("Test Sans",)
        assert saved("after.png") != before
    finally:
        fontManager.ttflist = [each for each in fontManager.ttflist if each.name != "Test Sans"]
        style._fonts_with.cache_clear()


def a_font(letter, file):
    """Write a font with one glyph, a square."""
    from fontTools.fontBuilder import FontBuilder
    from fontTools.pens.ttGlyphPen import TTGlyphPen

    pen = TTGlyphPen(None)
    pen.moveTo((50, 0))
    for corner in ((50, 700), (750, 700), (750, 0)):
        pen.lineTo(corner)
    pen.closePath()
    square, empty = pen.glyph(), TTGlyphPen(None).glyph()
    font = FontBuilder(1000, isTTF=True)
    font.setupGlyphOrder([".notdef", "square"])
    font.setupCharacterMap({ord(letter): "square"})
    font.setupGlyf({".notdef": empty, "square": square})
    font.setupHorizontalMetrics({".notdef": (800, 0), "square": (800, 50)})
    font.setupHorizontalHeader(ascent=800, descent=-200)
    font.setupNameTable({"familyName": "Test Sans", "styleName": "Regular"})
    font.setupOS2(usWeightClass=400)
    font.setupPost()
    font.save(file)


def swept(**columns):
    return pl.DataFrame(
        {
            "link.a.delay": ["0.1 s", "10 ms", "50 ms"] * 4,
            "transport.scheduler": (["min-rtt"] * 3 + ["blest"] * 3) * 2,
            "seed": [1] * 6 + [2] * 6,
            "goodput_mbps": [8.0, 10, 9, 9, 11, 10, 6, 10, 9, 9, 11, 8],
            **columns,
        }
    )


def test_series_orders_numbers_on_the_axis():
    (axes,) = plot.series(swept(), "link.a.delay", by="transport.scheduler").axes
    assert axes.get_xlabel() == "delay of a (s)"
    first, second = axes.get_lines()
    assert first.get_xdata().tolist() == pytest.approx([0.01, 0.05, 0.1])
    assert first.get_ydata().tolist() == [10, 9, 7]
    assert second.get_ydata().tolist() == [11, 9, 9]
    assert legend(axes) == ["min-rtt", "blest"]
    band = axes.collections[0].get_paths()[0].vertices[:, 1]
    assert band.max() == pytest.approx(7 + student_t(1) * math.sqrt(2) / math.sqrt(2))
    assert band.min() == 0, "no goodput is negative"


def test_a_map_has_the_means_where_they_belong():
    axes, _ = plot.heat_map(swept(), "link.a.delay", "transport.scheduler").axes
    (image,) = axes.get_images()
    assert image.get_array().tolist() == [[10, 9, 7], [11, 9, 9]]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["0.01", "0.05", "0.1"]
    assert axes.get_xlabel() == "delay of a (s)"
    assert [text.get_text() for text in axes.get_yticklabels()] == ["min-rtt", "blest"]
    assert axes.texts[0].get_text() == "10.0"


def test_a_hull_is_below_all_dots():
    points = swept(cost=[1.0, 3, 4, 1, 2, 5] * 2)
    axes = Figure().subplots()
    assert plot.hull(points, "goodput_mbps", "cost", by="transport.scheduler", ax=axes) is axes
    assert axes.get_lines()[0].get_xydata().tolist() == [[7, 1]]


def test_series_of_names_spreads_dots_and_clips_intervals():
    (axes,) = plot.series(swept(), "transport.scheduler", by="link.a.delay").axes
    assert [text.get_text() for text in axes.get_xticklabels()] == ["min-rtt", "blest"]
    lines = [each for each in axes.get_lines() if each.get_marker() == "o"]
    assert lines[0].get_linestyle() == "None"
    lowest = min(
        path.vertices[:, 1].min() for each in axes.collections for path in each.get_paths()
    )
    assert lowest == 0.0, "the interval of 8 and 6 goes below"


def test_shares_are_in_percent_as_in_headings():
    points = swept(out_of_order_ratio=[0.1, 0.2, 0.3] * 4)
    (axes,) = plot.series(points, "link.a.delay", "out_of_order_ratio").axes
    assert axes.get_ylabel() == "out of order (%)"
    assert axes.get_lines()[0].get_ydata().tolist() == pytest.approx([20, 30, 10])


def test_heat_maps_share_colour_limits():
    axes, _ = plot.heat_map(swept(), "link.a.delay", "transport.scheduler", limits=(0, 50)).axes
    assert axes.get_images()[0].get_clim() == (0, 50)


def test_a_wrong_column_is_named():
    with pytest.raises(ValueError, match=r"no column 'delay'; there are: link\.a\.delay"):
        plot.series(swept(), "delay")
    with pytest.raises(ValueError, match=r"'transport\.scheduler' has no numbers"):
        plot.heat_map(swept(), "link.a.delay", "seed", "transport.scheduler")
