"""Check captures and print what is in them; the status is 1 if anything is wrong."""

import argparse
import sys
from ipaddress import ip_address
from pathlib import Path

from check import check

SHOWN = 50
"""Violations of a file that are printed; of the others only how many."""


def main() -> int:
    """Check the files of the command line."""
    parser = argparse.ArgumentParser(prog="captures", description=__doc__)
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    parser.add_argument(
        "--encapsulated", action="store_true", help="UDP packets hold the packets to check"
    )
    parser.add_argument("--port", type=int, help="the port of UDP packets that do")
    parser.add_argument(
        "--local",
        action="append",
        default=[],
        type=ip_address,
        metavar="ADDRESS",
        help="an address of the host that captures, for files that do not tell directions",
    )
    parser.add_argument("--cut", action="store_true", help="the capture may stop midway")
    parser.add_argument(
        "--any-payload", action="store_true", help="payloads need not be the pattern of runs"
    )
    arguments = parser.parse_args()
    is_wrong = False
    for path in arguments.files:
        if not path.is_file():
            parser.error(f"there is no file {path}")
        report = check(
            path,
            encapsulated=arguments.encapsulated,
            port=arguments.port,
            local=arguments.local,
            is_cut=arguments.cut,
            has_pattern=not arguments.any_payload,
        )
        print(f"{path}: {report}")
        for violation in report.violations[:SHOWN]:
            print(f"VIOLATION {violation}")
        if len(report.violations) > SHOWN:
            print(f"and {len(report.violations) - SHOWN} more violations")
        is_wrong |= bool(report.violations)
    return int(is_wrong)


if __name__ == "__main__":
    sys.exit(main())
