"""Results display themselves in a notebook, executed in a kernel."""

import base64
import re
import xml.etree.ElementTree as ET
from pathlib import Path

import matplotlib
import nbformat
import pytest
from nbclient import NotebookClient

import ropewalk
from places import ROOT, TWO_LINKS
from ropewalk.output.notebook import html

NOTEBOOK = ROOT / "examples" / "notebook" / "first-steps.ipynb"
PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture(scope="module")
def shown():
    """Return the output of each cell by its first line."""
    notebook = nbformat.read(NOTEBOOK, as_version=4)
    assert not any(cell.get("outputs") for cell in notebook.cells), "kept without outputs"
    NotebookClient(notebook, timeout=120, resources={"metadata": {"path": str(ROOT)}}).execute()
    cells = [cell for cell in notebook.cells if cell.cell_type == "code"]
    for cell in cells:
        assert not [each for each in cell.outputs if each.output_type == "stream"], "no complaints"
    return {cell.source: [each.data for each in cell.outputs] for cell in cells}


def of(shown, source):
    (data,) = next(outputs for cell, outputs in shown.items() if source in cell)
    return data


def is_picture(png):
    # The size is in the header; an empty picture of that size would be far smaller.
    return png.startswith(PNG) and int.from_bytes(png[16:20], "big") > 300 and len(png) > 5000


@pytest.mark.parametrize(
    "source", ["simulate(", "ropewalk.predict(", "ropewalk.compare(", "ropewalk.study("]
)
def test_a_result_shows_a_table_and_a_picture(shown, source):
    data = of(shown, source)
    assert {"text/html", "image/png", "text/plain"} <= data.keys()
    assert data["text/html"].count("<table") > ("study" not in source)
    assert "Mbit/s" in data["text/html"]
    (inside,) = re.findall(r'src="data:image/png;base64,([^"]+)"', data["text/html"])
    assert is_picture(base64.b64decode(inside))
    assert base64.b64decode(data["image/png"]) == base64.b64decode(inside)
    assert not re.search(r"(src|href)=\"(?!data:)", data["text/html"]), "it needs no network"


def test_a_scenario_shows_its_links(shown):
    text = of(shown, "Scenario.load")["text/html"]
    assert all(each in text for each in ("dsl", "cable", "16 Mbit/s", "0.01 %", "mptcp"))


@pytest.mark.parametrize("source", ["plot.series(", "plot.heat_map(", "plot.goodput("])
def test_a_picture_shows_itself(shown, source):
    assert is_picture(base64.b64decode(of(shown, source)["image/png"]))


@pytest.mark.parametrize("source", ["results.links", "made.points.select"])
def test_frames_show_themselves(shown, source):
    assert "<table" in of(shown, source)["text/html"]


def test_other_verbs_show_themselves():
    scenario = ropewalk.Scenario.load("scenarios/start/two-links.toml")
    advised = ropewalk.advise(scenario)
    assert "<table" in advised._repr_html_()
    assert is_picture(advised._repr_png_())
    wired = ropewalk.explain(scenario)
    assert "<img" not in wired._repr_html_()
    assert wired._repr_png_() is None
    radios = ropewalk.explain("scenarios/wifi/diamond.toml")
    assert is_picture(radios._repr_png_())
    equal = ropewalk.study(scenario, {"duration": ["1 s"]})
    assert "<table" in equal._repr_html_()
    assert equal._repr_png_() is None, "one combination has no picture"
    made = ropewalk.reproduce("song-2018", "fig10")
    assert is_picture(made._repr_png_())
    assert made.figure.get_suptitle().startswith("Song et al. 2018, figure 10")
    made.figure.canvas.draw()
    (names,) = made.figure.legends
    title = made.figure._suptitle.get_window_extent()
    assert not names.get_window_extent().overlaps(title), "the legend leaves the title alone"


def test_names_from_files_stay_text_and_tables_are_whole():
    hostile = "<script>alert(1)</script>\x1b[31m"
    text = "".join(
        f'[[link]]\nname = "{name}"\nrate = "5 Mbit/s"\ndelay = "5 ms"\n' for name in ("a&b", "c")
    )
    quoted = hostile.replace("\x1b", "\\u001b")
    scenario = ropewalk.Scenario(f'title = "{quoted}"\nduration = "1 s"\n{text}')
    assert "a&amp;b" in scenario._repr_html_()
    for made in (scenario, ropewalk.simulate(scenario), ropewalk.predict(scenario)):
        note = made._repr_html_()
        assert "<script" not in note
        assert "\x1b" not in note
        assert "&lt;script&gt;" in note
        ET.fromstring(f"<div>{re.sub('<img[^>]*>', '', note)}</div>")


def test_a_style_of_the_terminal_is_kept_and_another_thing_is_set_as_there():
    from rich.panel import Panel
    from rich.text import Text

    assert "color: #b58900" in html(Text("warning: x", "yellow"))
    assert html(Panel("boxed")).startswith("<pre>")


def test_showing_changes_no_setting(results):
    before = dict(matplotlib.rcParams)
    assert Path(NOTEBOOK).exists()
    results._repr_html_()
    assert dict(matplotlib.rcParams) == before


def test_repr_of_results_is_short():
    short = ropewalk.Scenario.load(TWO_LINKS, {"duration": "1 s"})
    advised = ropewalk.advise(short, runs=1)
    census = ropewalk.mesh.census(nodes=[32], graphs=2)
    predictions = ropewalk.predict(short)
    for made in (
        advised,
        advised.advice[0],
        ropewalk.explain("wifi/two-hops"),
        ropewalk.explain("wifi/two-hops").place,
        predictions,
        predictions.best,
        census,
        census.counts[0],
        ropewalk.reproduce("song-2018", "fig10"),
        ropewalk.compare(short, ways=["predict"]),
        ropewalk.simulate(short),
    ):
        assert repr(made).startswith("<")
        assert len(repr(made)) < 250
