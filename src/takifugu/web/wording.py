"""The sentences beside the figures, for people who meet θ, α and ε for the first time."""

import math
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from takifugu.reports import (
    ChannelFacts,
    NoiseFacts,
    VectorFacts,
    at_most,
    besides,
    clean,
    in_steps,
    listed,
    number,
    percent,
    words,
)
from takifugu.reports import pages as vector_page
from takifugu.reports import words as channel_words
from takifugu.tables import Reading
from takifugu.web.choices import Choice
from takifugu.web.describing import in_commas, on_page
from takifugu.web.shelf import GP_ROWS, Entry

if TYPE_CHECKING:
    from takifugu.reports import Facts
    from takifugu.web.choices import Choice, Fit


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
    theta = facts.theta
    return {
        "size": theta,
        "theta": theta if math.isfinite(theta) else None,
        "figure": {"before": "θ =", "value": number(theta, 6), "after": ""},
        "in_words": in_words(facts, choice.fit),
        "odds_words": words.odds(facts),
        "use_words": _joined(words.usefulness(facts), words.order(facts), words.saving(facts), _whom(facts, choice)),
        "before_words": "before noise",
        "after_words": "after noise",
    }


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
    return {
        "size": facts.error,
        "theta": None,
        "figure": {
            "before": "",
            "value": percent(facts.share_changed),
            "after": f"of the {'values' if len(facts.columns) == 1 else 'rows'} change{besides(facts.findings)}",
        },
        "in_words": _after_rounding(facts) + words.held(facts),
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
    steps, answer = in_steps(facts.findings), channel_words.channel_answer(facts)
    return answer if steps is None else f"{steps} {answer.replace('Nothing needs', 'Nothing else needs', 1)}"


def _joined(*sentences: str | None) -> str:
    return on_page(" ".join(filter(None, sentences)))


def question(fit: "Fit") -> str:
    """What a report says was asked."""
    asked = _ASKED[fit.query].format(columns=listed(fit.columns))
    if fit.pair is None:
        return f"How to publish {asked} so that nobody can tell anyone's {fit.secret}?"
    first, second = fit.pair
    return f"How to publish {asked} so that nobody can tell {fit.secret} = {first} from {fit.secret} = {second}?"


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
    return (
        f"To {thing}, add a random number from a normal law of standard deviation {number(theta, 3)}{share}. Two times "
        f"out of three it moves the answer by less than {number(theta, 3)}, and nineteen times out of twenty by less "
        f"than {number(1.96 * theta, 3)}.{weaker}"
    )


# What is shown, without the page: the command and the Python that find the same, to be copied.


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
        elif name == "tidy":
            found.append("--tidy")
        elif name == "merge":
            found += [word for into, of in value for word in ("--merge", f"{into}={in_commas(of)}")]
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
