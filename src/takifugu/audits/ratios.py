"""Likelihood ratios of two priors as published: what an adversary who knows them makes of each row."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from takifugu._validation import Array
from takifugu.audits.features import within_reach
from takifugu.audits.learners import sharp
from takifugu.audits.rows import Rows
from takifugu.channels.listed import ListChannel
from takifugu.laws import Law
from takifugu.laws.finite import Finite
from takifugu.laws.mixture import Mixture
from takifugu.laws.values import key
from takifugu.laws.vector import VectorMixture

Ratio = Callable[[Rows, Law, Law], Array]

_BLOCK = 1 << 21  # densities of components at a time


def through_noise(covariance: Array) -> Ratio:
    """The ratio of two mixtures with Gaussian noise of this covariance added."""

    def score(rows: Rows, p: Mixture | VectorMixture, q: Mixture | VectorMixture) -> Array:
        columns = [within_reach(rows.published[name]) for name in rows.answer]
        points, back = np.unique(np.stack(columns, axis=1), axis=0, return_inverse=True)
        logs = [log_density(law, points, covariance) for law in (p, q)]
        return sharp((logs[0] - logs[1])[back.reshape(-1)])

    return score


def log_density(law: Mixture | VectorMixture, points: Array, noise: Array) -> Array:
    """ln of the density after noise, up to a constant that all laws share; also where it is below every float."""
    simple = law.simplified()
    weights = simple.weights / math.fsum(simple.weights)
    if isinstance(simple, Mixture):
        means, covariances = simple.means[:, None], simple.stds[:, None, None] ** 2
    else:
        means, covariances = simple.means, simple.covariances
    roots = np.linalg.cholesky(covariances + noise)
    heights = np.log(weights) - np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
    inverses = np.linalg.inv(roots)
    out = np.empty(len(points))
    step = max(1, _BLOCK // (len(weights) * points.shape[1]))
    with np.errstate(over="ignore", under="ignore"):
        for start in range(0, len(points), step):
            gaps = points[start : start + step, None, :] - means
            z = np.einsum("kij,nkj->nki", inverses, gaps)
            logs = heights - 0.5 * np.minimum((z * z).sum(axis=2), 1e300)
            top = logs.max(axis=1)
            out[start : start + step] = top + np.log(np.exp(logs - top[:, None]).sum(axis=1))
    return out


def through_table(channel: ListChannel | None) -> Ratio:
    """The ratio of two laws on a list, as this channel publishes them; without one, as they are."""

    def score(rows: Rows, p: Finite, q: Finite) -> Array:
        shares = []
        for law in (p, q):
            told = law if channel is None else channel.apply(law)
            shares.append({key(value): share for value, share in zip(told.values, told.probabilities, strict=True)})
        columns = [rows.published[name].labels.tolist() for name in rows.answer]
        told_rows: list[Any] = columns[0] if len(columns) == 1 else list(zip(*columns, strict=True))
        ratio = {}
        for value in set(map(key, told_rows)):
            a, b = (float(share.get(value, 0.0)) for share in shares)
            # What neither law can publish says nothing by the priors; a learner may still make something of it.
            ratio[value] = 0.0 if a + b == 0 else float(np.log(max(a, 1e-9)) - np.log(max(b, 1e-9)))
        return sharp(np.array([ratio[key(value)] for value in told_rows]))

    return score
