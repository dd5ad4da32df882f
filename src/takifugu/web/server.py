"""Serving the explorer on this machine's own address until Ctrl-C."""

import contextlib
import html
import json
import logging
import os
import secrets
import signal
import socket
import tempfile
import traceback
from collections.abc import Awaitable, Callable, Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import unquote

from anyio.to_thread import run_sync
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from takifugu import strict_json
from takifugu.errors import InputError, MissingExtraError, TakifuguError
from takifugu.reports import palette
from takifugu.tables import Reading
from takifugu.web.answers import Answers
from takifugu.web.describing import Question, on_page, read_question, read_reading, text
from takifugu.web.desk import OvertakenError
from takifugu.web.gate import UPLOAD_PATH, App, Gate, impatient_protocol
from takifugu.web.shelf import Shelf, about, title_of

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request

    from takifugu.web.answers import Answers


# The two pages: the explorer itself, and the closed door. All they need is inside them.

_HERE = Path(__file__).with_name("page")


# One after the other they are one script: no module of theirs is fetched by name.
_SCRIPT = ("asking", "sliders", "choosing", "turns", "showing", "taking", "linking", "dropping", "reading", "beginning")


def explorer() -> tuple[bytes, str]:
    """The page and its content security policy."""
    script = "\n".join(_read(f"script/{name}.js") for name in _SCRIPT)
    # The colours are those of the reports: one palette for every picture.
    return _render("index.html", {"style": palette() + _read("style.css"), "script": script})


def closed_door() -> tuple[bytes, str]:
    """The page for those without the token; it holds no data."""
    return _render("door.html", {})


def _render(name: str, parts: dict[str, str]) -> tuple[bytes, str]:
    nonce = secrets.token_urlsafe(18)  # a new one each time: only what is in this very page may run
    page = _read(name)
    for part, source in parts.items():
        page = page.replace("{{" + part + "}}", source)
    policy = (
        f"default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'; connect-src 'self'; "
        "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return page.replace("{{nonce}}", nonce).encode(), policy


@cache
def _read(name: str) -> str:
    return (_HERE / name).read_text(encoding="utf-8")


# The explorer's addresses, and what answers at each.


def make_app(answers: "Answers", *, token: str, port: int) -> App:
    """The whole application behind its gate."""
    return Gate(_routes(answers), token=token, port=port, closed_door=closed_door)


def require() -> None:
    """Raise where the web server's packages are not installed."""
    if find_spec("starlette") is None or find_spec("uvicorn") is None:
        raise MissingExtraError(
            "the explorer needs Starlette and Uvicorn: install them with pip install 'takifugu[web]'"
        )


def _routes(answers: "Answers") -> "Starlette":
    from starlette.applications import Starlette
    from starlette.middleware import Middleware
    from starlette.middleware.base import BaseHTTPMiddleware
    from starlette.responses import Response
    from starlette.routing import Route

    from takifugu.web.answers import Publication

    async def page(request: "Request") -> Response:
        content, policy = explorer()
        return Response(content, media_type="text/html", headers={"content-security-policy": policy})

    async def start(request: "Request") -> Response:
        return in_json(answers.start())

    publication = Publication(answers)
    files: dict[str, tuple[Callable[[Question], str], str]] = {
        "report": (answers.report, "text/html"),
        "certificate": (answers.certificate, "application/json"),
        "public": (answers.public_certificate, "application/json"),
        "calibration": (answers.calibration, "application/json"),
        "notebook": (answers.notebook, "application/x-ipynb+json"),
        "plan": (answers.plan, "application/toml"),
    }
    posts: dict[str, Handler] = {
        UPLOAD_PATH: taking(answers),
        "/api/table": asking(lambda names: answers.table(*names), named("table")),
        "/api/reading": asking(lambda asked: answers.read_again(*asked), read_reading),
        "/api/secrets": asking(lambda names: answers.secrets(*names), named("table", "secret")),
        "/api/answer": asking(answers.answer, read_question),
        "/api/progress": asking(lambda names: answers.progress(*names), named("page")),
        "/api/publication": asking(publication.prepare, read_question),
        **{f"/api/download/{kind}": saving(make, read_question, media) for kind, (make, media) in files.items()},
        "/api/download/table": saving(
            lambda names: publication.publish(*names).read_bytes(), named("ticket"), "text/csv"
        ),
        "/api/download/published": saving(
            lambda names: publication.paper(*names), named("kind", "ticket"), "application/octet-stream"
        ),
    }
    return Starlette(
        routes=[
            Route("/", page, methods=["GET"]),
            Route("/api/start", start, methods=["GET"]),
            *(Route(path, handler, methods=["POST"]) for path, handler in posts.items()),
        ],
        exception_handlers={404: nothing, 405: wrong_method},
        middleware=[Middleware(BaseHTTPMiddleware, dispatch=no_details)],
    )


_ADDRESS = "127.0.0.1"
_ENDINGS = ("SIGINT", "SIGTERM", "SIGHUP")
_MOST_CONNECTIONS = 512  # below what a process may have open; those that say nothing are closed


def serve(
    source: str | None = None,
    *,
    reading: Reading | None = None,
    port: int = 0,
    ledger: str | None = None,
    ready: Callable[[str], object] = print,
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
            log_level="critical",  # our own errors are told by `takifugu.web.server`, without what the table holds
            server_header=False,
            lifespan="off",
            ws="none",
            proxy_headers=False,  # nobody speaks for anybody else here
            http=impatient_protocol(),
            limit_concurrency=_MOST_CONNECTIONS,
            timeout_graceful_shutdown=1,
        )
        server = uvicorn.Server(config)

        def end(number: int, frame: object) -> None:
            # Raised while the server starts, an interrupt would leave noise behind; raised while it answers, it would
            # end that answer and nothing else.
            server.should_exit = True

        with contextlib.suppress(KeyboardInterrupt), _heard(_ENDINGS, end):  # that is how it ends
            ready(f"http://{_ADDRESS}:{port}/?token={token}")
            server.run(sockets=[listener])


def _interrupt(number: int, frame: object) -> None:
    """What Ctrl-C does: dropped files are removed then, and workers ended."""
    raise KeyboardInterrupt


@contextlib.contextmanager
def _heard(names: Iterable[str], heed: Callable[[int, object], None]) -> Iterator[None]:
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


# How a request becomes an answer: JSON in, JSON or a file out, and nothing told that is in a table.

Handler = Callable[[Request], Awaitable[Response]]
Asked = TypeVar("Asked")
Answered = TypeVar("Answered")

_log = logging.getLogger("takifugu.web")


def asking(act: Callable[[Asked], object], read: Callable[[object], Asked]) -> Handler:
    """Answers a question with JSON."""

    async def answered(request: Request) -> Response:
        try:
            asked = read(await _body(request))
        except InputError as error:
            return in_json({"error": on_page(error)}, 400)
        try:
            return in_json(await _apart(act, asked))
        except OvertakenError:
            return in_json({"overtaken": True})
        except TakifuguError as error:
            return in_json({"refusal": on_page(error), "about": about(error)})

    return answered


def saving(make: Callable[[Asked], str | bytes], read: Callable[[object], Asked], media: str) -> Handler:
    """Answers with a file to be kept, never with a page of this origin."""

    async def saved(request: Request) -> Response:
        try:
            content = await _apart(make, read(await _body(request)))
        except InputError as error:
            return in_json({"error": on_page(error)}, 400)
        except OvertakenError:
            return in_json({"error": "Another download was asked for meanwhile."}, 409)
        except TakifuguError as error:
            return in_json({"error": on_page(error)}, 409)
        return Response(content, media_type=media, headers={"content-disposition": "attachment"})

    return saved


def taking(answers: Answers) -> Handler:
    """Takes a file that was dropped on the page, part by part, into the private folder."""

    async def taken(request: Request) -> Response:
        if request.headers.get("content-type", "") != "application/octet-stream":
            return in_json({"error": "a file is sent as application/octet-stream"}, 400)
        given = unquote(request.headers.get("x-takifugu-file", ""))
        try:
            path = answers.shelf.uploads.new(title_of(given))
        except InputError as error:
            return in_json({"refusal": on_page(error)})
        try:
            with path.open("wb") as file:
                async for part in request.stream():
                    file.write(part)
            entry = await _apart(lambda _: answers.shelf.add_dropped(path, given), None)
        except ClientDisconnect:
            path.unlink(missing_ok=True)
            return in_json({"error": "The file did not arrive whole."}, 400)
        except InputError as error:
            path.unlink(missing_ok=True)
            return in_json({"refusal": on_page(error)})
        return in_json({"name": entry.name, "tables": answers.tables()})

    return taken


async def nothing(request: Request, error: Exception) -> Response:
    """Where there is nothing."""
    return in_json({"error": "There is nothing at this address."}, 404)


async def wrong_method(request: Request, error: Exception) -> Response:
    """Where a request is of the wrong kind."""
    return in_json({"error": "This address does not understand that method."}, 405)


async def no_details(request: Request, proceed: Handler) -> Response:
    """A failure of ours is told as such: its details may hold what is in the table."""
    try:
        return await proceed(request)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        _log.error(
            "%s in %s, line %s, in answer to %s", type(error).__name__, place.filename, place.lineno, request.url.path
        )
        return in_json({"error": "Something went wrong inside the explorer: please report it."}, 500)


def named(*names: str) -> Callable[[object], tuple[str, ...]]:
    """Reads a question that is made of short texts alone."""

    def read(data: object) -> tuple[str, ...]:
        if not isinstance(data, dict) or set(data) != set(names):
            raise InputError(f"the question must be a JSON object with {' and '.join(map(repr, names))}")
        return tuple(text(data[name], repr(name)) for name in names)

    return read


def in_json(data: object, status: int = 200) -> Response:
    """An answer in JSON."""
    return Response(json.dumps(data, allow_nan=False), status_code=status, media_type="application/json")


async def _apart(act: Callable[[Asked], Answered], asked: Asked) -> Answered:
    """Do the work in a thread, which Ctrl-C does not wait for: what it computes is not worth keeping."""
    done: Answered = await run_sync(act, asked, abandon_on_cancel=True)
    return done


async def _body(request: Request) -> object:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise InputError("a question is sent as application/json")
    return strict_json.parse(await request.body())
