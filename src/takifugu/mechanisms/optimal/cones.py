"""The promise at a point, once t and the cones' slacks are eliminated: curvature and slopes in p and q."""

import numpy as np

from takifugu._validation import Array
from takifugu.mechanisms.optimal.conditions import Conditions, Point, Setting


class Cones:
    """For every output and cone p ≤ κ t^a q^{1−a}, what is left of it in the Newton system.

    With τ the slack, ζ its multiplier, ρ̂ = κ(t/q)^a and N = (1−a)τ + aρ̂q, eliminating t and τ leaves curvature of
    rank one along p − ρ̂q, a slope of t in p and in q, and what t gives to its sum (proofs/optimal.md). Written like
    this nothing cancels, and a = 0 is the case of bounded odds.
    """

    def __init__(self, setting: Setting, at: Point, wrong: Conditions) -> None:
        """Linearise at a point whose residuals are `wrong`."""
        self.setting, self.wrong = setting, wrong
        a, head = setting.power, slice(None, setting.orders)
        self.bulk = np.maximum((1.0 - a) * at.cone_slack + a * wrong.ratio * wrong.q, 1e-300)  # N
        self.size = np.where(setting.live, at.cone_weight * (1.0 - a) / self.bulk, 0.0)
        live, q = setting.live[:, head], np.maximum(wrong.q[:, head], 1e-300)
        bulk, tau, rho = self.bulk[:, head], at.cone_slack[:, head], wrong.ratio[:, head]
        self.slope_p = np.where(live, at.parts / bulk, 0.0)
        self.slope_q = np.where(live, -(1.0 - a[head]) * at.parts * (rho * q - tau) / (q * bulk), 0.0)
        stiff = at.cone_weight[:, head] * a[head] * rho * q * bulk
        self.give = np.where(live, at.parts**2 * tau / np.maximum(stiff, 1e-300), 0.0)

    def factors(self) -> tuple[Array, Array]:
        """Y with YᵀY the Hessian of the promise: a row for every cone, or fewer where the laws are fewer."""
        program, left, right = self.setting.program, self.setting.left, self.setting.right
        shares, reach, ratio = program.shares, program.reach, self.wrong.ratio
        m, count = self.size.shape
        r, n = shares.shape
        root = np.sqrt(self.size)
        few = min(r, n) + (program.radius is not None)
        if count <= few:
            rows = root[:, :, None] * (shares[left] - ratio[:, :, None] * shares[right])
            spread = root * (reach[left] + ratio * reach[right])
        else:
            across = np.zeros((m, count, r + 1))
            every = np.arange(count)
            across[:, every, left] += root
            across[:, every, right] -= root * ratio
            across[:, :, r] = root * (reach[left] + ratio * reach[right])
            if r > n:
                across = np.concatenate([across[:, :, :r] @ shares, across[:, :, r:]], axis=2)
            # An orthogonal factor in place of the sum of the cones' Hessians: square roots keep twice the digits.
            short: Array = np.linalg.qr(across, mode="r")  # type: ignore[assignment]
            rows, spread = (short[:, :, :r] @ shares if r <= n else short[:, :, :n]), short[:, :, -1]
        if program.radius is None:
            spread = np.zeros_like(spread)
        return rows, np.stack([spread, -spread], axis=2)
