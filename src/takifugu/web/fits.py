"""From what is chosen on the page to priors: every name is looked up among those on offer first."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import TYPE_CHECKING, Any

from takifugu.errors import InputError
from takifugu.web.choices import Fit
from takifugu.web.shelf import Shelf

if TYPE_CHECKING:
    from takifugu.queries import Query
    from takifugu.tables import Secret


# What was computed lately, so that a slider's next step is quick.


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


GP_ROWS = 200  # a page should not make people wait: training takes time cubic in the rows
_FITS = 64


class Fits:
    """The priors of the choices made lately."""

    def __init__(self, shelf: Shelf, *, network_steps: int) -> None:
        """Start with nothing remembered."""
        self._shelf, self._network_steps = shelf, network_steps
        self._kept = Remembered(_FITS)

    def priors(self, fit: Fit, *, train: bool) -> Any:
        """The priors of a choice; a network is trained only where that was asked for."""
        from takifugu.queries import fit_priors

        if fit.query == "bnn" and not train and fit not in self._kept:
            raise InputError("the network is not trained yet for this choice: press “Train the network”")
        self._check_columns(fit)
        pairs = self.pairs(fit)
        secrets = None if pairs is None else list(pairs[0])
        table, query = self._shelf.open(fit.table), self._query(fit)

        def make() -> Any:
            with self._shelf.lock:  # whoever asked for the same meanwhile finds it when their turn comes
                return self._kept.get(
                    fit,
                    lambda: fit_priors(
                        table, secret=fit.secret, query=query, secrets=secrets, known=list(fit.known) or None
                    ),
                )

        return self._kept.get(fit, make)

    def pairs(self, fit: Fit) -> "list[tuple[Secret, Secret]] | None":
        """The pair to hide, as the table holds its secrets; None for every pair."""
        if fit.pair is None:
            return None
        known = self._shelf.secrets(fit.table, fit.secret)
        for spelled in fit.pair:
            if spelled not in known:
                raise InputError(f"no row has {fit.secret} = {spelled[:60]!r}")
        first, second = fit.pair
        return [(known[first][0], known[second][0])]

    def _check_columns(self, fit: Fit) -> None:
        about = self._shelf.describe(fit.table)
        offered = about["lists"] if fit.query == "row" else about["numbers"]
        for name in fit.columns:
            if name not in offered or name == fit.secret:
                raise InputError(f"column {name[:60]!r} is not among those that can be published")
        for name in fit.known:
            if name not in about["lists"] or name in (fit.secret, *fit.columns):
                raise InputError(f"column {name[:60]!r} is not among those that the adversary may know")

    def _query(self, fit: Fit) -> "Query":
        from takifugu.queries import BNN, GP, Mean, Raw, Row

        makers: dict[str, Callable[[], Query]] = {
            "row": lambda: Row(*fit.columns),
            "raw": lambda: Raw(list(fit.columns) if fit.is_vector else fit.column, prior=fit.prior),
            "mean": lambda: Mean(list(fit.columns) if fit.is_vector else fit.column),
            "gp": lambda: GP(fit.column, max_rows=GP_ROWS, restarts=0),
            "bnn": lambda: BNN(fit.column, steps=self._network_steps, progress=False),
        }
        return makers[fit.query]()
