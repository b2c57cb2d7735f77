"""Import graphs of the files of the Rust crates and the Python package, and of the crates.

An import along one branch of the module tree (a folder's ``mod.rs`` and the files below it) is no
edge, because it only assembles a module. A re-exported name (``pub use``) counts as an import of
its original file.

Files and folders of one folder are its members: an import between files of two members is an edge
between these. The edges must not form cycles in any folder.

As a program it prints its findings::

    python tests/python/structure.py
"""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
Edges = dict[str, set[str]]

# Layers of the crates, the lowest first: an edge must lead to the same layer or a lower one.
RINGS = {
    "quantities": 0,
    "transport": 0,
    "network": 0,
    "wire": 0,
    "striping": 0,
    "scenario": 0,
    "simulator": 0,
    "capture": 1,
    "gateway": 1,
    "testbed": 1,
    "preload": 1,
    "preload-protocol": 1,
    "binding": 2,
    "own-algorithm": 2,
    "over-links": 2,
    "speed": 2,
}


# Layers of the Python package, the lowest first: an edge must lead to the same layer or a lower
# one. Other files of the package's root, such as ``__init__.py``, are above all layers.
LAYERS = (
    ("support", "units", "scenario", "provenance", "results", "model"),
    ("engines",),
    ("analysis",),
    ("output",),
    ("papers",),
    ("cli",),
)


def circles(edges: Edges) -> list[list[str]]:
    """Return the strongly connected sets of two or more nodes (Tarjan 1972), each sorted."""
    index: dict[str, int] = {}
    low: dict[str, int] = {}
    stack: list[str] = []
    found: list[list[str]] = []

    def visit(node: str) -> None:
        index[node] = low[node] = len(index)
        stack.append(node)
        for other in sorted(edges.get(node, ())):
            if other not in index:
                visit(other)
                low[node] = min(low[node], low[other])
            elif other in stack:
                low[node] = min(low[node], index[other])
        if low[node] == index[node]:
            at = stack.index(node)
            if len(stack) - at > 1:
                found.append(sorted(stack[at:]))
            del stack[at:]

    for node in sorted(edges):
        if node not in index:
            visit(node)
    return sorted(found)


def between_rooms(edges: Edges) -> dict[str, Edges]:
    """Return the edges between the members of each folder: its files and subfolders.

    The folder's own file (``mod.rs``, ``__init__.py``) is no member.
    """
    folders: dict[str, Edges] = {}
    for file, others in edges.items():
        for other in others:
            ends = [Path(end).with_suffix("").parts for end in (file, other)]
            depth = next(
                at for at, (one, two) in enumerate(zip(*ends, strict=False)) if one != two
            )
            one, two = (end[depth] for end in ends)
            if not {one, two} & {"mod", "lib", "main", "__init__"}:
                folder = folders.setdefault("/".join(ends[0][:depth]), {})
                folder.setdefault(one, set()).add(two)
    return folders


def circles_of_rooms(edges: Edges) -> list[list[str]]:
    """Return the cycles between members of one folder, for all folders, by path."""
    return [
        [f"{folder}/{room}" for room in circle]
        for folder, rooms in sorted(between_rooms(edges).items())
        for circle in circles(rooms)
    ]


def rust_edges(crate: Path) -> Edges:
    """Return the edges between the files of a crate's ``src``, by path."""
    src = crate / "src"
    modules: dict[tuple[str, ...], Path] = {}
    for file in sorted(src.rglob("*.rs")):
        parts = list(file.relative_to(src).with_suffix("").parts)
        if parts[-1] in {"mod", "lib", "main"}:
            parts.pop()
        if "tests" in parts or "testing" in parts:
            continue
        modules.setdefault(tuple(parts), file)
    texts = {module: _without_tests(file.read_text()) for module, file in modules.items()}
    handed_on = {module: dict(_handed_on(module, text)) for module, text in texts.items()}

    def home(path: tuple[str, ...], depth: int = 0) -> tuple[str, ...]:
        at = len(path)
        while path[:at] not in modules:
            at -= 1
        module = path[:at]
        if at < len(path) and depth < 8:
            source = handed_on[module].get(path[at])
            if source is not None and source != path[: at + 1]:
                return home(source, depth + 1)
        return module

    edges: Edges = {}
    for module, text in texts.items():
        own = str(modules[module].relative_to(ROOT))
        edges[own] = set()
        for path in _paths(module, text):
            other = home(path)
            related = module[: len(other)] == other or other[: len(module)] == module
            if not related:
                edges[own].add(str(modules[other].relative_to(ROOT)))
    return edges


def _without_tests(text: str) -> str:
    text = re.sub(r"//[^\n]*", "", text)
    return re.split(r"#\[cfg\(test\)\]\s*mod \w+ \{", text)[0]


def _handed_on(module: tuple[str, ...], text: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    for tree in re.findall(r"\bpub(?:\([^)]*\))?\s+use\s+([^;]+);", text):
        for path, name in _leaves(tree):
            yield name, _absolute(module, path)


def _paths(module: tuple[str, ...], text: str) -> Iterator[tuple[str, ...]]:
    for tree in re.findall(r"\buse\s+([^;]+);", text):
        for path, _ in _leaves(tree):
            yield _absolute(module, path)
    for path in re.findall(r"\b(?:crate|super)(?:::\w+)+(?!\w|::)", text):
        yield _absolute(module, path.split("::"))


def _leaves(tree: str) -> Iterator[tuple[list[str], str]]:
    """Return each path of a use tree with its local name."""
    tree = tree.strip()
    brace = tree.find("{")
    if brace < 0:
        path, _, alias = tree.partition(" as ")
        parts = [part.strip() for part in path.split("::")]
        if parts[-1] == "self":
            parts.pop()
        yield parts, alias.strip() or (parts[-1] if parts else "")
        return
    prefix = [part for part in tree[:brace].strip().split("::") if part]
    depth, start = 0, brace + 1
    for at in range(brace, len(tree)):
        depth += {"{": 1, "}": -1}.get(tree[at], 0)
        if (depth == 1 and tree[at] == ",") or depth == 0:
            if piece := tree[start:at].strip():
                for parts, name in _leaves(piece):
                    yield prefix + parts, name or prefix[-1]
            start = at + 1
        if depth == 0:
            return


def _absolute(module: tuple[str, ...], path: list[str]) -> tuple[str, ...]:
    at = list(module)
    for number, part in enumerate(path):
        if part == "crate":
            at = []
        elif part == "self":
            pass
        elif part == "super":
            at = at[:-1]
        else:
            return (*at, *path[number:])
    return tuple(at)


def python_edges(package: Path) -> Edges:
    """Return the edges between a package's files, including local and type-only imports."""
    modules = {}
    for file in sorted(package.rglob("*.py")):
        parts = file.relative_to(package.parent).with_suffix("").parts
        modules[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = file
    edges: Edges = {}
    for module, file in modules.items():
        own = str(file.relative_to(ROOT))
        edges[own] = set()
        for imported in _imports(module, file):
            name = imported
            while name and name not in modules:
                name = name.rpartition(".")[0]
            related = f"{module}.".startswith(f"{name}.") or f"{name}.".startswith(f"{module}.")
            if name and not related:
                edges[own].add(str(modules[name].relative_to(ROOT)))
    return edges


def _imports(module: str, file: Path) -> Iterator[str]:
    is_package = file.name == "__init__.py"
    tree = ast.parse(file.read_text())
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = module.split(".")
            if node.level:
                base = base[: len(base) - node.level + is_package]
                base = base + (node.module.split(".") if node.module else [])
            else:
                base = (node.module or "").split(".")
            yield from (".".join([*base, alias.name]) for alias in node.names)


def crate_edges(*, with_tests: bool = True) -> Edges:
    """Return the edges between the workspace's crates, with or without their tests."""
    text = subprocess.run(
        ["cargo", "metadata", "--no-deps", "--format-version", "1", "--offline"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    name = {
        package["name"]: Path(package["manifest_path"]).parent.name
        for package in json.loads(text)["packages"]
    }
    return {
        name[package["name"]]: {
            name[dependency["name"]]
            for dependency in package["dependencies"]
            if dependency["name"] in name and (with_tests or dependency["kind"] != "dev")
        }
        for package in json.loads(text)["packages"]
    }


def edges_back(edges: Edges) -> list[tuple[str, str]]:
    """Return the edges between crates that lead to a higher layer."""
    return [
        (crate, other)
        for crate, others in sorted(edges.items())
        for other in sorted(others)
        if crate in RINGS and other in RINGS and RINGS[other] > RINGS[crate]
    ]


def layer(file: str) -> int:
    """Return the layer of a file of the Python package, from 0; the root is above all."""
    name = Path(file).relative_to("python/ropewalk").with_suffix("").parts[0]
    return next((at for at, names in enumerate(LAYERS) if name in names), len(LAYERS))


def edges_up(edges: Edges) -> list[tuple[str, str]]:
    """Return the edges between files of the Python package that lead to a higher layer."""
    return [
        (file, other)
        for file, others in sorted(edges.items())
        for other in sorted(others)
        if layer(other) > layer(file)
    ]


def crates() -> list[Path]:
    return sorted(path.parent for path in ROOT.glob("crates/*/Cargo.toml"))


def main() -> int:
    """Print files, edges and cycles of each tree; exit with 1 if there is a cycle."""
    trees = {crate.name: rust_edges(crate) for crate in crates()}
    trees["ropewalk (Python)"] = python_edges(ROOT / "python" / "ropewalk")
    trees["crates"] = crate_edges()
    bad = 0
    for name, edges in trees.items():
        found = circles(edges)
        if name != "crates":
            found += circles_of_rooms(edges)
        bad += len(found)
        count = sum(map(len, edges.values()))
        print(f"{name}: {len(edges)} files, {count} edges, {len(found)} circles")
        for circle in found:
            print("  " + " <-> ".join(circle))
    back = edges_back(trees["crates"])
    for crate, other in back:
        print(f"  {crate} -> {other} leads to a ring further out")
    python = trees["ropewalk (Python)"]
    for at, names in enumerate(LAYERS):
        count = sum(layer(file) == at for file in python)
        print(f"layer {at + 1}: {', '.join(names)}: {count} files")
    up = edges_up(python)
    for file, other in up:
        print(f"  {file} -> {other} leads to a higher layer")
    return int(bad + len(back) + len(up) > 0)


if __name__ == "__main__":
    sys.exit(main())
