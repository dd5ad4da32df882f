"""Where to cut the line: a plan in floats for an integral that is then done in balls.

Nothing here is trusted. A good plan makes each piece easy, by naming the one component of p and of q
that stand out on it; a bad plan costs time and never a proof.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.divergences.numerics.balls import Bell
from takifugu.divergences.numerics.envelope import roots

_SLACK = 3.0  # a component within e^-3 of the largest still stands out
_STEPS = np.array([-8.0, -3.0, 0.0, 3.0, 8.0])  # where a bell begins, bends and ends
_MOST_PAIRS = 2500  # beyond it only the widest components are paired with the others
_CROSSING_ROUNDS = 3  # between two points the lead may change more than once
_GROWTH = 2.0  # pieces outside all bells grow by this factor


@dataclass(frozen=True, slots=True)
class Piece:
    """An interval, the components to factor out on it, and about how much of the integral it holds."""

    start: float
    end: float
    p_lead: int
    q_lead: int
    log_mass: float


class Side:
    """The components of one mixture in floats."""

    def __init__(self, bells: tuple[Bell, ...]) -> None:
        """Round the rational parameters."""
        self.means = np.array([as_float(bell.mean) for bell in bells])
        self.variances = np.array([as_float(bell.variance) for bell in bells])
        self.heights = np.array([math.log(as_float(bell.weight)) for bell in bells]) - 0.5 * np.log(
            2 * math.pi * self.variances
        )

    def logs(self, y: Array) -> Array:
        """The logarithm of each weighted component at each y."""
        gaps = y[:, None] - self.means
        table: Array = self.heights - 0.5 * gaps * (gaps / self.variances)
        return table


class Plan:
    """What the integrand p^α q^(1-α) looks like, roughly."""

    def __init__(self, p: tuple[Bell, ...], q: tuple[Bell, ...], alpha: float) -> None:
        """Find the points of interest: the bells, and the centres where p^α q^(1-α) has its mass."""
        with np.errstate(all="ignore"):
            self.p, self.q, self.alpha = Side(p), Side(q), alpha
            size = len(p) + len(q)
            steps = _STEPS if size <= 500 else _STEPS[1:4] if size <= 1500 else _STEPS[2:3]  # to save memory
            bells = [
                (side.means[:, None] + steps * np.sqrt(side.variances)[:, None]).ravel() for side in (self.p, self.q)
            ]
            self.core = _finite(np.concatenate(bells))
            self.tilted = self._tilted()

    def heights(self, most: int) -> list[float]:
        """The points of interest where the integrand is largest, at most so many."""
        points = np.concatenate([self.core, self.tilted])
        with np.errstate(all="ignore"):
            logs = np.nan_to_num(self._log_f(points), nan=-math.inf)
        return [float(y) for y in points[np.argsort(-logs)[:most]]]

    def pieces(self, start: float, end: float) -> list[Piece]:
        """Consecutive intervals from start to end, the weightiest first."""
        with np.errstate(all="ignore"):
            points, forced = self._points(start, end)
            for _ in range(_CROSSING_ROUNDS):
                cuts = np.concatenate([_crossings(side, points) for side in (self.p, self.q)])
                cuts = np.setdiff1d(cuts, points)
                if not len(cuts):
                    break
                points, forced = _with_cuts(points, forced, cuts)
            p_lack, q_lack = _lack(self.p.logs(points)), _lack(self.q.logs(points))
            mass = self._log_f(points)
        pieces = []
        i = 0
        while i < len(points) - 1:
            j, p_lead, q_lead = _stretch(p_lack, q_lack, forced, i)
            width = points[j] - points[i]
            log_mass = float(np.nan_to_num(mass[i : j + 1], nan=-math.inf).max()) + math.log(width)
            pieces.append(Piece(float(points[i]), float(points[j]), p_lead, q_lead, log_mass))
            i = j
        return sorted(pieces, key=lambda piece: -piece.log_mass)

    def _tilted(self) -> Array:
        # N_k^α N_l^(1-α) is a bell around (α m_k s_l - (α-1) n_l v_k)/margin, perhaps far from both.
        a, p, q = self.alpha, self.p, self.q
        rows, columns = np.arange(len(p.means)), np.arange(len(q.means))
        if len(rows) * len(columns) > _MOST_PAIRS:
            rows, columns = rows[[p.variances.argmax()]], columns[[q.variances.argmax()]]
        m, v = p.means[rows][:, None], p.variances[rows][:, None]
        n, s = q.means[columns], q.variances[columns]
        margin = a * s - (a - 1) * v
        centre = np.where(margin > 0, (a * m * s - (a - 1) * n * v) / margin, np.nan)
        width = np.sqrt(np.where(margin > 0, v * s / margin, np.nan))
        keep = np.isfinite(centre) & np.isfinite(width)
        far = (centre + _STEPS[:, None, None] * width)[:, keep] if keep.size <= 400 else centre[keep]
        return _finite(far.ravel())

    def _points(self, start: float, end: float) -> tuple[Array, Any]:
        low, high = float(self.core.min()), float(self.core.max())
        first = max(high - low, 1e-3) / 4
        outward = first * _GROWTH ** np.arange(0.0, 200.0)
        forced = np.concatenate([[low, high], high + outward, low - outward])
        inside = np.concatenate([self.core, self.tilted, forced])
        inside = inside[(inside > start) & (inside < end)]
        points = np.unique(np.concatenate([[start, end], inside]))
        return points, np.isin(points, forced)

    def _log_f(self, y: Array) -> Array:
        a = self.alpha
        p_logs, q_logs = self.p.logs(y), self.q.logs(y)
        p_lead, q_lead = p_logs.argmax(axis=1), q_logs.argmax(axis=1)
        at = np.arange(len(y))
        p_top, q_top = p_logs[at, p_lead], q_logs[at, q_lead]
        direct = a * p_top - (a - 1) * q_top
        # Far out the two squares are huge and nearly equal: there their difference is taken by algebra.
        m, v = self.p.means[p_lead], self.p.variances[p_lead]
        n, s = self.q.means[q_lead], self.q.variances[q_lead]
        margin = a * s - (a - 1) * v
        peak = a * (a - 1) * (m - n) ** 2 / (2 * margin)
        centre = (a * m * s - (a - 1) * n * v) / margin
        heights = a * self.p.heights[p_lead] - (a - 1) * self.q.heights[q_lead]
        algebraic = heights + peak - 0.5 * margin / (v * s) * (y - centre) ** 2
        top = np.where(np.abs(peak) < a * np.abs(p_top), algebraic, direct)
        p_rest = np.log(np.exp(p_logs - p_top[:, None]).sum(axis=1))
        q_rest = np.log(np.exp(q_logs - q_top[:, None]).sum(axis=1))
        result: Array = top + a * p_rest - (a - 1) * q_rest
        return result


def as_float(number: Any) -> float:
    """A rational as a float; the nearest finite positive one where it is too large or too small."""
    try:
        value = float(number)
    except OverflowError:
        value = math.inf
    if number > 0:
        return min(max(value, 1e-300), 1e300)
    return max(value, -1e300)


def _finite(points: Array) -> Array:
    kept: Array = np.unique(points[np.isfinite(points)])
    return kept


def _stretch(p_lack: Array, q_lack: Array, forced: Any, i: int) -> tuple[int, int, int]:
    """The furthest point up to which one component of each side stands out, and which they are."""
    best = None
    p_most, q_most = p_lack[i], q_lack[i]
    for j in range(i + 1, len(forced)):
        p_most, q_most = np.maximum(p_most, p_lack[j]), np.maximum(q_most, q_lack[j])
        p_lead, q_lead = int(p_most.argmin()), int(q_most.argmin())
        if best is not None and max(p_most[p_lead], q_most[q_lead]) > _SLACK:
            return best
        best = (j, p_lead, q_lead)
        if forced[j]:
            return best
    if best is None:
        raise IndexError("there is no point to the right of the last one")
    return best


def _lack(logs: Array) -> Array:
    """By how much each component falls short of the largest at each point."""
    lack: Array = np.nan_to_num(logs.max(axis=1, keepdims=True) - logs, nan=math.inf)
    return lack


def _crossings(side: Side, points: Array) -> Array:
    """Where the lead passes from one component to another between two points, neither standing out at both.

    In the empty stretch between far clusters a sum of two bells has a zero a short way off the line, wherever the
    wrong one is factored out: without a cut there an integral could only be bounded by crossing the stretch in
    steps of that size.
    """
    lack = _lack(side.logs(points))
    lead = lack.argmin(axis=1)
    i, j = lead[:-1], lead[1:]
    at = np.arange(len(points) - 1)
    torn = np.flatnonzero((i != j) & (lack[at, j] > _SLACK) & (lack[at + 1, i] > _SLACK))
    i, j, low, high = i[torn], j[torn], points[torn], points[torn + 1]
    # log_i - log_j at y = mean_i + t is a·t² + b·t + c
    gap, u, v = side.means[j] - side.means[i], side.variances[i], side.variances[j]
    a, b = 0.5 / v - 0.5 / u, -gap / v
    c = side.heights[i] - side.heights[j] + 0.5 * gap * gap / v
    found = roots(a, b, c) + np.concatenate([side.means[i]] * 2)
    inside: Array = found[(found > np.concatenate([low] * 2)) & (found < np.concatenate([high] * 2))]
    return np.unique(inside)


def _with_cuts(points: Array, forced: Any, cuts: Array) -> tuple[Array, Any]:
    """The points and the cuts together, all cuts forced."""
    everything = np.concatenate([points, cuts])
    order = np.argsort(everything)
    return everything[order], np.concatenate([forced, np.ones(len(cuts), dtype=bool)])[order]
