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
    from fastapi import FastAPI

    from takifugu.web.answers import Answers


def make_app(answers: "Answers", *, token: str, port: int) -> App:
    """The whole application behind its gate."""
    return Gate(_routes(answers), token=token, port=port, closed_door=pages.closed_door)


def require() -> None:
    """Raise where the web server's packages are not installed."""
    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise MissingExtraError("the explorer needs FastAPI and Uvicorn: install them with pip install 'takifugu[web]'")


def _routes(answers: "Answers") -> "FastAPI":
    from fastapi import FastAPI
    from fastapi.responses import Response

    from takifugu.web.handlers import asking, in_json, named, no_details, nothing, saving, taking, wrong_method
    from takifugu.web.publication import Publication

    async def page() -> Response:
        content, policy = pages.explorer()
        return Response(content, media_type="text/html", headers={"content-security-policy": policy})

    async def start() -> Response:
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
    # No generated documentation: its pages would load scripts from elsewhere.
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)
    app.add_api_route("/", page, methods=["GET"])
    app.add_api_route("/api/start", start, methods=["GET"])
    for path, handler in posts.items():
        app.add_api_route(path, handler, methods=["POST"])
    app.add_exception_handler(404, nothing)
    app.add_exception_handler(405, wrong_method)
    app.middleware("http")(no_details)
    return app
