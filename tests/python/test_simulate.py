"""The binding: many seeds at once, with reproducible numbers."""

import copy
import os
import signal
import threading
import time

import pytest

import ropewalk
from ropewalk.output.tables.runs import summary_lines


def numbers(results):
    """Return all numbers of all runs except the elapsed time."""
    runs = copy.deepcopy(results.runs)
    for run in runs:
        del run["stats"]["wall_s"]
    frames = (results.timeline, results.connection, results.delays)
    return runs, [frame.to_dict(as_series=False) for frame in frames]


def test_goodput_counts_the_time_in_which_nothing_came(two_links):
    """Goodput counts to the end of the run, or to the completion of a sized transfer."""
    whole = ropewalk.simulate(two_links).mean
    assert whole["goodput_mbps"] == pytest.approx(20 * 8 / whole["completion_s"])
    dark = {f"link.{link}.down": [["1 s", "30 s"]] for link in ("dsl", "cable")}
    stalled = ropewalk.simulate(two_links.with_({**dark, "duration": "4 s"})).mean
    assert 0 < stalled["delivered_bytes"] < 20e6
    assert stalled["goodput_mbps"] == pytest.approx(stalled["delivered_bytes"] * 8e-6 / 4)


@pytest.fixture(scope="module")
def lossy(two_links):
    return two_links.with_({"link.dsl.loss": "1 %", "link.cable.jitter": "2 ms"})


def test_twice_the_same_seed_gives_twice_the_same_numbers(lossy):
    first = ropewalk.simulate(lossy, seed=7, step="100 ms")
    second = ropewalk.simulate(lossy, seed=7, step="100 ms")
    assert numbers(first) == numbers(second)


def test_threads_change_nothing(lossy):
    one = ropewalk.simulate(lossy, seed=7, runs=8, threads=1, step="100 ms")
    two = ropewalk.simulate(lossy, seed=7, runs=8, threads=2, step="100 ms")
    assert numbers(one) == numbers(two)


def test_each_of_many_runs_is_the_run_of_its_seed(lossy):
    many = ropewalk.simulate(lossy, seed=3, runs=3, step="500 ms")
    alone = ropewalk.simulate(lossy, seed=4, step="500 ms")
    assert many.seeds == [3, 4, 5]
    assert numbers(many)[0][1] == numbers(alone)[0][0]


def test_another_seed_gives_another_run(lossy):
    runs, _ = numbers(ropewalk.simulate(lossy, seed=1, runs=2))
    assert runs[0]["goodput_mbps"] != runs[1]["goodput_mbps"]


def test_recording_changes_no_number(lossy):
    plain = ropewalk.simulate(lossy, seed=7)
    recorded = ropewalk.simulate(lossy, seed=7, step="10 ms")
    plain, recorded = numbers(plain)[0][0], numbers(recorded)[0][0]
    # A row of the timeline is an event of the run loop.
    assert plain["stats"].pop("events") <= recorded["stats"].pop("events")
    assert plain == recorded


def test_aggregation_adds_connections_up(two_links):
    bulk = two_links.with_({"transport.protocol": "aggregation"})
    results = ropewalk.simulate(bulk, step="500 ms")
    [run] = results.runs
    # Data out of order at the end counts for its subflow but not as delivered.
    shares = [subflow["goodput_mbps"] for subflow in run["subflows"]]
    assert sum(shares) == pytest.approx(run["goodput_mbps"], rel=0.02)
    assert [subflow["link"] for subflow in run["subflows"]] == ["dsl", "cable"]
    assert results.timeline["subflow"].unique().sort().to_list() == [0, 1]
    assert numbers(ropewalk.simulate(bulk, step="500 ms")) == numbers(results)


def test_progress_counts_the_finished_runs(two_links):
    seen = []
    ropewalk.simulate(two_links, runs=5, progress=seen.append)
    assert seen == [1, 2, 3, 4, 5]


def test_an_error_of_progress_comes_through(two_links):
    def fail(finished):
        raise LookupError("enough")

    with pytest.raises(LookupError, match="enough"):
        ropewalk.simulate(two_links, runs=5, progress=fail)


@pytest.fixture
def interruptible():
    """Enable interrupts, which shells ignore for background jobs."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interrupt_ends_the_call(two_links):
    long = two_links.with_({"duration": "100 s", "traffic.size": "100 GB"})
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        ropewalk.simulate(long, runs=10_000, threads=1)
    assert time.monotonic() - start < 5


def test_python_threads_run_during_simulation(two_links):
    done = threading.Event()
    counted = 0
    thread = threading.Thread(
        target=lambda: (ropewalk.simulate(two_links, runs=20, threads=1), done.set())
    )
    thread.start()
    while not done.is_set():
        counted += 1
        time.sleep(0.001)
    thread.join()
    assert counted > 1


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"runs": 0}, "at least 1"),
        ({"threads": 0}, "at least 1"),
        ({"seed": -1}, "from 0 to"),
        ({"seed": 2**64}, "from 0 to"),
        ({"seed": 2**64 - 1, "runs": 2}, "0 to 2"),
        ({"step": "fast"}, "step"),
        ({"step": "0 s"}, "step"),
    ],
)
def test_a_wrong_argument_is_named(two_links, wrong, message):
    with pytest.raises(ValueError, match=message):
        ropewalk.simulate(two_links, **wrong)


def test_the_greatest_seed_is_kept(two_links):
    assert ropewalk.simulate(two_links, seed=2**64 - 1).seeds == [2**64 - 1]


def test_video_is_stored_with_trace_and_lateness(tmp_path):
    sizes = "# a film\n5000\n800\n900\n700\n"
    scenario = ropewalk.Scenario(
        """
        duration = "4 s"
        [[link]]
        name = "a"
        rate = "2 Mbit/s"
        delay = "10 ms"
        [traffic]
        kind = "video"
        trace = "film.txt"
        rate = "1 Mbit/s"
        deadline = "100 ms"
        buffer = "1 s"
        [[competitor]]
        path = "a"
        start = "2 s"
        traffic = { kind = "video", trace = "film.txt", rate = "1500 kbit/s" }
        """,
        files={"film.txt": sizes},
    )
    results = ropewalk.simulate(scenario)
    video = results.runs[0]["video"]
    assert 110 <= video["frames"] <= 120
    # Alone it has enough capacity; with the other flow it does not.
    assert 20 <= video["late_percent"] <= 70
    ropewalk.store.keep(results, tmp_path / "kept")
    assert (tmp_path / "kept/traces/film.txt").read_text() == sizes
    again = ropewalk.Scenario.load(tmp_path / "kept/scenario.toml")
    assert ropewalk.simulate(again).runs[0]["video"] == video
    lines = dict(summary_lines(results))
    assert f"of {video['frames']} frames later than 100 ms or never" in lines["video"]
