"""The explorer's addresses. Each takes and gives JSON; what they do is in `takifugu.web.answers`."""

import json
import logging
import traceback
from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from takifugu.documents import strict_json
from takifugu.errors import InputError, MissingExtraError, TakifuguError
from takifugu.web import pages
from takifugu.web.choices import Choice, read_choice, text
from takifugu.web.gate import App, Gate

if TYPE_CHECKING:
    from fastapi import FastAPI, Request, Response

    from takifugu.web.answers import Answers

_log = logging.getLogger("takifugu.web")


def make_app(answers: "Answers", *, token: str, port: int) -> App:
    """The whole application behind its gate."""
    return Gate(_routes(answers), token=token, port=port, closed_door=pages.closed_door)


def require() -> None:
    """Raise where the web server's packages are not installed."""
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise MissingExtraError("the explorer needs FastAPI and Uvicorn: install them with pip install 'takifugu[web]'")


def _routes(answers: "Answers") -> "FastAPI":
    from fastapi import FastAPI, Request
    from fastapi.responses import Response

    # No generated documentation: its pages would load scripts from elsewhere.
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

    async def answered(request: Request, act: Callable[[Any], Any], read: Callable[[Any], Any]) -> Response:
        try:
            asked = read(await _body(request))
        except InputError as error:
            return _json({"error": str(error)}, 400)
        try:
            return _json(await _apart(act, asked))
        except TakifuguError as error:
            return _json({"refusal": str(error)})

    async def page() -> Response:
        content, policy = pages.explorer()
        return Response(content, media_type="text/html", headers={"content-security-policy": policy})

    async def start() -> Response:
        return _json(answers.start())

    async def table(request: Request) -> Response:
        return await answered(request, answers.table, lambda data: _named(data, "table")[0])

    async def secrets(request: Request) -> Response:
        return await answered(request, lambda names: answers.secrets(*names), lambda d: _named(d, "table", "secret"))

    async def answer(request: Request) -> Response:
        return await answered(request, answers.answer, read_choice)

    async def download(kind: str, request: Request) -> Response:
        makers: dict[str, tuple[Callable[[Choice], str], str]] = {
            "report": (answers.report, "text/html"),
            "certificate": (answers.certificate, "application/json"),
            "public": (answers.public_certificate, "application/json"),
        }
        if kind not in makers:
            return _json({"error": "There is no such download."}, 404)
        make, media = makers[kind]
        try:
            content = await _apart(make, read_choice(await _body(request)))
        except InputError as error:
            return _json({"error": str(error)}, 400)
        except TakifuguError as error:
            return _json({"error": str(error)}, 409)
        # As a file to be kept, never as a page of this origin.
        return Response(content, media_type=media, headers={"content-disposition": "attachment"})

    async def nothing(request: Request, error: Exception) -> Response:
        return _json({"error": "There is nothing at this address."}, 404)

    async def wrong_method(request: Request, error: Exception) -> Response:
        return _json({"error": "This address does not understand that method."}, 405)

    async def no_details(request: Request, proceed: Callable[..., Any]) -> Any:
        """A failure of ours is told as such: its details may hold what is in the table."""
        try:
            return await proceed(request)
        except Exception as error:
            place = traceback.extract_tb(error.__traceback__)[-1]
            _log.error(
                "%s in %s, line %s, in answer to %s",
                type(error).__name__,
                place.filename,
                place.lineno,
                request.url.path,
            )
            return _json({"error": "Something went wrong inside the explorer: please report it."}, 500)

    app.add_api_route("/", page, methods=["GET"])
    app.add_api_route("/api/start", start, methods=["GET"])
    app.add_api_route("/api/table", table, methods=["POST"])
    app.add_api_route("/api/secrets", secrets, methods=["POST"])
    app.add_api_route("/api/answer", answer, methods=["POST"])
    app.add_api_route("/api/download/{kind}", download, methods=["POST"])
    app.add_exception_handler(404, nothing)
    app.add_exception_handler(405, wrong_method)
    app.middleware("http")(no_details)
    return app


async def _apart(act: Callable[[Any], Any], asked: Any) -> Any:
    """Do the work in a thread, which Ctrl-C does not wait for: what it computes is not worth keeping."""
    from anyio.to_thread import run_sync

    return await run_sync(act, asked, abandon_on_cancel=True)


async def _body(request: "Request") -> Any:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise InputError("a question is sent as application/json")
    return strict_json.parse(await request.body())


def _named(data: Any, *names: str) -> tuple[str, ...]:
    if not isinstance(data, dict) or set(data) != set(names):
        raise InputError(f"the question must be a JSON object with {' and '.join(map(repr, names))}")
    return tuple(text(data[name], repr(name)) for name in names)


def _json(data: Any, status: int = 200) -> "Response":
    from fastapi.responses import Response

    return Response(json.dumps(data, allow_nan=False), status_code=status, media_type="application/json")
