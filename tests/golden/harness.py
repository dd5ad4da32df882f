"""Cases, what they say, and what moved since it was written down."""

import hashlib
import json
import math
import re
import warnings
import zlib
from collections.abc import Callable, Iterator
from difflib import SequenceMatcher, unified_diff
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

DATA = Path(__file__).parent / "data"
DIGITS = 12  # are kept of each figure
CLOSE = 1e-9  # relative: what may differ between two machines
FLAT = 1e-7  # of these, where an optimum is flat: what costs the same to nine digits is itself known to fewer
OF_A_FLAT_OPTIMUM = ("stays", "mixed")
FOUND_BY_STEPS = re.compile(r"^(optimal: .*, alpha|shaped)")  # an interior point's last steps are the machine's own
NOTHING = 1e-13  # below it a figure is what rounding left of zero

Seen = tuple[dict[str, Any], list[str]]  # figures, and words
Case = Callable[[], Seen]


class Family:
    """Cases that are recorded in one file, by name.

    >>> family = Family("sums")
    >>> family.add("one and one", lambda: ({"sum": 1 + 1}, []))
    >>> family.cases["one and one"]()
    ({'sum': 2}, [])
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.cases: dict[str, Case] = {}

    def add(self, name: str, case: Case) -> None:
        """One more case; no two have the same name."""
        if name in self.cases:
            raise ValueError(f"there are two cases {name!r}")
        self.cases[name] = case

    def case(self, name: str) -> Callable[[Case], Case]:
        """The same as a decorator."""

        def added(case: Case) -> Case:
            self.add(name, case)
            return case

        return added

    def seen(self, name: str) -> tuple[Any, list[str]]:
        """What a case says now, as it would be written down."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # findings are looked at as such
            figures, words = self.cases[name]()
        return plain(figures), [without_last_digits(one) for one in words]

    def path(self, what: str) -> Path:
        """Where the figures, or the words, are kept."""
        return DATA / (f"{self.name}.json" if what == "figures" else f"{self.name}.texts.json")

    def recorded(self, what: str) -> dict[str, Any]:
        """What was written down; nothing where nothing was."""
        path = self.path(what)
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}

    def record(self, what: str, seen: dict[str, Any]) -> None:
        """Write it down, a line for each case."""
        DATA.mkdir(exist_ok=True)
        lines = [
            f"{json.dumps(name)}: {json.dumps(seen[name], sort_keys=True, ensure_ascii=False, separators=(',', ':'))}"
            for name in seen
        ]
        self.path(what).write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")


def software() -> str:
    """The libraries that figures hang on, with their versions."""
    names = ("numpy", "scipy", "pandas", "scikit-learn", "python-flint")
    return ", ".join(f"{name} {version(name)}" for name in names)


def recorded_with() -> str:
    """Those with which everything was written down."""
    path = DATA / "software.txt"
    return path.read_text(encoding="utf-8").strip() if path.exists() else "nothing"


def plain(value: Any) -> Any:
    """What JSON can hold, with twelve digits of each number."""
    if isinstance(value, dict):
        return {str(key): plain(one) for key, one in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(one) for one in (sorted(value, key=repr) if isinstance(value, set | frozenset) else value)]
    if isinstance(value, bool | np.bool_):
        return bool(value)
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        number = float(value)
        return float(f"{number:.{DIGITS}g}") if math.isfinite(number) else str(number)
    return value if value is None else str(value)


def moved(before: Any, after: Any, where: str = "") -> Iterator[str]:
    """What is not as it was: a line for each figure.

    >>> list(moved({"theta": 1.0, "error": 2}, {"theta": 1.5, "error": 2}, "two Gaussians"))
    ['two Gaussians.theta: 1.0 -> 1.5 (+50 %)']

    Of a text of several lines those that differ are told.

    >>> list(moved("one\\ntwo", "one\\nthree", "transcript"))
    ['transcript: -two', 'transcript: +three']
    >>> list(moved("3 1 58.1 64", "3 1 60 64", "numbers"))
    ['numbers: after 2 of them 58.1 -> 60']
    """
    if isinstance(before, dict) and isinstance(after, dict):
        for key in [*before, *(key for key in after if key not in before)]:
            place = f"{where}.{key}" if where else key
            if key not in after:
                yield f"{place}: {_short(before[key])} -> gone"
            elif key not in before:
                yield f"{place}: new -> {_short(after[key])}"
            else:
                yield from moved(before[key], after[key], place)
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        for place, (one, other) in enumerate(zip(before, after, strict=True)):
            yield from moved(one, other, f"{where}[{place}]")
    elif _is_number(before) and _is_number(after):
        close = FLAT if where.endswith(OF_A_FLAT_OPTIMUM) or FOUND_BY_STEPS.match(where) else CLOSE
        if not math.isclose(before, after, rel_tol=close, abs_tol=NOTHING):
            by = f" ({100 * (after / before - 1):+.3g} %)" if before else ""
            yield f"{where}: {before} -> {after}{by}"
    elif type(before) is not type(after) or before != after:
        yield from _other(before, after, where)


def _other(before: Any, after: Any, where: str) -> Iterator[str]:
    """What is to be said of two things that are no numbers: of long texts only the lines that differ."""
    if isinstance(before, str) and isinstance(after, str) and "\n" in before:
        for line in unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm=""):
            if not line.startswith(("---", "+++", "@@")):
                yield f"{where}: {line}"
    elif where.endswith("numbers") and isinstance(before, str) and isinstance(after, str):
        old, new = before.split(), after.split()
        for kind, start, end, first, last in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            if kind != "equal":
                yield f"{where}: after {start} of them {' '.join(old[start:end])} -> {' '.join(new[first:last])}"
    elif isinstance(before, list) and isinstance(after, list):
        gone, new = ([one for one in some if one not in others] for some, others in ((before, after), (after, before)))
        yield f"{where}: {len(before)} -> {len(after)} entries, gone {_short(gone)}, new {_short(new)}"
    else:
        yield f"{where}: {_short(before)} -> {_short(after)}"


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= 400 else f"{text[:400]}… ({len(text)} characters)"


def fingerprint(array: Any) -> list[float]:
    """A few figures of many numbers: how many, their sum, one that hangs on their order, the least and the largest.

    >>> fingerprint([1.0, 2.0])
    [2, 3.0, 2.0, 1.0, 2.0]
    """
    flat = np.asarray(array, dtype=float).ravel()
    if not len(flat):
        return [0]
    placed = flat / np.arange(1, len(flat) + 1)
    return [len(flat), *map(float, (flat.sum(), placed.sum(), flat.min(), flat.max()))]


def digest(text: str) -> str:
    """Sixteen digits that stand for a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def own_weight(value: Any) -> float:
    """A number between 1/2 and 3/2 that is the value's own, whatever place it has in a list."""
    return 0.5 + zlib.crc32(repr(_plain_value(value)).encode()) / 2**32


def _plain_value(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(map(_plain_value, value))
    return value.item() if isinstance(value, np.generic) else value


def without_last_digits(text: str) -> str:
    """A text whose numbers have nine digits at most: those after them may be others on another machine.

    >>> without_last_digits("θ = 2.159021714197775 in Takifugu 0.2.0")
    'θ = 2.15902171 in Takifugu 0.2.0'
    """
    return re.sub(r"\d+\.\d{9,}", lambda number: f"{float(number[0]):.9g}", text)


def numbers_in(text: str) -> list[str]:
    """The numbers in a text, whatever the words between them say.

    >>> numbers_in("1,519 rows, 97.5 % of α = 3")
    ['1,519', '97.5', '3']
    """
    return re.findall(r"\d+(?:[.,]\d+)*", text)
