"""Covariances of several shapes, each multiplied until it keeps the promise at every place."""

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

import numpy as np

from takifugu._validation import Array
from takifugu.errors import CalibrationError
from takifugu.mechanisms.search import least_variance
from takifugu.mechanisms.shaped.barrier import Shape, least_trace
from takifugu.mechanisms.shaped.places import Indices, Places

_MARGIN = 1e-9  # the share of the budget left for rounding, so that the proof succeeds
_COUPLED_MARGIN = (
    1e-7  # for mixtures: couplings found on another machine may stop a round earlier, and must prove it too
)
_COUPLINGS = 12  # rounds of new couplings for mixtures
_SETTLED = 1e-4


@dataclass(frozen=True)
class Candidates:
    """The places in the unit of each axis, and what noise costs there."""

    places: Places
    cost: Array
    floor: Array
    alpha: float
    epsilon: float

    def price(self, sigma: Array) -> float:
        """What noise of this covariance costs."""
        return float((self.cost * sigma).sum())

    def of(self, shape: str) -> dict[str, Array]:
        """Covariances that keep the promise, by the name of their shape."""
        d = len(self.floor)
        if not len(self.places):
            return {"floor": self.floor}
        found = {"equal": self._scaled(np.eye(d))}
        if shape == "equal":
            return found
        if shape == "full":
            with suppress(CalibrationError, np.linalg.LinAlgError):  # one candidate less
                found["whitened"] = self._scaled(self._pooled())
        kinds = {"diagonal": Shape.diagonal(d)} | ({"full": Shape.full(d)} if shape == "full" else {})
        for name, kind in kinds.items():
            start = found["equal"] if name == "diagonal" else min(found.values(), key=self.price)
            found[name] = self._searched(start, kind)
        return found

    def _searched(self, start: Array, kind: Shape) -> Array:
        """The barrier's answer, scaled; for mixtures again with the couplings that are best there."""
        best = start
        for _ in range(1 if self.places.gaussian else _COUPLINGS):
            inside = 1.3 * best
            terms = self.places.coupled(inside, alpha=self.alpha)
            try:
                better = least_trace(
                    terms,
                    inside,
                    shape=kind,
                    cost=self.cost,
                    floor=self.floor,
                    alpha=self.alpha,
                    epsilon=self._target,
                )
                better = self._scaled(better)
            except (CalibrationError, np.linalg.LinAlgError, FloatingPointError):
                break  # the search lost its way; what it started from keeps the promise
            before = self.price(best)
            if not self.price(better) < before:
                break
            best = better
            if self.price(best) > before * (1 - _SETTLED):
                break
        return best

    @property
    def _target(self) -> float:
        return self.epsilon * (1 - (_MARGIN if self.places.gaussian else _COUPLED_MARGIN))

    def _pooled(self) -> Array:
        """The average covariance of all laws: noise that follows it hides in what varies anyway."""
        laws = [law for belief in self.places.beliefs for law in belief]
        return np.asarray(np.mean([law.covariance for law in laws], axis=0) + self.floor, dtype=np.float64)

    def _scaled(self, direction: Array) -> Array:
        """The least multiple of a covariance that keeps the promise and stays above the floor."""
        # scale·direction ⪰ floor, with the floor a multiple of the identity
        least = float(self.floor[0, 0] / np.linalg.eigvalsh(direction)[0]) * (1 + 1e-12)
        if not 0 < least < math.inf:
            raise np.linalg.LinAlgError
        # Couplings stop short of their limit, so a bound on mixtures is not smooth to the last digits.
        rtol = 1e-9 if self.places.gaussian else 1e-5
        scale = _least_scale(self._losses(direction), least, self._target, rtol)
        return scale * direction

    def _losses(self, direction: Array) -> Callable[[float, Indices | None], Array]:
        fixed = self.places.coupled(direction, alpha=self.alpha) if self.places.gaussian else None

        def losses(scale: float, chosen: Indices | None) -> Array:
            if fixed is None:
                terms = self.places.coupled(scale * direction, alpha=self.alpha, chosen=chosen)
            else:
                terms = fixed if chosen is None else fixed.only(chosen)
            # Rough: far below the noise that is needed most places are infinite, and exact arithmetic would tell it
            # slowly. What is found is evaluated and proved with all digits in the end.
            return terms.losses(scale * direction, alpha=self.alpha, rough=True)

        return losses


def _least_scale(losses: Callable[[float, Indices | None], Array], least: float, target: float, rtol: float) -> float:
    """The least scale, `least` or more, at which no place loses more than the target.

    Only the places that were the worst somewhere are searched; all are evaluated at what is found.
    """
    chosen: set[int] = set()
    scale, nudge = least, rtol
    while True:
        everyone = losses(scale, None)
        over = np.flatnonzero(~(everyone <= target))
        if not len(over):
            return scale
        chosen |= set(over[np.argsort(everyone[over])[-8:]].tolist())
        few = np.array(sorted(chosen), dtype=np.intp)

        def worst(z: float, few: Indices = few) -> float:
            return float(losses(z, few).max())

        found = least_variance(worst, epsilon=target, floor=scale, start=scale, unit=scale, rtol=rtol)
        if found <= scale:
            # Iterated bounds of a few places differ in their last digits from those of all, which then stay over the
            # target for ever: a little more noise, twice as much each time, brings them below.
            found, nudge = scale * (1 + nudge), 2 * nudge
        scale = found
        if not math.isfinite(scale):
            raise CalibrationError(
                "no noise of this shape met the budget within the range of numbers here: give the values in other "
                "units, or a larger epsilon"
            )
