"""``ropewalk check``."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..output.tables.check import text
from .failures import wrong_input
from .options import Json
from .output import print_json
from .progress import progress
from .statuses import FAILED, NOTHING_EXAMINED

if TYPE_CHECKING:
    from ..analysis.check import Report


def check(
    files: Annotated[
        list[Path],
        typer.Argument(
            help="Captures to check: .pcapng or .pcap.", show_default=False, metavar="file"
        ),
    ],
    as_json: Json = False,
    show_all: Annotated[
        bool,
        typer.Option("--all", help="Print all connections, violations and comments."),
    ] = False,
    exact: Annotated[
        bool,
        typer.Option(
            "--exact",
            help="Require that the capture has all packets of its connections, as transmitted."
            " Missing packets and segments above the MSS are violations.",
        ),
    ] = False,
    cut: Annotated[  # kept for old scripts
        bool,
        typer.Option("--cut", help="No effect: check detects truncated captures itself."),
    ] = False,
    encapsulated: Annotated[
        bool, typer.Option("--encapsulated", help="Check the packets inside UDP datagrams.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=65535,
            metavar="N",
            help="UDP port of the datagrams that --encapsulated opens. Default: any port.",
            show_default=False,
        ),
    ] = None,
    local: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="Address of the capturing host, for files without packet directions."
            " Repeat for several addresses.",
            show_default=False,
        ),
    ] = None,
    pattern: Annotated[
        bool,
        typer.Option("--pattern", help="Require the payload pattern of Ropewalk's own runs."),
    ] = False,
) -> None:
    """Check captures of TCP and MPTCP against the RFCs, and count their contents.

    The exit status is 0 if no host breaks a rule, 1 if a host does, 2 if a file is not a capture,
    and 3 if a capture has nothing to check.

    Example: ropewalk simulate start/two-links --capture two.pcapng && ropewalk check two.pcapng
    """
    from ..analysis.check import PacketFileError, capture

    with wrong_input():
        if port is not None and not encapsulated:
            raise ValueError("--port: only with --encapsulated")
        addresses = [_address(text) for text in local or []]
    reports: dict[str, Report] = {}
    for file in files:
        with wrong_input(), progress("checking (bytes)") as note:
            try:
                reports[str(file)] = capture(
                    file,
                    encapsulated=encapsulated,
                    port=port,
                    local=addresses,
                    exact=exact,
                    pattern=pattern,
                    progress=note,
                )
            except PacketFileError as error:
                raise ValueError(f"{file}: {error}") from None
    broken = sum(len(report.violations) for report in reports.values())
    if as_json:
        named: list[dict[str, Any]] = [
            {"file": name} | report.json() for name, report in reports.items()
        ]
        print_json({"engine": "check", "violations": broken, "files": named})
    else:
        print("\n".join(text(name, report, show_all) for name, report in reports.items()))
    if status := status_of(reports.values()):
        raise typer.Exit(status)


def status_of(reports: Iterable[Report]) -> int:
    """Return the exit status for some reports."""
    found = list(reports)
    if any(report.violations for report in found):
        return FAILED
    return 0 if all(report.examined for report in found) else NOTHING_EXAMINED


def _address(text: str) -> Any:
    try:
        return ip_address(text)
    except ValueError:
        raise ValueError(f"--local {text}: no IPv4 or IPv6 address") from None
