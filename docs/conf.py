"""Configuration of the documentation site, `make docs-site` (Sphinx, MyST, numpydoc)."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import ropewalk

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

project = "Ropewalk"
author = "The Ropewalk developers"
release = version = ropewalk.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc", "numpydoc"]
exclude_patterns = ["images"]
myst_heading_anchors = 4
numpydoc_show_class_members = False  # the members follow one by one
autodoc_member_order = "bysource"
autodoc_typehints = "none"  # numpydoc's sections have them
html_theme = "furo"
html_title = f"Ropewalk {release}"
html_copy_source = False
html_show_sphinx = False
html_show_copyright = False


ROOT = Path(__file__).parents[1]
# Made by `make rustdoc`, and copied into the site if it exists.
RUSTDOC = ROOT / os.environ.get("CARGO_TARGET_DIR", "target") / "doc"


def lead_to_crates(app: Sphinx, document: nodes.document) -> None:
    """Point links to a crate's README at its documentation, if that exists."""
    from docutils import nodes
    from sphinx.addnodes import download_reference, pending_xref

    up = "../" * app.env.docname.count("/")
    for link in [*document.findall(pending_xref), *document.findall(download_reference)]:
        found = re.search(r"crates/([\w-]+)/README(\.md)?$", link["reftarget"])
        crate = f"ropewalk_{found[1]}" if found else ""
        if crate and (RUSTDOC / crate).exists():
            address = f"{up}rust/{crate}/index.html"
            link.replace_self(nodes.reference("", "", *link.children, refuri=address))


def copy_documentation_of_crates(app: Sphinx, error: Exception | None) -> None:
    """Copy the documentation of the crates into the site."""
    if error is None and RUSTDOC.exists():
        shutil.copytree(RUSTDOC, Path(app.outdir) / "rust", dirs_exist_ok=True)


def name_what_is_beside_the_pages(app: Sphinx, document: nodes.document) -> None:
    """Replace links to files outside the site by plain text."""
    from docutils import nodes
    from sphinx.addnodes import download_reference, pending_xref

    for link in [*document.findall(pending_xref), *document.findall(download_reference)]:
        a_page = link.get("refdomain") == "doc" and link["reftarget"] in app.env.found_docs
        by_myst = link.get("reftype") == "myst" or isinstance(link, download_reference)
        if by_myst and not a_page:
            link.replace_self(nodes.inline("", "", *link.children))


def head_sections_of_modules(
    app: Sphinx, what: str, name: str, thing: object, options: object, lines: list[str]
) -> None:
    """Convert a module's underlined headings to rubrics, which numpydoc does not do."""
    if what != "module":
        return
    for at in range(len(lines) - 1, 0, -1):
        if lines[at - 1] and lines[at] == "-" * len(lines[at - 1]):
            lines[at - 1 : at + 1] = [f".. rubric:: {lines[at - 1]}", ""]


def setup(app: Sphinx) -> None:
    """Register the steps on pages and docstrings."""
    # Before the link targets are copied into the site.
    app.connect("doctree-read", lead_to_crates, priority=50)
    app.connect("build-finished", copy_documentation_of_crates)
    app.connect("doctree-read", name_what_is_beside_the_pages, priority=100)
    app.connect("autodoc-process-docstring", head_sections_of_modules)
