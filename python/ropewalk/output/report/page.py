"""Self-contained HTML page: sections, style, scripts and Vega."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Iterator, Sequence
from functools import cache
from importlib.resources import files
from typing import Any

from ...support.escape import strip_controls
from ...support.optional_deps import require
from ..style import COLOURS
from .section import Chart, Drawing, Facts, Image, Link, Piece, Section, Source, Table, Text

TEMPLATE, STYLE, SCRIPT = "page.html", "page.css", "page.js"
KINDS = {
    kind: kind.__name__.lower()
    for kind in (Chart, Drawing, Facts, Image, Link, Source, Table, Text)
}
LIGHTER = 0.35  # share of white mixed into colours on a dark background


def page(title: str, sections: Sequence[Section]) -> str:
    """Return the page's HTML; MissingLibraryError without the ``report`` extra."""
    check_installed()
    from jinja2 import Environment, PackageLoader, StrictUndefined
    from markupsafe import Markup

    environment = Environment(
        loader=PackageLoader("ropewalk.output.report", "assets"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
        finalize=_shown,
    )
    environment.filters |= {"base64": _base64, "inert": Markup}
    environment.tests["of"] = lambda piece, kind: KINDS[type(piece)] == kind
    charted = any(isinstance(piece, Chart) for piece in _pieces(sections))
    scripts = [*([_vega()] if charted else []), _asset(SCRIPT)]
    return environment.get_template(TEMPLATE).render(
        title=title,
        sections=sections,
        style=Markup(_asset(STYLE)),
        scripts=[Markup(script) for script in scripts],
        policy=_policy(scripts),
        colours={"light": COLOURS, "dark": [_lighter(colour) for colour in COLOURS]},
    )


def check_installed() -> None:
    """Raise MissingLibraryError unless pages can be written."""
    require("a report", "jinja2", "vl_convert")


@cache
def _vega() -> str:
    import vl_convert

    script: str = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;")
    return script.replace("</script", r"<\/script")


def _asset(name: str) -> str:
    return files("ropewalk.output.report").joinpath("assets", name).read_text(encoding="utf-8")


def _policy(scripts: Sequence[str]) -> str:
    """Return a content security policy: run these scripts, load nothing."""
    hashes = (base64.b64encode(hashlib.sha256(each.encode()).digest()) for each in scripts)
    allowed = " ".join(f"'sha256-{each.decode()}'" for each in hashes)
    return f"default-src 'none'; script-src {allowed}; style-src 'unsafe-inline'; img-src data:"


def _pieces(sections: Sequence[Section]) -> Iterator[Piece]:
    for section in sections:
        for part in section.parts:
            yield from part.pieces


def _shown(value: Any) -> Any:
    """Remove control characters, which HTML forbids."""
    return strip_controls(value) if type(value) is str else value


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()


def _lighter(colour: str) -> str:
    parts = (int(colour[at : at + 2], 16) for at in (1, 3, 5))
    return "#" + "".join(f"{round(each + LIGHTER * (255 - each)):02x}" for each in parts)
