"""What is studied: datasets, queries, priors and budgets, and which figure needs which."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from takifugu.datasets import about
from takifugu.errors import InputError
from takifugu.laws import fit
from takifugu.queries import Priors, Raw
from takifugu.tables import Table

ORDER = 3.0  # the Rényi order of every figure but the two that compare orders
ORDERS = (1.5, 2.0, 3.0, 5.0)
HEADLINE = (0.1, 0.5, 1.0, 2.0, 5.0)  # part of every grid, so that a quick run and a whole one can be compared
FULL = tuple(sorted({*HEADLINE, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8, 1.25, 1.5, 1.75, 2.5, 3.0, 3.5, 4.0, 4.5}))
QUERIES = ("raw", "mean", "bnn", "gp")
FIGURES = ("1", "2", "3", "4", "5", "6", "7", "8")
EXAMPLES = ("decreasing", "increasing")

TITLES = {"adult": "Adult", "heart": "Heart Disease", "student-mat": "Student", "student-por": "Student (Portuguese)"}
UNITS = {"adult": "education levels", "heart": "mm", "student-mat": "grade points", "student-por": "grade points"}
PRIORS = {
    "gaussian": "Gaussian priors",
    "mixture": "mixture priors",
    "empirical": "empirical priors",
    "mixture-max-5": "mixtures of at most 5",
    "mixture-floor-0.75": "mixtures at least 3/4 of a step wide",
}
# How much of a RAW result is the fit's: GWM is drawn for the empirical distribution, so exact is computed for it too;
# and BIC spends its components on the spikes of rounded values, which fewer or wider components do not follow.
OTHERS = ("empirical", "mixture-max-5", "mixture-floor-0.75")
ANSWERS = {
    "adult": "education-num (levels)",
    "heart": "oldpeak (mm)",
    "student-mat": "G3 (grade points)",
    "student-por": "G3 (grade points)",
}


@dataclass(frozen=True, order=True)
class Setting:
    """A dataset, a query and the kind of prior; or one of the two examples of Figure 2."""

    dataset: str
    query: str
    prior: str

    def __str__(self) -> str:
        """As a reader would name it."""
        if self.is_example:
            return f"the {self.query} example"
        kind = f" with {PRIORS[self.prior]}" if self.query == "raw" else ""
        return f"{TITLES[self.dataset]} {self.query.upper()}{kind}"

    @property
    def is_example(self) -> bool:
        """Whether this is one of the made-up pairs of Figure 2, which are compared one way."""
        return self.dataset == "example"

    @property
    def paper_mechanism(self) -> str:
        """Theorem 3.5 for Gaussian priors, Theorem 4.1 where the paper speaks of mixtures."""
        return "gmm-transport" if self.prior.startswith("mixture") else "closed-form"


@dataclass(frozen=True)
class Plan:
    """What a run computes."""

    figures: tuple[str, ...] = FIGURES
    student: str = "mat"
    quick: bool = False
    epsilons: tuple[float, ...] = FULL

    @classmethod
    def of(cls, *, only: tuple[str, ...] = (), student: str = "mat", quick: bool = False) -> "Plan":
        """The plan for the options of the command."""
        for figure in only:
            if figure not in FIGURES:
                raise InputError(f"there is no figure {figure!r}: the paper's are {', '.join(FIGURES)}")
        if student not in ("mat", "por"):
            raise InputError(f"student must be 'mat' or 'por', the two courses in the data; got {student!r}")
        figures = tuple(f for f in FIGURES if not only or f in only)
        return cls(figures, student, quick, HEADLINE if quick else FULL)

    @property
    def datasets(self) -> tuple[str, ...]:
        """The three datasets, in the paper's order."""
        return ("adult", "heart", f"student-{self.student}")

    def settings_of(self, figure: str) -> list[Setting]:
        """The settings a figure draws."""
        if figure == "2":
            return [Setting("example", name, "gaussian") for name in EXAMPLES]
        if figure in ("5", "6", "7"):
            dataset = self.datasets[int(figure) - 5]
            return [Setting(dataset, query, _prior(query)) for query in QUERIES]
        queries = {
            "1": [("raw", "gaussian"), ("mean", "gaussian")],
            "3": [("raw", "mixture")],
            "4": [("raw", "mixture"), ("mean", "mixture")],
            "8": [("bnn", "gaussian")],
        }[figure]
        return [Setting(dataset, query, prior) for query, prior in queries for dataset in self.datasets]

    def orders_of(self, figure: str) -> tuple[float, ...]:
        """The Rényi orders a figure draws; none where it shows no noise."""
        return {"2": ORDERS, "8": ORDERS, "3": ()}.get(figure, (ORDER,))

    @property
    def evaluated(self) -> list[Setting]:
        """The settings of the paper's evaluation (Figures 5 to 7), as far as this run has them."""
        return [s for f in ("5", "6", "7") if f in self.figures for s in self.settings_of(f)]

    @property
    def extra(self) -> list[tuple[Setting, float]]:
        """Settings that no figure shows but the text speaks of, or that make a comparison fair."""
        found = []
        if "8" in self.figures:  # the text speaks of the orders of GP too
            found += [(Setting(d, "gp", "gaussian"), order) for d in self.datasets for order in ORDERS]
        found += [
            (Setting(s.dataset, "raw", prior), ORDER) for s in self.evaluated if s.query == "raw" for prior in OTHERS
        ]
        return found


def _prior(query: str) -> str:
    """Theorem 4.1 serves RAW and MEAN, Theorem 3.5 the models' answers: the paper's Section 5."""
    return "mixture" if query in ("raw", "mean") else "gaussian"


def query_of(setting: Setting, *, quick: bool) -> Any:
    """The query of a setting; a quick run trains on fewer rows, for fewer steps."""
    import takifugu as tk

    answer = about(setting.dataset).answer
    if setting.query == "raw":
        if setting.prior == "mixture-max-5":
            return tk.Raw(answer, prior="mixture", max_components=5, step=0)
        if setting.prior == "mixture-floor-0.75":
            return WideRaw(answer)
        # The paper fits densities to the values as they are: no lattice.
        return tk.Raw(answer, prior=setting.prior, step=0)
    if setting.query == "mean":
        return tk.Mean(answer)
    if setting.query == "gp":
        return tk.GP(answer, max_rows=150, restarts=0) if quick else tk.GP(answer)
    return tk.BNN(answer, max_rows=300, steps=2_000, progress=False) if quick else tk.BNN(answer, progress=False)


# RAW, fitted so that rounded values are not mistaken for spikes.


@dataclass(frozen=True)
class WideRaw:
    """RAW with mixtures whose components are no narrower than three quarters of the values' step."""

    column: str

    def priors(self, table: Table, secret: str, secrets: Iterable[Any] | None) -> Priors:
        """Fitted to the counts, as `Raw` does."""
        seen = Raw(self.column, prior="empirical").priors(table, secret, secrets)
        counts = {name: (points.means, np.rint(points.weights * seen.rows[name])) for name, points in seen.items()}
        steps = [fit(x, mass, max_components=1).resolution for x, mass in counts.values()]
        step = min((s for s in steps if s is not None), default=None)
        floor = None if step is None else 0.75 * step
        found = {name: fit(x, mass, min_std=floor).mixture for name, (x, mass) in counts.items()}
        return Priors(found, findings=seen.findings, rows=seen.rows)
