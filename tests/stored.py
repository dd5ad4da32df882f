"""Answers of slow oracles, kept in a JSON file beside the module of the oracle that gave them.

What `@stored` marks is asked once for each question. A question that the file does not hold is answered by the oracle
itself, so no test rests on a file being complete; tests/divergences/test_stored_answers.py asks some of them again.
`python tests/stored.py` has every question of the tests answered anew and writes the files.
"""

import functools
import inspect
import json
import re
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace

import mpmath as mp
import numpy as np

HERE = Path(__file__).parent
DIGITS = 50
LAW = ("weights", "means", "stds")
asked: dict[Path, dict[str, str]] = {}  # what this process was asked, for the files that are written anew
anew = False


def stored(oracle: Callable[..., mp.mpf]) -> Callable[..., mp.mpf]:
    """The oracle, which is asked only what its file does not hold; `__wrapped__` is the oracle itself."""
    file = Path(inspect.getfile(oracle)).with_suffix(".json")

    @functools.wraps(oracle)
    def answer(*args, **options):
        question = json.dumps([oracle.__name__, [_plain(arg) for arg in args], options])
        found = {} if anew else _answers(file)
        here = asked.setdefault(file, {})
        if question not in here:
            here[question] = found[question] if question in found else digits(oracle(*args, **options))
        return number(here[question])

    return answer


def digits(value: mp.mpf) -> str:
    """A number as it is written down."""
    with mp.workdps(DIGITS + 10):
        return str(mp.nstr(value, DIGITS))


def number(text: str) -> mp.mpf:
    """The number that was written down, whatever the caller's precision."""
    with mp.workdps(DIGITS + 10):
        return mp.mpf(text)


def questions(module) -> Iterator[tuple[Callable[..., mp.mpf], list, dict, str]]:
    """Every question in the file of a module: the oracle itself, what it was asked, and what it answered."""
    for question, text in _answers(Path(module.__file__).with_suffix(".json")).items():
        name, args, options = json.loads(question)
        revived = [SimpleNamespace(**arg) if isinstance(arg, dict) else arg for arg in args]
        yield inspect.unwrap(getattr(module, name)), revived, options, text


@functools.cache
def _answers(file: Path) -> dict[str, str]:
    return json.loads(file.read_text()) if file.exists() else {}


def _plain(arg):
    """An argument as JSON has it: a float is read back as the very same."""
    if all(hasattr(arg, field) for field in LAW):
        return {field: np.asarray(getattr(arg, field)).tolist() for field in LAW}
    return arg.tolist() if isinstance(arg, np.ndarray | np.generic) else arg


def main() -> None:
    """Run the tests that ask a stored oracle, and write down what they were told."""
    import pytest

    import stored as shared  # this file runs as __main__, and the tests know the other one

    sources = {file: file.read_text() for file in HERE.rglob("*.py") if file != Path(__file__)}
    marked = {file.stem: re.findall(r"^@stored\ndef (\w+)", text, re.MULTILINE) for file, text in sources.items()}
    tests = [
        str(file)
        for file, text in sorted(sources.items())
        if file.match("test_*.py")
        and "import stored" not in text  # that one reads the files
        and any(module in text and any(name in text for name in names) for module, names in marked.items())
    ]
    shared.anew = True
    if pytest.main(["-q", "-p", "no:cacheprovider", *tests]):
        sys.exit("Some tests fail: nothing was written")
    for file, answers in shared.asked.items():
        file.write_text(json.dumps(dict(sorted(answers.items())), indent=0) + "\n")


if __name__ == "__main__":
    main()
