"""The explorer's addresses, and what answers at each."""

from collections.abc import Callable
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from takifugu.errors import MissingExtraError
from takifugu.web import pages
from takifugu.web.choices import Question, read_question
from takifugu.web.gate import UPLOAD_PATH, App, Gate
from takifugu.web.rereading import read_reading

if TYPE_CHECKING:
    from starlette.applications import Starlette
    from starlette.requests import Request

    from takifugu.web.answers import Answers


def make_app(answers: "Answers", *, token: str, port: int) -> App:
    """The whole application behind its gate."""
    return Gate(_routes(answers), token=token, port=port, closed_door=pages.closed_door)


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

    from takifugu.web.handlers import asking, in_json, named, no_details, nothing, saving, taking, wrong_method
    from takifugu.web.publication import Publication

    async def page(request: "Request") -> Response:
        content, policy = pages.explorer()
        return Response(content, media_type="text/html", headers={"content-security-policy": policy})

    async def start(request: "Request") -> Response:
        return in_json(answers.start())

    publication = Publication(answers)
    files: dict[str, tuple[Callable[[Question], str], str]] = {
        "report": (answers.report, "text/html"),
        "certificate": (answers.certificate, "application/json"),
        "public": (answers.public_certificate, "application/json"),
        "calibration": (answers.calibration, "application/json"),
    }
    posts: dict[str, Callable[..., Any]] = {
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
