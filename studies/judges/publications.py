"""Tables to be judged: one column, two secrets with as many rows each, published by every method at equal guesses."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np

from studies.peers.methods import METHODS, Column, Point, curves, least_error, worst_guess

TRUE = "true values"
GAIN = 0.5  # of what could be gained on blind luck by guessing from the true values
MOST_ROWS = 1_500  # of a secret
SEED = 0


@dataclass(frozen=True)
class Publication:
    """A file for the judges, how it was made, and the best guess that it allows anybody, exactly."""

    column: str
    method: str
    path: Path
    best_guess: float
    error: float


def publications(name: str, column: Column, folder: Path) -> Iterator[Publication]:
    """The true values, and every method at its least error among those that let nobody guess better than another."""
    pair = max(combinations(range(len(column.counts)), 2), key=lambda two: worst_guess(column.laws[list(two)]))
    two = Column(column.values, column.counts[list(pair)], column.is_number)
    bare = worst_guess(two.laws)
    methods = curves(two)
    unchanged = Point(bare, 0.0, lambda rng, places: two.points[places] if two.is_number else places)
    chosen = {TRUE: unchanged}
    for method in METHODS:
        if method in methods and (found := least_error(methods[method], 0.5 + GAIN * (bare - 0.5))) is not None:
            chosen[method] = found
    for method, point in chosen.items():
        path = folder / f"{len(list(folder.glob('*.csv'))):03}.csv"
        _write(two, point, path)
        yield Publication(name, method, path, point.guess, point.error)


def _write(column: Column, point: Point, path: Path) -> None:
    """As many rows of either secret, drawn from the rows there are, the same for every method."""
    import pandas as pd

    rng = np.random.default_rng(SEED)
    parts = []
    for secret, counts in enumerate(column.counts):
        places = rng.permutation(np.repeat(np.arange(len(column.values)), counts.astype(int)))
        parts.append((np.full(len(places), secret), places))
    rows = min(MOST_ROWS, *(len(places) for _, places in parts))
    secrets, places = (np.concatenate([part[which][:rows] for part in parts]) for which in (0, 1))
    half = np.concatenate([np.arange(rows) % 2] * 2)
    published = point.draw(np.random.default_rng(SEED + 1), places)
    truth = column.points[places] if column.is_number else places
    frame = pd.DataFrame({"s": secrets, "truth": truth, "published": published, "half": half})
    frame["s"] = "secret " + frame["s"].astype(str)
    if not column.is_number:  # words, so that no judge takes a place for a number
        for name in ("truth", "published"):
            frame[name] = "value " + frame[name].astype(str)
    frame.to_csv(path, index=False)
