"""Noise on vectors over many random problems: `python -m benchmarks.shaped_campaign 0 500` (first and last seed).

d from 1 to 8, 2 to 6 secrets, 1 or 2 beliefs, α from 1.02 to 64, ε from 0.01 to 5, three shapes. Every place of every
calibration is judged by determinants with 50 digits (mpmath), which share no code with the library; every calibration
is written, read, certified and verified.
"""

import json
import math
import sys
import time

import mpmath as mp
import numpy as np

import takifugu as tk


def laws(rng: np.random.Generator, secrets: int, d: int) -> dict[int, tk.VectorMixture]:
    shared, unit = rng.normal(size=(d, d + 2)), 10.0 ** rng.uniform(-4, 4, d)
    apart, other = 10 ** rng.uniform(-2, 1), rng.choice([0.0, 0.05, 0.5])
    found = {}
    for secret in range(secrets):
        x = shared + other * rng.normal(size=shared.shape)
        c = x @ x.T / (d + 2) * np.outer(unit, unit)
        found[secret] = tk.VectorMixture.gaussian(apart * rng.normal(size=d) * unit, 0.5 * (c + c.T))
    return found


def loss(p: tk.VectorMixture, q: tk.VectorMixture, noise: np.ndarray, alpha: float) -> mp.mpf:
    with mp.workdps(50):
        a = mp.mpf(alpha)
        A, B = (mp.matrix(law.covariances[0].tolist()) + mp.matrix(noise.tolist()) for law in (p, q))
        M = a * B - (a - 1) * A
        try:
            logs = [2 * mp.fsum(mp.log(L[k, k]) for k in range(L.rows)) for L in map(mp.cholesky, (M, A, B))]
        except (ValueError, ZeroDivisionError):
            return mp.inf
        gap = mp.matrix([mp.mpf(float(x)) - mp.mpf(float(y)) for x, y in zip(p.means[0], q.means[0], strict=True)])
        return a / 2 * (gap.T * mp.lu_solve(M, gap))[0] - (logs[0] + (a - 1) * logs[1] - a * logs[2]) / (2 * (a - 1))


def run(first: int, last: int) -> None:
    over, refused, places, closest, start = 0, 0, 0, 0.0, time.process_time()
    for seed in range(first, last):
        rng = np.random.default_rng(seed)
        secrets, d, beliefs = int(rng.integers(2, 7)), int(rng.integers(1, 9)), int(rng.integers(1, 3))
        given = [laws(rng, secrets, d) for _ in range(beliefs)]
        alpha = float(np.exp(rng.uniform(math.log(1.02), math.log(64))))
        epsilon = float(np.exp(rng.uniform(math.log(0.01), math.log(5))))
        try:
            found = tk.calibrate(
                given, alpha=alpha, epsilon=epsilon, options={"shape": str(rng.choice(["full", "diagonal", "equal"]))}
            )
        except tk.TakifuguError as error:
            refused += 1
            print(f"seed {seed}: {error}")
            continue
        again = tk.Calibration.from_dict(json.loads(json.dumps(found.to_dict())))
        assert again == found
        tk.verify(tk.certify(again))
        every = [
            loss(belief[i], belief[j], found.channel.covariance, alpha)
            for belief in given
            for i in belief
            for j in belief
            if i != j
        ]
        places += len(every)
        over += max(every) > epsilon
        closest = max(closest, float(max(every) / epsilon))
    print(
        f"seeds {first} to {last - 1}: {over} over budget, {refused} refused, {places:,} places judged, the closest at "
        f"{closest:.12f} of its budget; {time.process_time() - start:.0f} s"
    )


if __name__ == "__main__":
    run(int(sys.argv[1]), int(sys.argv[2]))
