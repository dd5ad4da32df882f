"""The explorer as its users have it: the command, in a process of its own."""

import http.client
import json
import os
import re
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

TEMPORARY = "temporary"  # where the explorer that files are dropped on has its temporary files, in its folder
_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]+)")


@dataclass
class Explorer:
    process: subprocess.Popen[str]
    address: str
    port: int
    token: str
    folder: Path  # where it was started, and keeps the ledgers of dropped files

    @classmethod
    def start(cls, *arguments: str, folder: Path | None = None, temporary: Path | None = None) -> "Explorer":
        """The explorer with these arguments, started in a folder, with its temporary files in another."""
        command = [sys.executable, "-W", "error", "-m", "takifugu", "explore", "--no-browser", *arguments]
        process = subprocess.Popen(
            command,
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | ({} if temporary is None else {"TMPDIR": str(temporary)}),
        )
        watch = threading.Timer(120, process.kill)
        watch.start()
        shown = ""
        for line in process.stdout or ():
            shown += line
            if found := _ADDRESS.search(line):
                watch.cancel()
                return cls(process, found.group(0), int(found.group(1)), found.group(2), folder or Path.cwd())
        watch.cancel()
        raise AssertionError(f"the explorer did not start: {shown}{process.communicate()[1]}")

    def stop(self) -> tuple[int, str, str]:
        """Ctrl-C; what it said and left behind."""
        self.process.send_signal(signal.SIGINT)
        out, errors = self.process.communicate(timeout=600)
        return self.process.returncode, out, errors

    def request(
        self, method: str, path: str, *, body: Any = None, headers: dict[str, str] | None = None, own: bool = True
    ) -> tuple[int, dict[str, str], bytes]:
        """One request as the page's script makes it; `own=False` sends only the headers given."""
        origin = f"http://127.0.0.1:{self.port}"
        sent = {"Origin": origin, "Content-Type": "application/json", "X-Takifugu-Token": self.token} if own else {}
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=600)
        content = body if isinstance(body, bytes | None) else json.dumps(body).encode()
        try:
            connection.request(method, path, content, sent | (headers or {}))
            response = connection.getresponse()
            return response.status, {k.lower(): v for k, v in response.getheaders()}, response.read()
        finally:
            connection.close()

    @property
    def quick(self) -> str:
        """The address of a choice that is answered in a moment, for visits that go on to another."""
        return f"{self.address}#{urlencode(_QUICK, doseq=True)}"

    def drop(self, name: str, content: bytes, **headers: str) -> tuple[int, Any]:
        """A file as the page sends it; what was told of it, and with which status."""
        sent = {"Content-Type": "application/octet-stream", "X-Takifugu-File": quote(name)}
        sent |= {key.replace("_", "-"): value for key, value in headers.items()}
        status, _, body = self.request("POST", "/api/upload", body=content, headers=sent)
        return status, json.loads(body)

    def ask(self, path: str, body: Any) -> Any:
        status, _, content = self.request("POST", path, body=body)
        assert status == 200, content
        return json.loads(content)


QUESTION = {
    "table": "heart",
    "secret": "slope",
    "pair": ["1", "3"],
    "query": "raw",
    "columns": ["oldpeak"],
    "prior": "gaussian",
    "mechanism": "exact",
    "alpha": 3,
    "epsilon": 1,
}

_QUICK = {name: QUESTION[name] for name in ("table", "secret", "query", "prior", "mechanism", "alpha")} | {
    "hide": QUESTION["pair"],
    "column": QUESTION["columns"],
    "promise": "renyi",
    "epsilon": 0.3,  # where the page begins
}
