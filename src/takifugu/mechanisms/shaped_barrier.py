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
from takifugu.divergences import component_divergences, couple_by, gaussian_vector_divergences, rough_vector_divergences
from takifugu.laws import VectorMixture
from takifugu.problems import Place

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
        """The loss at each place; infinite outside the domain.

        A place's loss is ln Σ exp(weight + (α − 1)·D) / (α − 1) over the pairs of components that its couplings join, a
        bound on its divergence.

        Args:
            covariance: of the noise.
            alpha: the order, above 1.
            rough: whether a search asks, which checks what it finds.

        Returns:
            One bound a place.
        """
        measure = rough_vector_divergences if rough else gaussian_vector_divergences
        each = measure(self.gaps, self.lead, self.follow, alpha=alpha, covariance=covariance)
        return self._gathered(each, alpha)[0]

    def shares(self, covariance: Array, *, alpha: float) -> tuple[Array, Array]:
        """The loss at each place, and the share of each term in it: the derivative of one by the other.

        Args:
            covariance: of the noise.
            alpha: the order, above 1.

        Returns:
            The losses, and for each term a number; those of one place add up to 1.
        """
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
        """The terms of all places or of those chosen, with couplings that are good at this noise.

        Args:
            covariance: of the noise at which couplings are sought. They bound the loss at any other noise too, less
                closely.
            alpha: the order, above 1.
            chosen: the places that are wanted; all where left out.

        Returns:
            The terms, for searches at noise near this.
        """
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


# The least noise of a given shape by Newton's method on a logarithmic barrier.
#
# Minimise tr Σ over Σ = Σ_a y_a E_a with Σ ≻ F and every place's loss below ε: a convex program (proofs/shaped.md).
# What comes out is a suggestion: the caller scales it until the promise holds, so nothing here needs to be proved.

_STEPS = 40  # Newton steps for one value of the barrier's weight
_CENTRED = 1e-2  # a squared Newton decrement below this is close enough to the central path
_SHARPER = 12.0  # how much less the barrier weighs each time
_GAP = 2e-5  # of the optimum: what the barrier may still cost at the end
_ROUNDS = 30  # of adding places that the others did not take care of


@dataclass(frozen=True)
class Shape:
    """A linear family of covariances Σ = Σ_a y_a E_a, as an orthogonal basis: n matrices of d×d."""

    basis: Array

    @classmethod
    def full(cls, d: int) -> "Shape":
        """Every symmetric matrix."""
        matrices = []
        for i in range(d):
            for j in range(i + 1):
                e = np.zeros((d, d))
                e[i, j] = e[j, i] = 1.0
                matrices.append(e)
        return cls(np.array(matrices))

    @classmethod
    def diagonal(cls, d: int) -> "Shape":
        """Independent noise on every axis."""
        return cls(np.array([np.diag(row) for row in np.eye(d)]))

    def coordinates(self, covariance: Array) -> Array:
        """The y of a matrix of the family."""
        flat = self.basis.reshape(len(self.basis), -1)
        return np.asarray(flat @ covariance.reshape(-1) / (flat * flat).sum(axis=1), dtype=np.float64)

    def matrix(self, y: Array) -> Array:
        """The matrix with these coordinates."""
        return np.asarray(np.einsum("a,aij->ij", y, self.basis), dtype=np.float64)


def least_trace(
    terms: Terms, start: Array, *, shape: Shape, cost: Array, floor: Array, alpha: float, epsilon: float
) -> Array:
    """A covariance of about the least tr(cost·Σ), from a start inside all constraints.

    Places are added as they are found wanting: of thousands, few dozens shape the answer.

    With its couplings held fixed the bound on every loss is convex in Σ (claim 2 of proofs/shaped.md), so that an
    interior-point method finds the least cost. What it returns is a candidate, which is proved afterwards.

    Args:
        terms: of all places, with their couplings.
        start: a covariance that is inside all constraints.
        shape: the family of matrices that is searched.
        cost: the symmetric matrix of the objective.
        floor: a covariance that must not be undercut.
        alpha: the order, above 1.
        epsilon: the budget.

    Returns:
        A covariance of the family, inside all constraints in floats.
    """
    everyone = terms.losses(start, alpha=alpha, rough=True)
    chosen = np.sort(np.argsort(everyone)[-max(40, 4 * len(start)) :])
    sigma, coarse = start, True
    for _ in range(_ROUNDS):
        problem = _Barrier(terms.only(chosen), shape, cost, floor, alpha, epsilon)
        sigma = problem.solve(sigma, sharp=not coarse)
        everyone = terms.losses(sigma, alpha=alpha, rough=True)
        missing = np.setdiff1d(np.flatnonzero(~(everyone <= epsilon)), chosen)
        if not len(missing):
            if not coarse:
                break
            coarse = False  # the right places are known: now the last digits
            continue
        worst = missing[np.argsort(everyone[missing])[-max(20, 2 * len(start)) :]]
        chosen = np.union1d(chosen, worst)
        sigma = _inside(terms.only(chosen), sigma, alpha, epsilon)
    return sigma


def _inside(terms: Terms, sigma: Array, alpha: float, epsilon: float) -> Array:
    """The covariance times the first power of 1.1 at which every place keeps to nine tenths of the budget."""
    for _ in range(400):
        if (terms.losses(sigma, alpha=alpha, rough=True) <= 0.9 * epsilon).all():
            break
        sigma = 1.1 * sigma
    return sigma


class _Barrier:
    """sharpness · tr(cost·Σ) − Σ_c ln(ε − loss_c) − ln|Σ − F| for the places of some terms."""

    def __init__(self, terms: Terms, shape: Shape, cost: Array, floor: Array, alpha: float, epsilon: float) -> None:
        self.terms, self.shape, self.floor, self.alpha, self.epsilon = terms, shape, floor, alpha, epsilon
        self.flat = shape.basis.reshape(len(shape.basis), -1)
        self.price = self.flat @ cost.reshape(-1)
        self._at: Array | None = None

    def _shares(self, y: Array) -> tuple[Array, Array]:
        """`Terms.shares` at these coordinates: where a step ends its value is asked for, and then its derivatives."""
        if self._at is not y:
            self._at, self._told = y, self.terms.shares(self.shape.matrix(y), alpha=self.alpha)
        return self._told

    def solve(self, start: Array, *, sharp: bool) -> Array:
        """Follow the central path from a start inside."""
        y = self.shape.coordinates(start)
        count = self.terms.places + len(self.floor)
        sharpness = count / float(self.price @ y)
        while True:
            y = self._centre(y, sharpness)
            if count / sharpness <= (_GAP if sharp else 5e-3) * float(self.price @ y):
                return self.shape.matrix(y)
            sharpness *= _SHARPER

    def _centre(self, y: Array, sharpness: float) -> Array:
        value = self._value(y, sharpness)
        for _ in range(_STEPS):
            gradient, hessian = self._derivatives(y, sharpness)
            step = _newton(hessian, gradient)
            decrement = -float(gradient @ step)
            if not decrement > _CENTRED:
                break
            length = 1.0
            while length > 1e-10:
                there = y + length * step
                trial = self._value(there, sharpness)
                if trial <= value - 0.1 * length * decrement:
                    break
                length *= 0.5
            else:
                break  # rounding is all that is left
            y, value = there, trial
        return y

    def _value(self, y: Array, sharpness: float) -> float:
        sigma = self.shape.matrix(y)
        sign, log = np.linalg.slogdet(sigma - self.floor)
        if sign <= 0 or np.linalg.eigvalsh(sigma - self.floor)[0] <= 0:
            return np.inf
        room = self.epsilon - self._shares(y)[0]
        if not (room > 0).all():
            return np.inf
        return float(sharpness * (self.price @ y) - np.log(room).sum() - log)

    def _derivatives(self, y: Array, sharpness: float) -> tuple[Array, Array]:
        sigma, terms, alpha = self.shape.matrix(y), self.terms, self.alpha
        beta = alpha - 1.0
        losses, shares = self._shares(y)
        room = self.epsilon - losses
        weight = shares / room[terms.owner]  # of each term in the gradient of −Σ ln(ε − loss)
        A, B = _inverse(terms.lead + sigma), _inverse(terms.follow + sigma)
        M = _inverse(alpha * terms.follow - beta * terms.lead + sigma)
        m = np.einsum("tij,tj->ti", M, terms.gaps)
        mm = m[:, :, None] * m[:, None, :]
        # ∂D/∂Σ of each term, and in coordinates
        slope = -0.5 * alpha * mm - (M + beta * A - alpha * B) / (2 * beta)
        slopes = slope.reshape(len(slope), -1) @ self.flat.T
        own = np.zeros((terms.places, slopes.shape[1]))
        np.add.at(own, terms.owner, shares[:, None] * slopes)
        inverse = _inverse(sigma - self.floor)
        gradient = sharpness * self.price + (own / room[:, None]).sum(axis=0) - self.flat @ inverse.reshape(-1)
        # Σ_t c_t tr(X_t⁻¹ E X_t⁻¹ E') is one product of matrices: no term's own Hessian is ever formed.
        kron = (
            alpha * _kron(weight, mm, M)
            + _kron(weight / (2 * beta), M, M)
            + _kron(weight / 2, A, A)
            - _kron(weight * alpha / (2 * beta), B, B)
            + _kron(np.ones(1), inverse[None], inverse[None])
        )
        hessian = self.flat @ kron @ self.flat.T
        scaled = own / room[:, None]
        hessian = hessian + scaled.T @ scaled
        if len(slopes) > terms.places:  # the spread of the terms within a place
            hessian = hessian + beta * (slopes.T * weight) @ slopes - beta * (own.T / room) @ own
        return gradient, 0.5 * (hessian + hessian.T)


def _kron(weights: Array, first: Array, second: Array) -> Array:
    """Σ_t w_t · first_t[i, k] · second_t[j, l] as a matrix with rows (i, j) and columns (k, l)."""
    d = first.shape[1]
    product = (first.reshape(len(first), -1).T * weights) @ second.reshape(len(second), -1)
    return product.reshape(d, d, d, d).transpose(0, 2, 1, 3).reshape(d * d, d * d)


def _inverse(matrices: Array) -> Array:
    return np.asarray(np.linalg.inv(matrices), dtype=np.float64)


def _newton(hessian: Array, gradient: Array) -> Array:
    """−H⁻¹g, with the diagonal raised where rounding has made H indefinite."""
    scale = np.sqrt(np.maximum(np.diagonal(hessian), 1e-300))
    unit = hessian / scale / scale[:, None]
    for ridge in (0.0, 1e-12, 1e-9, 1e-6, 1e-3):
        try:
            factor = np.linalg.cholesky(unit + ridge * np.eye(len(unit)))
        except np.linalg.LinAlgError:
            continue
        half = np.linalg.solve(factor, -gradient / scale)
        return np.asarray(np.linalg.solve(factor.T, half) / scale, dtype=np.float64)
    return np.asarray(-gradient / scale / scale, dtype=np.float64)
