"""The population's rooms: grouped EM beside the density's fit, and draws together beside one by one.

The peers are scikit-learn's fit of the density, which takes rounded values for exact ones and so finds bells where
there are none, and this package's own calibration of one draw after another. The limit is one normal distribution
function for each component, value and step of a fit, and one product of matrices for each noise that draws are looked
at with.
"""

import time
import warnings

import numpy as np

from takifugu.laws.fitting.counts import cell_pseudo_counts, own_normal
from takifugu.laws.fitting.fit import fit, fit_grouped
from takifugu.laws.lattice import Lattice
from takifugu.laws.mixture import Mixture
from takifugu.mechanisms.confidence import confident_noise
from takifugu.mechanisms.draws import Counted, joint_draws
from takifugu.mechanisms.least_noise import Exact
from takifugu.problems.problem import Pairs

PAIR = Pairs(("a", "b"))
BUDGET = {"alpha": 3.0, "epsilon": 0.5}


def fitting() -> None:
    """A rounded normal: how many components each fit finds, and how long it takes."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.mixture import GaussianMixture

    lattice = Lattice(0, 40, 1)
    print(f"  {'rounded normal':22}{'components':>11}{'seconds':>9}")
    for rows in (1_000, 100_000):
        x = lattice.snap(np.random.default_rng(rows).normal(20.3, 3, rows))
        begin = time.process_time()
        grouped = len(fit_grouped(lattice, lattice.count(x)).mixture)
        print(f"  {f'grouped, {rows:,} rows':22}{grouped:>11}{time.process_time() - begin:>9.2f}")
        begin = time.process_time()
        density = len(fit(x).mixture)
        print(f"  {f'density, {rows:,} rows':22}{density:>11}{time.process_time() - begin:>9.2f}")
        if rows <= 1_000:
            begin = time.process_time()
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", ConvergenceWarning)
                fits = [
                    GaussianMixture(k, n_init=3, reg_covar=1 / 12, random_state=0).fit(x[:, None]) for k in range(1, 11)
                ]
                best = 1 + int(np.argmin([one.bic(x[:, None]) for one in fits]))
            print(f"  {f'scikit-learn, {rows:,}':22}{best:>11}{time.process_time() - begin:>9.2f}")


def belief(lattice: Lattice, rows: tuple[int, int], seed: int) -> dict[str, Counted]:
    rng, size = np.random.default_rng(seed), len(lattice)
    found = {}
    for secret, n, centre in zip("ab", rows, (0.40, 0.43), strict=True):
        counts = lattice.count(lattice.low + lattice.step * rng.normal(centre * size, 0.12 * size, n))
        found[secret] = Counted(counts, own_normal(lattice, counts))
    return found


def draws(points: int, *, separately: int) -> None:
    """59 draws together, and as many of them one by one as patience allows."""
    lattice = Lattice(0, points - 1, 1)
    given = belief(lattice, (5_000, 400), seed=1)
    begin = time.process_time()
    together = confident_noise(lattice.points, [given], PAIR, **BUDGET)
    seconds = time.process_time() - begin
    laws = joint_draws([given], PAIR.secrets, 59, 0)[0, 1 : 1 + separately]
    begin = time.process_time()
    for pair in laws:
        priors = [Mixture.empirical(lattice.points, law) for law in pair]
        Exact().least_variance_over(priors, PAIR, **BUDGET)
    each = (time.process_time() - begin) / separately
    print(
        f"  {points:>6} points: 59 draws in {seconds:.2f} s, one by one {59 * each:.1f} s: "
        f"{59 * each / seconds:.0f} times"
    )
    print(f"         noise {together.centre_theta:.4g} for the centre, {together.theta:.4g} for all draws")


def cells(count: int) -> None:
    """59 draws in each of many cells."""
    lattice = Lattice(0, 20, 1)
    tables = {s: np.array([belief(lattice, (60, 15), seed=k)[s].counts for k in range(count)]) for s in PAIR.secrets}
    pseudo = {s: cell_pseudo_counts(t, own_normal(lattice, t.sum(axis=0))) for s, t in tables.items()}
    beliefs = [{s: Counted(tables[s][k], pseudo[s][k]) for s in PAIR.secrets} for k in range(count)]
    begin = time.process_time()
    found = confident_noise(lattice.points, beliefs, PAIR, **BUDGET)
    print(f"  {count} cells × 59 draws, 21 points: {time.process_time() - begin:.2f} s, noise {found.theta:.3f}")


def run() -> None:
    fitting()
    draws(21, separately=10)
    draws(100, separately=5)
    draws(1_000, separately=1)
    cells(50)


if __name__ == "__main__":
    run()
