"""Shows the doctests of docstrings as code: without a fence Markdown would take `>>>` for quotations."""

import re

from griffe import Extension

# From the first prompt to the blank line after its output.
_SESSION = re.compile(r"^>>> .*?(?=\n[ \t]*\n|\Z)", re.M | re.S)


class FencedDoctests(Extension):
    """Fences every session in every docstring."""

    def on_object(self, *, obj, **_):
        """Rewrite the docstring before it is parsed."""
        if obj.docstring is not None:
            obj.docstring.value = _SESSION.sub(lambda session: f"```pycon\n{session[0]}\n```", obj.docstring.value)
