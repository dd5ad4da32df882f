"""Publishing from the page: said clearly first, then through the same ledger and door as everywhere else, and once."""

import math
import os
import secrets as randomness
from collections import OrderedDict
from dataclasses import dataclass, field
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, Any

from takifugu.errors import InputError
from takifugu.queries import require_no_codes, several_rows
from takifugu.reports import clean, in_steps, listed, number
from takifugu.tables import with_secrets
from takifugu.web.answers import DOWNLOAD, Answers
from takifugu.web.choices import Choice, Question
from takifugu.web.describing import on_page

if TYPE_CHECKING:
    from takifugu.calibration import Calibration
    from takifugu.web.shelf import Entry

# Noise enough for the fitted priors and not for the rows, and what perhaps should not go out as it is: nobody should
# confirm that without reading it.
_WARNED = ("unsafe-prior", "looks-like-identifier", "looks-like-dates", "free-text")
_MOST_TICKETS = 16


@dataclass
class _Ticket:
    """What was shown to be confirmed; `published` is where it went, once it was drawn."""

    choice: Choice
    calibration: "Calibration"
    bare: str | None
    lock: Lock = field(default_factory=Lock)
    published: Path | None = None


class Publication:
    """Tickets for what was shown and not yet confirmed."""

    def __init__(self, answers: Answers) -> None:
        """None yet."""
        self._answers = answers
        self._lock = Lock()
        self._tickets: OrderedDict[str, _Ticket] = OrderedDict()

    def prepare(self, asked: Question) -> dict[str, Any]:
        """Everything but the draw: what would go out, in sentences, and a ticket to publish exactly that.

        The promise is proved first; what was published before is refused before anybody is asked to confirm it.
        """
        from takifugu.releases import drawing_of

        choice, shelf = asked.choice, self._answers.shelf
        if choice.fit.query not in ("row", "raw"):
            raise InputError("a table is published from people's own values: a mean or a prediction has none")
        entry = shelf.entry(choice.fit.table)
        with shelf.lock:
            held = with_secrets(shelf.open(choice.fit.table), [choice.fit.secret])
            require_no_codes(held, [choice.fit.secret, *choice.fit.columns, *choice.fit.known], {})
        with self._answers.desk.errand(asked.page, DOWNLOAD) as errand:
            made = self._answers.calibrated(choice, errand)
            if not made.guarantee.is_provable:
                raise InputError(f"{choice.mechanism!r} gives a weaker promise: choose another mechanism to publish")
            self._answers.proved(choice, errand)
            fit = choice.fit
            shelf.refuse_known(fit.table, [*fit.columns, fit.secret, *fit.known], fit.columns)
        bare = drawing_of(made, {}).bare
        key = randomness.token_urlsafe(16)
        with self._lock:
            self._tickets[key] = _Ticket(choice, made, bare)
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
        rows = sum(count for name, (_, count) in found.items() if fit.pair is None or name in fit.pair)
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
        if self._answers.has_others(choice):
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
        from takifugu.releases import release_file

        with self._lock:
            found = self._tickets.get(ticket)
        if found is None:
            raise InputError("what was to be confirmed is gone: look at it once more, and confirm it then")
        shelf = self._answers.shelf
        entry = shelf.entry(found.choice.fit.table)
        with found.lock, shelf.lock:
            if found.published is None:
                target = shelf.uploads.folder / f"published-{randomness.token_hex(8)}.csv"
                release_file(
                    shelf.open(entry.name),
                    target,
                    found.calibration,
                    ledger=entry.ledger,
                    others="drop" if self._answers.has_others(found.choice) else "error",
                    allow_no_noise=True,  # what there is to say about that was confirmed with the rest
                )
                found.published = target
        return found.published


def _promise(made: "Calibration") -> str:
    asked = made.guarantee
    most = getattr(asked, "most_odds", None)
    told = f"Every pair stays within α = {number(made.alpha)}, ε = {number(made.epsilon)}"
    if most is not None and math.isinf(made.alpha):
        told = f"No published value moves anyone's odds by more than a factor of {number(most)}"
    sure = ""
    if made.evidence is not None:
        sure = (
            f" For the population the evidence is draws, not a proof, with {100 * made.evidence.level:g} % confidence."
        )
    return f"{told}: proved just now for the priors fitted to this table.{sure}"
