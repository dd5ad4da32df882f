"""Small tables of several columns that go with a secret, and what is published of them in exact fractions."""

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd

import takifugu as tk
from takifugu.releases.drawing import drawing_of


def people(rows=300, *, seed=0, secrets=2, columns=3):
    """A table whose columns go with the secret and with one another."""
    rng = np.random.default_rng(seed)
    secret = rng.integers(0, secrets, rows)
    hidden = rng.normal(size=rows) + 1.2 * secret
    names = [f"c{k}" for k in range(columns)]
    return pd.DataFrame(
        {"secret": [f"s{k}" for k in secret]}
        | {name: np.clip(np.rint(hidden * 0.6 + rng.normal(size=rows) + 2), 1, 3).astype(int) for name in names}
    )


def priors_of(table, **options):
    """The joint law of all columns but the secret."""
    columns = [name for name in table.columns if name != "secret"]
    return tk.fit_priors(table, secret="secret", query=tk.Row(*columns), **options)


def drawn_channel(calibration):
    """The channel that a release through this calibration draws from."""
    return drawing_of(calibration, {}).channel


def largest_odds(priors, columns, calibrations):
    """The largest ratio of any two secrets' probabilities of everything published, by adding up fractions.

    `columns` are all columns of the priors; each calibration published some of them through its own channel.
    """
    drawn = [(drawn_channel(one), [columns.index(name) for name in one.answer.drawn]) for one in calibrations]
    published = {}
    for secret, law in priors.items():
        total = sum(Fraction(float(w)) for w in law.weights)
        told = {}
        for row, weight in zip(law.values, law.weights, strict=True):
            if weight == 0:
                continue
            lines = []
            for channel, places in drawn:
                entry = tuple(row[k] for k in places)
                value = entry[0] if len(entry) == 1 else entry
                line = channel.counts[channel.inputs.index(value)]
                lines.append(
                    [
                        (y, Fraction(int(c), channel.denominator))
                        for y, c in zip(channel.outputs, line, strict=True)
                        if c
                    ]
                )
            for outcome in product(*lines):
                seen = tuple(y for y, _ in outcome)
                chance = Fraction(float(weight)) / total
                for _, share in outcome:
                    chance *= share
                told[seen] = told.get(seen, 0) + chance
        published[secret] = told
    worst = Fraction(0)
    for a, b in product(published, repeat=2):
        for seen, chance in published[a].items():
            if not published[b].get(seen):
                return None
            worst = max(worst, chance / published[b][seen])
    return worst
