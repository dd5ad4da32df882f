"""What a channel that was fitted on the rows it publishes tells of them: to who knows every other row of a small table.

The adversary knows all rows but one person's, and how everything was made: for every row that the person may have, the
channel can be fitted again. Given a secret the adversary believes the shares of the other rows with that secret.
Nothing is simulated: the law of what is published is computed for every row that the person may have, and from it how
far, and how often, the odds between the two secrets move. In random order (shuffled) what is published is how often
each value occurs; in the table's own order (kept) it is how often each true value became each other, and the person's
own value.

`python -m benchmarks.small_tables` prints what docs/guides/not-protected.md quotes (a few minutes);
`python -m benchmarks.small_tables 8 100 300` takes 8 tables each of 100 and of 300 rows, shuffled alone.
"""

import itertools
import sys
import warnings
from functools import cache, reduce

import numpy as np

import takifugu as tk

ODDS = 3.0
FEWEST = 6  # rows of a secret: of fewer the library asks for more

Cells = tuple[tuple[int, ...], ...]  # how many rows have each value, for either secret


def table(rows: int, seed: int) -> Cells:
    """Random rows of a secret and of one column with two or three values, which goes with the secret."""
    rng = np.random.default_rng([rows, seed])
    values = 2 + seed % 2
    sizes = [rows, 0]
    while min(sizes) < FEWEST:
        ill = int(rng.binomial(rows, rng.choice([0.3, 0.4, 0.5])))
        sizes = [rows - ill, ill]
    return tuple(tuple(rng.multinomial(n, rng.dirichlet(np.ones(values))).tolist()) for n in sizes)


@cache
def channel(cells: Cells, confidence: float | None) -> tuple[tuple[float, ...], ...]:
    """The probabilities that these rows are published with, by the values' order."""
    import pandas as pd

    values = len(cells[0])
    rows = [("ab"[s], x) for s, tallies in enumerate(cells) for x, n in enumerate(tallies) for _ in range(n)]
    priors = tk.fit_priors(
        pd.DataFrame(rows, columns=["s", "x"]), secret="s", query=tk.Row("x", domain=range(values)), few="allow"
    )
    made = tk.calibrate(priors, odds=ODDS, confidence=confidence).channel
    found = np.zeros((values, values))
    found[np.ix_(made.inputs, made.outputs)] = made.matrix
    return tuple(map(tuple, found.tolist()))


def law_of_counts(tallies: list[int], matrix: np.ndarray) -> np.ndarray:
    """How likely each number of published values of each kind is, of so many true rows of each value."""
    kinds, total = matrix.shape[1], sum(tallies)
    law = np.zeros((total + 1,) * (kinds - 1))
    law[(0,) * (kinds - 1)] = 1.0
    for value, tally in enumerate(tallies):
        for _ in range(tally):
            new = law * matrix[value, -1]
            for kind in range(kinds - 1):
                new += np.roll(law, 1, axis=kind) * matrix[value, kind]  # nothing stands at the end that comes round
            law = new
    return law[np.sum(np.indices(law.shape), axis=0) <= total]


def published(known: list[int], own: int, matrix: np.ndarray, *, kept: bool) -> np.ndarray:
    """The law of all that is published, of the others' rows and one's own."""
    if not kept:
        return law_of_counts([n + (x == own) for x, n in enumerate(known)], matrix)
    groups = [law_of_counts([n], matrix[[x]]) for x, n in enumerate(known)]
    return reduce(np.multiply.outer, groups, matrix[own]).ravel()


def moved(laws: dict[tuple[int, int], np.ndarray], others: np.ndarray) -> tuple[float, float]:
    """How often the odds move beyond the promise, and how far they can."""
    values = range(others.shape[1])
    mixed = [sum(others[s, x] * laws[s, x] for x in values) / others[s].sum() for s in (0, 1)]
    beyond, most = 0.0, 0.0
    for one, other in (mixed, mixed[::-1]):
        ratio = np.divide(one, other, out=np.full_like(one, np.inf), where=other > 0)
        ratio[one < 1e-9] = 0.0  # what hardly ever happens moves nobody here
        beyond = max(beyond, float(one[ratio > ODDS * (1 + 1e-9)].sum()))
        most = max(most, float(ratio.max()))
    return beyond, most


def looked_at(cells: Cells, person: tuple[int, int], confidence: float | None, *, kept: bool) -> tuple[bool, ...]:
    """Whether one person's odds move beyond the promise in more than 5 % of the cases, without end, and surely.

    The first two only where they would not have moved so had the channel been the same whatever the person's row is.
    """
    others = np.array(cells)
    others[person] -= 1
    known = others.sum(axis=0).tolist()
    fitted, fixed, channels = {}, {}, {}
    for s, x in itertools.product((0, 1), range(len(known))):
        whole = others.copy()
        whole[s, x] += 1
        channels[s, x] = channel(tuple(map(tuple, whole.tolist())), confidence)
        fitted[s, x] = published(known, x, np.array(channels[s, x]), kept=kept)
        fixed[s, x] = published(known, x, np.array(channel(cells, confidence)), kept=kept)
    (beyond, most), (by_itself, furthest) = moved(fitted, others), moved(fixed, others)
    first, second = ({channels[s, x] for x in range(len(known)) if others[s, x]} for s in (0, 1))
    return beyond > 0.05 >= by_itself, most == np.inf > furthest, not first & second


def study(sizes: tuple[int, ...], tables: int, confidence: float | None, *, kept: bool) -> tuple[int, ...]:
    """In how many tables that is so of somebody."""
    found = np.zeros(3, dtype=int)
    for rows, seed in itertools.product(sizes, range(tables)):
        cells = table(rows, seed)
        people = [(s, x) for s, tallies in enumerate(cells) for x, n in enumerate(tallies) if n]
        found += np.any([looked_at(cells, person, confidence, kept=kept) for person in people], axis=0)
    return tuple(found.tolist())


def run(tables: int = 23, *sizes: int) -> None:
    orders = (False,) if sizes else (False, True)  # what is published in the rows' order has too many outcomes
    sizes = sizes or (15, 25, 40)
    print(
        f"{len(sizes) * tables} tables of {', '.join(map(str, sizes))} rows, odds within a factor of {ODDS:g}: in how"
    )
    print("many of them somebody's odds move, for who knows all other rows,")
    print(f"{'':38}{'beyond in > 5 %':>16}{'to infinity':>13}{'surely, by the':>16}")
    print(f"{'':38}{'of the cases':>16}{'':>13}{'probabilities':>16}")
    for confidence, kept in itertools.product((0.95, None), orders):
        name = f"confidence={confidence}, rows {'in their order' if kept else 'shuffled'}"
        beyond, endless, told = study(sizes, tables, confidence, kept=kept)
        print(f"{name:38}{beyond:>16}{endless:>13}{told:>16}", flush=True)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    run(*map(int, sys.argv[1:]))
