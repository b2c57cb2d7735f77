"""Gómez et al. 2014 on the diamond: the bands that a right model falls into."""

import ropewalk
from places import ROOT
from ropewalk.reproduction import gomez2014_fig4, gomez2014_fig5
from ropewalk.reproduction.gomez2014_diamond import TCP, UNCOUPLED


def made(item, **more):
    return ropewalk.reproduce("gomez-2014", item, seed=1, **({"runs": 2} | more))


def ours(reproduction, quantity):
    """Return our value of the first quantity that begins so: goodputs by themselves are last."""
    return next(
        each.ours for each in reproduction.comparisons if each.quantity.startswith(quantity)
    )


def test_the_ready_scenario_is_the_one_of_figure_3c():
    path = ROOT / "scenarios/papers/gomez-2014.toml"
    assert path.read_text() == UNCOUPLED.scenario().text
    assert TCP.scenario().values["node"] == ropewalk.Scenario.load(path).values["node"]


def test_tcp_over_two_hops_gives_what_the_paper_has():
    told = []
    fig3a = made("fig3a", progress=lambda *of: told.append(of))
    assert told[-1] == (2, 2)
    assert 2.3 <= ours(fig3a, "TCP") <= 2.65
    assert "goodput" in fig3a.figure.axes[0].get_ylabel()


def test_a_second_path_on_one_channel_brings_nothing():
    fig3b = made("fig3b")
    assert 0.80 <= ours(fig3b, "MPTCP over TCP") <= 1.03
    assert ours(fig3b, "Jain's index") >= 0.95


def test_a_second_channel_doubles():
    fig3c = made("fig3c")
    for congestion in ("uncoupled", "linked increases", "RTT compensator"):
        assert 85 <= ours(fig3c, f"MPTCP on two channels, {congestion}, above TCP") <= 103
    assert 40 <= ours(fig3c, "MPTCP on two channels, the module's") <= 80
    assert ours(fig3c, "fastest subflow") <= 1.02


def test_fully_coupled_loses_much_of_it_where_a_packet_is_lost():
    fig3d = made("fig3d", runs=10)
    assert 30 <= ours(fig3d, "fully coupled, below uncoupled, in the worst run") <= 52
    runs = fig3d.tables["runs"]
    coupled = runs.filter(runs["stack"] == "coupled")
    clean = coupled.filter(coupled["lost_packets"] == 0)["goodput_mbps"]
    lossy = coupled.filter(coupled["lost_packets"] > 0)["goodput_mbps"]
    assert len(clean) > 0
    assert len(lossy) > 0
    assert lossy.max() < clean.min()


def test_goodput_falls_with_errors(monkeypatch):
    monkeypatch.setattr(gomez2014_fig4, "ERRORS", (0.0, 0.2, 0.5))
    table = made("fig4").tables["runs"]
    means = table.group_by("stack", "upper_fer", maintain_order=True).mean()
    for _, of_stack in means.group_by("stack"):
        goodput = of_stack.sort("upper_fer")["goodput_mbps"]
        assert goodput.is_sorted(descending=True)
    best = means.sort("goodput_mbps", descending=True).group_by("upper_fer").first()
    assert set(best["stack"]) == {"compensated"}


def test_the_path_without_errors_takes_a_growing_share(monkeypatch):
    monkeypatch.setattr(gomez2014_fig5, "ERRORS", (0.0, 0.3, 0.5))
    fig5 = made("fig5")
    assert ours(fig5, "most of the upper path") <= 1.05
    compensated = [
        each.ours
        for each in fig5.comparisons
        if each.quantity.startswith("MPTCP on two channels, RTT")
    ]
    assert compensated == sorted(compensated)
