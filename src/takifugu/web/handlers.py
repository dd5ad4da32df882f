"""How a request becomes an answer: JSON in, JSON or a file out, and nothing told that is in a table."""

import json
import logging
import traceback
from collections.abc import Callable
from typing import Any
from urllib.parse import unquote

from anyio.to_thread import run_sync
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from takifugu.documents import strict_json
from takifugu.errors import InputError, TakifuguError
from takifugu.web.answers import Answers
from takifugu.web.choices import text
from takifugu.web.desk import OvertakenError
from takifugu.web.rereading import on_page
from takifugu.web.uploads import title_of

Handler = Callable[..., Any]

_log = logging.getLogger("takifugu.web")


def asking(act: Callable[[Any], Any], read: Callable[[Any], Any]) -> Handler:
    """Answers a question with JSON."""

    async def answered(request: Request) -> Response:
        try:
            asked = read(await _body(request))
        except InputError as error:
            return in_json({"error": on_page(str(error))}, 400)
        try:
            return in_json(await _apart(act, asked))
        except OvertakenError:
            return in_json({"overtaken": True})
        except TakifuguError as error:
            return in_json({"refusal": on_page(str(error))})

    return answered


def saving(make: Callable[[Any], str | bytes], read: Callable[[Any], Any], media: str) -> Handler:
    """Answers with a file to be kept, never with a page of this origin."""

    async def saved(request: Request) -> Response:
        try:
            content = await _apart(make, read(await _body(request)))
        except InputError as error:
            return in_json({"error": on_page(str(error))}, 400)
        except OvertakenError:
            return in_json({"error": "Another download was asked for meanwhile."}, 409)
        except TakifuguError as error:
            return in_json({"error": on_page(str(error))}, 409)
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
            return in_json({"refusal": on_page(str(error))})
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
            return in_json({"refusal": on_page(str(error))})
        return in_json({"name": entry.name, "tables": answers.tables()})

    return taken


async def nothing(request: Request, error: Exception) -> Response:
    """Where there is nothing."""
    return in_json({"error": "There is nothing at this address."}, 404)


async def wrong_method(request: Request, error: Exception) -> Response:
    """Where a request is of the wrong kind."""
    return in_json({"error": "This address does not understand that method."}, 405)


async def no_details(request: Request, proceed: Callable[..., Any]) -> Any:
    """A failure of ours is told as such: its details may hold what is in the table."""
    try:
        return await proceed(request)
    except Exception as error:
        place = traceback.extract_tb(error.__traceback__)[-1]
        _log.error(
            "%s in %s, line %s, in answer to %s", type(error).__name__, place.filename, place.lineno, request.url.path
        )
        return in_json({"error": "Something went wrong inside the explorer: please report it."}, 500)


def named(*names: str) -> Callable[[Any], tuple[str, ...]]:
    """Reads a question that is made of short texts alone."""

    def read(data: Any) -> tuple[str, ...]:
        if not isinstance(data, dict) or set(data) != set(names):
            raise InputError(f"the question must be a JSON object with {' and '.join(map(repr, names))}")
        return tuple(text(data[name], repr(name)) for name in names)

    return read


def in_json(data: Any, status: int = 200) -> Response:
    """An answer in JSON."""
    return Response(json.dumps(data, allow_nan=False), status_code=status, media_type="application/json")


async def _apart(act: Callable[[Any], Any], asked: Any) -> Any:
    """Do the work in a thread, which Ctrl-C does not wait for: what it computes is not worth keeping."""
    return await run_sync(act, asked, abandon_on_cancel=True)


async def _body(request: Request) -> Any:
    if request.headers.get("content-type", "").partition(";")[0].strip() != "application/json":
        raise InputError("a question is sent as application/json")
    return strict_json.parse(await request.body())
