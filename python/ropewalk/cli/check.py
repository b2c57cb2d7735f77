"""``ropewalk check``."""

from __future__ import annotations

from ipaddress import ip_address
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from ..printable import printable
from .failures import wrong_input
from .options import Json
from .output import print_json
from .progress import progress
from .statuses import FAILED

if TYPE_CHECKING:
    from ..check import Report

SHOWN = 50  # most violations that are printed of a file, without --json


def check(
    files: Annotated[
        list[Path],
        typer.Argument(help="Captures: .pcapng or .pcap.", show_default=False, metavar="file"),
    ],
    as_json: Json = False,
    cut: Annotated[
        bool,
        typer.Option("--cut", help="The capture may begin or end within connections."),
    ] = False,
    encapsulated: Annotated[
        bool, typer.Option("--encapsulated", help="Check the packets inside UDP packets.")
    ] = False,
    port: Annotated[
        int | None,
        typer.Option(
            min=1,
            max=65535,
            metavar="N",
            help="UDP port of --encapsulated packets; default: any.",
            show_default=False,
        ),
    ] = None,
    local: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ADDRESS",
            help="An address of the host that captured, for files that do not tell"
            " directions; may be given several times.",
            show_default=False,
        ),
    ] = None,
    pattern: Annotated[
        bool,
        typer.Option("--pattern", help="Payloads must be the pattern that Ropewalk's runs carry."),
    ] = False,
) -> None:
    """Check captures of TCP and MPTCP against the RFCs, and count what is in them.

    The exit status is 1 if a rule is broken.

    Example: ropewalk simulate start/two-links --capture two.pcapng && ropewalk check two.pcapng
    """
    from ..check import PacketFileError, capture

    with wrong_input():
        if port is not None and not encapsulated:
            raise ValueError("--port: only with --encapsulated")
        addresses = [_address(text) for text in local or []]
    reports: dict[str, Report] = {}
    for file in files:
        with wrong_input(), progress("checking (bytes)") as told:
            try:
                reports[str(file)] = capture(
                    file,
                    encapsulated=encapsulated,
                    port=port,
                    local=addresses,
                    cut=cut,
                    pattern=pattern,
                    progress=told,
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
        for name, report in reports.items():
            _print(name, report)
    if broken:
        raise typer.Exit(FAILED)


def _address(text: str) -> Any:
    try:
        return ip_address(text)
    except ValueError:
        raise ValueError(f"--local {text}: no IPv4 or IPv6 address") from None


def _print(name: str, report: Report) -> None:
    lines = [f"{name}: {report}"]
    lines += [f"VIOLATION {text}" for text in report.violations[:SHOWN]]
    if len(report.violations) > SHOWN:
        lines.append(f"and {len(report.violations) - SHOWN} more violations: --json has them")
    if not report.violations:
        lines.append("no rule is broken")
    print("\n".join(printable(line) for text in lines for line in text.splitlines()))
