"""The sentences beside the figures, for people who meet θ, α and ε for the first time."""

import json
import math
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

import numpy as np

from takifugu._validation import Array
from takifugu.reports import (
    ChannelFacts,
    NoiseFacts,
    VectorFacts,
    at_most,
    besides,
    clean,
    in_letters,
    in_steps,
    listed,
    number,
    percent,
    publication_of,
    words,
)
from takifugu.reports import pages as vector_page
from takifugu.reports import words as channel_words
from takifugu.tables import Reading
from takifugu.web.describing import Choice, Value, in_commas, on_page
from takifugu.web.shelf import GP_ROWS, Entry

if TYPE_CHECKING:
    from takifugu.reports import Facts
    from takifugu.web.describing import Fit


_ASKED = {
    "row": "each person's {columns}",
    "raw": "one person's {columns}",
    "mean": "the mean of {columns}",
    "gp": "a Gaussian process's prediction of {columns}",
    "bnn": "a Bayesian neural network's prediction of {columns}",
}
_THINGS = {
    "raw": "each published {columns}",
    "mean": "the published mean of {columns}",
    "gp": "the published prediction of {columns}",
    "bnn": "the published prediction of {columns}",
}


def told(facts: "Facts", choice: "Choice") -> dict[str, Any]:
    """What was found, and what can still be inferred and learned, in figures and in words."""
    guess = facts.adversary
    if isinstance(facts, ChannelFacts):
        kind = _channel(facts)
    else:
        kind = _vector(facts, choice) if isinstance(facts, VectorFacts) else _noise(facts, choice)
    promised = facts.calibration.guarantee.is_provable and math.isfinite(kind["size"])
    return kind | {
        "guess": {"before": guess.guess_before, "after": guess.guess_after},
        "guess_texts": {"before": at_most(guess.guess_before), "after": at_most(guess.guess_after)},
        "guess_words": words.inference(facts),
        "worst_pair": list(facts.worst_pair),
        "certifiable": promised,
        "publishable": promised and choice.fit.query in ("row", "raw"),
    }


def _noise(facts: "Facts", choice: "Choice") -> dict[str, Any]:
    assert isinstance(facts, NoiseFacts)
    theta, noise = facts.theta, facts.calibration.channel.as_noise()
    return {
        "size": theta,
        "theta": theta if math.isfinite(theta) else None,
        "figure": {"before": f"{noise.symbol} =", "value": number(noise.size, 6), "after": ""},
        "in_words": in_words(facts, choice.fit),
        "guarantee": _hidden(facts),
        "odds_words": words.odds(facts),
        "use_words": _joined(words.usefulness(facts), words.order(facts), words.saving(facts), _whom(facts, choice)),
        "before_words": "before noise",
        "after_words": "after noise",
    }


def _hidden(facts: NoiseFacts) -> str:
    """What the noise hides; odds in their own word, and not as an order of infinity."""
    told, asked = words.answer(facts), facts.calibration.guarantee
    most = asked.most_odds
    if most is None or not math.isinf(getattr(asked, "alpha", 0.0)):
        return told
    kept = f"posterior odds change by at most a factor of {number(most)}"
    return told.replace(f", within the budget ({in_letters(asked)})", f": {kept}").replace(
        f"({in_letters(asked)})", f"({kept})"
    )


def _whom(facts: "Facts", choice: "Choice") -> str | None:
    """For whom the guarantee of noise is, and what on the page would make it one for the population."""
    fit, own = choice.fit, "That is for an adversary who believes these rows’ own shares"
    if facts.calibration.evidence is None and fit.is_vector and fit.query == "raw":
        return f"{own}; “A table” can be guaranteed for the population."
    if facts.calibration.evidence is None and fit.query == "raw" and fit.prior != "counts":
        return f"{own}; with the belief “counts with a pseudo-row” it can be guaranteed for the population."
    return words.population(facts)


def _vector(facts: VectorFacts, choice: "Choice") -> dict[str, Any]:
    shares = {axis.name: axis.noise / axis.spread for axis in facts.axes if axis.spread > 0}
    most = max(shares, key=lambda name: shares[name], default=facts.axes[0].name)
    return {
        "size": max(axis.noise for axis in facts.axes),
        "theta": None,
        "guarantee": "",
        "figure": {
            "before": "noise",
            "value": number(shares.get(most, facts.axes[0].noise), 3),
            "after": f"times the spread of {clean(most, 40)}" if shares else f"on {clean(most, 40)}",
        },
        "in_words": vector_page.answer(facts) + words.held(facts),
        "odds_words": words.odds(facts),
        "use_words": _joined(vector_page.usefulness(facts), words.order(facts), _whom(facts, choice)),
        "before_words": "before noise",
        "after_words": "after noise",
    }


def _channel(facts: ChannelFacts) -> dict[str, Any]:
    guarantee, _, changed, never, survives = publication_of(facts).lines(would=True)
    return {
        "size": facts.error,
        "theta": None,
        "guarantee": on_page(guarantee),
        "changes": [on_page(changed), on_page(never), on_page(survives)],
        "figure": {
            "before": "",
            "value": percent(facts.share_changed),
            "after": f"of the {'values' if len(facts.columns) == 1 else 'rows'} change{besides(facts.findings)}",
        },
        "in_words": f"{_after_rounding(facts)}{words.held(facts)}".strip(),
        "odds_words": channel_words.worst_odds(facts),
        "use_words": _joined(
            channel_words.cost(facts),
            channel_words.averages(facts),
            channel_words.best(facts),
            words.population(facts),
        ),
        "before_words": "from the truth",
        "after_words": "as published",
    }


def _after_rounding(facts: ChannelFacts) -> str:
    steps = in_steps(facts.findings) or ""
    if facts.share_changed > 0:  # how many values do, the figure says
        return steps
    answer = channel_words.channel_answer(facts)
    return f"{steps} {answer.replace('Nothing needs', 'Nothing else needs', 1)}" if steps else answer


def _joined(*sentences: str | None) -> str:
    return on_page(" ".join(filter(None, sentences)))


def question(fit: "Fit") -> str:
    """What a report says was asked."""
    asked = _ASKED[fit.query].format(columns=listed(fit.columns))
    if fit.pair is None:
        return f"How to publish {asked} and hide {fit.secret}?"
    first, second = fit.pair
    return f"How to publish {asked} and hide {fit.secret} = {first} from {fit.secret} = {second}?"


def at_work(choice: "Choice", priors: Any) -> str:
    """What is being computed, with the sizes that decide how long it takes."""
    first = priors if isinstance(priors, Mapping) else priors[0]
    beliefs = "" if isinstance(priors, Mapping) else f" and {len(priors):,} beliefs"
    if not choice.is_listed:
        what = "shape of the noise" if choice.fit.is_vector else "noise"
        return f"finding the {what} for {len(first)} secrets"
    sizes = f"{len(next(iter(first.values())).values):,} possible rows, {len(first)} secrets{beliefs}"
    sure = " that withstands draws of the population" if choice.confidence is not None else ""
    return f"finding the best channel{sure} ({sizes})"


def in_words(facts: NoiseFacts, fit: "Fit") -> str:
    """What to do with θ, and what it costs."""
    theta = facts.theta
    thing = _THINGS[fit.query].format(columns=listed(fit.columns))
    if math.isinf(theta):
        return "No finite noise satisfies this mechanism here. Choose “exact”, which always has an answer."
    if theta == 0:
        return f"No noise is needed: {thing} is within the budget as it is."
    weaker = (
        ""
        if facts.calibration.guarantee.is_provable
        else " Mind that this mechanism guarantees less: the budget may be exceeded in a small share of cases."
    )
    share = f", {number(theta / facts.spread, 3)} times the spread of the answer itself" if facts.spread > 0 else ""
    noise = facts.calibration.channel.as_noise()
    two, nineteen = (_within(noise.below, probability, theta) for probability in (2 / 3, 0.95))
    return (
        f"To {thing}, add a random number from the {_LAWS.get(noise.name, noise.name)} law of standard deviation "
        f"{number(theta, 3)}{share}. Two times out of three it moves the answer by less than {number(two, 3)}, and "
        f"nineteen times out of twenty by less than {number(nineteen, 3)}.{weaker}"
    )


_LAWS = {"Gaussian": "normal"}


def _within(below: Callable[[Array], Array], probability: float, std: float) -> float:
    """How far symmetric noise stays from zero with a probability, to three digits and more."""
    low, high = 0.0, 20 * std
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if 2 * float(below(np.array([middle]))[0]) - 1 < probability else (low, middle)
    return high


# What is shown, without the page: the command, the plan, the Python and the notebook that find the same.


def command(choice: Choice, entry: Entry, *, others: bool = False, bare: bool = False) -> str | None:
    """The command, or None where no command says the same: names are stripped there, and a model is trained less here.

    With `others` the table has secrets beside the pair; with `bare` nothing had to change, and publishing is told so.

    >>> from pathlib import Path
    >>> from takifugu.web.describing import Fit
    >>> fit = Fit("heart", "slope", ("1", "3"), "mean", ("oldpeak",))
    >>> command(Choice(fit, "exact", 3.0, 1.0, None, None), Entry("heart", "", "heart", Path("l")))
    'takifugu calibrate heart --secret slope --pair 1 3 --query mean:oldpeak --alpha 3 --epsilon 1 --mechanism exact'
    """
    fit = choice.fit
    if fit.query in ("gp", "bnn") or not all(map(_can_be_typed, (*fit.columns, *fit.known))):
        return None
    source = f"./{entry.source}" if entry.source.startswith("-") else entry.source
    if choice.is_listed:
        said = _words(_publishing(choice, entry, others=others, bare=bare))
        return shlex.join(["takifugu", "publish", source, "published.csv", *said, *_flags(entry.reading)])
    said = _words(
        {
            "secret": fit.secret,
            "pair": [] if fit.pair is None else [fit.pair],
            "query": f"{fit.query}:{with_commas(fit.columns)}",
            "prior": fit.prior,
            "known": list(fit.known),
            **choice.promise,
            "confidence": choice.confidence,
            "mechanism": choice.mechanism,
        }
    )
    return shlex.join(["takifugu", "calibrate", source, *said, *_flags(entry.reading)])


Option = str | float | bool | Sequence[str] | Sequence[tuple[str, str]] | Mapping[str, Sequence[Value]] | None


def _publishing(choice: Choice, entry: Entry, *, others: bool, bare: bool) -> dict[str, Option]:
    """The options of `takifugu publish` for a choice, in the order in which they are written."""
    fit = choice.fit
    return {
        "secret": fit.secret,
        "columns": list(fit.columns),
        **choice.promise,
        "confidence": choice.confidence or 0.0,
        "known": list(fit.known),
        "pair": [] if fit.pair is None else [fit.pair],
        "others": "drop" if others and not fit.leave_out else None,
        "leave-out": list(fit.leave_out),
        "domain": fit.domain,
        "other": fit.other,
        "allow-no-noise": bare,
        "ledger": str(entry.ledger),
    }


def _words(options: Mapping[str, Option]) -> list[str]:
    """Options as they are typed; those that are not given are not."""
    found: list[str] = []
    for name, value in options.items():
        flag = f"--{name}"
        if value is None or value is False:
            continue
        if value is True:
            found.append(flag)
        elif isinstance(value, str):
            found += [flag, value]
        elif isinstance(value, int | float):
            found += [flag, _number(value)]
        elif isinstance(value, Mapping):
            found += [flag, json.dumps(value, ensure_ascii=False)]
        elif name == "columns":
            found += [flag, with_commas([str(one) for one in value])]
        else:
            for one in value:
                several = [one] if isinstance(one, str) else one
                found += [flag, *([with_commas(several)] if name == "known" else several)]
    return found


def plan(choice: Choice, entry: Entry, *, others: bool = False, bare: bool = False) -> str | None:
    """The same as a plan, a file that `takifugu publish --plan` takes and people edit; None of what is no table.

    >>> from pathlib import Path
    >>> from takifugu.web.describing import Fit
    >>> fit = Fit("heart", "slope", None, "row", ("cp",), leave_out=("3",), lists=(("cp", (1, 2)),))
    >>> print(plan(Choice(fit, "optimal", None, None, 3.0, 0.95), Entry("heart", "", "heart", Path("l"))))
    # What to publish of heart. It describes the people in the table: keep it private.
    #   takifugu publish heart published.csv --plan THIS-FILE
    secret = "slope"
    columns = ["cp"]
    odds = 3
    confidence = 0.95
    leave-out = ["3"]
    ledger = "l"
    <BLANKLINE>
    [domain]
    cp = [1, 2]
    <BLANKLINE>
    """
    said = _flags(entry.reading)
    if not choice.is_listed or "--no-header" in said or "--header" in said:  # no plan says that
        return None
    source = shlex.join([entry.source])
    options = _publishing(choice, entry, others=others, bare=bare) | _of_reading(entry.reading)
    given = {name: value for name, value in options.items() if value not in (None, False, [], ())}
    tables = {name: value for name, value in given.items() if isinstance(value, Mapping)}
    lines = [
        f"# What to publish of {_line(entry.source)}. It describes the people in the table: keep it private.",
        f"#   takifugu publish {_line(source)} published.csv --plan THIS-FILE",
        *(f"{name} = {_toml(value)}" for name, value in given.items() if name not in tables),
    ]
    for name, value in tables.items():
        lines += ["", f"[{name}]", *(f"{_key(one)} = {_toml(values)}" for one, values in value.items())]
    return "\n".join(lines) + "\n"


def _of_reading(reading: Reading) -> dict[str, Option]:
    """What was said of a file's form, as a plan says it."""
    found: dict[str, Option] = {}
    for name, value in _said(reading).items():
        if name == "merge":
            found[name] = {into: list(of) for into, of in reading.merges}
        elif name == "sentinels":
            found["sentinel"] = [str(one) for one in value]
        else:
            found[name] = [str(one) for one in value] if isinstance(value, tuple) else value
    return found


def _line(text: str) -> str:
    return "".join(c if c.isprintable() else " " for c in text)


def _key(name: str) -> str:
    return name if name.isascii() and name.replace("_", "").replace("-", "").isalnum() else _toml(name)


def _toml(value: object) -> str:
    """A value of TOML: that of JSON, in which every control character is escaped."""
    plain = int(value) if isinstance(value, float) and value == int(value) else value
    return json.dumps(plain, ensure_ascii=False).replace("\x7f", "\\u007f")


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
        elif name == "tidy":
            found.append("--tidy")
        elif name == "merge":
            found += [word for into, of in value for word in ("--merge", f"{into}={in_commas(of)}")]
        else:
            flag = "--sentinel" if name == "sentinels" else f"--{name}"
            found += [word for one in (value if isinstance(value, tuple) else (value,)) for word in (flag, str(one))]
    return found


def python(choice: Choice, entry: Entry, *, network_steps: int, others: bool = False, bare: bool = False) -> str:
    """The same in Python; it ends with a `calibration`."""
    given, *rest = _cells(choice, entry, network_steps=network_steps, others=others, bare=bare)
    return "\n".join([given, *rest])


def notebook(choice: Choice, entry: Entry, *, network_steps: int, others: bool = False, bare: bool = False) -> str:
    """The same as a notebook, with what is done next: what survives and the files, or the proof."""
    given, *rest = _cells(choice, entry, network_steps=network_steps, others=others, bare=bare)
    cells = [("markdown", f"# {question(choice.fit)}"), ("code", given), *(("code", one) for one in rest)]
    if choice.is_listed:
        cells += [
            (
                "markdown",
                "What survives of averages, shares and relations. It describes the true rows: keep it private.",
            ),
            ("code", "published.compare()"),
            ("markdown", "The table and its statement are for everybody; report and certificate stay private."),
            (
                "code",
                "from pathlib import Path\n\n"
                "published.save('published.csv')\n"
                "published.statement.save('published-statement.json')\n"
                "published.report('published-report.html')\n"
                "published.certificate.save('published-certificate.json')",
            ),
        ]
    else:
        cells += [
            ("markdown", "The proof, for an auditor; it holds the priors, so keep it private."),
            ("code", "certificate = tk.certify(calibration)\nprint(tk.verify(certificate))"),
        ]
    written: list[dict[str, object]] = [
        {"cell_type": kind, "id": f"cell-{k}", "metadata": {}, "source": source.splitlines(keepends=True)}
        | ({"execution_count": None, "outputs": []} if kind == "code" else {})
        for k, (kind, source) in enumerate(cells)
    ]
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    content = {
        "cells": written,
        "metadata": {"kernelspec": kernel, "language_info": {"name": "python"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def _cells(choice: Choice, entry: Entry, *, network_steps: int, others: bool, bare: bool) -> list[str]:
    fit = choice.fit
    table = f"tk.datasets.load({entry.source!r})" if entry.kind == "bundled" else repr(entry.source)
    head = f"import takifugu as tk\n\ntable = {table}"
    form = ", ".join(f"{name}={value!r}" for name, value in _said(entry.reading).items())
    reading = f"reading=tk.Reading({form})" if form else None
    known = f"known={list(fit.known)!r}" if fit.known else None
    secrets = None if fit.pair is None else f"secrets={list(fit.pair)!r}"
    promise = [f"{name}={_number(value)}" for name, value in choice.promise.items()]
    sure = None if choice.confidence is None else f"confidence={choice.confidence}"
    if choice.is_listed:
        return [head, _published(choice, entry, others=others, bare=bare), "\n".join(_TELL)]
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
    return [head, fitted, f"{found}\nprint(calibration)"]


def _published(choice: Choice, entry: Entry, *, others: bool, bare: bool) -> str:
    """The one call of `tk.publish` that the page shows."""
    fit = choice.fit
    said = _said(entry.reading)
    if fit.leave_out or others:
        said["leave_out"] = list(fit.leave_out) or "others"
    if fit.other is not None:
        said["other"] = fit.other
    form = ", ".join(f"{name}={value!r}" for name, value in said.items())
    return _call(
        "published",
        "tk.publish",
        "table",
        f"secret={fit.secret!r}",
        f"columns={list(fit.columns)!r}",
        *(f"{name}={_number(value)}" for name, value in choice.promise.items()),
        f"confidence={choice.confidence}",
        None if fit.pair is None else f"pairs=[{fit.pair!r}]",
        None if fit.domain is None else f"domain={fit.domain!r}",
        f"adversary=tk.Adversary(known={list(fit.known)!r})" if fit.known else None,
        "utility=tk.Utility(allow_no_noise=True)" if bare else None,
        f"reading=tk.Reading({form})" if form else None,
        f"ledger={str(entry.ledger)!r}",
    )


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
