"""What the page is told: facts and charts for a choice, remembered so that a slider's next step is quick."""

import json
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
from dataclasses import replace
from datetime import date
from importlib.util import find_spec
from threading import Lock
from typing import TYPE_CHECKING, Any

from takifugu.errors import CertificationError, InputError
from takifugu.mechanisms import list_mechanisms
from takifugu.web import wording
from takifugu.web.choices import ALPHAS, EPSILONS, Choice, Fit
from takifugu.web.shelf import Shelf

if TYPE_CHECKING:
    from takifugu.certificates import Certificate
    from takifugu.queries.priors import Priors, Query
    from takifugu.reports.common import Facts
    from takifugu.reports.noise_facts import NoiseFacts
    from takifugu.tables.table import Secret

GP_ROWS = 200  # a page should not make people wait: training takes time cubic in the rows
_FITS = 64
_FACTS = 256
_CERTIFICATES = 16


class Remembered:
    """The latest results of a function by key; at most `size` of them."""

    def __init__(self, size: int) -> None:
        """Nothing yet."""
        self._size, self._lock = size, Lock()
        self._kept: OrderedDict[Hashable, Any] = OrderedDict()

    def __contains__(self, key: Hashable) -> bool:
        """Whether the result is there."""
        with self._lock:
            return key in self._kept

    def get(self, key: Hashable, make: Callable[[], Any]) -> Any:
        """The result, made where it is not there. An error is not remembered."""
        with self._lock:
            if key in self._kept:
                self._kept.move_to_end(key)
                return self._kept[key]
        made = make()
        with self._lock:
            self._kept[key] = made
            while len(self._kept) > self._size:
                self._kept.popitem(last=False)
        return made


class Answers:
    """Everything the page can ask for, from the tables on a shelf."""

    def __init__(self, shelf: Shelf, *, network_steps: int = 10_000) -> None:
        """Start with nothing remembered. `network_steps` is how long a Bayesian network is trained."""
        self._shelf, self._network_steps = shelf, network_steps
        self._fits, self._facts = Remembered(_FITS), Remembered(_FACTS)
        self._certificates = Remembered(_CERTIFICATES)

    def start(self) -> dict[str, Any]:
        """What the page needs before anything is chosen."""
        return {
            "tables": [
                {"name": e.name, "title": e.title, "secret": e.secret, "pair": e.pair, "answer": e.answer}
                for e in self._shelf.entries.values()
            ],
            "mechanisms": list_mechanisms(),
            "limits": {"alpha": ALPHAS, "epsilon": EPSILONS},
            "bnn": _has_bnn(),
        }

    def table(self, name: str) -> dict[str, Any]:
        """The columns of a table that can be chosen."""
        return self._shelf.describe(name)

    def secrets(self, name: str, column: str) -> dict[str, Any]:
        """The secrets in a column, with their rows."""
        found = self._shelf.secrets(name, column)
        return {"secrets": [{"name": spelled, "rows": rows} for spelled, (_, rows) in found.items()]}

    def answer(self, choice: Choice) -> dict[str, Any]:
        """The noise for a choice, in figures, words and charts."""
        from takifugu.reports.charts import before_after_chart, density_chart, noise_chart

        facts = self.facts(choice)
        return wording.told(facts, choice) | {
            "charts": {
                "density": density_chart(facts),
                "noise": noise_chart(facts),
                "before_after": before_after_chart(facts),
            },
            "findings": [{"level": f.level, "sentence": f.sentence} for f in facts.findings],
        }

    def report(self, choice: Choice) -> str:
        """The report on a choice, with the digest of the certificate that goes with it, where there can be one."""
        from takifugu.reports.html import render

        facts = self.facts(choice)
        with suppress(CertificationError):  # the report says then that nothing was proved
            facts = replace(facts, certificate_sha256=self._proved(choice).sha256)
        return render(facts, dated=date.today())

    def certificate(self, choice: Choice) -> str:
        """The certificate for an auditor, as the text of its file."""
        return _file(self._proved(choice).to_dict())

    def public_certificate(self, choice: Choice) -> str:
        """The certificate without the priors, of the one an auditor would get."""
        return _file(self._proved(choice).redacted().to_dict())

    def facts(self, choice: Choice) -> "NoiseFacts":
        """The facts of a choice."""
        from takifugu.reports.facts import facts_for

        choice = _settled(choice)
        priors: Any = self.priors(choice.fit, train=choice.train)
        key = (choice.fit, choice.mechanism, choice.alpha, choice.epsilon)

        def make() -> "Facts":
            return facts_for(
                priors,
                alpha=choice.alpha,
                epsilon=choice.epsilon,
                mechanism=choice.mechanism,
                question=wording.question(choice.fit),
            )

        facts: NoiseFacts = self._facts.get(key, make)
        return facts

    def priors(self, fit: Fit, *, train: bool = False) -> "Priors":
        """The two priors of a pair; a network is trained only where that was asked for."""
        from takifugu.queries.priors import fit_priors

        if fit.query == "bnn" and not train and fit not in self._fits:
            raise InputError("the network is not trained yet for this choice: press “Train the network”")

        def make() -> "Priors":
            with self._shelf.lock:  # whoever asked for the same meanwhile finds it when their turn comes
                made: Priors = self._fits.get(
                    fit, lambda: fit_priors(frame, secret=fit.secret, query=query, secrets=pair)
                )
                return made

        pair = self._pair(fit)
        query = self._query(fit)
        frame = self._shelf.open(fit.table).frame
        if fit.column not in self._shelf.describe(fit.table)["answers"]:
            raise InputError(f"column {fit.column[:60]!r} is not among those that can be published")
        priors: Priors = self._fits.get(fit, make)
        return priors

    def _pair(self, fit: Fit) -> "list[Secret]":
        """The two secrets as the table holds them."""
        known = self._shelf.secrets(fit.table, fit.secret)
        for spelled in fit.pair:
            if spelled not in known:
                raise InputError(f"no row has {fit.secret} = {spelled[:60]!r}")
        return [known[spelled][0] for spelled in fit.pair]

    def _query(self, fit: Fit) -> "Query":
        from takifugu.queries import BNN, GP, Mean, Raw

        makers: dict[str, Callable[[], Query]] = {
            "raw": lambda: Raw(fit.column, prior=fit.prior),
            "mean": lambda: Mean(fit.column),
            "gp": lambda: GP(fit.column, max_rows=GP_ROWS, restarts=0),
            "bnn": lambda: BNN(fit.column, steps=self._network_steps, progress=False),
        }
        return makers[fit.query]()

    def _proved(self, choice: Choice) -> "Certificate":
        from takifugu.certificates import certify

        calibration = self.facts(choice).calibration
        choice = _settled(choice)
        key = (choice.fit, choice.mechanism, choice.alpha, choice.epsilon)
        certificate: Certificate = self._certificates.get(key, lambda: certify(calibration))
        return certificate


def _settled(choice: Choice) -> Choice:
    """The choice without what makes no difference: a model's prediction is normal whatever the kind of prior."""
    return choice if choice.fit.query == "raw" else replace(choice, fit=replace(choice.fit, prior="gaussian"))


def _file(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


def _has_bnn() -> bool:
    return find_spec("numpyro") is not None and find_spec("jax") is not None
