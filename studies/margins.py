"""`python -m studies.margins`: the least cost at which each margin holds a share of the population's draws.

Each margin's factor is fitted alone to the draws of `calibrate` at 95 %, all to one share of them, and fresh draws
judge nothing yet. Square error over the variance, of marital status the share that is changed; the shares of all values
are preserved. In brackets is how many of 2,000 other draws are within the guarantee.
"""

import warnings
from collections.abc import Sequence

import numpy as np

import takifugu as tk
from takifugu.channels import ListChannel
from takifugu.divergences import finite_divergence
from takifugu.mechanisms.cone_margin import has_cones
from takifugu.mechanisms.draws import drawn_laws
from takifugu.mechanisms.optimal.finite_problem import table_of
from takifugu.mechanisms.optimal.mechanism import Optimal
from takifugu.mechanisms.posterior_margin import by_bounds, by_cones, by_radius, draws_to_fit, fitted
from takifugu.problems import Guarantee, Problem, asked_for

RACES = ("White", "Black", "Other")
CASES: tuple[tuple[str, str, str, str, Sequence[str] | None], ...] = (
    ("Adult, education", "adult", "education-num", "race", RACES),
    ("Student, grade", "student-mat", "G3", "schoolsup", None),
    ("Adult, marital status", "adult", "marital-status", "race", RACES),
)
ASKED = (("odds 3", asked_for(odds=3)), ("(3, 0.5)", asked_for(alpha=3, epsilon=0.5)))
LEVEL = 0.95


def run() -> None:
    """Print a line of the table for each case and guarantee."""
    for name, data, column, secret, only in CASES:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            priors = tk.fit_priors(tk.datasets.load(data), secret=secret, secrets=only, query=tk.Row(column))
        problem = Problem.of(priors, None)
        for said, asked in ASKED:
            print(f"| {name} | {said} | {' | '.join(_costs(problem, asked))} |", flush=True)


def _costs(problem: Problem, asked: Guarantee) -> list[str]:
    rule = Optimal().settled(problem)
    drawn = draws_to_fit(problem, asked, level=LEVEL, seed=0, halvings=1)
    plain = rule.find(problem, asked)
    ways = {"radius": [by_radius(rule, problem, asked)], "bounds": by_bounds(rule, problem, asked, level=LEVEL)}
    ways["cones"] = [by_cones(rule, problem, asked)] if has_cones(rule, problem, asked) else []
    found = []
    for margins in ways.values():
        least = fitted(margins[0], drawn, plain) if margins else None
        if least is None:
            found.append("–")
            continue
        channel = least[1].channel.as_list()
        found.append(f"{rule.cost(problem, channel) / _spread(problem):.3g} ({_within(problem, asked, channel):,})")
    return found


def _spread(problem: Problem) -> float:
    values, mass = table_of(problem).values, table_of(problem).mass / table_of(problem).mass.sum()
    if isinstance(values[0], str):
        return 1.0
    at = np.array(values, dtype=np.float64)
    return float(mass @ (at - mass @ at) ** 2)


def _within(problem: Problem, asked: Guarantee, channel: ListChannel) -> int:
    published, held = channel.through(drawn_laws(problem, 2_000, 4242)[:, 1:]), np.ones(2_000, dtype=bool)
    for a, b in zip(*problem.pairs.directed_places(), strict=True):
        losses = finite_divergence(published[:, :, a], published[:, :, b], alpha=asked.alpha)
        held &= (losses <= asked.epsilon).all(axis=0)
    return int(held.sum())


if __name__ == "__main__":
    run()
