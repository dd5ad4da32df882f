"""What the page is told: facts and pictures for a choice, remembered so that a slider's next step is quick."""

import json
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import date
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from takifugu.errors import CertificationError, InputError
from takifugu.mechanisms import list_mechanisms
from takifugu.problems.reading_findings import OfReading
from takifugu.web import pictures, reproducing, wording
from takifugu.web.choices import ALPHAS, CONFIDENCES, EPSILONS, MOST_KNOWN, MOST_TOGETHER, ODDS, Choice, Question
from takifugu.web.desk import Desk, Errand
from takifugu.web.fits import Fits
from takifugu.web.gate import MOST_UPLOAD
from takifugu.web.remembered import Remembered
from takifugu.web.rereading import on_page
from takifugu.web.shelf import Shelf

if TYPE_CHECKING:
    from takifugu.calibration import Calibration
    from takifugu.certificates import Certificate, ChannelCertificate
    from takifugu.reports.common import Facts

_FACTS = 256
_CHANNELS = 24  # whose tables of chances may take megabytes each
_CERTIFICATES = 16
_OTHER_KINDS = ("optimal", "shaped", "sparse")  # which no noise on a number is found by
ANSWER, DOWNLOAD = "answer", "download"  # lanes: a slider's move does not end a proof


class Answers:
    """Everything the page can ask for, from the tables on a shelf."""

    def __init__(self, shelf: Shelf, *, network_steps: int = 10_000) -> None:
        """Start with nothing remembered. `network_steps` is how long a Bayesian network is trained."""
        self.shelf, self.desk = shelf, Desk()
        self._fits = Fits(shelf, network_steps=network_steps)
        self._noises, self._channels, self._compared = map(Remembered, (_FACTS, _CHANNELS, _CERTIFICATES))
        self._certificates = Remembered(_CERTIFICATES)
        self._network_steps = network_steps

    def close(self) -> None:
        """End what is being worked on, and remove what was dropped."""
        self.desk.close()
        self.shelf.uploads.close()

    def start(self) -> dict[str, Any]:
        """What the page needs before anything is chosen."""
        mechanisms = list_mechanisms()
        return {
            "tables": self.tables(),
            "mechanisms": {name: told for name, told in mechanisms.items() if name not in _OTHER_KINDS},
            "vectors": mechanisms["shaped"],
            "limits": {"alpha": ALPHAS, "epsilon": EPSILONS, "odds": ODDS},
            "confidences": CONFIDENCES,
            "most": {"columns": MOST_TOGETHER, "known": MOST_KNOWN, "upload": MOST_UPLOAD},
            "bnn": find_spec("numpyro") is not None and find_spec("jax") is not None,
        }

    def tables(self) -> list[dict[str, Any]]:
        """The tables on offer."""
        return [
            {
                "name": e.name,
                "title": e.title,
                "kind": e.kind,
                "secret": e.secret,
                "pair": e.pair,
                "answer": e.answer,
                "reading": self.shelf.form(e.name),
            }
            for e in self.shelf.entries.values()
        ]

    def table(self, name: str) -> dict[str, Any]:
        """The columns of a table that can be chosen."""
        return self.shelf.describe(name)

    def read_again(self, name: str, asked: Mapping[str, str]) -> dict[str, Any]:
        """A file read in another way: its name from now on, and the tables on offer."""
        return {"name": self.shelf.read_again(name, asked).name, "tables": self.tables()}

    def secrets(self, name: str, column: str) -> dict[str, Any]:
        """The secrets in a column, with their rows, and the column that is published where none was chosen."""
        found = self.shelf.secrets(name, column)
        return {
            "secrets": [{"name": spelled, "rows": f"{rows:,}"} for spelled, (_, rows) in found.items()],
            "column": self.shelf.first(name, column),
        }

    def answer(self, asked: Question) -> dict[str, Any]:
        """What keeps the promise for a choice, in figures, words and pictures, and how to find it without the page."""
        choice = asked.choice
        with self.desk.errand(asked.page, ANSWER, asked.turn) as errand:
            facts = self.facts(choice, errand, train=asked.train)
            errand.check()
        entry = self.shelf.entry(choice.fit.table)
        how = {"others": self.has_others(choice), "bare": choice.is_listed and is_bare(facts.calibration)}
        return wording.told(facts, choice) | {
            "charts": pictures.drawn(facts, narrow=asked.narrow),
            # How the file was read is told where the table is chosen.
            "findings": [
                {"level": f.level, "sentence": on_page(f.sentence)}
                for f in facts.findings
                if not isinstance(f, OfReading)
            ],
            "command": reproducing.command(choice, entry, **how),
            "python": reproducing.python(choice, entry, network_steps=self._network_steps, **how),
        }

    def progress(self, page: str) -> dict[str, Any]:
        """What is being done for a page."""
        return {
            "answer": self.desk.progress(page, ANSWER),
            "download": self.desk.progress(page, DOWNLOAD),
        }

    def report(self, asked: Question) -> str:
        """The report on a choice, with the digest of the certificate that goes with it, where there can be one."""
        from takifugu.reports.html import render

        with self.desk.errand(asked.page, DOWNLOAD) as errand:
            facts = self._with_comparison(asked.choice, errand)
            with suppress(CertificationError):  # the report says then that nothing was proved
                facts = replace(facts, certificate_sha256=self.proved(asked.choice, errand).sha256)
        return render(facts, dated=date.today())

    def certificate(self, asked: Question) -> str:
        """The certificate for an auditor, as the text of its file."""
        with self.desk.errand(asked.page, DOWNLOAD) as errand:
            return _file(self.proved(asked.choice, errand).to_dict())

    def public_certificate(self, asked: Question) -> str:
        """The certificate without the priors, of the one an auditor would get."""
        with self.desk.errand(asked.page, DOWNLOAD) as errand:
            return _file(self.proved(asked.choice, errand).redacted().to_dict())

    def calibration(self, asked: Question) -> str:
        """The calibration, as the text of the file that `takifugu certify` and `takifugu release` take."""
        with self.desk.errand(asked.page, DOWNLOAD) as errand:
            return _file(self.calibrated(asked.choice, errand).to_dict())

    def calibrated(self, choice: Choice, errand: Errand) -> "Calibration":
        """The calibration of a choice."""
        return self.facts(choice, errand).calibration

    def facts(self, choice: Choice, errand: Errand, *, train: bool = False) -> "Facts":
        """The facts of a choice."""
        remembered = self._channels if choice.is_listed else self._noises
        if choice in remembered:
            kept: Facts = remembered.get(choice, _nothing)
            return kept
        is_heavy = choice.is_listed or choice.fit.is_vector or (choice.fit.query == "raw" and choice.fit.pair is None)
        if is_heavy:
            self.desk.warm()
        errand.tell("training the network" if train else "counting what goes with each secret")
        priors = errand.here(lambda: self._fits.priors(choice.fit, train=train))
        errand.tell(wording.at_work(choice, priors))
        options = _options(choice) | {"pairs": self._fits.pairs(choice.fit)}
        question = wording.question(choice.fit)

        def make() -> "Facts":
            from takifugu.reports.facts import facts_for

            if is_heavy:
                found: Facts = errand.apart("facts", priors, options, question)
                return found
            # Noise for one pair is found in moments, and its curves are remembered in this process.
            return errand.here(lambda: facts_for(priors, question=question, **options))

        facts: Facts = remembered.get(choice, make)
        return facts

    def proved(self, choice: Choice, errand: Errand) -> "Certificate | ChannelCertificate":
        """The certificate of a choice."""
        calibration = self.calibrated(choice, errand)
        errand.tell("proving that it keeps the promise")
        made: Certificate | ChannelCertificate = self._certificates.get(
            choice, lambda: errand.apart("proved", calibration)
        )
        return made

    def has_others(self, choice: Choice) -> bool:
        """Whether the table has secrets that are not among those to hide."""
        pair = choice.fit.pair
        return pair is not None and len(self.shelf.secrets(choice.fit.table, choice.fit.secret)) > len(pair)

    def _with_comparison(self, choice: Choice, errand: Errand) -> "Facts":
        facts = self.facts(choice, errand)
        if not choice.is_listed and choice.fit.pair is not None:
            return facts
        errand.tell("comparing with what other ways would cost")
        found: Facts = self._compared.get(
            choice, lambda: errand.apart("compared", facts.calibration, wording.question(choice.fit))
        )
        return found


def _options(choice: Choice) -> dict[str, Any]:
    """What `calibrate` is asked for: as `takifugu.publishing.calibrated` asks for it where values come from lists."""
    options: dict[str, Any] = {
        "alpha": choice.alpha,
        "epsilon": choice.epsilon,
        "odds": choice.odds,
        "mechanism": choice.mechanism,
        "confidence": choice.confidence,
    }
    if choice.is_listed:
        options |= {"keep": None, "seed": 0, "mechanism": None}
    return options


def is_bare(calibration: "Calibration") -> bool:
    """Whether values would be published as they are."""
    from takifugu.releases.drawing import drawing_of

    return drawing_of(calibration, {}).bare is not None


def _nothing() -> Any:
    raise InputError("what was remembered is gone: ask again")


def _file(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, allow_nan=False) + "\n"
