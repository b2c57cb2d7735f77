"""Deployments and routes read from files."""

import re

import pytest

from ropewalk.papers.gomez2014.deployments import read_deployments

NODES = """\
deployment,node,x_m,y_m,role
a,S,20,50,source
a,R,40,50,
a,Q,30,40,
a,P,45,35,
a,D,60,50,destination
"""
ROUTES = """\
deployment,kind,route,nodes
a,link,1,S R D
a,link,2,S Q P D
a,zone,1,S R D
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "nodes.csv").write_text(NODES)
    (tmp_path / "routes.csv").write_text(ROUTES)
    return tmp_path


def test_folder_has_places_ends_and_routes(folder):
    (one,) = read_deployments(folder)
    assert (one.name, one.source, one.destination) == ("a", "S", "D")
    assert one.places["P"] == (45, 35)
    assert one.hops() == [2, 3]
    assert one.routes["link"][1] == ("S", "Q", "P", "D")
    assert one.hops("zone") == [2]
    assert one.hops("node") == []


@pytest.mark.parametrize(
    ("file", "old", "new", "message"),
    [
        ("nodes.csv", "x_m,y_m", "x,y", "nodes.csv:1: deployment,node,x,y,role: must be depl"),
        ("nodes.csv", "a,R,40,50,", "a,R,40,50", "nodes.csv:3: 4 values; must be 5"),
        ("nodes.csv", "40,50", "40,far", "nodes.csv:3: 'far': must be a number of metres"),
        ("nodes.csv", "40,50", "inf,50", "nodes.csv:3: 'inf': must be a number of metres"),
        ("nodes.csv", "a,Q,", "a,R,", "nodes.csv:4: node R: already in deployment a"),
        ("nodes.csv", "a,Q,30,40,", "a,Q,30,40,sink", "nodes.csv:4: role sink: must be source"),
        ("nodes.csv", "40,50,", "40,50,source", "nodes.csv:3: role source: deployment a has one"),
        ("nodes.csv", "destination", "", "nodes.csv: deployment a: no destination"),
        ("routes.csv", "zone", "area", "routes.csv:4: kind area: must be link, node or zone"),
        ("routes.csv", "link,2", "link,3", "routes.csv:3: route 3: must be 2"),
        ("routes.csv", "Q P", "Q X", "routes.csv:3: node X: not in deployment a"),
        ("routes.csv", "Q P D", "Q P Q D", "routes.csv:3: a node stands twice on the route"),
        ("routes.csv", "S Q P D", "S Q P", "routes.csv:3: must lead from S to D"),
        ("routes.csv", "S Q P D", "S R D", "routes.csv:3: shares a link with an earlier route"),
        ("routes.csv", "a,zone", "b,zone", "routes.csv:4: deployment b: not in nodes.csv"),
        ("routes.csv", "a,link,2,S Q P D\n", "", "routes.csv: deployment a: 1 link-disjoint rou"),
    ],
)
def test_wrong_value_is_an_error_with_file_line_and_constraint(folder, file, old, new, message):
    text = (folder / file).read_text()
    assert old in text
    (folder / file).write_text(text.replace(old, new, 1))
    with pytest.raises(ValueError, match=re.escape(message)):
        read_deployments(folder)


def test_missing_or_empty_file_is_an_error(folder):
    (folder / "nodes.csv").write_text("deployment,node,x_m,y_m,role\n")
    (folder / "routes.csv").write_text("deployment,kind,route,nodes\n")
    with pytest.raises(ValueError, match="no deployment"):
        read_deployments(folder)
    (folder / "routes.csv").unlink()
    with pytest.raises(FileNotFoundError, match=r"routes\.csv"):
        read_deployments(folder)
