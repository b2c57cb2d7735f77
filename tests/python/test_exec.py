"""`ropewalk exec` of the Python package finds its preload library."""

import socket
import subprocess
import sys


def run(*arguments):
    command = [sys.executable, "-m", "ropewalk", "exec", *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def test_a_program_runs_with_the_library_and_keeps_its_status(tmp_path):
    control = tmp_path / "control"
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(control))
        listener.listen()
        script = "import os, sys; print(os.environ['LD_PRELOAD']); sys.exit(7)"
        done = run("--control", str(control), "--", sys.executable, "-c", script)
    # ld.so reports a library that it cannot preload on standard error.
    assert (done.returncode, done.stderr) == (7, "")
    assert done.stdout.endswith("libropewalk_preload.so\n")


def test_missing_gateway_gives_one_line(tmp_path):
    done = run("--control", str(tmp_path / "none"), "--", sys.executable, "-c", "pass")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f"no gateway answers at {tmp_path / 'none'}" in done.stderr
