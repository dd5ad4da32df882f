"""The rows of a secret in three parts: to choose a wager, to teach, and to test. No row serves twice."""

from dataclasses import dataclass

import numpy as np

from takifugu.audits.features import Places
from takifugu.audits.rows import Rows
from takifugu.problems.pairs import Pair

# Of a secret's rows: up to where a wager is chosen, and from there to where learners learn.
_TUNED, _TAUGHT = 0.2, 0.5


@dataclass(frozen=True)
class Parts:
    """One secret's rows, at random."""

    tune: Places
    teach: Places
    test: Places

    def tested(self, learns: bool) -> Places:
        """The rows that had no part in making the score; who learns nothing may be tested on what others learn."""
        return self.test if learns else np.concatenate([self.teach, self.test])


def halves(rows: Rows, pair: Pair, seed: int, among: Places | None = None) -> list[Parts]:
    """The rows of either secret at random into the three parts."""
    parts = []
    for place, name in enumerate(pair):
        mine = rows.of(name) if among is None else among[rows.secrets[among] == name]
        mixed = np.random.default_rng([seed, place]).permutation(mine)
        tuned, taught = max(4, int(_TUNED * len(mine))), int(_TAUGHT * len(mine))
        parts.append(Parts(mixed[:tuned], mixed[tuned:taught], mixed[taught:]))
    return parts
