"""Over two links with traces, MPTCP gets more than either alone, and no more than both."""

import cellular


def test_goodput_is_between_best_link_and_total_capacity(tmp_path):
    found = cellular.runs(cellular.scenario([]))
    rows = {row["run"]: row for row in cellular.compared(found).iter_rows(named=True)}
    goodput = {name: row["goodput Mbit/s"] for name, row in rows.items()}
    for row in rows.values():
        assert 0 < row["goodput Mbit/s"] < row["capacity Mbit/s"]
    assert goodput["MPTCP on both"] > max(goodput["TCP on a"], goodput["TCP on b"])
    cellular.ropewalk.plot.save(cellular.picture(found), tmp_path / "cellular.png")
    assert (tmp_path / "cellular.png").stat().st_size > 10_000
