"""What is looked at in every row that is published: kept columns, and drift."""

from typing import TYPE_CHECKING, Any

from takifugu._validation import Array
from takifugu.releases.binding import Columns
from takifugu.releases.drift import refuse_drift
from takifugu.releases.kept import Telling
from takifugu.releases.known_cells import KnownCells
from takifugu.releases.plan import Plan
from takifugu.releases.secret_rows import as_called

if TYPE_CHECKING:
    import narwhals as nw


class Watch:
    """Whether a kept column tells a secret, and whether these are the rows of the priors."""

    def __init__(self, columns: Columns, plan: Plan) -> None:
        """Watch the kept columns, for each column of secrets."""
        self._columns, self._plan = columns, plan
        self._telling = {secret: Telling(columns.keep) for secret in columns.secret}
        self._drift = plan.drift_watch()
        self._known = KnownCells(plan, columns.keep)

    def look(self, rows: "nw.DataFrame[Any]", ready: Array) -> None:
        """One more batch of rows, and what of it goes into the channel."""
        kept = {name: rows[name].to_list() for name in self._columns.keep}
        called: dict[str, list[Any]] = {}
        for name in self._columns.secret:
            secrets = rows[name].to_list()
            called[name] = as_called(secrets, name, of=self._columns.secret)
            self._telling[name].look(secrets, kept)
            if self._drift is not None:
                self._drift.look(called[name], ready)
        self._known.look([kept[name] for name in self._known.names], called, ready)

    def refuse(self) -> None:
        """Raise where a kept column tells a secret, or where the rows are not those of the priors."""
        for telling in self._telling.values():
            telling.refuse()
        self._known.refuse()
        if self._drift is not None:
            refuse_drift(self._drift.told() or self._known.told())
