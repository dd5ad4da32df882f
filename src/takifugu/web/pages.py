"""The two pages: the explorer itself, and the closed door. All they need is inside them."""

import secrets
from functools import cache
from pathlib import Path

_HERE = Path(__file__).with_name("page")


# One after the other they are one script: no module of theirs is fetched by name.
_SCRIPT = ("asking", "sliders", "choosing", "turns", "showing", "taking", "linking", "dropping", "reading", "beginning")


def explorer() -> tuple[bytes, str]:
    """The page and its content security policy."""
    script = "\n".join(_read(f"script/{name}.js") for name in _SCRIPT)
    return _render("index.html", {"style": _read("style.css"), "script": script})


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
