"""The best mixture of each size: many starts race for a few cycles, the leaders run to the end."""

from typing import NamedTuple, TypedDict

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.laws.fitting.em import Batch, Climb, Samples, climb
from takifugu.laws.fitting.starts import fresh_starts, merges, splits

_FINALISTS = 3  # starts worth following to the end


class _Effort(TypedDict):
    tolerance: float
    cycles: int


# Log-likelihood per sample that a whole cycle must gain, and how many cycles at most. Sizes that BIC
# will not choose climb long flat ridges: they are compared well before they have settled.
_BRIEFLY: _Effort = {"tolerance": 1e-7, "cycles": 10}
_COMPARABLY: _Effort = {"tolerance": 1e-9, "cycles": 100}
_FULLY: _Effort = {"tolerance": 1e-11, "cycles": 2000}


class Found(NamedTuple):
    """The best mixture of one size, on the working scale."""

    weights: Array
    means: Array
    variances: Array
    log_likelihood: float
    converged: bool
    steps: int

    @property
    def batch(self) -> Batch:
        """As the only candidate of a batch."""
        return Batch(self.weights[None], self.means[None], self.variances[None])


class Search:
    """The best mixtures of 1, 2, … components for some data, found one after the other and remembered.

    One sweep goes up, with fresh starts and splits of the fit before; one goes down, with merges of the
    fit above. After the second, a fit that wastes a component is matched by the one below it, so BIC
    never keeps a component without data. That matters: an empty component could be the widest one and
    decide how much noise is needed.
    """

    def __init__(self, data: Samples, floor: float, *, count: int, seed: int) -> None:
        """Search among variances of at least `floor`², from `count` fresh starts for each size."""
        self._data, self._small, self._floor = data, data.condensed(), floor
        self._count, self._seed = count, seed
        self._upwards: list[Found] = []

    def up_to(self, most: int) -> list[Found]:
        """The best mixture found with each number of components, from 1 to `most`."""
        small, floor = self._small, self._floor
        for size in range(len(self._upwards) + 1, most + 1):
            batch = fresh_starts(small, size, floor, count=self._count, seed=self._seed)
            if self._upwards:
                batch = batch.join(splits(self._upwards[-1].batch, floor))
            self._upwards.append(_race(small, batch, floor))
        found = self._upwards[:most]
        for size in range(most - 1, 0, -1):
            again = _race(small, merges(found[size].batch), floor)
            if again.log_likelihood > found[size - 1].log_likelihood:
                found[size - 1] = again
        if small is not self._data:
            found = [_climb_on(self._data, one, floor, _BRIEFLY) for one in found]
        return found


def settle(data: Samples, found: Found, floor: float) -> Found:
    """Climb from a fit to the very top, on all the data."""
    return _climb_on(data, found, floor, _FULLY)


def _climb_on(data: Samples, found: Found, floor: float, effort: _Effort) -> Found:
    climbed = climb(data, found.batch, floor, **effort)
    return _best(climbed, found.steps + climbed.steps)


def _race(data: Samples, batch: Batch, floor: float) -> Found:
    """The best of the starts: all run a few cycles, the leaders run on."""
    heat = climb(data, batch, floor, **_BRIEFLY)
    leaders = heat.batch.pick(_leaders(heat.log_likelihood))
    final = climb(data, leaders, floor, **_COMPARABLY)
    return _best(final, heat.steps + final.steps)


def _leaders(values: Array) -> npt.NDArray[np.intp]:
    """The best few starts, each at a summit of its own as far as the likelihood can tell."""
    order = np.argsort(-values, kind="stable")
    apart = np.ones(len(order), dtype=bool)
    ranked = values[order]
    apart[1:] = ranked[:-1] - ranked[1:] > 1e-7 * np.abs(ranked[1:])
    return order[apart][:_FINALISTS]


def _best(climbed: Climb, steps: int) -> Found:
    row = int(np.argmax(climbed.log_likelihood))
    weights, means, variances = (part[row] for part in climbed.batch)
    return Found(weights, means, variances, float(climbed.log_likelihood[row]), bool(climbed.converged[row]), steps)
