"""Random programs for channels: laws of several shapes, promises from strict to loose."""

import math
from typing import Any

import numpy as np

from takifugu.mechanisms.optimal.program import Program


def random_program(seed: int, *, n: int | None = None, secrets: int | None = None, **fixed: Any) -> Program:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 13)) if n is None else n
    secrets = int(rng.integers(2, 5)) if secrets is None else secrets
    values = np.arange(n, dtype=np.float64)
    shape = rng.integers(3)
    if shape == 0:
        laws = rng.dirichlet(np.full(n, rng.choice([0.3, 1.0, 5.0])), secrets)
    elif shape == 1:
        centres, widths = rng.uniform(0, n, (secrets, 1)), rng.uniform(0.1, 0.5, (secrets, 1)) * n
        laws = np.exp(-0.5 * ((values - centres) / widths) ** 2) + 1e-12
    else:
        laws = rng.multinomial(int(rng.integers(20, 500)), rng.dirichlet(np.ones(n)), secrets).astype(np.float64)
    losses = ((values[:, None] - values) ** 2, np.abs(values[:, None] - values), 1.0 - np.eye(n))
    given: dict[str, Any] = {
        "laws": laws,
        "constraints": tuple((i, j) for i in range(secrets) for j in range(secrets) if i != j),
        "mass": (laws / laws.sum(axis=1, keepdims=True)).mean(axis=0),
        "loss": losses[rng.integers(3)],
        "alpha": math.inf if rng.random() < 0.2 else float(np.exp(rng.uniform(math.log(1.1), math.log(64)))),
        "epsilon": float(np.exp(rng.uniform(math.log(0.01), math.log(5)))),
        "inputs": values,
        "outputs": values,
    }
    return Program(**(given | fixed))


def random_wishes(seed: int, n: int, secrets: int) -> dict[str, Any]:
    """Wishes that can always be kept: the identity is allowed, and so is the mass itself as every row."""
    rng = np.random.default_rng(seed)
    wishes: dict[str, Any] = {"keep": [None, "marginal", "mean"][rng.integers(3)]}
    if rng.random() < 0.4:
        wishes["radius"] = rng.uniform(0, 0.05, secrets)
    if rng.random() < 0.3:
        wishes["odds"] = float(rng.uniform(1.2, 20))
    return wishes
