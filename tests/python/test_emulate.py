"""``ropewalk emulate`` as a command; its effects are tested in crates/testbed/tests/emulate.rs."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from places import TWO_LINKS
from ropewalk.engines import testbed

PROGRAM = Path(sys.executable).with_name("ropewalk")


@pytest.fixture(scope="module", autouse=True)
def machine():
    """Skip on machines without support, with the reason."""
    checks = testbed.doctor()["machine"]["checks"]
    lacking = [check["detail"] for check in checks if check["needed"] and not check["works"]]
    if lacking:
        pytest.skip("; ".join(lacking))


def start(*arguments):
    return subprocess.Popen(
        [PROGRAM, "emulate", TWO_LINKS, *arguments],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_the_program_s_output_and_status_are_the_command_s():
    with start("--set", "link.dsl.delay=30ms", "--", "sh", "-c", "ip -br link; exit 9") as child:
        printed, text = child.communicate(timeout=60)
    assert child.returncode == 9, text
    assert "dsl" in printed
    assert "cable" in printed
    with start("--", "no-such-program") as child:
        _, text = child.communicate(timeout=60)
    assert child.returncode == 127
    assert "no-such-program" in text


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_signals_go_on_to_the_program(number):
    script = f"trap 'exit 5' {number.value}; echo here; while :; do sleep 0.05; done"
    with start("--", "sh", "-c", script) as child:
        assert child.stdout.readline() == "here\n"
        os.kill(child.pid, number)
        child.communicate(timeout=60)
    assert child.returncode == 5


def test_emulate_rejects_wrong_input():
    with start("--set", "link.dsl.delay=30", "--", "true") as child:
        _, text = child.communicate(timeout=60)
    assert child.returncode == 2
    assert "link.dsl.delay" in text or "delay" in text
    with start() as child:
        child.communicate(timeout=60)
    assert child.returncode == 2
