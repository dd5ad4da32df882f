"""Serving the explorer on this machine's own address until Ctrl-C."""

import contextlib
import html
import os
import secrets
import signal
import socket
import tempfile
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

from takifugu.errors import InputError
from takifugu.tables.reading import Reading
from takifugu.web.answers import Answers
from takifugu.web.app import make_app, require
from takifugu.web.shelf import Shelf
from takifugu.web.silence import impatient_protocol

_ADDRESS = "127.0.0.1"
_ENDINGS = ("SIGINT", "SIGTERM", "SIGHUP")
_MOST_CONNECTIONS = 512  # below what a process may have open; those that say nothing are closed


def serve(
    source: str | None = None,
    *,
    reading: Reading | None = None,
    port: int = 0,
    ledger: str | None = None,
    ready: Callable[[str], Any] = print,
) -> None:
    """Serve until interrupted; `ready` is called once with the address to open, token included.

    `source` is a table to offer beside the bundled ones: a path, or the name of a bundled one to open with; `reading`
    is what is known of the file's form. A `port` of 0 is any free one. `ledger` is where publications from the page are
    written down: by default beside `source`, and for other tables in the current folder.
    """
    require()
    import uvicorn

    answers = Answers(Shelf(source, reading, ledger=ledger))
    with contextlib.closing(answers), _heard(_ENDINGS[1:], _interrupt), _listen(port) as listener:
        port = listener.getsockname()[1]
        token = secrets.token_urlsafe(32)
        config = uvicorn.Config(
            make_app(answers, token=token, port=port),
            access_log=False,  # it would write the token down
            log_level="critical",  # our own errors are told by `takifugu.web.app`, without what the table holds
            server_header=False,
            lifespan="off",
            ws="none",
            proxy_headers=False,  # nobody speaks for anybody else here
            http=impatient_protocol(),
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)

        def end(number: int, frame: Any) -> None:
            # Raised while the server starts, an interrupt would leave noise behind; raised while it answers, it would
            # end that answer and nothing else.
            server.should_exit = True

        with contextlib.suppress(KeyboardInterrupt), _heard(_ENDINGS, end):  # that is how it ends
            ready(f"http://{_ADDRESS}:{port}/?token={token}")
            server.run(sockets=[listener])


def _interrupt(number: int, frame: Any) -> None:
    """What Ctrl-C does: dropped files are removed then, and workers ended."""
    raise KeyboardInterrupt


@contextlib.contextmanager
def _heard(names: Iterable[str], heed: Callable[[int, Any], None]) -> Iterator[None]:
    """Heed whatever asks the process to end, as far as this system has such signals."""
    before = {}
    with contextlib.suppress(ValueError):  # only a main thread hears signals
        for name in names:
            if (one := getattr(signal, name, None)) is not None:
                before[one] = signal.signal(one, heed)
    try:
        yield
    finally:
        for one, was in before.items():
            signal.signal(one, was)


@contextlib.contextmanager
def browser_door(address: str) -> Iterator[str]:
    """The address of a private file that leads to `address`.

    A browser is started with the address among its arguments, which every user of the machine can list: so it
    is given this file, which only its owner can read.
    """
    with tempfile.TemporaryDirectory(prefix="takifugu-") as folder:
        door = Path(folder, "explorer.html")
        where = html.escape(address)
        content = f'<!doctype html><title>Takifugu explorer</title><meta http-equiv="refresh" content="0;url={where}">'
        with os.fdopen(os.open(door, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as file:
            file.write(content)
        yield door.as_uri()


def _listen(port: int) -> socket.socket:
    """A socket that no other machine can reach, open before the address is shown."""
    # Named as TCP, for asyncio to send small answers at once: otherwise each waits 40 ms for an acknowledgement.
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((_ADDRESS, port))
        listener.listen(64)
    except OSError as error:
        listener.close()
        raise InputError(
            f"port {port} cannot be used ({error.strerror}): choose another, or none for a free one"
        ) from None
    return listener
