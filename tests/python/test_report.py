"""A report is one offline file, and escapes all foreign text."""

import html
import json
import re
import shutil
import sys
from html.parser import HTMLParser
from itertools import product

import numpy as np
import polars as pl
import pytest

import browser
import ropewalk
from places import READY, TWO_LINKS
from ropewalk.output.plot import chart_data
from ropewalk.output.report import drawing, over_time, write_sections
from ropewalk.output.report.charts import colour
from ropewalk.output.report.drawing import draw
from ropewalk.output.report.section import Part, Section
from ropewalk.output.report.study_charts import Axis, StudyTable, pictures, table
from ropewalk.output.style import COLOURS, WAYS
from ropewalk.results import RECORDED_FRAMES
from ropewalk.support.optional_deps import MissingLibraryError

TOLD = "has no browser: make browser, or apt install chromium"


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    folder = tmp_path_factory.mktemp("kept")
    lossy = ropewalk.Scenario.load(TWO_LINKS).with_({"link.dsl.loss": "0.5 %"})
    results = ropewalk.simulate(lossy, runs=3, step="100 ms")
    ropewalk.store.keep(results, folder / "runs")
    scenario = ropewalk.Scenario.load(TWO_LINKS)
    compared = ropewalk.compare(scenario, ways=["predict", "simulate"], runs=3, step="100 ms")
    ropewalk.store.keep(compared, folder / "comparison")
    ropewalk.store.keep(ropewalk.predict(scenario), folder / "prediction")
    short = scenario.with_({"duration": "2 s"})
    ropewalk.store.keep(ropewalk.advise(short, runs=2), folder / "advice")
    ropewalk.store.keep(ropewalk.reproduce("song-2018", "fig10"), folder / "reproduction")
    ropewalk.store.keep(ropewalk.mesh.census(nodes=[40, 48], graphs=10), folder / "census")
    lossy = scenario.with_({"link.dsl.loss": "0.5 %", "duration": "2 s"})
    vary = {"link.dsl.delay": ["10 ms", "80 ms"], "transport.scheduler": ["min-rtt", "blest"]}
    ropewalk.study(lossy, vary, runs=3, out=folder / "study")
    return folder


@pytest.fixture(scope="module")
def reports(kept, tmp_path_factory):
    folder = tmp_path_factory.mktemp("reports")
    return {
        each.name: ropewalk.report.write([each], folder / f"{each.name}.html")
        for each in sorted(kept.iterdir())
    }


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """A browser page without network access."""
    if browser.found() is None:
        pytest.skip(f"this machine {TOLD}")
    with browser.page(tmp_path_factory.mktemp("browser")) as opened:
        yield opened


KINDS = ["advice", "census", "comparison", "prediction", "reproduction", "runs", "study"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("width", "dark"), [(1200, False), (390, True)])
def test_a_browser_shows_all_of_it_without_a_network(page, reports, kind, width, dark):
    page.requests.clear()
    page.complaints.clear()
    page.open(reports[kind], width=width, dark=dark)
    assert page.requests == [reports[kind].as_uri()], "nothing but the file itself was asked for"
    assert page.complaints == []
    charts = page.value("document.querySelectorAll('figure.chart').length")
    marks = [f"svg .mark-{mark} path" for mark in ("line", "area", "rect", "symbol")]
    count = f"each.querySelectorAll('{', '.join(marks)}').length"
    drawn = page.value(f"[...document.querySelectorAll('figure.chart')].map(each => {count})")
    assert charts > 0
    assert all(count > 0 for count in drawn), "each picture has something in it"
    assert page.value("document.documentElement.scrollWidth") <= width, "it fits the screen"
    drawings = "[...document.querySelectorAll('figure.drawing svg')]"
    edges = f"{drawings}.map(each => each.getBoundingClientRect().right)"
    assert all(edge <= width for edge in page.value(edges)), "no drawing is cut"
    shown = page.value("document.querySelectorAll('figure.drawing svg, figure.image img').length")
    assert shown == 1, "the scenario is drawn, or the paper's figure is there"


def test_a_table_is_sorted_by_the_column_that_is_clicked(page, reports):
    page.open(reports["runs"])
    table = "[...document.querySelectorAll('table')]"
    table += ".find(each => each.caption.textContent === 'Subflows')"
    column = f"[...{table}.tBodies[0].rows].map(row => row.cells[%d].textContent)"
    click = f"{table}.tHead.rows[0].cells[%d].querySelector('button').click()"

    def numbers():
        return [float(re.match(r"[\d.,]+", each)[0]) for each in page.value(column % 1)]

    assert page.value(column % 0) == ["dsl", "cable"]
    page.value(click % 1)
    assert numbers() == sorted(numbers(), reverse=True), "the largest first"
    page.value(click % 1)
    assert numbers() == sorted(numbers())
    page.value(click % 0)
    assert page.value(column % 0) == ["cable", "dsl"]
    sorted_by = "[...document.querySelectorAll('th[aria-sort]')].map(each => each.textContent)"
    assert page.value(sorted_by) == ["subflow"], "assistive technology is told, of one column"


def test_it_has_the_numbers_of_the_results(reports, kept):
    result = json.loads((kept / "runs/result.json").read_text())
    text = reports["runs"].read_text()
    mean, half = result["mean"]["goodput_mbps"], result["ci95"]["goodput_mbps"]
    assert f"{mean:,.2f} ± {half:,.2f} Mbit/s" in text
    assert "mean of 3 runs, seeds 1 to 3" in text
    dsl = result["mean"]["links"][0]
    assert f"{dsl['sent_packets']:,.0f}" in text
    assert "Models that apply" in text


def test_report_of_comparison_explains_differences(reports, kept):
    result = json.loads((kept / "comparison/result.json").read_text())
    text = html.unescape(reports["comparison"].read_text())
    assert result["explanation"][0] in text
    assert f"{result['accuracy']['predict_against_simulate']:.1%}" in text


def test_advice_has_each_question_in_words_with_its_answer(reports, kept):
    result = json.loads((kept / "advice/result.json").read_text())
    text = html.unescape(reports["advice"].read_text())
    assert len(result["advice"]) > 3
    for each in result["advice"]:
        assert f"<h3>{each['title']}</h3>" in text
        assert each["answer"] in text


def test_a_study_has_each_combination_with_its_interval(page, reports, kept):
    result = json.loads((kept / "study/result.json").read_text())
    page.open(reports["study"])
    rows = page.value(
        "[...document.querySelectorAll('table')].find(each => each.caption.textContent =="
        " 'Combinations').tBodies[0].innerText.split('\\n')"
    )
    assert len(result["combinations"]) == len(rows) == 4
    for row, each in zip(rows, result["combinations"], strict=True):
        goodput, half = each["goodput_mbps"], each["ci95_goodput_mbps"]
        assert row.split("\t")[:3] == [each["link.dsl.delay"], each["transport.scheduler"], "3"]
        assert f"{goodput:.2f} ± {half:.2f}" in row
    options = "[...document.querySelectorAll('figure.chart select option')].map(each => each.text)"
    assert page.value(options)[:2] == ["goodput (Mbit/s)", "delay p95 (ms)"]


def test_report_of_incomplete_study_has_finished_runs(kept, tmp_path):
    shutil.copytree(kept / "study", tmp_path / "ended")
    shutil.rmtree(tmp_path / "ended/tables")
    result = json.loads((kept / "study/result.json").read_text())
    begun = {key: result[key] for key in result if key not in ("points", "combinations")}
    (tmp_path / "ended/result.json").write_text(json.dumps(begun))
    [part] = (tmp_path / "ended/points").glob("*.parquet")
    done = pl.read_parquet(part).head(5)
    failed = done.tail(1).with_columns(status=pl.lit("failed"), error=pl.lit("<no memory>"))
    pl.concat([done.head(4), failed], how="vertical_relaxed").write_parquet(part)
    text = ropewalk.report.write([tmp_path / "ended"]).read_text()
    assert "4 runs are done." in text
    assert "1 failed, and are in no mean" in text
    assert "&lt;no memory&gt;" in text
    assert "The study is incomplete" in text
    assert "Over link.dsl.delay, by transport.scheduler" in text


def test_report_omits_unknown_kernel_values():
    ran = ropewalk.simulate("start/two-links", step="1 s")
    frames = {name: getattr(ran, name) for name in RECORDED_FRAMES}
    frames["connection"] = ran.connection.select("seed", "time_s", "goodput_mbps")
    kernels = ropewalk.Results.restored(ran.scenario, ran.runs, frames)
    titles = [chart.title for chart in over_time.pictures(kernels)]
    assert titles[0] == "Goodput over time"
    assert "Data waiting for a gap to close" not in titles


def test_a_band_is_the_interval_of_the_mean_as_in_pictures():
    ran = ropewalk.simulate("start/two-links", runs=3, step="500 ms")
    drawn = chart_data.delivered(ran, ran.seeds)
    columns = over_time.delivered({"simulate": ran}).spec["data"]["columns"]
    assert columns["x"] == pytest.approx(drawn.edges, rel=1e-4)
    for name, values in (("low", drawn.mean - drawn.half), ("high", drawn.mean + drawn.half)):
        assert columns[name][:-1] == pytest.approx(np.maximum(values, 0), rel=1e-4), name


def test_report_charts_follow_the_varied_keys():
    def drawn(*axes):
        rows = [
            dict(zip([key for key, _ in axes], each, strict=True))
            for each in product(*[v for _, v in axes])
        ]
        frame = pl.DataFrame(
            [{**row, "runs": 1, "goodput_mbps": float(at)} for at, row in enumerate(rows)]
        )
        study = StudyTable(tuple(Axis(key, values) for key, values in axes), frame)
        return [chart.title for chart in pictures(study)]

    delays, names = ("delay", ("1 ms", "2 ms")), ("scheduler", ("blest", "ecf"))
    rates = ("rate", ("1 Mbit/s", "800 kbit/s"))
    assert drawn(delays, names) == ["Over delay, by scheduler"]
    assert drawn(delays, ("loss", ("1 %", "2 %")), names) == ["Over delay and loss"]
    assert drawn(names) == ["By scheduler"]
    assert drawn(rates) == ["Over rate"], "units of one quantity are one axis"
    assert drawn(("queue", ("1 bdp", "9 packets"))) == ["By queue"], "others are names"


def test_a_study_of_ten_thousand_combinations_stays_below_5_mb(page, tmp_path):
    axes = [Axis(key, tuple(f"{at} ms" for at in range(1, 101))) for key in ("one", "two")]
    rows = [*product(*(axis.values for axis in axes))]
    numbers = {
        f"number_{at}_ms": [at + 1 / (7 + row) for row in range(len(rows))] for at in range(16)
    }
    frame = pl.DataFrame({"one": [a for a, _ in rows], "two": [b for _, b in rows], **numbers})
    frame = frame.with_columns(pl.lit(1).alias("runs"))
    study = StudyTable(tuple(axes), frame)
    part = Part("Pictures", (*pictures(study), table(study, "rows.parquet")))
    file = tmp_path / "large.html"
    write_sections([Section("Large", "study", (part,))], file)
    assert file.stat().st_size < 5e6
    assert "9,600 more are in rows.parquet" in file.read_text()
    page.open(file)
    drawn = page.value("document.querySelectorAll('svg .mark-rect.role-mark path').length")
    assert drawn == len(rows) == 10_000


def test_report_of_reproduction_has_values_and_reasons(reports, kept):
    result = json.loads((kept / "reproduction/result.json").read_text())
    text = html.unescape(reports["reproduction"].read_text())
    assert result["source"] in text
    for each in result["comparisons"]:
        assert each["quantity"] in text
        assert each.get("reason", "") in text


class Tags(HTMLParser):
    """Elements of a page with their attributes."""

    def __init__(self, text):
        super().__init__()
        self.found = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.found.append((tag, dict(attrs)))


def test_it_is_one_file_below_5_mb_that_may_load_nothing(reports):
    for report in reports.values():
        assert report.stat().st_size < 5e6
        tags = Tags(report.read_text()).found
        policies = [of["content"] for _, of in tags if "http-equiv" in of]
        assert [policy.startswith("default-src 'none'; ") for policy in policies] == [True]
        named = [of[key] for _, of in tags for key in ("src", "href", "data") if key in of]
        assert [each for each in named if not each.startswith(("data:image/png", "#"))] == []


HOSTILE = '</script><script>document.title="taken"</script><img src=x onerror="document.title=1">'


def test_report_escapes_text_of_files(page, tmp_path):
    scenario = ropewalk.Scenario(
        f"""# {HOSTILE}
        title = '{HOSTILE}'
        duration = "1 s"
        [[link]]
        name = '<img src=x onerror="title=1">'
        rate = "4 Mbit/s"
        [[link]]
        name = "b]x['{{{{ 1 }}}}"
        rate = "4 Mbit/s"
        """
    )
    ropewalk.store.keep(ropewalk.simulate(scenario, step="100 ms"), tmp_path / "kept")
    report = ropewalk.report.write([tmp_path / "kept"])
    assert report == tmp_path / "kept/report.html"
    page.complaints.clear()
    page.open(report)
    assert page.complaints == []
    assert page.value("document.title") == HOSTILE
    assert page.value("document.querySelectorAll('img, script[src]').length") == 0
    assert page.value("document.body.textContent.includes('b]x[\\'{{ 1 }}')")
    # A folder that contains a report can be overwritten.
    ropewalk.store.keep(ropewalk.simulate(scenario), tmp_path / "kept")


def test_report_command_prints_its_path(command, kept, tmp_path):
    done = command("report", kept / "runs", "--out", tmp_path / "a.html")
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith(f"report:  {tmp_path / 'a.html'} (")
    both = command("report", kept / "runs", kept / "runs", "--out", tmp_path / "b.html", "--json")
    text = json.loads(both.stdout)
    assert [each["title"] for each in text["sections"]] == ["Two unequal links"] * 2
    assert (tmp_path / "b.html").read_text().count("<section id=") == 2


@pytest.mark.parametrize(
    ("made", "told"),
    [
        (lambda folder: None, "no such folder"),
        (lambda folder: folder.mkdir(), "has no result.json"),
        (lambda folder: _result(folder, "{"), "result.json: line 1: "),
        (lambda folder: _result(folder, "[]"), "has no key engine"),
        (lambda folder: _result(folder, '{"engine": "guess"}'), "results of 'guess'"),
        (lambda folder: _result(folder, '{"engine": "simulate"}'), "scenario.toml"),
    ],
)
def test_a_folder_without_results_is_wrong_input(command, tmp_path, made, told):
    made(tmp_path / "kept")
    done = command("report", tmp_path / "kept", "--out", tmp_path / "a.html")
    assert done.returncode == 2
    assert told in done.stderr
    assert "Traceback" not in done.stderr
    assert str(tmp_path / "kept") in done.stderr
    assert not (tmp_path / "a.html").exists()


def test_report_names_broken_files(command, kept, tmp_path):
    shutil.copytree(kept / "runs", tmp_path / "cut")
    (tmp_path / "cut/tables/timeline.parquet").write_bytes(b"PAR1")
    done = command("report", tmp_path / "cut")
    assert done.returncode == 2
    assert "timeline.parquet" in done.stderr
    ropewalk.store.keep(ropewalk.simulate(TWO_LINKS), tmp_path / "short")
    (tmp_path / "short/result.json").write_text('{"engine": "simulate", "seed": 1}')
    done = command("report", tmp_path / "short")
    assert done.returncode == 2
    assert "short/result.json: not as this version of ropewalk writes it" in done.stderr


def test_it_is_written_to_a_page(refused, kept, tmp_path):
    text = refused("report", kept / "runs", "--out", tmp_path / "a.txt")
    assert "ends in .html" in text


def test_report_without_extra_names_the_installation(kept, monkeypatch):
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    monkeypatch.setattr("ropewalk.support.optional_deps.find_spec", lambda name: None)
    with pytest.raises(MissingLibraryError, match=r'pip install "ropewalk\[report\]"'):
        ropewalk.report.write([kept / "runs"])


def test_the_scenario_of_every_kind_is_drawn():
    for file in READY:
        svg, _ = drawing.draw(ropewalk.Scenario.load(file))
        assert svg.startswith("<svg"), file


def _result(folder, text):
    folder.mkdir()
    (folder / "result.json").write_text(text)


def test_a_report_stacks_and_colours_as_a_picture_does(kept):
    results = ropewalk.load(kept / "runs")
    chart = next(each for each in over_time.pictures(results) if "Goodput" in each.title)
    area = next(each for each in chart.spec["layer"] if each["mark"]["type"] == "area")
    columns = area["data"]["columns"]
    places = dict(zip(columns["of"], columns["place"], strict=True))
    assert places == {"dsl": 0, "cable": 1}, "the first subflow at the foot"
    assert area["encoding"]["color"]["legend"]["values"] == ["cable", "dsl"]
    for ways in (["predict", "simulate", "testbed"], ["simulate", "testbed"]):
        domain = colour(ways)["scale"]["domain"]
        assert {way: COLOURS[domain.index(way)] for way in ways} == {
            way: WAYS[way] for way in ways
        }


def test_the_drawing_of_links_fits_a_phone(kept):
    svg, _ = draw(ropewalk.Scenario.load(TWO_LINKS))
    assert float(re.search(r'width="(\d+)"', svg)[1]) <= 400
    page = ropewalk.report.write([kept / "prediction"], kept.parent / "p.html").read_text()
    assert ".drawing svg { display: block; max-width: 100%; height: auto; }" in page
