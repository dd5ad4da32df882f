"""What leaves with a fixed seed, what ledgers say of it, what audits find and analysts estimate, and the reports."""

import datetime
import html
import math
import re
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import takifugu as tk

from .asked import codes, or_refusal
from .golden_calibrations import LISTS, MIXTURES, PEOPLE, VECTORS, fitted
from .harness import Family, Seen, digest, numbers_in

RELEASES = Family("releases")
LEDGERS = Family("ledgers")
ESTIMATES = Family("estimates")
AUDITS = Family("audits")
REPORTS = Family("reports")

SEED = 20_260_309


@contextmanager
def folder() -> Iterator[Path]:
    """A place for files that is gone afterwards."""
    with tempfile.TemporaryDirectory() as path:
        yield Path(path)


def of_table(table: Any) -> dict[str, Any]:
    """Digests of what left: as it stands, and without its order, so that a shuffle is told from other values."""
    frame = table if isinstance(table, pd.DataFrame) else pd.DataFrame(np.asarray(table))
    rows = [repr(tuple(row)) for row in frame.astype(object).to_numpy().tolist()]
    return {
        "rows": len(rows),
        "columns": list(map(str, frame.columns)),
        "in order": digest("\n".join(rows)),
        "in any order": digest("\n".join(sorted(rows))),
    }


@cache
def made(name: str) -> tk.Calibration:
    """Calibrations that several cases share."""
    priors, options = MADE[name]
    return tk.calibrate(fitted(priors), **options)


MADE = {
    "marks": ("marks, counts", {"alpha": 8, "epsilon": 1}),
    "unrounded": ("heart, unrounded", {"alpha": 3, "epsilon": 1}),
    "mean": ("mean", {"alpha": 3, "epsilon": 1}),
    "means": ("means", {"alpha": 3, "epsilon": 1}),
    "vectors": ("vectors, gaussian", {"alpha": 3, "epsilon": 1}),
    "row": ("row", {"odds": 1.2}),
    "row, nothing kept": ("row", {"odds": 1.2, "preserve": None}),
    "listed": ("rows, list given", {"odds": 1.2, "preserve": None}),
    "vectors, each by itself": ("vectors, gaussian", {"alpha": 3, "epsilon": 1, "options": {"shape": "diagonal"}}),
    "rows": ("rows", {"odds": 1.5}),
    "census": ("rows of a census", {"odds": 1.5}),
}


@cache
def pupils() -> pd.DataFrame:
    return tk.datasets.load("student-por")


@cache
def people() -> pd.DataFrame:
    return tk.datasets.load("adult")


def marks() -> Any:
    return np.array(pupils()["G3"])


def schools() -> pd.Series:
    return pupils()["schoolsup"]


def left(table: Callable[[], Any], name: str, **options: Any) -> Callable[[], Seen]:
    """A case: a release of a table through a calibration; options that can be called are called first."""

    def run() -> Any:
        asked = {key: value() if callable(value) else value for key, value in options.items()}
        return tk.release(table(), made(name), **{"insecure_seed": SEED, "order": "keep", **asked})

    return lambda: or_refusal(run, lambda table: (of_table(table), []))


RELEASES.add("marks", left(pupils, "marks"))
RELEASES.add("marks, clipped and rounded", left(pupils, "marks", clip=(0, 20), round_to=1))
RELEASES.add("marks, with sex", left(pupils, "marks", keep=["sex"]))
RELEASES.add("marks, coarse", left(pupils, "marks", utility=tk.Utility(granularity=0.25)))
RELEASES.add("marks, more noise", left(pupils, "marks", theta=10.0))
RELEASES.add("marks, less noise", left(pupils, "marks", theta=0.1))
RELEASES.add("marks, an array", left(marks, "marks"))
RELEASES.add("marks, an array with its secrets", left(marks, "marks", secret=schools))
RELEASES.add("mean of one secret", left(pupils, "mean", of="yes"))
RELEASES.add("mean of no secret", left(pupils, "mean"))
RELEASES.add("means of one secret", left(pupils, "means", of="yes"))
RELEASES.add("vectors", left(pupils, "vectors"))
RELEASES.add("row", left(pupils, "row"))
RELEASES.add("row, nothing kept", left(pupils, "row, nothing kept"))
RELEASES.add("rows", left(pupils, "rows"))
RELEASES.add("rows, shuffled", left(pupils, "rows", order="shuffle"))
RELEASES.add("census, others refused", left(people, "census"))
RELEASES.add("census, others dropped", left(people, "census", others="drop"))
RELEASES.add("another table", left(lambda: tk.datasets.load("heart"), "marks"))


def of_account(ledger: tk.Ledger) -> dict[str, Any]:
    """What a ledger says has been spent."""
    account = ledger.account()
    figures = {"releases": account.releases, "fraction_spent": account.fraction_spent}
    for name in ("effective_theta", "next_theta", "may_go_on", "left"):
        if hasattr(account, name):
            figures[name] = getattr(account, name)
    return figures


class Times(NamedTuple):
    """So many times the noise that was calibrated, as variance."""

    factor: float
    of_whom: str | None = None

    def of(self, calibration: tk.Calibration) -> dict[str, Any]:
        """The options of `release` that ask for it."""
        channel, whom = calibration.channel, {} if self.of_whom is None else {"of": self.of_whom}
        if hasattr(channel, "theta"):
            return {"theta": channel.theta * math.sqrt(self.factor), **whom}
        return {"theta": self.factor * np.asarray(channel.covariance), **whom}


def of_several(name: str, table: Callable[[], Any], options: list[dict[str, Any] | Times]) -> Callable[[], Seen]:
    """A case: releases one after another into one ledger, whose account is opened with the calibration's budget."""

    def run() -> Seen:
        accounts, words = [], []
        with folder() as place:
            calibration = made(name)
            ledger = tk.Ledger(place / "them.ledger", budget=calibration)
            for number, one in enumerate(options):
                more = one.of(calibration) if isinstance(one, Times) else one
                try:
                    tk.release(table(), calibration, ledger=ledger, insecure_seed=SEED + number, order="keep", **more)
                    accounts.append(of_account(ledger))
                    if hasattr(calibration.channel, "theta"):
                        accounts[-1]["loss"] = ledger.loss(calibration)
                except tk.TakifuguError as error:
                    accounts.append({"refused": type(error).__name__})
                    words.append(str(error).replace(str(place), "FOLDER"))
        return {"accounts": accounts}, words

    return lambda: or_refusal(run, lambda seen: seen)


LEDGERS.add("marks, once and again", of_several("marks", pupils, [{}, {}]))
LEDGERS.add("marks, half of the budget each time", of_several("marks", pupils, [Times(2.001)] * 3 + [{}]))
LEDGERS.add(
    "marks, several sizes",
    of_several("marks", pupils, [{"theta": 20.0}, {"theta": 50.0}, {"theta": 1e6}, {"theta": 7.0}, {"theta": 5.0}]),
)
LEDGERS.add("mean, once and again", of_several("mean", pupils, [{"of": "yes"}, {"of": "yes"}]))
LEDGERS.add("means, once and again", of_several("means", pupils, [{"of": "yes"}, {"of": "yes"}]))
LEDGERS.add("means, half each time", of_several("means", pupils, [Times(2.001, "yes")] * 3))
LEDGERS.add("a channel, once and again", of_several("row", pupils, [{}, {}]))


@LEDGERS.case("a channel after noise")
def a_channel_after_noise() -> Seen:
    accounts, words = [], []
    with folder() as place:
        for name in ("marks", "rows"):
            try:
                tk.release(pupils(), made(name), ledger=place / "one.ledger", insecure_seed=SEED)
                accounts.append("released")
            except tk.TakifuguError as error:
                accounts.append(type(error).__name__)
                words.append(str(error).replace(str(place), "FOLDER"))
    return {"accounts": accounts}, words


@cache
def released(name: str) -> Any:
    """What the audits attack and the estimates are made from: truth and publication stand row by row."""
    table = people() if name == "census" else pupils()
    options = {"others": "drop"} if name == "census" else {}
    return tk.release(table, made(name), insecure_seed=SEED, order="keep", **options)


def of_estimate(one: Any) -> list[float]:
    return [one.value, one.error, one.from_channel]


def estimated(name: str, asked: Callable[[Any], dict[str, Any]], *, owner: bool = False) -> Callable[[], Seen]:
    """A case: what follows from a publication and its public paper, or from the calibration that the owner has."""

    def run() -> dict[str, Any]:
        public = made(name) if owner else tk.certify(made(name)).redacted()
        table = released(name)  # whose columns say in their names that the seed is known
        return asked(tk.estimate(table.set_axis(made(name).answer.columns, axis="columns"), public))

    return lambda: or_refusal(run, lambda figures: (figures, []))


def of_shares(found: Any) -> dict[str, Any]:
    return {str(value): one if one is None else of_estimate(one) for value, one in found.shares.items()}


ESTIMATES.add("mean of marks", estimated("marks", lambda found: {"mean": of_estimate(found.mean("G3"))}))
ESTIMATES.add("mean of a row", estimated("row", lambda found: {"mean": of_estimate(found.mean("failures"))}))
ESTIMATES.add("shares of a row", estimated("row", lambda found: of_shares(found.histogram("failures"))))
ESTIMATES.add(
    "shares, nothing kept", estimated("row, nothing kept", lambda found: of_shares(found.histogram("failures")))
)
ESTIMATES.add(
    "shares, a list given",
    estimated("listed", lambda found: of_shares(found.histogram("studytime")), owner=True),
)
ESTIMATES.add(
    "shares, to the owner",
    estimated("row, nothing kept", lambda found: of_shares(found.histogram("failures")), owner=True),
)
ESTIMATES.add("shares of a census", estimated("census", lambda found: of_shares(found.histogram("marital-status"))))
ESTIMATES.add(
    "regression of rows",
    estimated(
        "rows",
        lambda found: {
            name: of_estimate(one) for name, one in found.regression("failures", on="studytime").coefficients.items()
        },
    ),
)
for owner in (False, True):
    ESTIMATES.add(
        f"regression of vectors{', to the owner' if owner else ''}",
        estimated(
            "vectors",
            lambda found: {
                name: of_estimate(one) for name, one in found.regression("G3", on=["G1"]).coefficients.items()
            },
            owner=owner,
        ),
    )


@ESTIMATES.case("bounds of a row")
def bounds_of_a_row() -> Seen:
    def bounds(found: Any) -> dict[str, Any]:
        one = found.bounds("studytime", 1)
        return {"low": one.low, "high": one.high, "confidence": one.confidence}

    return estimated("listed", bounds, owner=True)()


def of_audit(audit: tk.Audit) -> Seen:
    """What each attacker reached."""
    figures = audit.to_dict()
    figures["findings"] = codes(audit.findings)
    for attack in figures["attacks"]:
        attack.pop("sees")
        attack.pop("where")
    return figures, [*audit.sentences, *map(str, audit.findings)]


def attacked(name: str, published: Callable[[], Any] | None = None, **options: Any) -> Callable[[], Seen]:
    """A case: an audit of a publication with the truth at hand."""

    def run() -> tk.Audit:
        truth = people() if name == "census" else pupils()
        if name == "census":
            truth = truth[truth["race"].isin(PEOPLE["secrets"])]
        table = released(name) if published is None else published()
        return tk.audit(table, truth, made(name), seed=3, **options)

    return lambda: or_refusal(run, of_audit)


AUDITS.add("marks", attacked("marks"))
AUDITS.add("row", attacked("row"))
AUDITS.add("rows", attacked("rows"))
AUDITS.add("vectors", attacked("vectors"))
AUDITS.add("the truth itself", attacked("marks", lambda: pupils()[["G3"]]))


def of_page(page: str) -> Seen:
    """The figures on a page in the order in which they stand there, and its words, without its charts."""
    page = re.sub(r"(?s)<(style|script|svg|head)\b.*?</\1>", " ", page)
    lines = [
        html.unescape(re.sub(r"<[^>]+>", " ", block))
        for block in re.split(r"</(?:p|tr|h\d|li|div|dt|dd|section)>", page)
    ]
    text = [" ".join(line.split()) for line in lines if line.strip()]
    told = [without_today(line) for line in text]
    return {"numbers": " ".join(number for line in told for number in numbers_in(line))}, told


def without_today(text: str) -> str:
    """A text without the day and the versions, which are other ones tomorrow."""
    today = datetime.date.today()
    for written in (today.isoformat(), f"{today.day} {today:%B %Y}", f"{today:%B} {today.day}, {today.year}"):
        text = text.replace(written, "TODAY")
    text = text.replace(f"Takifugu {tk.__version__}", "Takifugu VERSION")
    return re.sub(r"\b[0-9a-f]{64}\b", "DIGEST", text)


def reported(calibration: Callable[[], tk.Calibration], *, proved: bool = False) -> Callable[[], Seen]:
    """A case: the report on a calibration."""

    def run() -> str:
        one = calibration()
        return tk.report(one, certificate=tk.certify(one) if proved else None)

    return lambda: or_refusal(run, of_page)


for name in MADE:
    REPORTS.add(name, reported(lambda name=name: made(name), proved=name in ("marks", "row")))
REPORTS.add("by hand", reported(lambda: tk.calibrate(MIXTURES["three secrets"], alpha=3, epsilon=1)))
REPORTS.add("lists by hand", reported(lambda: tk.calibrate(LISTS["three secrets"], odds=2)))
REPORTS.add("columns", reported(lambda: tk.calibrate(LISTS["rows"], odds=1.5, options={"solver": "columns"})))
REPORTS.add("vectors by hand", reported(lambda: tk.calibrate(VECTORS["three axes"], alpha=3, epsilon=1)))
REPORTS.add("confidence", reported(lambda: tk.calibrate(fitted("marks, counts"), alpha=3, epsilon=1, confidence=0.8)))
REPORTS.add("band", reported(lambda: tk.calibrate(fitted("row"), odds=3, assurance="band")))
REPORTS.add("known", reported(lambda: tk.calibrate(fitted("rows, known"), odds=1.5)))
