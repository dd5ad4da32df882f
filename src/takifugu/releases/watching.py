"""What is looked at in every row that is published: kept columns, the order, and drift."""

from typing import TYPE_CHECKING, Any

from takifugu._validation import Array
from takifugu.releases.binding import Columns
from takifugu.releases.drift import refuse_drift
from takifugu.releases.kept import Telling, hashable
from takifugu.releases.known_cells import KnownCells
from takifugu.releases.order import NOTICED, REFUSED, Orders, as_called, kept_order, refuse_telling_order
from takifugu.releases.plan import Plan

if TYPE_CHECKING:
    import narwhals as nw


class Watch:
    """Whether a kept column or the order of the rows tells a secret, and whether these are the rows of the priors."""

    def __init__(self, columns: Columns, plan: Plan) -> None:
        """Watch the kept columns and the order, for each column of secrets."""
        self._columns, self._plan = columns, plan
        self._telling = {secret: Telling(columns.keep) for secret in columns.secret}
        self._orders = Orders(columns.secret)
        self._drift = plan.drift_watch()
        self._known = KnownCells(plan, columns.keep)

    def look(self, rows: "nw.DataFrame[Any]", ready: Array) -> None:
        """One more batch of rows, and what of it goes into the channel."""
        kept = {name: rows[name].to_list() for name in self._columns.keep}
        seen = [kept[name] if name in kept else rows[name].to_list() for name in self._explaining]
        cells = [tuple(map(hashable, cell)) for cell in zip(*seen, strict=True)] if seen else None
        called: dict[str, list[Any]] = {}
        for name in self._columns.secret:
            secrets = rows[name].to_list()
            called[name] = as_called(secrets, name, of=self._columns.secret)
            self._telling[name].look(secrets, kept)
            if self._plan.order != "shuffle":  # no order is left to tell anything
                self._orders.look(name, secrets, cells)
            if self._drift is not None:
                self._drift.look(called[name], ready)
        self._known.look([kept[name] for name in self._known.names], called, ready)

    def refuse(self) -> None:
        """Raise where a kept column or the order tells a secret, or where the rows are not those of the priors."""
        for telling in self._telling.values():
            telling.refuse()
        if self._plan.order == "keep":
            refuse_telling_order(self._told(REFUSED))
        self._known.refuse()
        if self._drift is not None:
            refuse_drift(self._drift.told() or self._known.told())

    @property
    def kept_order(self) -> tuple[str, ...]:
        """What to say about an order that tells the secret and is kept."""
        if self._plan.order != "warn":
            return ()
        return kept_order(self._told(NOTICED))

    def _told(self, chance: float) -> str | None:
        return self._orders.told(self._plan.calibration, chance=chance, explained=bool(self._explaining))

    @property
    def _explaining(self) -> tuple[str, ...]:
        """Columns that are published as they are, and were counted as known: an order that is theirs tells no more."""
        answer = self._plan.calibration.answer
        known = () if answer is None else answer.known
        return tuple(name for name in self._columns.published if name in known)

    @property
    def shuffles(self) -> bool:
        """Whether the rows are to lose their order: that was asked for, or it may tell the secret."""
        if self._plan.order == "auto":
            return self._orders.is_given_up(self._plan.calibration)
        return self._plan.order == "shuffle"
