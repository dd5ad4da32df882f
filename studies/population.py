"""How often the population's loss is above ε, on truths that are known: plug-in, confidence and band, side by side.

`python -m studies.population --samples 1000` draws samples from laws on lattices, fits and calibrates as a
user would, and judges by the loss of the true laws at the noise found. `--cells 8` does the same for adversaries who
know a cell. This is evidence; what is proved is in proofs/band.md.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from studies.outcomes import Outcome, arguments, draw_shares, gathered, tell_shares
from takifugu._validation import Array
from takifugu.divergences.mixtures import divergence
from takifugu.laws.fitting.counts import cell_pseudo_counts, own_normal, rounded_normal
from takifugu.laws.lattice import Lattice
from takifugu.laws.mixture import Mixture
from takifugu.mechanisms.assurance import bands_of, searched
from takifugu.mechanisms.confidence import confident_noise
from takifugu.mechanisms.draws import Counted
from takifugu.problems.problem import Pairs, Secret

ALPHA = 3.0
EPSILONS = (0.5, 1.0, 2.0)
_PAIR = Pairs(("a", "b"))
_TOLERANCE = 1e-6  # of ε: what the true loss may be above by rounding


@dataclass(frozen=True)
class Truth:
    """Two laws on a lattice, and how many rows of each a sample has."""

    name: str
    lattice: Lattice
    laws: dict[Secret, Array]
    rows: dict[Secret, int]

    def loss(self, theta: float) -> float:
        """The true loss at this noise, the larger of the two directions."""
        p, q = (Mixture.empirical(self.lattice.points, self.laws[s]) for s in _PAIR.secrets)
        return max(divergence(p, q, alpha=ALPHA, theta=theta), divergence(q, p, alpha=ALPHA, theta=theta))


def truths() -> list[Truth]:
    """Rounded normals, spiky integers, heavy tails, and the shapes of the datasets."""
    grades, ages = Lattice(0, 20, 1), Lattice(0, 60, 1)
    found = [
        Truth("rounded normals", grades, _both(_normal(21, 10, 3), _normal(21, 11, 3.5)), {"a": 500, "b": 60}),
        Truth("rare secret", grades, _both(_normal(21, 10, 3), _normal(21, 10.5, 2.5)), {"a": 2000, "b": 20}),
        Truth("spiky integers", ages, _both(_spiky(61, 30, 10), _spiky(61, 33, 11)), {"a": 1000, "b": 150}),
        Truth("heavy tails", Lattice(0, 40, 1), _both(_heavy(41, 3.0), _heavy(41, 4.0)), {"a": 800, "b": 100}),
    ]
    return found + [_dataset(name) for name in ("adult", "heart", "student-mat", "student-por")]


def sampled(truth: Truth, epsilon: float, seed: int, *, band: bool = True) -> Outcome:
    """One sample, the noise that each method finds for it, and the verdict of the truth."""
    rng = np.random.default_rng(seed)
    counts = {s: rng.multinomial(truth.rows[s], law).astype(np.float64) for s, law in truth.laws.items()}
    belief = {s: Counted(c, own_normal(truth.lattice, c)) for s, c in counts.items()}
    found = confident_noise(truth.lattice.points, [belief], _PAIR, alpha=ALPHA, epsilon=epsilon, seed=seed)
    theta = {"plug-in": found.centre_theta, "confidence": found.theta}
    if band:
        bands, _ = bands_of([counts], level=0.95, points=len(truth.lattice))
        theta["band"], _ = searched(truth.lattice, bands, _PAIR, alpha=ALPHA, epsilon=epsilon)
    above = {name: truth.loss(noise) > epsilon * (1 + _TOLERANCE) for name, noise in theta.items()}
    return Outcome(truth.name, epsilon, theta, above)


def sampled_cells(cells: int, epsilon: float, seed: int, *, interaction: float = 0.5) -> Outcome:
    """The same where the adversary knows one of two columns, both or neither; the loss is that of the worst cell.

    The two columns have 2 × 4 or 5 × 10 values; both move the laws of both secrets, which are not evenly spread. A
    cell moves the two secrets alike, but for `interaction`: by so much (in values) it moves each of them on its own.
    What a cell says of one secret alone is what pseudo-rows from the other cells cannot know, and its own rows can.
    """
    rng = np.random.default_rng([seed, cells])
    lattice = Lattice(0, 20, 1)
    laws, spread = cell_truth(cells, interaction, rng)
    shape = spread["a"].shape
    rows = {"a": 3000, "b": 600}
    counts = {
        s: np.stack([rng.multinomial(n, law) for n, law in zip(
            rng.multinomial(rows[s], spread[s].ravel()), laws[s].reshape(cells, -1), strict=True
        )]).reshape(*shape, -1).astype(np.float64)
        for s in laws
    }  # fmt: skip
    known: list[dict[Secret, Counted]] = []
    true: list[tuple[Array, Array]] = []
    joint = {s: spread[s][..., None] * laws[s] for s in laws}
    for axes in ((0, 1), (1,), (0,), ()):
        tables = {s: counts[s].sum(axis=axes).reshape(-1, len(lattice)) for s in laws}
        truth = {s: joint[s].sum(axis=axes).reshape(-1, len(lattice)) for s in laws}
        everyone = {s: own_normal(lattice, counts[s].sum(axis=(0, 1))) for s in laws}
        elsewhere = {s: cell_pseudo_counts(tables[s], everyone[s]) for s in laws}
        for row in range(len(tables["a"])):
            here: dict[Secret, Counted] = {s: Counted(tables[s][row], elsewhere[s][row]) for s in laws}
            own = {s: Counted(c, own_normal(lattice, c)) if c.any() else here[s] for s, (c, _) in here.items()}
            known += [own] if len(axes) == 2 else [here, own]
            true.append((truth["a"][row], truth["b"][row]))
    found = confident_noise(lattice.points, known, _PAIR, alpha=ALPHA, epsilon=epsilon, seed=seed)
    ignored = confident_noise(lattice.points, known[:1], _PAIR, alpha=ALPHA, epsilon=epsilon, seed=seed)
    theta = {"no cells, confidence": ignored.theta, "plug-in": found.centre_theta, "confidence": found.theta}
    above = {name: _worst(lattice, true, noise) > epsilon * (1 + _TOLERANCE) for name, noise in theta.items()}
    return Outcome(f"{cells} cells", epsilon, theta, above)


def cell_truth(cells: int, interaction: float, rng: np.random.Generator) -> tuple[dict[str, Array], dict[str, Array]]:
    """The laws of two secrets in every cell of two columns, and how each secret is spread over the cells."""
    shape = {8: (2, 4), 50: (5, 10)}[cells]
    alike = rng.normal(0, 1, shape[0])[:, None] + rng.normal(0, 1, shape[1])
    laws = {
        s: _cell_laws(10 + shift + alike + interaction * rng.normal(0, 1, shape))
        for s, shift in (("a", 0.0), ("b", 0.7))
    }
    return laws, {s: rng.dirichlet(np.full(cells, 3.0)).reshape(shape) for s in laws}


def _worst(lattice: Lattice, laws: Iterable[tuple[Array, Array]], theta: float) -> float:
    worst = 0.0
    for left, right in laws:
        p, q = (
            Mixture.empirical(lattice.points, left / left.sum()),
            Mixture.empirical(lattice.points, right / right.sum()),
        )
        worst = max(worst, divergence(p, q, alpha=ALPHA, theta=theta), divergence(q, p, alpha=ALPHA, theta=theta))
    return worst


def _both(a: Array, b: Array) -> dict[Secret, Array]:
    return {"a": a, "b": b}


def _normal(size: int, mean: float, std: float) -> Array:
    return rounded_normal(size, mean, std)


def _spiky(size: int, mean: float, std: float) -> Array:
    """Ages as people give them: round numbers five times as often."""
    masses = rounded_normal(size, mean, std) * np.where(np.arange(size) % 5 == 0, 5.0, 1.0)
    return np.asarray(masses / masses.sum())


def _heavy(size: int, scale: float) -> Array:
    """A tail that falls like the third power, piled up at the bound."""
    below = 1 - (1 + np.arange(1, size) / scale) ** -2.0
    return np.diff(below, prepend=0.0, append=1.0)


def _cell_laws(means: Array) -> Array:
    return np.array([[rounded_normal(21, float(mean), 3.0) for mean in row] for row in means])


def _dataset(name: str) -> Truth:
    """A dataset as the population: samples are of its own size."""
    from takifugu.datasets import about, load

    entry, data = about(name), load(name)
    lattice = Lattice.read(data[entry.answer].to_numpy(float)).lattice
    groups = [data[data[entry.secret] == s][entry.answer] for s in entry.pair]
    counts = [lattice.count(group) for group in groups]
    rows: dict[Secret, int] = {s: min(5000, len(group)) for s, group in zip("ab", groups, strict=True)}
    return Truth(name, lattice, _both(*(c / c.sum() for c in counts)), rows)


Task = tuple[int | None, float, float, int, int]  # cells, interaction, ε, the truth's number, the seed


def _job(task: Task) -> Outcome:
    cells, interaction, epsilon, which, seed = task
    if cells is not None:
        return sampled_cells(cells, epsilon, seed, interaction=interaction)
    return sampled(_known()[which], epsilon, seed)


_cache: list[Truth] = []


def _known() -> list[Truth]:
    if not _cache:
        _cache.extend(truths())
    return _cache


def run(
    samples: int,
    *,
    first: int = 0,
    cells: int | None = None,
    interaction: float = 0.5,
    workers: int = 1,
    picture: Path | None = None,
    say: Callable[[str], None] = print,
) -> None:
    """Draw, calibrate, judge, and tell the shares; each sample's seed is its number, from `first` on."""
    size = len(_known()) if cells is None else 1
    numbers = range(first, first + samples)
    outcomes = gathered(
        _job, [(cells, interaction, EPSILONS[(k // size) % 3], k % size, k) for k in numbers], workers=workers
    )
    tell_shares(outcomes, say, cost="noise")
    if picture is not None:
        draw_shares(outcomes, picture, cost="noise θ", budget="budget ε")


def main() -> None:
    """The command line."""
    run(**vars(arguments("How often the population's loss is above the budget.").parse_args()))


if __name__ == "__main__":
    main()
