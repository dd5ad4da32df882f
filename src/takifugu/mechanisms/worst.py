"""The pair that is closest to the limit where no pair needs noise."""

from collections.abc import Sequence

import numpy as np

from takifugu.divergences.general import divergence
from takifugu.divergences.many_gaussians import RoughLosses
from takifugu.mechanisms.base import Priors
from takifugu.pairs import Pairs

_BLOCK = 1 << 15


def largest_loss(beliefs: Sequence[Priors], pairs: Pairs, *, alpha: float, theta: float) -> tuple[int, int]:
    """Positions of the directed pair with the largest divergence under any belief."""
    best, where = -1.0, (0, 1)
    for priors in beliefs:
        everything_gaussian = all(prior.is_gaussian for prior in priors)
        means = np.array([prior.mean for prior in priors])
        stds = np.array([prior.simplified().stds[0] for prior in priors])
        rough = RoughLosses(means, stds, alpha=alpha, variance=theta * theta)
        for i, j in pairs.directed_blocks(_BLOCK):
            i, j = np.broadcast_arrays(i, j)
            apart = i != j
            i, j = i[apart], j[apart]
            if everything_gaussian:
                losses = rough(i, j)
                top = int(np.where(np.isfinite(losses), losses, -1.0).argmax())
                candidates = [(int(i[top]), int(j[top]))] if len(i) else []
            else:
                candidates = list(zip(i.tolist(), j.tolist(), strict=True))
            for a, b in candidates:
                loss = divergence(priors[a], priors[b], alpha=alpha, theta=theta)
                if loss > best:
                    best, where = loss, (a, b)
    return where
