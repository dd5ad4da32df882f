"""The places where a promise about vectors must hold, and what is lost at each: the constraints of the search.

A place is one belief and one ordered pair of secrets. Its loss is the divergence of two Gaussians, or for mixtures the
coupling bound: ln Σ_t exp(c_t + (α−1) D_t)/(α−1) over pairs of components t, which is convex in the covariance of the
noise while the couplings (the c_t) are held fixed (proofs/shaped.md).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from takifugu._validation import Array
from takifugu.divergences.vector.coupling import component_divergences, couple_by
from takifugu.divergences.vector.gaussian import gaussian_vector_divergences, rough_vector_divergences
from takifugu.laws.vector import VectorMixture
from takifugu.problems.problem import Place

Indices = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Terms:
    """Pairs of components of several places: `owner` says whose, `log_weight` what its coupling gives it."""

    gaps: Array
    lead: Array
    follow: Array
    log_weight: Array
    owner: Indices
    places: int

    def losses(self, covariance: Array, *, alpha: float, rough: bool = False) -> Array:
        """The loss at each place; infinite outside the domain."""
        measure = rough_vector_divergences if rough else gaussian_vector_divergences
        each = measure(self.gaps, self.lead, self.follow, alpha=alpha, covariance=covariance)
        return self._gathered(each, alpha)[0]

    def shares(self, covariance: Array, *, alpha: float) -> tuple[Array, Array]:
        """The loss at each place, and the share of each term in it: the derivative of one by the other."""
        each = rough_vector_divergences(self.gaps, self.lead, self.follow, alpha=alpha, covariance=covariance)
        return self._gathered(each, alpha)

    def _gathered(self, each: Array, alpha: float) -> tuple[Array, Array]:
        # One term each, of weight one: Gaussians. A coupling may come down to one term too, and has its weight then.
        if len(each) == self.places and not self.log_weight.any():
            return each, np.ones_like(each)
        beta = alpha - 1.0
        with np.errstate(invalid="ignore", over="ignore"):
            logs = self.log_weight + beta * each
            top = np.full(self.places, -np.inf)
            np.maximum.at(top, self.owner, logs)
            parts = np.exp(logs - top[self.owner])
            whole = np.bincount(self.owner, weights=parts, minlength=self.places)
            losses = (top + np.log(whole)) / beta
            shares = parts / whole[self.owner]
        return np.where(np.isnan(losses), np.inf, losses), shares

    def only(self, chosen: Indices) -> "Terms":
        """The terms of some of the places, numbered anew."""
        order = np.full(self.places, -1, dtype=np.intp)
        order[chosen] = np.arange(len(chosen))
        kept = order[self.owner] >= 0
        return Terms(
            self.gaps[kept],
            self.lead[kept],
            self.follow[kept],
            self.log_weight[kept],
            order[self.owner[kept]],
            len(chosen),
        )


class Places:
    """Every place of a problem, for laws measured in the unit of each axis."""

    def __init__(self, beliefs: Sequence[Sequence[VectorMixture]], pairs: Sequence[tuple[int, int]]) -> None:
        """`pairs` are positions of secrets; each is taken in both directions. Equal laws have nothing to hide."""
        self.beliefs = [[law.simplified() for law in belief] for belief in beliefs]
        both = [(i, j) for a, b in pairs for i, j in ((a, b), (b, a))]
        self.places = [
            Place(b, i, j) for b, belief in enumerate(self.beliefs) for i, j in both if belief[i] != belief[j]
        ]

    def __len__(self) -> int:
        """The number of places with something to hide."""
        return len(self.places)

    def laws(self, place: Place) -> tuple[VectorMixture, VectorMixture]:
        """The law to be hidden and the one it must look like."""
        belief = self.beliefs[place.belief]
        return belief[place.first], belief[place.second]

    def coupled(self, covariance: Array, *, alpha: float, chosen: Indices | None = None) -> Terms:
        """The terms of all places or of those chosen, with couplings that are good at this noise."""
        gaps, lead, follow, logs, owner = [], [], [], [], []
        wanted = self.places if chosen is None else [self.places[c] for c in chosen]
        for number, place in enumerate(wanted):
            p, q = self.laws(place)
            k, l = (index.reshape(-1) for index in np.indices((len(p), len(q))))
            weights = np.zeros(1)
            if len(p) > 1 or len(q) > 1:
                table = component_divergences(p, q, alpha=alpha, covariance=covariance, rough=True)
                how = couple_by(table, p.weights, q.weights, alpha=alpha, rough=True)
                weights = how.log_weights(alpha).reshape(-1)
            used = weights > -np.inf
            gaps.append((p.means[k] - q.means[l])[used])
            lead.append(p.covariances[k][used])
            follow.append(q.covariances[l][used])
            logs.append(weights[used])
            owner.append(np.full(int(used.sum()), number, dtype=np.intp))
        return Terms(
            gaps=np.concatenate(gaps),
            lead=np.concatenate(lead),
            follow=np.concatenate(follow),
            log_weight=np.concatenate(logs),
            owner=np.concatenate(owner),
            places=len(wanted),
        )

    @property
    def gaussian(self) -> bool:
        """Whether every law is one Gaussian, so that couplings have nothing to choose."""
        return all(law.is_gaussian for belief in self.beliefs for law in belief)
