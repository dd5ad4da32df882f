"""What the page is told: facts and pictures for a choice, remembered so that a slider's next step is quick."""

import json
import math
import os
import secrets as randomness
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from takifugu.errors import CertificationError, InputError, MechanismError, TakifuguError
from takifugu.estimates import Comparison, compared_laws
from takifugu.laws import Mixture
from takifugu.mechanisms import list_mechanisms
from takifugu.problems import OF_READING
from takifugu.queries import Row, require_no_codes, several_rows
from takifugu.reports import (
    MOST_FIGURES,
    PICTURE_WIDTH,
    ChannelFacts,
    Facts,
    NoiseFacts,
    Picture,
    VectorFacts,
    charts,
    clean,
    in_letters,
    in_steps,
    listed,
    number,
    survival_chart,
)
from takifugu.tables import with_secrets
from takifugu.web import wording
from takifugu.web.describing import (
    CONFIDENCES,
    LIMITS,
    MOST_KNOWN,
    MOST_LEFT_OUT,
    MOST_TOGETHER,
    PROMISES,
    Choice,
    Question,
    on_page,
)
from takifugu.web.desk import Desk, Errand
from takifugu.web.gate import MOST_UPLOAD
from takifugu.web.shelf import Fits, Remembered, Shelf, concerning

if TYPE_CHECKING:
    from takifugu.calibration import Calibration
    from takifugu.certificates import Certificate, ChannelCertificate, Statement
    from takifugu.reports import Facts
    from takifugu.web.shelf import Entry

# The pictures beside the figures: the worst pair in full, every other pair as a matrix.

_MOST_COLUMNS = 4  # of a row, with pictures of their own
_NARROW = 340  # units: on a telephone a unit is then about as large as a pixel


def drawn(facts: Facts, *, narrow: bool, survives: Comparison | None = None) -> list[dict[str, str]]:
    """Name, caption and SVG of each picture, in the order in which they are shown."""
    width = _NARROW if narrow else PICTURE_WIDTH
    if isinstance(facts, ChannelFacts):
        found = _channel(facts, width)
    elif isinstance(facts, NoiseFacts):
        found = _noise(facts, width)
    elif isinstance(facts, VectorFacts):
        found = _vector(facts, width)
    else:
        return []
    matrix = charts.loss_matrix(facts, width=width)
    if matrix is not None:
        found.insert(1, ("losses", "Every pair: its loss in percent of the limit", matrix))
    if survives is not None:
        few = len(survives.figures) <= MOST_FIGURES
        told = "What survives" if few else f"What survives: the {MOST_FIGURES} most changed of all that were compared"
        found.append(("survival", told, survival_chart(survives, width=width, most=MOST_FIGURES)))
    return [{"id": name, "caption": caption, "svg": str(drawn)} for name, caption, drawn in found]


def _noise(facts: NoiseFacts, width: int) -> list[tuple[str, str, Picture]]:
    few = len(facts.densities) <= 2
    held, noise = "What the adversary believes beforehand", charts.noise_chart(facts, width=width)
    return [
        ("before-after", _pair(facts, "before and after the noise"), charts.before_after_chart(facts, width=width)),
        *([] if noise is None else [("noise", "The noise against the budget", noise)]),
        ("density", held if few else f"{held}, for the worst pair first", charts.density_chart(facts, width=width)),
    ]


def _vector(facts: VectorFacts, width: int) -> list[tuple[str, str, Picture]]:
    found = []
    for k, axis in enumerate(facts.axes[: 1 if facts.unshown else _MOST_COLUMNS]):  # nothing is said once for each
        told = _pair(facts, f"{clean(axis.name, 40)} before and after the noise")
        found.append((f"axis-{k + 1}", told, charts.picture(facts, axis, f"tk-axis-{k}", width=width)))
    together = charts.correlation_chart(facts, width=width)
    return [*found, ("correlation", "How the noise on the columns goes together", together)]


def _channel(facts: ChannelFacts, width: int) -> list[tuple[str, str, Picture]]:
    found = []
    several = len(facts.columns) > 1
    if facts.unshown:
        told = _pair(facts, "true and published values")
        found.append(("pair-1", told, charts.empty_chart(facts.unshown, name="tk-pair-1", title=told, width=width)))
    for k, column in enumerate(facts.columns[:_MOST_COLUMNS]):
        name = f" of {clean(column.name, 40)}" if several else ""
        if not facts.unshown:
            pair = charts.worst_pair_chart(column, facts.worst_pair, name=f"tk-pair-{k + 1}", width=width)
            found.append((f"pair-{k + 1}", _pair(facts, f"true and published values{name}"), pair))
        become = charts.channel_chart(column, name=f"tk-channel-{k + 1}", width=width)
        found.append((f"channel-{k + 1}", f"What becomes of each value{name}", become))
    return found


def _pair(facts: Facts, what: str) -> str:
    a, b = (clean(name, 30) for name in facts.worst_pair)
    others = "" if len(facts.calibration.pairs) == 1 else ", the pair hardest to hide"
    return f"{a} and {b}{others}: {what}"


_FACTS = 256
_CHANNELS = 24  # whose tables of chances may take megabytes each
_CERTIFICATES = 16
_OTHER_KINDS = ("optimal", "shaped")  # which no noise on a number is found by
ANSWER, DOWNLOAD = "answer", "download"  # lanes: a slider's move does not end a proof


class Answers:
    """Everything the page can ask for, from the tables on a shelf."""

    def __init__(self, shelf: Shelf, *, network_steps: int = 10_000) -> None:
        """Start with nothing remembered. `network_steps` is how long a Bayesian network is trained."""
        self.shelf, self.desk = shelf, Desk()
        self._fits = Fits(shelf, network_steps=network_steps)
        self._noises, self._channels, self._compared = map(Remembered, (_FACTS, _CHANNELS, _CERTIFICATES))
        self._certificates = Remembered(_CERTIFICATES)
        self._survivals = Remembered(_CHANNELS)
        self._network_steps = network_steps

    def close(self) -> None:
        """End what is being worked on, and remove what was dropped."""
        self.desk.close()
        self.shelf.uploads.close()

    def start(self) -> dict[str, Any]:
        """What the page needs before anything is chosen."""
        mechanisms = list_mechanisms()
        numbers = {name: told for name, told in mechanisms.items() if name not in _OTHER_KINDS}
        return {
            "tables": self.tables(),
            "mechanisms": numbers,
            "vectors": mechanisms["shaped"],
            # Which guarantees each can keep, so that no other is offered.
            "keeps": {name: [kind for kind in PROMISES if keeps(name, kind)] for name in numbers},
            "limits": LIMITS,
            "confidences": CONFIDENCES,
            "most": {
                "columns": MOST_TOGETHER,
                "known": MOST_KNOWN,
                "left_out": MOST_LEFT_OUT,
                "upload": MOST_UPLOAD,
            },
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
        """What keeps the guarantee for a choice, in figures, words, pictures, and how to find it without the page."""
        choice = asked.choice
        with self.desk.errand(asked.page, ANSWER, asked.turn) as errand:
            facts = self.facts(choice, errand, train=asked.train)
            errand.check()
        entry, how = self.shelf.entry(choice.fit.table), self._how(choice, facts)
        survives = None
        if choice.is_listed:
            survives = self._survivals.get(choice, lambda: compared_laws(facts.calibration))
        return wording.told(facts, choice) | {
            "charts": drawn(facts, narrow=asked.narrow, survives=survives),
            # How the file was read is told where the table is chosen.
            "findings": [
                {"level": f.level, "sentence": on_page(f)} for f in facts.findings if f.code not in OF_READING
            ],
            "command": wording.command(choice, entry, **how),
            "python": wording.python(choice, entry, network_steps=self._network_steps, **how),
            "has_plan": wording.plan(choice, entry, **how) is not None,
        }

    def _how(self, choice: Choice, facts: "Facts") -> dict[str, bool]:
        """What the command and the Python have to say beside the choice."""
        return {"others": self.has_others(choice), "bare": choice.is_listed and is_bare(facts.calibration)}

    def notebook(self, asked: Question) -> str:
        """The same without the page, as a notebook."""
        choice = asked.choice
        with self.desk.errand(asked.page, DOWNLOAD) as errand:
            how = self._how(choice, self.facts(choice, errand))
        entry = self.shelf.entry(choice.fit.table)
        return wording.notebook(choice, entry, network_steps=self._network_steps, **how)

    def plan(self, asked: Question) -> str:
        """The same as a plan for `takifugu publish --plan`."""
        choice = asked.choice
        with self.desk.errand(asked.page, DOWNLOAD) as errand:
            how = self._how(choice, self.facts(choice, errand))
        if (found := wording.plan(choice, self.shelf.entry(choice.fit.table), **how)) is None:
            raise InputError("no plan says this: use the command or the Python")
        return found

    def progress(self, page: str) -> dict[str, Any]:
        """What is being done for a page."""
        return {
            "answer": self.desk.progress(page, ANSWER),
            "download": self.desk.progress(page, DOWNLOAD),
        }

    def report(self, asked: Question) -> str:
        """The report on a choice, with the digest of the certificate that goes with it, where there can be one."""
        from takifugu.reports import render

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
            return _file(self.proved(asked.choice, errand).for_everybody.to_dict())

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
        every_pair = choice.fit.query == "raw" and choice.fit.pair is None
        # Of noise, only (α, ε) for one pair is found in moments.
        is_heavy = choice.is_listed or choice.fit.is_vector or every_pair or "alpha" not in choice.promise
        if is_heavy:
            self.desk.warm()
        errand.tell("training the network" if train else "counting what goes with each secret")
        priors = errand.here(lambda: self._fits.priors(choice.fit, train=train))
        errand.tell(wording.at_work(choice, priors))
        options = _options(choice) | {"pairs": self._fits.pairs(choice.fit)}
        question = wording.question(choice.fit)

        def make() -> "Facts":
            from takifugu.reports import facts_for

            if choice.is_listed:
                from takifugu.problems import Utility
                from takifugu.publishing import preserving

                kept: Facts = preserving(
                    lambda kept: errand.apart("facts", priors, options | {"preserve": kept}, question), Utility()
                )
                return kept
            if is_heavy:
                found: Facts = errand.apart("facts", priors, options, question)
                return found
            # Noise for one pair is found in moments, and its curves are remembered in this process.
            return errand.here(lambda: facts_for(priors, asked=options, question=question))

        with concerning("promise" if choice.is_listed else "mechanism"):
            facts: Facts = remembered.get(choice, make)
        return facts

    def proved(self, choice: Choice, errand: Errand) -> "Certificate | ChannelCertificate":
        """The certificate of a choice."""
        calibration = self.calibrated(choice, errand)
        errand.tell("proving that it keeps the guarantee")
        made: Certificate | ChannelCertificate = self._certificates.get(
            choice, lambda: errand.apart("proved", calibration)
        )
        return made

    def has_others(self, choice: Choice) -> bool:
        """Whether the table has secrets that are not among those to hide."""
        fit = choice.fit
        found = self.shelf.secrets(fit.table, fit.secret)
        return bool(fit.leave_out) or (fit.pair is not None and len(found) > len(fit.pair))

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
    options: dict[str, Any] = {**choice.promise, "mechanism": choice.mechanism, "confidence": choice.confidence}
    if choice.is_listed:
        options |= {"mechanism": None}
    return options


_NOTHING_TO_HIDE = {"a": Mixture.gaussian(0, 1), "b": Mixture.gaussian(0, 1)}
_SAID = {"odds": 3.0, "alpha": 3.0, "epsilon": 1.0, "delta": 1e-5}


@cache
def keeps(mechanism: str, kind: str) -> bool:
    """Whether a mechanism of noise on a number can keep a guarantee of a kind at all."""
    from takifugu.calibration import calibrate

    alpha, epsilon, odds, delta = (
        _SAID[name] if name in PROMISES[kind] else None for name in ("alpha", "epsilon", "odds", "delta")
    )
    try:
        calibrate(_NOTHING_TO_HIDE, alpha=alpha, epsilon=epsilon, odds=odds, delta=delta, mechanism=mechanism)
    except MechanismError:
        return False
    except TakifuguError:  # it can, and has no answer here
        return True
    return True


def is_bare(calibration: "Calibration") -> bool:
    """Whether values would be published as they are."""
    from takifugu.releases import drawing_of

    return drawing_of(calibration, {}).bare is not None


def _nothing() -> Any:
    raise InputError("what was remembered is gone: ask again")


def _file(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, allow_nan=False) + "\n"


# Publishing from the page: said clearly first, then through the same ledger and door as everywhere else, and once.


# Noise enough for the fitted priors and not for the rows, and what perhaps should not go out as it is: nobody should
# confirm that without reading it.
_WARNED = ("unsafe-prior", "looks-like-identifier", "looks-like-dates", "free-text")
_MOST_TICKETS = 16


@dataclass
class _Ticket:
    """What was shown to be confirmed; `published` is where it went, and of how many rows, once it was drawn."""

    asked: Question
    calibration: "Calibration"
    certificate: "Certificate | ChannelCertificate"
    lock: Lock = field(default_factory=Lock)
    published: Path | None = None
    statement: "Statement | None" = None

    @property
    def choice(self) -> Choice:
        return self.asked.choice


class Publication:
    """Tickets for what was shown and not yet confirmed."""

    def __init__(self, answers: Answers) -> None:
        """None yet."""
        self._answers = answers
        self._lock = Lock()
        self._tickets: OrderedDict[str, _Ticket] = OrderedDict()

    def prepare(self, asked: Question) -> dict[str, Any]:
        """Everything but the draw: what would go out, in sentences, and a ticket to publish exactly that.

        The guarantee is proved first; what was published before is refused before anybody is asked to confirm it.
        """
        from takifugu.publishing import require_merged
        from takifugu.releases import drawing_of

        choice, shelf = asked.choice, self._answers.shelf
        if choice.fit.query not in ("row", "raw"):
            raise InputError("a table is published from people's own values: a mean or a prediction has none")
        entry = shelf.entry(choice.fit.table)
        with shelf.lock:
            require_merged(shelf.open(choice.fit.table), [choice.fit.secret], choice.fit.columns)
            held = with_secrets(shelf.open(choice.fit.table), [choice.fit.secret])
            lists = Row(*choice.fit.columns, domain=choice.fit.domain).domain
            require_no_codes(held, [choice.fit.secret, *choice.fit.columns, *choice.fit.known], lists)
        with self._answers.desk.errand(asked.page, DOWNLOAD) as errand:
            made = self._answers.calibrated(choice, errand)
            if not made.guarantee.is_provable:
                raise InputError(f"{choice.mechanism!r} gives a weaker guarantee: choose another mechanism to publish")
            proved = self._answers.proved(choice, errand)
            fit = choice.fit
            shelf.refuse_known(fit.table, [*fit.columns, fit.secret, *fit.known], fit.columns)
        bare = drawing_of(made, {}).bare
        key = randomness.token_urlsafe(16)
        with self._lock:
            self._tickets[key] = _Ticket(asked, made, proved)
            while len(self._tickets) > _MOST_TICKETS:
                self._tickets.popitem(last=False)
        return {
            "ticket": key,
            "sentences": self._sentences(choice, made, entry),
            "warnings": self._warnings(choice, made, bare),
            "bare": bare is not None,
        }

    def _sentences(self, choice: Choice, made: "Calibration", entry: "Entry") -> list[str]:
        fit = choice.fit
        found = self._answers.shelf.secrets(fit.table, fit.secret)
        hidden = [name for name in found if name in (fit.pair or found) and name not in fit.leave_out]
        rows = sum(found[name][1] for name in hidden)
        names = listed([clean(name) for name in fit.columns])
        first, second = map(clean, fit.pair or ("every value of it", "every other"))
        told = [
            # Rows: whether each of them is a person of their own is not known here.
            f"From {clean(entry.title)}: {names} of up to {rows:,} rows will be published, and no other column. Rows "
            "that lack a value stay out.",
            f"The secret is {clean(fit.secret)}, and {first} is hidden from {second}. {_promise(made)}",
            "The rows are shuffled: where a row stands tells nothing.",
            f"It can be done once: the ledger {os.path.abspath(entry.ledger)} is charged before the first value is "
            "drawn. It knows these records again in any file and refuses to let them out a second time.",
        ]
        if (steps := in_steps(made.findings)) is not None:
            told.insert(1, steps)
        if fit.leave_out:
            told.insert(1, f"Rows whose {clean(fit.secret)} is {listed(list(map(clean, fit.leave_out)))} stay out.")
        elif self._answers.has_others(choice):
            told.insert(1, f"Rows whose {clean(fit.secret)} is neither of the two stay out.")
        return told

    def _warnings(self, choice: Choice, made: "Calibration", bare: str | None) -> list[str]:
        """What may want a decision first."""
        fit, shelf = choice.fit, self._answers.shelf
        with shelf.lock:
            told = [str(one) for one in several_rows(shelf.open(fit.table), [fit.secret])]
        told += [on_page(one) for one in made.findings if one.code in _WARNED]
        if bare is not None:
            told.append(bare)
        return [f"Mind: {one}." for one in told]

    def publish(self, ticket: str) -> Path:
        """Draw what was confirmed, or hand out once more what was drawn: the same file again costs nothing."""
        from takifugu.certificates import Statement
        from takifugu.problems import Utility
        from takifugu.releases import release_file

        found = self._ticket(ticket)
        shelf = self._answers.shelf
        entry = shelf.entry(found.choice.fit.table)
        with found.lock, shelf.lock:
            if found.published is None:
                target = shelf.uploads.folder / f"published-{randomness.token_hex(8)}.csv"
                done = release_file(
                    shelf.open(entry.name),
                    target,
                    found.calibration,
                    ledger=entry.ledger,
                    others="drop" if self._answers.has_others(found.choice) else "error",
                    utility=Utility(allow_no_noise=True),  # what there is to say about that was confirmed with the rest
                )
                found.published = target
                if found.choice.is_listed:  # of noise on numbers there is none
                    found.statement = Statement.of(found.certificate, rows=done.rows)
        return found.published

    def _ticket(self, ticket: str) -> _Ticket:
        with self._lock:
            found = self._tickets.get(ticket)
        if found is None:
            raise InputError("what was to be confirmed is gone: look at it once more, and confirm it then")
        return found

    def paper(self, kind: str, ticket: str) -> str:
        """A file that goes with what was published, whatever the page asks for by now."""
        found = self._ticket(ticket)
        statement = found.statement
        if found.published is None or (kind == "statement" and statement is None):
            raise InputError("that is handed out with what is published: confirm it first")
        makers: dict[str, Callable[[], str]] = {
            "report": lambda: self._answers.report(found.asked),
            "certificate": lambda: _file(found.certificate.to_dict()),
            "public": lambda: _file(found.certificate.for_everybody.to_dict()),
            "calibration": lambda: _file(found.calibration.to_dict()),
            "statement": lambda: "" if statement is None else _file(statement.to_dict()),
        }
        if kind not in makers:
            raise InputError("there is no such file")
        return makers[kind]()


def _promise(made: "Calibration") -> str:
    asked = made.guarantee
    most = getattr(asked, "most_odds", None)
    told = f"Every pair stays within {in_letters(made.guarantee)}"
    if most is not None and math.isinf(getattr(made.guarantee, "alpha", 0.0)):
        told = f"No published value changes posterior odds by more than a factor of {number(most)}"
    sure = ""
    if made.evidence is not None:
        level = f"{100 * made.evidence.level:g} %"
        sure = f" For the population the evidence is Monte Carlo, not a proof, with {level} confidence."
    return f"{told}: proved just now for the priors fitted to this table.{sure}"
