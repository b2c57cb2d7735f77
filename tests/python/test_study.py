"""Studies: stored incrementally and resumed; in one process, several, or a cluster."""

import json
import multiprocessing
import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from pathlib import Path

import polars as pl
import pytest

import ropewalk
from places import ROOT, TWO_LINKS
from ropewalk.analysis.study import axes, backends, definition, jobs
from ropewalk.analysis.study.driver import MAX_DEATHS, Driver
from ropewalk.analysis.study.runner import wanted_runs
from ropewalk.output.report import write as write_report

VARY = {"link.dsl.delay": ["10 ms", "80 ms"], "transport.scheduler": ["min-rtt", "round-robin"]}
LOSSY = {"link.dsl.loss": "1 %", "duration": "2 s"}


@pytest.fixture(scope="module")
def lossy():
    return ropewalk.Scenario.load(TWO_LINKS).with_(LOSSY)


def same(one, other):
    """Return whether two studies have equal results, apart from run times and places."""
    aside = ("wall_s", "origin")
    return one.points.drop(aside).equals(other.points.drop(aside))


def count_runs(monkeypatch):
    made = []
    inner = jobs.RUNNERS["simulate"]

    def counted(scenario, seed):
        made.append(seed)
        return inner(scenario, seed)

    monkeypatch.setattr(jobs, "RUNNERS", {**jobs.RUNNERS, "simulate": counted})
    return made


def test_a_value_spelled_otherwise_is_the_same_point(lossy, tmp_path, monkeypatch):
    runs = count_runs(monkeypatch)
    key = "link.dsl.delay"
    ropewalk.study(lossy, {key: ["10 ms", "80 ms"]}, out=tmp_path / "made")
    assert len(runs) == 2
    spelled = ["10ms", "0.08 s"]
    again = ropewalk.study(lossy, {key: spelled}, out=tmp_path / "made")
    assert len(runs) == 2
    assert again.points[key].to_list() == spelled
    assert again.combinations[key].to_list() == spelled
    assert again.missing == 0
    # The same holds for a value of the scenario.
    other = lossy.with_({"link.cable.delay": "0.008 s", "link.dsl.loss": "1%"})
    ropewalk.study(other, {key: spelled}, out=tmp_path / "made")
    assert len(runs) == 2
    ropewalk.study(lossy, {key: ["11 ms"]}, out=tmp_path / "made")
    assert len(runs) == 3
    with pytest.raises(ValueError, match="10ms occurs twice"):
        ropewalk.study(lossy, {key: ["10 ms", "10ms"]})


def test_a_row_a_run_with_numbers_in_base_units(lossy):
    made = ropewalk.study(lossy, VARY, runs=2)
    assert made.points.select(*VARY, "seed").rows() == [
        (delay, scheduler, seed)
        for delay in ("10 ms", "80 ms")
        for scheduler in ("min-rtt", "round-robin")
        for seed in (1, 2)
    ]
    assert made.points["link.dsl.delay_value"].unique().sort().to_list() == [0.01, 0.08]
    assert "transport.scheduler_value" not in made.points.columns
    assert set(made.points["status"]) == {"done"}
    assert made.points["point"].n_unique() == 8
    chosen = {"link.dsl.delay": "80 ms", "transport.scheduler": "min-rtt"}
    alone = ropewalk.simulate(lossy.with_(chosen), seed=2)
    rows = made.points.filter(
        (pl.col("link.dsl.delay") == "80 ms")
        & (pl.col("transport.scheduler") == "min-rtt")
        & (pl.col("seed") == 2)
    )
    assert rows["goodput_mbps"].to_list() == alone.summary["goodput_mbps"].to_list()


def test_study_means_match_results(lossy):
    made = ropewalk.study(lossy, {"link.dsl.delay": ["10 ms"]}, runs=4)
    alone = ropewalk.simulate(lossy.with_({"link.dsl.delay": "10 ms"}), runs=4)
    row = made.combinations.row(0, named=True)
    assert row["runs"] == 4
    assert row["goodput_mbps"] == pytest.approx(alone.mean["goodput_mbps"])
    assert row["ci95_goodput_mbps"] == pytest.approx(alone.ci95["goodput_mbps"])


def test_second_call_runs_only_missing_points(lossy, tmp_path, monkeypatch):
    made = count_runs(monkeypatch)
    first = ropewalk.study(lossy, VARY, runs=2, out=tmp_path)
    assert len(made) == 8
    again = ropewalk.study(lossy, VARY, runs=2, out=tmp_path)
    assert len(made) == 8
    assert again.points.equals(first.points)
    more = VARY | {"link.dsl.delay": ["10 ms", "30 ms", "80 ms"]}
    wider = ropewalk.study(lossy, more, runs=3, out=tmp_path)
    assert len(made) == 8 + 10
    assert same(wider, ropewalk.study(lossy, more, runs=3))


def test_keys_without_effect_lists_keys_whose_values_give_equal_runs(lossy):
    one_path = lossy.with_({"transport.paths": ["dsl"], "duration": "1 s"})
    zipped = {"link.cable.delay": ["1 ms", "2 ms"], "link.cable.rate": ["1 Mbit/s", "2 Mbit/s"]}
    made = ropewalk.study(one_path, VARY | zipped, runs=2, zip=[list(zipped)])
    assert made.keys_without_effect == [list(zipped), ["transport.scheduler"]]
    assert ropewalk.study(one_path, {"duration": ["1 s"]}).keys_without_effect == []


def test_study_command_explains_equal_and_unused_runs(command, tmp_path):
    given = ["--set", 'transport.paths=["dsl"]', "--set", "duration=1s", "--runs", 2]
    given += ["--vary", "transport.scheduler=min-rtt,blest", "--out", tmp_path / "out"]
    first = command("study", TWO_LINKS, *given).stdout
    assert "transport.scheduler: all values give the same runs\n" in first
    assert re.search(r"^blest +2 +[\d.]+ ± 0 +[\d.]+ ± 0$", first, re.MULTILINE)
    assert "earlier" not in first
    second = command("study", TWO_LINKS, *given, "--set", "link.dsl.rate=9Mbit/s").stdout
    assert f"earlier: {tmp_path / 'out/earlier'} (4 runs of an earlier study" in second


def test_to_pandas_converts_both_frames(lossy):
    made = ropewalk.study(lossy, {"duration": ["1 s", "2 s"]}, runs=2)
    assert made.to_pandas().shape[0] == 4
    assert made.to_pandas("combinations")["duration"].tolist() == ["1 s", "2 s"]
    with pytest.raises(ValueError, match="frame = 'links'"):
        made.to_pandas("links")


def test_dropped_points_are_stored_and_reused(lossy, tmp_path, monkeypatch):
    made = count_runs(monkeypatch)
    first = ropewalk.study(lossy, {"link.dsl.delay": ["1 ms", "2 ms"]}, out=tmp_path)
    less = ropewalk.study(lossy, {"link.dsl.delay": ["2 ms", "3 ms"]}, out=tmp_path)
    assert less.points["link.dsl.delay"].to_list() == ["2 ms", "3 ms"]
    assert pl.read_parquet(tmp_path / "points/*.parquet").height == 2
    back = ropewalk.study(lossy, {"link.dsl.delay": ["1 ms", "2 ms"]}, out=tmp_path)
    assert len(made) == 3
    assert back.points.equals(first.points)


def test_every_input_changes_the_point_key(tmp_path, monkeypatch):
    made = count_runs(monkeypatch)
    trace = tmp_path / "rate.trace"
    trace.write_text("10\n20\n")
    text = '[[link]]\nname = "a"\ntrace = "rate.trace"\n[traffic]\nsize = "10 kB"\n'
    file = tmp_path / "scenario.toml"

    def go(content, seed=1):
        file.write_text(content)
        ropewalk.study(file, {"link.a.delay": ["1 ms"]}, seed=seed, out=tmp_path / "out")
        return len(made)

    assert go(text) == 1
    assert go(f"# A comment decides nothing.\n{text}") == 1
    assert go(text.replace("10 kB", "11 kB")) == 2
    trace.write_text("10\n25\n")
    assert go(text) == 3
    assert go(text, seed=2) == 4
    monkeypatch.setattr("ropewalk.analysis.study.identity.program", lambda verb: "another")
    assert go(text) == 5


def test_a_trace_that_is_varied_is_known_by_its_content(tmp_path, monkeypatch):
    made = count_runs(monkeypatch)
    text = '[[link]]\nname = "a"\nrate = "1 Mbit/s"\n[traffic]\nsize = "10 kB"\n'
    (tmp_path / "scenario.toml").write_text(text)
    for content in ("10\n20\n", "10\n20\n", "10\n25\n"):
        (tmp_path / "one.trace").write_text(content)
        ropewalk.study(
            tmp_path / "scenario.toml", {"link.a.trace": ["one.trace"]}, out=tmp_path / "out"
        )
    assert len(made) == 2


def test_failed_point_is_reported_and_others_run(lossy, tmp_path):
    # Each value is valid with the first of the other key: no warm-up exceeds the run.
    vary = {"duration": ["2 s", "9 s"], "warmup": ["1 s", "5 s"]}
    made = ropewalk.study(lossy, {**vary, "duration": ["9 s", "2 s"]}, out=tmp_path)
    assert made.points["status"].to_list() == ["done", "done", "done", "failed"]
    assert "warmup" in made.failed["error"][0]
    assert made.combinations["runs"].to_list() == [1, 1, 1, 0]
    assert made.combinations["failed"].to_list() == [0, 0, 0, 1]
    assert ropewalk.load(tmp_path).json() == made.json()
    assert made.json()["points"] == {"done": 3, "failed": 1, "missing": 0}


@pytest.mark.parametrize(
    "on",
    [
        lambda: 2,
        lambda: ThreadPoolExecutor(2),
        lambda: ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")),
    ],
    ids=["processes", "threads", "an executor of processes"],
)
def test_it_gives_the_same_wherever_it_runs(lossy, on):
    assert same(ropewalk.study(lossy, VARY, on=on()), ropewalk.study(lossy, VARY))


def test_a_cluster_of_dask_gives_the_same_though_a_worker_dies(lossy, tmp_path):
    distributed = pytest.importorskip("distributed", reason="Dask is not installed")
    vary = {"link.dsl.delay": {"from": "1 ms", "to": "40 ms", "steps": 40}}
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0"
    ) as cluster:
        victims = [worker.pid for worker in cluster.workers.values()]
        killed = []

        def progress(finished, of):
            if not killed:
                killed.append(victims[0])
                os.kill(victims[0], signal.SIGKILL)

        made = ropewalk.study(
            lossy, vary, runs=4, out=tmp_path, on=cluster.scheduler_address, progress=progress
        )
    assert killed
    assert same(made, ropewalk.study(lossy, vary, runs=4))


def test_a_dead_scheduler_of_dask_ends_a_study_that_resumes(lossy, tmp_path):
    pytest.importorskip("distributed", reason="Dask is not installed")
    import dask

    file, out = tmp_path / "scheduler.json", tmp_path / "study"
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    scheduler = subprocess.Popen(
        [
            sys.executable,
            "-m",
            "distributed.cli.dask_scheduler",
            "--host",
            "127.0.0.1",
            "--port",
            "0",
            "--no-dashboard",
            "--scheduler-file",
            str(file),
        ],
        **quiet,
    )
    try:
        address = _written(file)["address"]
        worker = subprocess.Popen(
            [
                sys.executable,
                "-m",
                "distributed.cli.dask_worker",
                address,
                "--nthreads",
                "1",
                "--no-dashboard",
                "--death-timeout",
                "5",
                "--local-directory",
                str(tmp_path),
            ],
            **quiet,
        )
        try:
            short = {"distributed.comm.timeouts.connect": "1 s"}
            with dask.config.set(short), pytest.raises(RuntimeError) as ended:
                ropewalk.study(
                    lossy,
                    VARY,
                    runs=2000,
                    out=out,
                    on=address,
                    progress=lambda *_: scheduler.kill(),
                )
        finally:
            worker.kill()
            worker.wait()
    finally:
        scheduler.kill()
        scheduler.wait()
    assert str(ended.value) == f"{address}: the Dask scheduler is gone"
    there = ropewalk.load(out).points.height
    assert there > 0
    kept = f"{there:,} of 8,000 runs are stored; the same command resumes: {out}"
    assert ended.value.__notes__ == [kept]


def _written(file):
    """Wait for a JSON file and return its content."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        try:
            return json.loads(file.read_text())
        except (FileNotFoundError, json.JSONDecodeError):
            time.sleep(0.05)
    raise AssertionError(f"{file} is not there")


def test_a_killed_worker_costs_nothing_but_time(lossy):
    vary = {"link.dsl.delay": {"from": "1 ms", "to": "100 ms", "steps": 100}}
    killed = []

    def progress(finished, of):
        if not killed:
            victim = multiprocessing.active_children()[0]
            os.kill(victim.pid, signal.SIGKILL)
            killed.append(victim.pid)

    made = ropewalk.study(lossy, vary, runs=3, on=2, progress=progress)
    assert killed
    assert same(made, ropewalk.study(lossy, vary, runs=3))


class Dying:
    """A backend whose worker dies at some points."""

    width = 1
    pack_s = 0.1

    def __init__(self, of):
        self.of, self.pool, self.packs = of, ThreadPoolExecutor(1), []

    def submit(self, points):
        self.packs.append(len(points))
        return self.pool.submit(self.work, points)

    def work(self, points):
        if self.of & {point.seed for point in points}:
            raise backends.BrokenExecutor("gone")
        return [{"status": "done"} for _ in points]

    def renew(self):
        pass


def test_a_point_that_kills_its_worker_again_and_again_has_failed():
    backend, rows = Dying({7, 450}), {}

    def keep(points, given):
        rows.update((point.seed, row) for point, row in zip(points, given, strict=True))

    Driver([backend], keep).run(jobs.Point((), seed, str(seed)) for seed in range(600))
    assert len(rows) == 600
    failed = {seed for seed, row in rows.items() if row["status"] == "failed"}
    assert failed == {7, 450}
    assert f"{MAX_DEATHS} workers died" in rows[450]["error"]
    assert max(backend.packs) > 1, "short points run several at a time"


def test_workers_that_cannot_even_begin_end_the_study():
    backend = Dying(set(range(1000)))
    with pytest.raises(RuntimeError, match="die before they have run anything"):
        Driver([backend], lambda points, rows: None).run(
            jobs.Point((), seed, str(seed)) for seed in range(1000)
        )


@pytest.mark.parametrize("ending", [signal.SIGKILL, signal.SIGINT], ids=["kill -9", "Ctrl-C"])
def test_interrupted_study_resumes(tmp_path, ending):
    # Write rows more often than usual, so that some are stored before the end.
    often = "import ropewalk.analysis.study.rows as points; points.FIRST_S = 0.05"
    start = "import sys; sys.argv[0] = 'ropewalk'; from ropewalk.cli import main; main()"
    program = [sys.executable, "-c", f"{often}; {start}", "study", str(TWO_LINKS)]
    program += ["--vary", "link.dsl.delay=1ms..100ms:100", "--runs", "20"]
    program += ["--set", "link.dsl.loss=1%", "--set", "duration=2s", "--on", "2"]
    out = ["--out", str(tmp_path / "ended")]
    with subprocess.Popen(
        [*program, *out], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        until = time.monotonic() + 100
        while not list((tmp_path / "ended").glob("points/part-*")):
            assert running.poll() is None, running.stderr.read()
            assert time.monotonic() < until
            time.sleep(0.05)
        workers = [
            int(pid)
            for children in Path(f"/proc/{running.pid}/task").glob("*/children")
            for pid in children.read_text().split()
        ]
        running.send_signal(ending)
        _, text = running.communicate(timeout=60)
    assert "Traceback" not in text
    if ending == signal.SIGINT:
        assert running.returncode == 130
        assert "interrupted; " in text
        assert "of 2,000 runs are stored; the same command resumes" in text
    there = ropewalk.load(tmp_path / "ended")
    assert 0 < there.points.height < 2000
    assert there.points.height + there.missing == 2000
    (killed,) = there.origins
    assert killed == there.origin
    assert killed.command.startswith("ropewalk study")
    assert killed.wall_s > 0
    for worker in workers:
        _wait_until_gone(worker)
    done = subprocess.run([*program, *out], cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert f"{there.points.height:,} runs exist" in done.stderr
    whole = ropewalk.load(tmp_path / "ended")
    assert whole.points["point"].n_unique() == whole.points.height == 2000
    first, second = whole.origins
    # Ctrl-C stores pending rows, and the time so far.
    assert first == killed
    # Dates have whole seconds.
    assert second.date >= first.date
    made = dict(whole.points["origin"].value_counts().iter_rows())
    assert made == {0: there.points.height, 1: there.missing}
    lossy = ropewalk.Scenario.load(TWO_LINKS, [("link.dsl.loss", "1%"), ("duration", "2s")])
    vary = {"link.dsl.delay": {"from": "1ms", "to": "100ms", "steps": 100}}
    assert same(whole, ropewalk.study(lossy, vary, runs=20))


def test_a_command_that_makes_no_run_leaves_the_origin_of_the_runs(lossy, tmp_path):
    made = ropewalk.study(lossy, VARY, out=tmp_path)
    kept = (tmp_path / "result.json").read_bytes()
    again = ropewalk.study(lossy, VARY, out=tmp_path)
    assert (tmp_path / "result.json").read_bytes() == kept
    assert again.origin == made.origin
    further = ropewalk.study(lossy, VARY, runs=2, out=tmp_path)
    assert further.origins[0] == made.origin
    assert further.points.select("seed", "origin").unique().sort("seed").rows() == [(1, 0), (2, 1)]
    assert "origin" not in further.combinations.columns
    page = write_report([tmp_path]).read_text()
    assert "Commands that made the runs" in page


def test_a_folder_without_origins_of_runs_keeps_the_one_that_it_has(lossy, tmp_path):
    ropewalk.study(lossy, VARY, out=tmp_path)
    result = json.loads((tmp_path / "result.json").read_text())
    del result["origins"]
    result["origin"]["command"] = "ropewalk sweep of before"
    (tmp_path / "result.json").write_text(json.dumps(result))
    for part in (tmp_path / "points").iterdir():
        pl.read_parquet(part).drop("origin").write_parquet(part)
    made = ropewalk.study(lossy, VARY, runs=2, out=tmp_path)
    assert made.origins[0].command == "ropewalk sweep of before"
    assert made.points.filter(seed=2)["origin"].unique().to_list() == [1]
    assert made.points.filter(seed=1)["origin"].unique().to_list() == [None]
    assert "not kept" in write_report([tmp_path]).read_text()


def _wait_until_gone(pid):
    until = time.monotonic() + 30
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text().split()[2] == "Z":
                return
        except FileNotFoundError:
            return
        time.sleep(0.05)
    raise AssertionError(f"{pid} is still there")


def test_two_studies_do_not_write_to_one_folder(lossy, tmp_path):
    def progress(finished, of):
        with pytest.raises(OSError, match="another study is being run in it"):
            ropewalk.study(lossy, VARY, out=tmp_path)

    ropewalk.study(lossy, VARY, out=tmp_path, progress=progress)


def test_seeds_go_on_until_the_interval_is_narrow(lossy):
    until = {"ci95": "4 %", "at_most": 60}
    vary = {"link.dsl.loss": ["0 %", "1 %"]}
    made = ropewalk.study(lossy, vary, until=until)
    steady, drawn = made.combinations.to_dicts()
    assert steady["runs"] == definition.FIRST_RUNS
    assert definition.FIRST_RUNS < drawn["runs"] <= 60
    narrow = drawn["ci95_goodput_mbps"] <= 0.04 * drawn["goodput_mbps"]
    assert narrow or drawn["runs"] == 60
    assert same(made, ropewalk.study(lossy, vary, until=until, on=2))


def test_a_number_that_no_run_has_decides_nothing(lossy):
    until = {"ci95": 0.1, "at_most": 9, "of": "goodputt_mbps"}
    with pytest.raises(ValueError, match="until: of = 'goodputt_mbps': no run has such a number"):
        ropewalk.study(lossy, {"link.dsl.delay": ["1 ms"]}, until=until)


def test_as_many_more_runs_as_the_interval_needs():
    until = definition.StoppingRule(ci95=0.01, at_most=1000)
    assert wanted_runs([10.0, 10.0, 10.0], 3, until) == 3
    assert wanted_runs([10.0, 12.0, 8.0], 3, until) == 6
    assert wanted_runs([10.0, None, None], 3, until) == 4
    assert wanted_runs([None] * 3, 3, until) == 3
    assert wanted_runs([10.0, 12.0, 8.0], 3, definition.StoppingRule(ci95=0.01, at_most=4)) == 4


@pytest.mark.parametrize(
    ("verb", "column"),
    [
        ("predict", "goodput_mbps"),
        ("compare", "simulate_goodput_mbps"),
        ("advise", "links_gain_over_all"),
    ],
)
def test_study_runs_other_verbs(lossy, tmp_path, verb, column):
    short = lossy.with_({"duration": "1 s"})
    if verb == "compare":
        # Without a testbed run, which is slow and not possible on every machine.
        short = short.with_({"transport.congestion": "lia"})
    made = ropewalk.study(short, {"link.dsl.delay": ["10 ms", "50 ms"]}, verb=verb, out=tmp_path)
    assert made.failed.is_empty(), made.failed["error"].to_list()
    assert column in made.points.columns
    assert ropewalk.load(tmp_path).study["verb"] == verb


@pytest.mark.parametrize(
    ("name", "key", "values", "numbers"),
    [
        ("papers/gomez-2014", "wifi.power", ["10 dBm", "16 dBm"], (10.0, 16.0)),
        ("papers/gomez-2014", "wifi.slot", ["9 us", "20 us"], (9e-6, 2e-5)),
        ("papers/gomez-2014", "wifi.tries", ["4", "7"], (4.0, 7.0)),
        ("papers/gomez-2014", "wifi.queue", ["50 packets"], (50.0,)),
        ("start/two-links", "link.cable.loss.p", ["1 %", "2 %"], (0.01, 0.02)),
        ("start/two-links", "link.dsl.reverse.delay", ["5 ms", "1 s"], (0.005, 1.0)),
        # Their size in bytes depends on other keys.
        ("start/two-links", "link.dsl.queue", ["10 packets", "3 kB"], (15000.0, 3000.0)),
        ("start/two-links", "transport.initial_window", ["10 packets"], (14240.0,)),
        ("start/two-links", "transport.scheduler", ["min-rtt", "blest"], (None, None)),
    ],
)
def test_a_key_of_any_table_has_its_numbers(name, key, values, numbers):
    defined = definition.define(ropewalk.Scenario.load(name), {key: values})
    assert defined.axes[0].numbers == numbers


def test_a_range_is_spelled_in_the_unit_of_its_beginning(lossy):
    delays = {"from": "500 us", "to": "2 ms", "steps": 4}
    assert axes.values_of(lossy, "link.dsl.delay", delays) == (
        "500 us", "1000 us", "1500 us", "2000 us",
    )  # fmt: skip
    log = {"from": "1 Mbit/s", "to": "100 Mbit/s", "steps": 3, "scale": "log"}
    assert axes.values_of(lossy, "link.dsl.rate", log) == ("1 Mbit/s", "10 Mbit/s", "100 Mbit/s")
    whole = {"from": 1, "to": 5, "steps": 3}
    assert axes.values_of(lossy, "transport.delayed_ack", whole) == ("1", "3", "5")
