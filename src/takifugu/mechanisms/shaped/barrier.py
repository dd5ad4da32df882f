"""The least noise of a given shape by Newton's method on a logarithmic barrier.

Minimise tr Σ over Σ = Σ_a y_a E_a with Σ ≻ F and every place's loss below ε: a convex program (proofs/shaped.md). What
comes out is a suggestion: the caller scales it until the promise holds, so nothing here needs to be proved.
"""

from dataclasses import dataclass

import numpy as np

from takifugu._validation import Array
from takifugu.mechanisms.shaped.places import Terms

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
