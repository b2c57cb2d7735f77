"""Headless Chromium, controlled over its debugging protocol."""

from __future__ import annotations

import base64
import itertools
import json
import os
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websocket import WebSocket, create_connection

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PATIENCE_S = 60  # enough for a busy machine


def found() -> str | None:
    """Return the browser's program; None if there is none."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Page:
    """A browser page without network access, with its requests and console messages.

    `requests` has requested addresses outside of the file, `complaints` errors and warnings of the
    console.
    """

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket
        self._numbers = itertools.count(1)
        self.requests: list[str] = []
        self.complaints: list[str] = []
        for domain in ("Page", "Runtime", "Log", "Network"):
            self._call(f"{domain}.enable")
        self._call(
            "Network.emulateNetworkConditions",
            offline=True,
            latency=0,
            downloadThroughput=0,
            uploadThroughput=0,
        )

    def open(
        self, file: Path, *, width: int = 1200, height: int = 900, dark: bool = False
    ) -> None:
        """Load a local file and wait until its pictures are drawn."""
        self._size(width, height)
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self._call("Emulation.setEmulatedMedia", features=[scheme])
        self._call("Page.navigate", url=file.resolve().as_uri())
        self.wait("document.documentElement?.dataset.drawn !== undefined")

    def wait(self, condition: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while not self.value(condition):
            failed = self.value("document.documentElement?.dataset.failed")
            if failed or time.monotonic() > end:
                raise TimeoutError(f"never: {condition}; {self.complaints}")
            time.sleep(0.05)

    def value(self, expression: str) -> Any:
        answer = self._call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise ValueError(answer["exceptionDetails"]["exception"]["description"])
        return answer["result"].get("value")

    def picture(self, file: Path, *, width: int, printed: bool = False) -> None:
        """Save the whole page as a PNG."""
        if printed:
            self._call("Emulation.setEmulatedMedia", media="print", features=[])
        height = self.value("document.documentElement.scrollHeight")
        self._size(width, height)
        shot = self._call("Page.captureScreenshot", captureBeyondViewport=True)
        file.write_bytes(base64.b64decode(shot["data"]))

    def pdf(self, file: Path) -> None:
        printed = self._call("Page.printToPDF")
        file.write_bytes(base64.b64decode(printed["data"]))

    def _size(self, width: int, height: int) -> None:
        self._call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def _call(self, method: str, **parameters: Any) -> dict[str, Any]:
        number = next(self._numbers)
        self._socket.send(json.dumps({"id": number, "method": method, "params": parameters}))
        while True:
            message = json.loads(self._socket.recv())
            if message.get("id") == number:
                if "error" in message:
                    raise RuntimeError(f"{method}: {message['error']['message']}")
                answer: dict[str, Any] = message["result"]
                return answer
            self._note(message)

    def _note(self, message: dict[str, Any]) -> None:
        of = message.get("params", {})
        match message.get("method"):
            case "Network.requestWillBeSent" if not of["request"]["url"].startswith("data:"):
                self.requests.append(of["request"]["url"])
            case "Runtime.exceptionThrown":
                self.complaints.append(str(of["exceptionDetails"]))
            case "Runtime.consoleAPICalled" if of["type"] in ("error", "warning", "assert"):
                self.complaints.append(
                    str([each.get("value", each.get("description")) for each in of["args"]])
                )
            case "Log.entryAdded" if of["entry"]["level"] in ("error", "warning"):
                self.complaints.append(of["entry"]["text"])


@contextmanager
def page(profile: Path) -> Iterator[Page]:
    """Yield a page of a new browser with its profile in a folder."""
    program = found()
    assert program is not None
    options = [
        "--headless=new",
        "--disable-gpu",
        "--disable-dev-shm-usage",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
        "--no-first-run",
        "--hide-scrollbars",
        "--remote-debugging-port=0",
        "--remote-allow-origins=*",
        f"--user-data-dir={profile}",
        # The sandbox does not work in containers, and all content is our own.
        *(["--no-sandbox"] if os.geteuid() == 0 else []),
    ]
    browser = subprocess.Popen(
        [program, *options, "about:blank"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        socket = create_connection(_address(browser, profile), timeout=PATIENCE_S)
        try:
            yield Page(socket)
        finally:
            socket.close()
    finally:
        browser.terminate()
        browser.wait(timeout=PATIENCE_S)


def _address(browser: subprocess.Popen[bytes], profile: Path) -> str:
    """Return the first page's address; the browser writes its port to its profile."""
    import urllib.request

    file = profile / "DevToolsActivePort"
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end and browser.poll() is None:
        if file.exists() and (lines := file.read_text().split()):
            with urllib.request.urlopen(f"http://127.0.0.1:{lines[0]}/json/list") as answer:
                pages = [each for each in json.load(answer) if each["type"] == "page"]
            if pages:
                address: str = pages[0]["webSocketDebuggerUrl"]
                return address
        time.sleep(0.05)
    raise TimeoutError(f"the browser does not answer (exit status {browser.poll()})")
