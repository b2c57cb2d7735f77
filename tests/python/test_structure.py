"""Imports have no cycles between files, folder members and crates."""

import shutil
from pathlib import Path

import pytest

import structure


@pytest.mark.parametrize("crate", structure.crates(), ids=lambda crate: crate.name)
def test_the_files_of_a_crate_import_nothing_in_a_circle(crate: Path) -> None:
    edges = structure.rust_edges(crate)
    assert edges, "files were found"
    assert structure.circles(edges) == []
    assert structure.circles_of_rooms(edges) == []


def test_the_files_of_the_package_import_nothing_in_a_circle() -> None:
    edges = structure.python_edges(structure.ROOT / "python" / "ropewalk")
    assert sum(map(len, edges.values())) > 100, "imports were found"
    assert structure.circles(edges) == []
    assert structure.circles_of_rooms(edges) == []


def test_no_import_of_the_package_leads_to_a_higher_layer() -> None:
    edges = structure.python_edges(structure.ROOT / "python" / "ropewalk")
    assert len(structure.LAYERS) <= 6
    assert structure.edges_up(edges) == []
    package = structure.ROOT / "python/ropewalk"
    named = {name for names in structure.LAYERS for name in names}
    assert named <= {path.stem for path in package.iterdir()}, "each name of a layer exists"
    folders = {path.parent.name for path in package.glob("*/__init__.py")}
    assert folders <= named, "each folder has a layer"


def test_an_import_of_a_higher_layer_is_found() -> None:
    edges = {
        "python/ropewalk/results/results.py": {"python/ropewalk/output/style.py"},
        "python/ropewalk/cli/mesh.py": {"python/ropewalk/analysis/mesh/api.py"},
    }
    assert structure.edges_up(edges) == [
        ("python/ropewalk/results/results.py", "python/ropewalk/output/style.py")
    ]


def test_no_edge_between_crates_leads_outwards_or_in_a_circle() -> None:
    if shutil.which("cargo") is None:
        pytest.skip("cargo is missing")
    edges = structure.crate_edges()
    assert set(edges) == set(structure.RINGS), "each crate has a ring"
    assert structure.edges_back(edges) == []
    assert structure.circles(edges) == []


def test_a_circle_is_found() -> None:
    edges = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": set(), "e": {"d"}}
    assert structure.circles(edges) == [["a", "b", "c"]]


def test_a_circle_of_rooms_is_found_where_no_files_are_in_one() -> None:
    edges = {
        "src/hosts/tcp.rs": {"src/writer.rs"},
        "src/writer.rs": {"src/flow/late.rs"},
        "src/flow/mod.rs": {"src/hosts/mod.rs", "src/flow/late.rs"},
    }
    assert structure.circles(edges) == []
    assert structure.circles_of_rooms(edges) == [["src/flow", "src/hosts", "src/writer"]]


def test_a_use_tree_is_taken_apart() -> None:
    leaves = structure._leaves("super::{self, loss::{Found, Known as K}, probe}")
    assert [("::".join(path), name) for path, name in leaves] == [
        ("super", "super"),
        ("super::loss::Found", "Found"),
        ("super::loss::Known", "K"),
        ("super::probe", "probe"),
    ]
