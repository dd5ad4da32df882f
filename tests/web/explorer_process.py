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
from typing import Any

_ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/\?token=([\w-]+)")


@dataclass
class Explorer:
    process: subprocess.Popen[str]
    address: str
    port: int
    token: str

    @classmethod
    def start(cls, *arguments: str) -> "Explorer":
        command = [sys.executable, "-W", "error", "-m", "takifugu", "explore", "--no-browser", *arguments]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ)
        watch = threading.Timer(120, process.kill)
        watch.start()
        shown = ""
        for line in process.stdout or ():
            shown += line
            if found := _ADDRESS.search(line):
                watch.cancel()
                return cls(process, found.group(0), int(found.group(1)), found.group(2))
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
