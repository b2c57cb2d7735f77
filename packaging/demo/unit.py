"""Starts and stops a unit of systemd's where systemd does not run: packaging/demo/install.sh.

    python3 unit.py start|stop|restart|kill|reload NAME...

It reads the installed unit and does what that says, as far as these services need it: conditions,
required units and StopWhenUnneeded=, credentials, runtime folders, the environment, readiness
(Type=notify), oneshot units, the commands before and after with their prefixes, and a user without
rights but the ambient capabilities. It does not sandbox. `kill` is SIGKILL; the caller starts a
killed unit again, as Restart= would.
"""

from __future__ import annotations

import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

UNITS = [Path("/lib/systemd/system"), Path("/usr/lib/systemd/system")]
NOBODY = 65534
TIMEOUT = 30.0


class Unit:
    """An installed unit."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.settings: list[tuple[str, str]] = []
        paths = [folder / f"{name}.service" for folder in UNITS]
        path = next(path for path in paths if path.exists())
        for line in path.read_text().splitlines():
            if line and line[0] not in "#[":
                key, value = line.split("=", 1)
                self.settings.append((key, value.replace("%t", "/run")))
        self.credentials = Path("/run/credentials") / f"{name}.service"
        self.main_pid = Path("/run") / f"{name}.pid"
        self.remains = Path("/run") / f"{name}.remains"

    def all(self, key: str) -> list[str]:
        """All values of a setting."""
        return [value for name, value in self.settings if name == key]

    def start(self) -> None:
        """Start it, and wait until it says that it is ready."""
        for path in self.all("ConditionPathExists"):
            if not Path(path).exists():
                sys.exit(f"{self.name}: skipped: {path} is not there")
        for required in self._required():
            required.start()
        if "oneshot" in self.all("Type"):
            self._start_oneshot()
            return
        self._hand_over()
        self._make_folders()
        notify = Path("/run") / f"{self.name}.notify"
        notify.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as ready:
            ready.bind(str(notify))
            notify.chmod(0o666)
            ready.settimeout(0.1)
            with Path(f"/run/{self.name}.log").open("ab") as log:
                main = subprocess.Popen(
                    self._as_nobody(self.all("ExecStart")[0]),
                    env=self._environment(notify),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
            self.main_pid.write_text(str(main.pid))
            self._await(ready, main)
        for command in self.all("ExecStartPost"):
            self._run(command)

    def stop(self) -> None:
        """End it, and the units that nothing needs any more."""
        self.end()
        for required in self._required():
            if "yes" in required.all("StopWhenUnneeded"):
                required.stop_oneshot()

    def restart(self) -> None:
        """End it and start it. What it requires stays."""
        self.end()
        self.start()

    def _required(self) -> list[Unit]:
        names = " ".join(self.all("Requires")).split()
        return [Unit(name.removesuffix(".service")) for name in names]

    def _start_oneshot(self) -> None:
        if not self.remains.exists():
            for command in self.all("ExecStart"):
                self._run(f"+{command}")
            self.remains.touch()

    def stop_oneshot(self) -> None:
        """Run what ends a unit without a process."""
        for command in self.all("ExecStop"):
            self._run(f"+{command}")
        self.remains.unlink()

    def end(self, number: int = signal.SIGTERM) -> None:
        """End its process by a signal, then run what comes after."""
        pid = int(self.main_pid.read_text())
        self.main_pid.unlink()
        os.kill(pid, number)
        deadline = time.monotonic() + TIMEOUT
        while Path(f"/proc/{pid}").exists() and not is_zombie(pid):
            if time.monotonic() > deadline:
                sys.exit(f"{self.name}: does not end")
            time.sleep(0.02)
        for command in self.all("ExecStopPost"):
            self._run(command)
        shutil.rmtree(self.credentials, ignore_errors=True)

    def reload(self) -> None:
        """Let it read anew what it can."""
        for command in self.all("ExecReload"):
            words = shlex.split(command.replace("$MAINPID", self.main_pid.read_text()))
            subprocess.run(words, check=True)

    def _hand_over(self) -> None:
        """Give its user a copy of each credential, or what the unit has instead."""
        shutil.rmtree(self.credentials, ignore_errors=True)
        self.credentials.mkdir(parents=True)
        for key in ("SetCredential", "LoadCredential"):
            for value in self.all(key):
                name, content = value.split(":", 1)
                to = self.credentials / name
                if key == "SetCredential":
                    to.write_text(content)
                elif Path(content).exists():
                    shutil.copy(content, to)
                elif not to.exists():
                    sys.exit(f"{self.name}: no credential {content}")
                to.chmod(0o400)
                os.chown(to, NOBODY, NOBODY)

    def _make_folders(self) -> None:
        for name in self.all("RuntimeDirectory"):
            folder = Path("/run") / name
            folder.mkdir(mode=0o700, exist_ok=True)
            os.chown(folder, NOBODY, NOBODY)

    def _environment(self, notify: Path) -> dict[str, str]:
        environment = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "CREDENTIALS_DIRECTORY": str(self.credentials),
            "NOTIFY_SOCKET": str(notify),
        }
        return environment | dict(pair.split("=", 1) for pair in self.all("Environment"))

    def _as_nobody(self, command: str) -> list[str]:
        rights = [right.lower().removeprefix("cap_") for right in self.all("AmbientCapabilities")]
        rights = ["-all", *(f"+{right}" for right in rights if right)]
        sets = ",".join(rights)
        return [
            "setpriv",
            f"--reuid={NOBODY}",
            f"--regid={NOBODY}",
            "--clear-groups",
            "--no-new-privs",
            f"--inh-caps={sets}",
            f"--ambient-caps={sets}",
            f"--bounding-set={sets}",
            *shlex.split(command),
        ]

    def _await(self, ready: socket.socket, main: subprocess.Popen[bytes]) -> None:
        deadline = time.monotonic() + TIMEOUT
        while time.monotonic() < deadline:
            try:
                if b"READY=1" in ready.recv(4096):
                    return
            except TimeoutError:
                if main.poll() is not None:
                    sys.exit(f"{self.name}: ended with {main.returncode}")
        sys.exit(f"{self.name}: is not ready")

    def _run(self, command: str) -> None:
        """Run a command with all rights: that is what its + says."""
        words = shlex.split(command.lstrip("-+"))
        prefixes = command[: len(command) - len(command.lstrip("-+"))]
        if "+" not in prefixes:
            sys.exit(f"{self.name}: {command}: without + it would have no rights")
        done = subprocess.run(words, stdin=subprocess.DEVNULL, check=False)
        if done.returncode and "-" not in prefixes:
            sys.exit(f"{self.name}: {command}: ended with {done.returncode}")


def is_zombie(pid: int) -> bool:
    """Whether it has ended, and nobody has asked."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] == "Z"
    except OSError:
        return True


def main() -> None:
    """Do what the command line says."""
    verb, *names = sys.argv[1:]
    for name in names:
        unit = Unit(name)
        match verb:
            case "start":
                unit.start()
            case "reload":
                unit.reload()
            case "stop":
                unit.stop()
            case "restart":
                unit.restart()
            case "kill":
                unit.end(signal.SIGKILL)
            case _:
                sys.exit(__doc__)


if __name__ == "__main__":
    main()
