"""How often the population is beyond the guarantee of a channel, on truths that are known: the same study for lists.

`python -m studies.population_channels --samples 1000` draws tables from the laws of
`studies.population` on lists of at most twelve values, fits and calibrates as a user would, and judges each
channel by the true laws. `--alpha 3` guarantees a finite order, `--cells 8` is for adversaries who know a cell, and
`--reversals` for those who know one of few rows in which the secrets change places. Evidence; the proof is
proofs/bounds.md. `--datasets` tells what each guarantee costs on the paper's own columns.
"""

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

import takifugu as tk
from studies.outcomes import Outcome, arguments, draw_shares, gathered, tell_shares
from studies.population import EPSILONS, cell_truth, truths
from takifugu._validation import Array
from takifugu.channels.listed import ListChannel
from takifugu.datasets import about, load
from takifugu.divergences.discrete import finite_divergence

MOST_VALUES = 12
ODDS = (2.0, 3.0, 5.0)
COSTED: tuple[dict[str, Any], ...] = (*({"alpha": 3.0, "epsilon": e} for e in EPSILONS), {"odds": 3.0})
_ROUNDING = 1e-9
_ROWS = {"a": 3000, "b": 600}


def sampled(which: int, guarantee: dict[str, Any], seed: int) -> Outcome:
    """One table from a truth, the channel of each method, and the verdict of the truth."""
    name, laws, rows = _known()[which]
    rng = np.random.default_rng([seed, 12])
    table = pd.concat(pd.DataFrame({"s": s, "x": rng.choice(len(law), size=rows[s], p=law)}) for s, law in laws.items())
    priors = tk.fit_priors(table, secret="s", query=_query(len(laws["a"])))
    asked: dict[str, dict[str, Any]] = {
        "plug-in": {},
        "confidence": {"confidence": 0.95, "adversary": tk.Adversary(seed=seed)},
        "band": {"assurance": "band"},
    }
    return _judged(name, guarantee, {how: (priors, more) for how, more in asked.items()}, [(laws["a"], laws["b"])])


def sampled_cells(cells: int, guarantee: dict[str, Any], seed: int, *, interaction: float = 0.5) -> Outcome:
    """The same where the adversary knows one of two columns, both or neither; the worst cell counts.

    The truth is that of `studies.population.sampled_cells` on seven values, three of its points each.
    """
    rng = np.random.default_rng([seed, cells])
    fine, spread = cell_truth(cells, interaction, rng)
    laws = {s: law.reshape(*law.shape[:2], -1, 3).sum(axis=3) for s, law in fine.items()}
    parts = []
    for s, law in laws.items():
        joint = (spread[s][..., None] * law).ravel()
        u, v, x = np.unravel_index(rng.choice(joint.size, size=_ROWS[s], p=joint / joint.sum()), law.shape)
        parts.append(pd.DataFrame({"s": s, "u": u.astype(str), "v": v.astype(str), "x": x}))
    table, query = pd.concat(parts), _query(laws["a"].shape[2])
    true = []
    for axes in ((0, 1), (1,), (0,), ()):
        held = [(spread[s][..., None] * laws[s]).sum(axis=axes).reshape(-1, laws[s].shape[2]) for s in "ab"]
        true += list(zip(*held, strict=True))
    ignored = tk.fit_priors(table, secret="s", query=query)
    known = tk.fit_priors(table, secret="s", query=query, known=["u", "v"])
    confident = {"confidence": 0.95, "adversary": tk.Adversary(seed=seed)}
    asked = {"no cells, confidence": (ignored, confident), "plug-in": (known, {}), "confidence": (known, confident)}
    return _judged(f"{cells} cells", guarantee, asked, true)


def sampled_reversal(guarantee: dict[str, Any], seed: int) -> Outcome:
    """The same where one column is known, and in some of its cells the laws are not what they are elsewhere."""
    rng = np.random.default_rng([seed, 29])
    name, laws, rows = _reversed(seed % 4, rng)
    values = np.arange(laws.shape[2])
    parts = [
        pd.DataFrame({"s": f"s{s}", "u": f"u{u}", "x": np.repeat(values, rng.multinomial(rows[u, s], laws[u, s]))})
        for u, s in np.ndindex(rows.shape)
    ]
    weights = rows / rows.sum(axis=0)
    true = [
        (here[a], here[b])
        for here in [*laws, np.einsum("us,usx->sx", weights, laws)]
        for a, b in combinations(range(len(here)), 2)
    ]
    table, query = pd.concat(parts), _query(len(values))
    ignored = tk.fit_priors(table, secret="s", query=query)
    known = tk.fit_priors(table, secret="s", query=query, known=["u"])
    confident = {"confidence": 0.95, "adversary": tk.Adversary(seed=seed)}
    asked = {"no cells, confidence": (ignored, confident), "plug-in": (known, {}), "confidence": (known, confident)}
    return _judged(name, guarantee, asked, true)


def _reversed(kind: int, rng: np.random.Generator) -> tuple[str, Array, npt.NDArray[np.int64]]:
    """A population: the law of every cell and secret, and how many rows a sample has of each.

    In all but the third there are cells of 300 rows a secret that agree, and one of 5 to 60 in which the secrets change
    places: as far apart as can be, less far, or between several values. In the third no cell agrees with another.
    """
    few = rng.integers(5, 61, 4)
    if kind == 2:
        share = rng.beta(0.5, 0.5, (6, 2))
        return "six cells", np.stack([1 - share, share], axis=2), rng.integers(5, 101, (6, 2))
    if kind == 3:
        laws = rng.dirichlet(np.full(4, 0.7), 3)
        cells = np.stack([laws, laws, laws, laws[[1, 2, 0]]])
        return "several values", cells, np.array([[300] * 3, [300] * 3, [300] * 3, few[:3]])
    high, low = (0.9, 0.02) if kind == 0 else (rng.uniform(0.6, 0.9), rng.uniform(0.02, 0.4))
    share = np.array([[high, 1 - high], [high, 1 - high], [low, 1 - low]])
    name = "sharp reversal" if kind == 0 else "milder reversal"
    return name, np.stack([1 - share, share], axis=2), np.array([[300, 300], [300, 300], few[:2]])


def _judged(name: str, guarantee: dict[str, Any], asked: dict[str, Any], true: list[tuple[Array, Array]]) -> Outcome:
    """The error of each method's channel, and whether a true pair of laws is beyond the guarantee."""
    errors, above = {}, {}
    for how, (priors, more) in asked.items():
        made = tk.calibrate(priors, **guarantee, **more)
        errors[how] = made.error
        above[how] = any(_is_beyond(made.channel, guarantee, *pair) for p, q in true for pair in ((p, q), (q, p)))
    return Outcome(name, guarantee.get("epsilon", guarantee.get("odds", 0.0)), errors, above)


def _is_beyond(channel: Any, guarantee: dict[str, Any], p: Array, q: Array) -> bool:
    if not isinstance(channel, ListChannel):
        raise TypeError("the study is about channels between lists")
    first, second = (channel.through(law / law.sum()) for law in (p, q))
    if "odds" in guarantee:
        return bool((first > guarantee["odds"] * (1 + _ROUNDING) * second).any())
    return bool(finite_divergence(first, second, alpha=guarantee["alpha"]) > guarantee["epsilon"] * (1 + _ROUNDING))


def _query(values: int) -> Any:
    return tk.Row("x", domain={"x": list(range(values))})


@lru_cache(maxsize=1)
def _known() -> list[tuple[str, dict[Any, Array], dict[Any, int]]]:
    """The truths, neighbouring points taken together until there are few."""
    found = []
    for truth in truths():
        size = -(-len(truth.lattice) // MOST_VALUES)
        starts = np.arange(0, len(truth.lattice), size)
        laws = {s: np.add.reduceat(law, starts) for s, law in truth.laws.items()}
        found.append((truth.name, {s: law / law.sum() for s, law in laws.items()}, dict(truth.rows)))
    return found


def _job(task: tuple[int | None, float, float | None, bool, int]) -> Outcome:
    cells, interaction, alpha, reversals, seed = task
    turn = seed // (4 if reversals else len(_known()) if cells is None else 1)
    guarantee = {"odds": ODDS[turn % 3]} if alpha is None else {"alpha": alpha, "epsilon": EPSILONS[turn % 3]}
    if reversals:
        return sampled_reversal(guarantee, seed)
    if cells is None:
        return sampled(seed % len(_known()), guarantee, seed)
    return sampled_cells(cells, guarantee, seed, interaction=interaction)


def run(
    samples: int,
    *,
    first: int = 0,
    cells: int | None = None,
    interaction: float = 0.5,
    alpha: float | None = None,
    reversals: bool = False,
    workers: int = 1,
    picture: Path | None = None,
    say: Callable[[str], None] = print,
) -> None:
    """Draw, calibrate, judge, and tell the shares; each sample's seed is its number, from `first` on."""
    tasks = [(cells, interaction, alpha, reversals, k) for k in range(first, first + samples)]
    outcomes = gathered(_job, tasks, workers=workers)
    tell_shares(outcomes, say, cost="error")
    if picture is not None:
        draw_shares(outcomes, picture, cost="error", budget="odds" if alpha is None else "budget ε")


def costs(
    say: Callable[[str], None] = print,
    names: Iterable[str] = ("adult", "student-mat", "heart"),
    guarantees: Sequence[dict[str, Any]] = COSTED,
) -> None:
    """What each guarantee costs on the paper's columns: squared error over the variance, for every guarantee."""
    asked: tuple[dict[str, Any], ...] = ({}, {"confidence": 0.95}, {"assurance": "band"})
    say(f"{'dataset':14}{'guarantee':28}{'plug-in':>10}{'confidence':>12}{'band':>10}")
    for name in names:
        entry, table = about(name), load(name)
        priors = tk.fit_priors(table, secret=entry.secret, query=tk.Row(entry.answer), secrets=entry.pair)
        spread = float(table[table[entry.secret].isin(entry.pair)][entry.answer].var(ddof=0))
        for guarantee in guarantees:
            found = [tk.calibrate(priors, **guarantee, **more).error / spread for more in asked]
            say(f"{name:14}{guarantee!s:28}{found[0]:>10.4f}{found[1]:>12.4f}{found[2]:>10.4f}")


def main() -> None:
    """The command line."""
    parser = arguments("How often the population is beyond the guarantee of a channel.")
    parser.add_argument("--alpha", type=float, help="this order with ε = 0.5, 1 and 2, not odds of 2, 3 and 5")
    parser.add_argument("--reversals", action="store_true", help="one known column, whose cells are not all alike")
    parser.add_argument("--datasets", action="store_true", help="what each guarantee costs on the paper's columns")
    given = vars(parser.parse_args())
    if given.pop("datasets"):
        costs()
    else:
        run(**given)


if __name__ == "__main__":
    main()
