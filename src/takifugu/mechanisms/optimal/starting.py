"""Where the interior point starts: the same row for every input, which loses nothing and so is strictly inside."""

import numpy as np

from takifugu.mechanisms.optimal.conditions import Point, Setting


def start(setting: Setting) -> Point:
    """The same row for every input, half the mass and half level, and multipliers on the central path."""
    program, allowed, k = setting.program, setting.allowed, setting.orders
    m, n = allowed.shape
    level = np.full(m, 1.0 / m)
    if program.keep == "marginal":
        level = program.pooled.copy()
    elif m == n:
        level = 0.5 * level + 0.5 * program.pooled
    channel = np.where(allowed, level[:, None], 0.0)
    target = 1.0 / allowed.sum()
    ends = np.zeros((m, 2))
    over = under = np.zeros((m, n))
    if program.radius is not None:
        tall = np.maximum(level, 1e-12)
        margin = 0.01 * tall * _slimmest(setting)
        ends = np.stack([tall + margin, channel.min(axis=1) - margin], axis=1)
    p, q = setting.sides(channel, ends)
    # Where all rows are alike, t = q(1 + 1/C)/2 leaves room in the cone and in the sum of the t.
    parts = 0.5 * q[:, :k] * (1.0 + np.exp(-program.log_budget)) if k else np.zeros((m, 0))
    parts = np.where(setting.live[:, :k], parts, 0.0)
    room = setting.room(channel, parts, ends)
    cone_slack = np.where(setting.live, np.maximum(room, 1e-3 * np.minimum(p, q)), 1.0)
    slack = np.full(k + (program.diagonal is not None), 0.1)
    if k:
        slack[:k] = np.maximum(1.0 - setting.margin - parts.sum(axis=0), 1e-6)
    # Multipliers that meet the dual conditions exactly: the same for every output, because all rows are alike.
    cone_weight = np.where(setting.live, target * m / cone_slack.sum(axis=0), 0.0)
    ratio = setting.ratio(q, parts)
    pull = setting.power[:k] * (ratio * q * cone_weight)[:, :k] / np.maximum(parts, 1e-300)
    weight = np.full(slack.size, target / 0.1)
    weight[:k] = pull.max(axis=0, initial=0.0)
    slope_q = -(1.0 - setting.power) * ratio * cone_weight
    pressure = cone_weight @ program.reach[setting.left] - slope_q @ program.reach[setting.right]
    if program.radius is not None:
        over = under = np.repeat(pressure[:, None] / n, n, axis=1)
    dual = setting.cost + cone_weight @ program.shares[setting.left] + slope_q @ program.shares[setting.right]
    if program.diagonal is not None:
        dual = dual - weight[-1] * np.diag(program.pooled)
    least = np.where(allowed, dual, np.inf).min(axis=0)
    rows = least - np.maximum(np.where(allowed, dual - least, 0.0).mean(axis=0), target / channel.max())
    return Point(
        channel=channel,
        reduced=np.where(allowed, dual - rows, 0.0),
        parts=parts,
        slack=slack,
        weight=weight,
        cone_slack=cone_slack,
        cone_weight=cone_weight,
        rows=rows,
        kept=np.zeros(m if program.keep == "marginal" else 0),
        mean=np.zeros(n if program.unbiased else 1 if program.keep == "mean" else 0),
        ends=ends,
        over=over,
        under=under,
    )


def _slimmest(setting: Setting) -> float:
    """How much of q is left at the least, next to the spread of a column that has forbidden entries."""
    program = setting.program
    held = setting.allowed.astype(np.float64) @ program.shares.T - program.reach
    whole = np.asarray(setting.allowed.all(axis=1))
    left = np.where(whole[:, None], 1.0, held)[:, program.right]
    return float(np.clip(left[left > 0].min(initial=1.0), 1e-6, 1.0))
