"""What stands before every request: the page may show sensitive data, so a stranger gets nothing at all.

A request passes if it was sent to this machine's own address under its own name (a name that an attacker's
server resolves to 127.0.0.1 is refused by its Host header), from this page and no other (Origin), and if it knows the
token. The token is sent as a header by the page's script, never as a cookie: cookies are shared by
all ports of a machine, and a browser attaches them to requests that somebody else's page makes.
"""

import asyncio
import hmac
import json
import math
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

# Connections that say nothing are closed: seventy of them would otherwise keep the page from whoever asks for it.
#
# The server times out a connection only once it has answered on it. Here one that has not sent the head of a request
# in time is closed, whether it is silent or sends a letter now and then; `takifugu.web.gate` does the same for
# bodies.

SILENCE = 5.0  # seconds for the head of a request, and for its body


def impatient_protocol() -> Any:
    """The server's protocol, with an end to silence."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Impatient(H11Protocol):  # type: ignore[misc]
        """Closes a connection on which no request begins in time."""

        def connection_made(self, transport: object) -> None:
            super().connection_made(transport)
            self._clock: Any = self.loop.call_later(SILENCE, self._too_late)

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            if self._clock is None and self._is_waiting:  # a second request that has begun and does not go on
                self._clock = self.loop.call_later(SILENCE, self._too_late)
            elif self._clock is not None and not self._is_waiting:  # the head is here: it must not close what goes on
                self._clock.cancel()
                self._clock = None

        def connection_lost(self, exc: Exception | None) -> None:
            if self._clock is not None:
                self._clock.cancel()
            super().connection_lost(exc)

        @property
        def _is_waiting(self) -> bool:
            return self.cycle is None or bool(self.cycle.response_complete)

        def _too_late(self) -> None:
            self._clock = None
            if self._is_waiting:
                self.transport.close()

    return Impatient


Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

TOKEN_HEADER = "x-takifugu-token"
MOST_BODY = 4096  # bytes; a question takes a few hundred
MOST_UPLOAD = 200 * 2**20  # bytes of a file that is dropped on the page
UPLOAD_PATH = "/api/upload"  # the one address that takes more than a question
_MOST_QUERY = 512
_OPEN_PATH = "/"  # the one address that people open; all others are asked for by the page's script

_ALWAYS = {
    "cache-control": "no-store",
    "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
}


class RefusedError(Exception):
    """A request that goes no further, with the status and the sentence it is answered with."""

    def __init__(self, status: int, sentence: str) -> None:
        """Both are sent."""
        super().__init__(sentence)
        self.status = status


class Gate:
    """An ASGI application that lets through to `app` what passes, and answers the rest itself.

    `closed_door` is the page for people who open the address without the token, or with an old one.
    """

    def __init__(self, app: App, *, token: str, port: int, closed_door: Callable[[], tuple[bytes, str]]) -> None:
        """Remember what a request must know."""
        self._app, self._token, self._closed_door = app, token.encode(), closed_door
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Check a request, then hand it on."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no web sockets here: without an answer the server closes the connection
        guarded = _with_headers(send)
        try:
            headers = _single_headers(scope)
            self._check_sender(scope, headers)
            knows = self._knows_token(scope, headers)
            if knows and scope["path"] == UPLOAD_PATH:
                receive = _counted(receive, headers)  # streamed: a file is not to stand in memory
            elif knows:
                receive = _replay(await _whole_body(receive, headers), receive)
        except RefusedError as refusal:
            await _answer(guarded, refusal.status, str(refusal))
            return
        if knows:
            await self._app(scope, receive, guarded)
        elif scope["path"] == _OPEN_PATH:
            page, policy = self._closed_door()
            await _send(guarded, 403, page, {"content-type": "text/html; charset=utf-8", _POLICY: policy})
        else:
            await _answer(guarded, 403, "The token is missing or wrong: open the address that the terminal shows.")

    def _check_sender(self, scope: Scope, headers: dict[str, str]) -> None:
        if (scope.get("client") or ("",))[0] not in ("127.0.0.1", "::1"):
            raise RefusedError(403, "The explorer answers its own machine alone.")
        if headers.get("host", "").lower() not in self._hosts:
            raise RefusedError(421, "This is not the explorer's address: use 127.0.0.1 or localhost, with its port.")
        if scope["method"] not in ("GET", "HEAD", "POST"):
            raise RefusedError(405, "Only GET and POST are understood.")
        origin, site = headers.get("origin"), headers.get("sec-fetch-site")
        must_be_ours = scope["method"] == "POST" or scope["path"] != _OPEN_PATH
        foreign = origin is not None and origin.lower() != f"http://{headers['host'].lower()}"
        unnamed = origin is None and scope["method"] == "POST"
        if foreign or unnamed or (must_be_ours and site not in (None, "same-origin", "none")):
            raise RefusedError(403, "Only the explorer's own page may ask.")

    def _knows_token(self, scope: Scope, headers: dict[str, str]) -> bool:
        if scope["path"] == _OPEN_PATH and scope["method"] != "POST":
            if len(scope["query_string"]) > _MOST_QUERY:
                return False
            given = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])
            shown = given[0] if len(given) == 1 else ""
        else:
            shown = headers.get(TOKEN_HEADER, "")
        return hmac.compare_digest(shown.encode("utf-8", "replace"), self._token)


_POLICY = "content-security-policy"


def _single_headers(scope: Scope) -> dict[str, str]:
    """The headers by name. One given twice could mean one thing here and another elsewhere."""
    found: dict[str, str] = {}
    for raw_name, raw_value in scope["headers"]:
        name, value = raw_name.decode("latin-1").lower(), raw_value.decode("latin-1")
        if name in found and name in ("host", "origin", "content-length", "content-type", TOKEN_HEADER):
            raise RefusedError(400, f"The header {name} was sent twice.")
        found[name] = value
    return found


async def _whole_body(receive: Receive, headers: dict[str, str]) -> bytes:
    """The body, read here so that nobody can send more than a question takes."""
    too_large = RefusedError(413, f"The request is too large: {MOST_BODY} bytes are enough for any question.")
    if _declared(headers) > MOST_BODY:
        raise too_large
    try:
        async with asyncio.timeout(SILENCE):
            return await _received(receive, too_large)
    except TimeoutError:
        raise RefusedError(408, "The request did not come to its end in time.") from None


async def _received(receive: Receive, too_large: RefusedError) -> bytes:
    body = b""
    while True:
        message = await receive()
        if message["type"] != "http.request":
            raise RefusedError(400, "The request broke off.")
        body += bytes(message.get("body", b""))
        if len(body) > MOST_BODY:
            raise too_large
        if not message.get("more_body", False):
            return body


def _declared(headers: dict[str, str]) -> float:
    """The length that a request says it has; infinite where it says nothing sensible."""
    said = headers.get("content-length", "0")
    return int(said) if said.isdecimal() and len(said) < 16 else math.inf


def _counted(receive: Receive, headers: dict[str, str]) -> Receive:
    """A file's parts as they come, cut off beyond the limit: what is cut off is not read as a table."""
    if _declared(headers) > MOST_UPLOAD:
        raise RefusedError(413, f"The file is too large: the page takes {MOST_UPLOAD // 2**20} MB.")
    left = MOST_UPLOAD

    async def counting() -> MutableMapping[str, Any]:
        nonlocal left
        message = await receive()
        left -= len(message.get("body", b""))
        return message if left >= 0 else {"type": "http.disconnect"}

    return counting


def _replay(body: bytes, receive: Receive) -> Receive:
    """The body once more, for the application; after it, whatever comes."""
    waiting = [{"type": "http.request", "body": body, "more_body": False}]

    async def again() -> MutableMapping[str, Any]:
        return waiting.pop() if waiting else await receive()

    return again


def _with_headers(send: Send) -> Send:
    """Adds the protective headers to whatever is answered; an answer's own policy stands."""

    async def guarded(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            given = list(message.get("headers", []))
            names = {name.lower() for name, _ in given}
            extra = [(n.encode(), v.encode()) for n, v in _ALWAYS.items() if n.encode() not in names]
            message = {**message, "headers": given + extra}
        await send(message)

    return guarded


async def _answer(send: Send, status: int, sentence: str) -> None:
    await _send(send, status, json.dumps({"error": sentence}).encode(), {"content-type": "application/json"})


async def _send(send: Send, status: int, body: bytes, headers: dict[str, str]) -> None:
    listed = [(name.encode(), value.encode()) for name, value in headers.items()]
    listed.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": status, "headers": listed})
    await send({"type": "http.response.body", "body": body})
