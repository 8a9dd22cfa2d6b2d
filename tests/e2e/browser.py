"""A headless Chromium, driven over its DevTools protocol: what it shows, asks for
and complains of. Nothing but the standard library.

    with Browser("chromium") as browser:
        browser.open("http://127.0.0.1:7540/")
        browser.until("document.title.length > 0", 5)
        browser.value("document.title")
"""

from __future__ import annotations

import base64
import json
import os
import shutil
import socket
import struct
import subprocess
import tempfile
import time
import urllib.request
from pathlib import Path
from typing import Any


class Socket:
    """The client's half of a WebSocket (RFC 6455) on this machine: text, unfragmented
    from us, any from there."""

    def __init__(self, port: int, path: str) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), 10)
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Key: {key}\r\n"
            "Sec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        self._rest = b""
        while b"\r\n\r\n" not in self._rest:
            self._more()
        head, self._rest = self._rest.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise RuntimeError(head.decode())

    def _more(self) -> None:
        got = self._socket.recv(1 << 16)
        if not got:
            raise EOFError("the browser is gone")
        self._rest += got

    def _take(self, count: int) -> bytes:
        while len(self._rest) < count:
            self._more()
        taken, self._rest = self._rest[:count], self._rest[count:]
        return taken

    def send(self, text: str) -> None:
        data, mask = text.encode(), os.urandom(4)
        length = len(data)
        if length < 126:
            head = struct.pack("!BB", 0x81, 0x80 | length)
        elif length < 1 << 16:
            head = struct.pack("!BBH", 0x81, 0x80 | 126, length)
        else:
            head = struct.pack("!BBQ", 0x81, 0x80 | 127, length)
        masked = bytes(byte ^ mask[i % 4] for i, byte in enumerate(data))
        self._socket.sendall(head + mask + masked)

    def receive(self, within: float) -> str | None:
        """A message; None: none came within so many seconds."""
        self._socket.settimeout(within)
        whole = b""
        try:
            while True:
                first, second = self._take(2)
                length = second & 127
                if length == 126:
                    (length,) = struct.unpack("!H", self._take(2))
                elif length == 127:
                    (length,) = struct.unpack("!Q", self._take(8))
                whole += self._take(length)
                if first & 0x80:
                    return whole.decode()
        except TimeoutError:
            return None


class Browser:
    def __init__(self, program: str, width: int = 1280, height: int = 1000) -> None:
        self._folder = tempfile.mkdtemp(prefix="starswitch-browser-")
        self._process = subprocess.Popen(
            [
                program,
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--disable-dev-shm-usage",
                "--disable-background-networking",
                "--no-first-run",
                "--remote-debugging-port=0",
                f"--user-data-dir={self._folder}",
                f"--window-size={width},{height}",
                "about:blank",
            ],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        self._last = 0
        self.requests: list[str] = []  # URLs that pages asked for
        self.complaints: list[str] = []  # errors and warnings on the console
        self._socket = Socket(*self._page())
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.say(f"{domain}.enable")

    def _page(self) -> tuple[int, str]:
        """Port and path of the page's own socket."""
        port_file = Path(self._folder, "DevToolsActivePort")
        end = time.monotonic() + 60
        while not port_file.exists() or not port_file.read_text().strip():
            if self._process.poll() is not None or time.monotonic() > end:
                raise RuntimeError("the browser does not start")
            time.sleep(0.05)
        port = int(port_file.read_text().split()[0])
        while True:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/json/list") as answer:
                pages = json.load(answer)
            for one in pages:
                if one["type"] == "page":
                    url = one["webSocketDebuggerUrl"]
                    return port, "/" + url.split("/", 3)[3]
            time.sleep(0.05)

    def __enter__(self) -> Browser:
        return self

    def __exit__(self, *_: object) -> None:
        self._process.terminate()
        try:
            self._process.wait(10)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _note(self, event: dict[str, Any]) -> None:
        method, what = event.get("method"), event.get("params", {})
        if method == "Network.requestWillBeSent":
            self.requests.append(what["request"]["url"])
        elif method == "Runtime.consoleAPICalled" and what["type"] in (
            "error",
            "warning",
        ):
            self.complaints.append(json.dumps(what["args"]))
        elif method == "Runtime.exceptionThrown":
            self.complaints.append(json.dumps(what["exceptionDetails"]))
        elif method == "Log.entryAdded" and what["entry"]["level"] == "error":
            self.complaints.append(
                what["entry"]["text"] + " " + what["entry"].get("url", "")
            )

    def say(self, method: str, **params: Any) -> dict[str, Any]:
        """One command of the protocol; its answer."""
        self._last += 1
        self._socket.send(
            json.dumps({"id": self._last, "method": method, "params": params})
        )
        end = time.monotonic() + 60
        while time.monotonic() < end:
            text = self._socket.receive(1)
            if text is None:
                continue
            message = json.loads(text)
            if message.get("id") != self._last:
                self._note(message)
                continue
            if "error" in message:
                raise RuntimeError(f"{method}: {message['error']}")
            return message["result"]
        raise TimeoutError(method)

    def open(self, url: str) -> None:
        self.say("Page.navigate", url=url)

    def value(self, expression: str) -> Any:
        """What the expression of JavaScript is, as JSON can say it."""
        answer = self.say(
            "Runtime.evaluate",
            expression=expression,
            returnByValue=True,
            awaitPromise=True,
        )
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def until(self, expression: str, seconds: float) -> float:
        """Waits until it is true; how many seconds that took."""
        begin = time.monotonic()
        while True:
            try:
                if self.value(expression):
                    return time.monotonic() - begin
            except RuntimeError:
                pass  # the page is not there yet
            if time.monotonic() - begin > seconds:
                raise AssertionError(f"not within {seconds} s: {expression}")
            time.sleep(0.02)

    def key(self, name: str, shift: bool = False) -> None:
        """A key of the keyboard: Tab, Enter, ArrowLeft ..."""
        codes = {
            "Tab": 9,
            "Enter": 13,
            "Escape": 27,
            "ArrowLeft": 37,
            "ArrowUp": 38,
            "ArrowRight": 39,
            "ArrowDown": 40,
        }
        more: dict[str, Any] = {"text": "\r"} if name == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.say(
                "Input.dispatchKeyEvent",
                type=kind,
                key=name,
                code=name,
                windowsVirtualKeyCode=codes.get(name, 0),
                modifiers=8 if shift else 0,
                **(more if kind == "keyDown" else {}),
            )

    def scheme(self, name: str) -> None:
        """`light` or `dark`."""
        self.say(
            "Emulation.setEmulatedMedia",
            features=[{"name": "prefers-color-scheme", "value": name}],
        )

    def picture(self, path: str) -> None:
        shot = self.say("Page.captureScreenshot", captureBeyondViewport=True)
        Path(path).write_bytes(base64.b64decode(shot["data"]))
