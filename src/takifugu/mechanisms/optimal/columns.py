"""The Newton system of the interior point, solved output by output.

Each output's column of the channel enters the promise through the few numbers p_s(y) = Σ_x P_s(x) K(y|x). So the
Hessian of a column is a diagonal plus a matrix of low rank, and what ties the columns together, rows that sum to one
and a handful of constraints, is a Schur complement of that size. Arrays run outputs × inputs.
"""

from dataclasses import dataclass

import numpy as np

from takifugu._validation import Array


@dataclass(frozen=True)
class Spread:
    """The barrier's weights that tie K(y|x) to u(y) ≥ K(y|x) ≥ l(y), each m × n, and the rest of the diagonal.

    fixed: m × 2, the sums of the weights of entries that are held at zero
    """

    upper: Array
    lower: Array
    rest: Array
    fixed: Array

    def inverse(self, diagonal: Array) -> Array:
        """The inverse of the 2 × 2 blocks of u and l once K is eliminated; `diagonal` is that of K, inverted."""
        both = (self.upper * self.lower * diagonal).sum(axis=1)
        # ΣE − ΣE²/D, written as ΣE(D − E)/D, and the determinant without a difference: late in the iteration
        # D and E agree in nearly all digits.
        a = self.fixed[:, 0] + (self.upper * self.rest * diagonal).sum(axis=1)
        b = self.fixed[:, 1] + (self.lower * self.rest * diagonal).sum(axis=1)
        determinant = a * b + (a + b) * both
        blocks = np.array([[b + both, both], [both, a + both]]) / determinant
        return np.ascontiguousarray(np.moveaxis(blocks, 2, 0))


class Columns:
    """The Hessian blocks of all columns, inverted: a diagonal (with the ends u and l, if any) plus YᵀY.

    inverse: m × n, the inverse of the whole diagonal; zero where a move is forbidden
    factors: Y, m × k × n; factor_ends: its components for u and l, m × k × 2
    kept: the shares m(x) where Σ_x m(x) dK(y|x) is prescribed, output by output; None otherwise
    """

    def __init__(
        self, inverse: Array, factors: Array, factor_ends: Array, *, spread: Spread | None, kept: Array | None
    ) -> None:
        """Factor the blocks."""
        self.inverse, self.spread, self.kept = inverse, spread, kept
        self.ends = spread.inverse(inverse) if spread is not None else None
        moved, moved_ends = self._bare(factors, factor_ends)
        small = moved @ np.swapaxes(factors, 1, 2) + moved_ends @ np.swapaxes(factor_ends, 1, 2)
        small = (small + np.swapaxes(small, 1, 2)) / 2 + np.eye(factors.shape[1])
        # Woodbury in symmetric form, (B + YᵀY)⁻¹ = B⁻¹ − QᵀQ: the product M(I + WM)⁻¹ loses all digits
        # where W and M are large in different directions, which is how this iteration ends.
        root = np.linalg.inv(np.linalg.cholesky(small))
        self.lost, self.lost_ends = root @ moved, root @ moved_ends
        if kept is not None:
            ones = np.ascontiguousarray(np.broadcast_to(kept, inverse.shape))[:, None, :]
            self.pull, self.pull_ends = self._unkept(ones, np.zeros((len(inverse), 1, 2)))
            self.stiffness = np.maximum(self.pull[:, 0] @ kept, 1e-300)

    def _bare(self, right: Array, ends: Array) -> tuple[Array, Array]:
        """The inverse of the blocks without YᵀY, applied to m × g × n (and m × g × 2) right-hand sides."""
        moved = self.inverse[:, None, :] * right
        if self.spread is None or self.ends is None:
            return moved, np.zeros_like(ends)
        up, low = self.spread.upper[:, None], self.spread.lower[:, None]
        pulled = ends + np.stack([(moved * up).sum(-1), (moved * low).sum(-1)], axis=-1)
        moved_ends = pulled @ self.ends
        moved = moved + self.inverse[:, None, :] * (up * moved_ends[..., :1] + low * moved_ends[..., 1:])
        return moved, moved_ends

    def _unkept(self, right: Array, ends: Array) -> tuple[Array, Array]:
        moved, moved_ends = self._bare(right, ends)
        share = right @ np.swapaxes(self.lost, 1, 2)
        if self.spread is None:
            return moved - share @ self.lost, moved_ends
        share = share + ends @ np.swapaxes(self.lost_ends, 1, 2)
        return moved - share @ self.lost, moved_ends - share @ self.lost_ends

    def solve(self, right: Array, ends: Array, kept: Array | None = None) -> tuple[Array, Array, Array]:
        """dK (m × g × n) and du, dl (m × g × 2), with Σ_x m(x) dK(y|x) = kept(y) (m × g, zero unless given).

        The third are the multipliers of what is kept, m × g; zero where nothing is.
        """
        moved, moved_ends = self._unkept(right, ends)
        if self.kept is None:
            return moved, moved_ends, np.zeros(moved.shape[:2])
        pulled = (moved @ self.kept - (0.0 if kept is None else kept)) / self.stiffness[:, None]
        excess = pulled[..., None]
        return moved - excess * self.pull, moved_ends - excess * self.pull_ends, pulled

    def summed(self, weights: Array) -> Array:
        """Σ_y weights(y)·(the inverse of column y's block), n × n."""
        n = self.inverse.shape[1]
        total = -_gram(self.lost, weights)
        if self.spread is not None and self.ends is not None:
            sides = np.stack([self.spread.upper, self.spread.lower], axis=1) * self.inverse[:, None, :]
            total += _gram(np.swapaxes(np.linalg.cholesky(self.ends), 1, 2) @ sides, weights)
        if self.kept is not None:
            total -= _gram(self.pull, weights / self.stiffness)
        total[np.diag_indices(n)] += weights @ self.inverse
        return total


def _gram(rows: Array, weights: Array) -> Array:
    """Σ_y weights(y)·rows(y)ᵀrows(y); with weights of one sign, a product with its own transpose: half the work."""
    n = rows.shape[2]
    if (weights >= 0).all():
        scaled = (rows * np.sqrt(weights)[:, None, None]).reshape(-1, n)
        return np.asarray(scaled.T @ scaled)
    return np.asarray(rows.reshape(-1, n).T @ (rows * weights[:, None, None]).reshape(-1, n))
