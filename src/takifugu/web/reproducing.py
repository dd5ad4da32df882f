"""What is shown, without the page: the command and the Python that find the same, to be copied."""

import shlex
from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from takifugu.tables.reading import Reading
from takifugu.web.choices import Choice
from takifugu.web.fits import GP_ROWS
from takifugu.web.shelf import Entry


def command(choice: Choice, entry: Entry, *, others: bool = False, bare: bool = False) -> str | None:
    """The command, or None where no command says the same: names are stripped there, and a model is trained less here.

    With `others` the table has secrets beside the pair; with `bare` nothing had to change, and publishing is told so.

    >>> from pathlib import Path
    >>> from takifugu.web.choices import Fit
    >>> fit = Fit("heart", "slope", ("1", "3"), "mean", ("oldpeak",))
    >>> command(Choice(fit, "exact", 3.0, 1.0, None, None), Entry("heart", "", "heart", Path("l")))
    'takifugu calibrate heart --secret slope --pair 1 3 --query mean:oldpeak --alpha 3 --epsilon 1 --mechanism exact'
    """
    fit = choice.fit
    if fit.query in ("gp", "bnn") or not all(map(_can_be_typed, (*fit.columns, *fit.known))):
        return None
    source = f"./{entry.source}" if entry.source.startswith("-") else entry.source
    pair = [] if fit.pair is None else ["--pair", *fit.pair]
    known = [word for name in fit.known for word in ("--known", with_commas([name]))]
    if not choice.is_listed:
        words = ["takifugu", "calibrate", source, "--secret", fit.secret, *pair]
        words += ["--query", f"{fit.query}:{with_commas(fit.columns)}"]
        words += [] if fit.prior is None else ["--prior", fit.prior]
        return shlex.join([*words, *known, *_promise(choice), "--mechanism", choice.mechanism, *_flags(entry.reading)])
    words = ["takifugu", "publish", source, "published.csv", "--secret", fit.secret]
    words += ["--columns", with_commas(fit.columns), *_promise(choice)]
    words += [*known, *pair, *(["--others", "drop"] if others else []), *(["--allow-no-noise"] if bare else [])]
    return shlex.join([*words, "--ledger", str(entry.ledger), *_flags(entry.reading)])


def with_commas(names: Sequence[str]) -> str:
    """Names as the command line takes several: one that holds a comma or a quotation mark stands in such marks.

    >>> with_commas(["ward", "stay, days"])
    'ward,"stay, days"'
    """
    return ",".join(f'"{name.replace(chr(34), 2 * chr(34))}"' if set(name) & set(',"') else name for name in names)


def _can_be_typed(name: str) -> bool:
    """Whether a name comes out of a list on the command line as it went in."""
    return name == name.strip() and len(name.splitlines()) == 1


def _said(reading: Reading) -> dict[str, Any]:
    """What was said of a file's form; what was left to the reader is left to it again."""
    given = {field.name: getattr(reading, field.name) for field in fields(Reading)}
    return {name: value for name, value in given.items() if value != getattr(Reading(), name)}


def _flags(reading: Reading) -> list[str]:
    """The same in flags.

    >>> _flags(Reading(sep=";", sentinels=(999, "age=-1"), header=False))
    ['--sep', ';', '--sentinel', '999', '--sentinel', 'age=-1', '--no-header']
    """
    found: list[str] = []
    for name, value in _said(reading).items():
        if name == "header":
            found.append("--header" if value else "--no-header")
        else:
            flag = "--sentinel" if name == "sentinels" else f"--{name}"
            found += [word for one in (value if isinstance(value, tuple) else (value,)) for word in (flag, str(one))]
    return found


def _promise(choice: Choice) -> list[str]:
    words: list[str] = []
    for name in ("odds", "alpha", "epsilon"):
        if (value := getattr(choice, name)) is not None:
            words += [f"--{name}", _number(value)]
    if choice.confidence is not None or choice.is_listed:
        words += ["--confidence", _number(choice.confidence or 0)]
    return words


def python(choice: Choice, entry: Entry, *, network_steps: int, others: bool = False, bare: bool = False) -> str:
    """The same in Python; it ends with a `calibration`."""
    fit = choice.fit
    table = f"tk.datasets.load({entry.source!r})" if entry.kind == "bundled" else repr(entry.source)
    head = ["import takifugu as tk", "", f"table = {table}"]
    form = ", ".join(f"{name}={value!r}" for name, value in _said(entry.reading).items())
    reading = f"reading=tk.Reading({form})" if form else None
    known = f"known={list(fit.known)!r}" if fit.known else None
    pair = None if fit.pair is None else f"pairs=[{fit.pair!r}]"
    secrets = None if fit.pair is None else f"secrets={list(fit.pair)!r}"
    promise = [f"{n}={_number(v)}" for n in ("odds", "alpha", "epsilon") if (v := getattr(choice, n)) is not None]
    sure = None if choice.confidence is None else f"confidence={choice.confidence}"
    if choice.is_listed:
        drop = 'others="drop"' if others else None
        asked = [f"secret={fit.secret!r}", f"columns={list(fit.columns)!r}", *promise, sure or "confidence=None"]
        unchanged = "allow_no_noise=True" if bare else None
        more = [known, reading, pair, secrets, drop, unchanged, f"ledger={str(entry.ledger)!r}"]
        return "\n".join([*head, _call("published", "tk.publish", "table", *asked, *more), *_TELL])
    column = list(fit.columns) if fit.is_vector else fit.column
    query = {
        "raw": f"tk.Raw({column!r}, prior={fit.prior!r})",
        "mean": f"tk.Mean({column!r})",
        "gp": f"tk.GP({fit.column!r}, max_rows={GP_ROWS}, restarts=0)",
        "bnn": f"tk.BNN({fit.column!r}, steps={network_steps}, progress=False)",
    }[fit.query]
    about = (f"secret={fit.secret!r}", f"query={query}", secrets, known, reading)
    fitted = _call("priors", "tk.fit_priors", "table", *about)
    # The pair is already all there is: fitting named its secrets.
    found = _call("calibration", "tk.calibrate", "priors", *promise, sure, f"mechanism={choice.mechanism!r}")
    return "\n".join([*head, fitted, found, "print(calibration)"])


_TELL = ("calibration = published.calibration", "print(published)")


def _call(name: str, function: str, *arguments: str | None) -> str:
    """An assignment that a narrow page can show: an argument a line."""
    lines = "".join(f"    {argument},\n" for argument in arguments if argument)
    return f"{name} = {function}(\n{lines})"


def _number(value: float) -> str:
    """The shortest text that reads back as the same number.

    >>> _number(3.0), _number(0.3)
    ('3', '0.3')
    """
    return str(int(value)) if value == int(value) else repr(value)
