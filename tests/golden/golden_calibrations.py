"""Calibrations: every mechanism, law and guarantee, and what makes them harder."""

from functools import cache
from itertools import product

import numpy as np

import takifugu as tk

from .asked import calibrated, of_priors, or_refusal
from .harness import Case, Family, Seen

CALIBRATIONS = Family("calibrations")
add = CALIBRATIONS.add

G = tk.Mixture.gaussian
MIXTURES = {
    "two Gaussians": {"a": G(0, 1), "b": G(2, 1)},
    "unequal spreads": {"a": G(0, 1), "b": G(1.5, 2.5)},
    "one inside the other": {"narrow": G(0, 0.2), "wide": G(0, 4)},
    "far from zero": {"a": G(1e6, 3), "b": G(1e6 + 4, 2)},
    "points": {"a": tk.Mixture([0.5, 0.3, 0.2], [0, 1, 4], [0, 0, 0]), "b": tk.Mixture([0.6, 0.4], [1, 3], [0, 0])},
    "two points": {"no": tk.Mixture([1], [0], [0]), "yes": tk.Mixture([1], [1], [0])},
    "mixtures": {
        "a": tk.Mixture([0.6, 0.4], [0, 3], [1, 0.5]),
        "b": tk.Mixture([0.3, 0.7], [1, 4], [0.8, 1.2]),
    },
    "five components": {
        "a": tk.Mixture([0.1, 0.2, 0.4, 0.2, 0.1], [-4, -1, 0, 2, 6], [0.3, 1, 0.5, 0.7, 2]),
        "b": tk.Mixture([0.3, 0.1, 0.1, 0.3, 0.2], [-3, -2, 1, 3, 5], [0.5, 0.4, 1, 0.9, 1.5]),
    },
    "points and a Gaussian": {"a": tk.Mixture([0.7, 0.3], [0, 2], [0, 1]), "b": tk.Mixture([0.5, 0.5], [0, 3], [0, 1])},
    "three secrets": {"x": G(0, 1), "y": tk.Mixture([0.5, 0.5], [-1, 2], [0.5, 1]), "z": G(1, 1.5)},
}
PROMISES = {"alpha 2, epsilon 0.5": (2, 0.5), "alpha 8, epsilon 1": (8, 1)}

for name, (asked, (alpha, epsilon)) in product(MIXTURES, PROMISES.items()):
    add(f"exact: {name}, {asked}", calibrated(MIXTURES[name], alpha=alpha, epsilon=epsilon))
for name, mechanism in product(
    ("two Gaussians", "unequal spreads", "points", "mixtures", "three secrets"),
    ("closed-form", "closed-form-envelope", "gmm-transport", "wasserstein", "wasserstein-approx", "wasserstein-aware"),
):
    add(f"{mechanism}: {name}", calibrated(MIXTURES[name], alpha=3, epsilon=1, mechanism=mechanism))
for mechanism in ("optimal", "shaped"):
    add(f"{mechanism}: a mixture", calibrated(MIXTURES["mixtures"], alpha=3, epsilon=1, mechanism=mechanism))
for alpha, epsilon in product((1.01, 1.5, 3, 32), (0.01, 1, 6)):
    name = f"alpha {alpha}, epsilon {epsilon}"
    add(f"exact, order and budget: {name}", calibrated(MIXTURES["mixtures"], alpha=alpha, epsilon=epsilon))
for delta in (1e-6, 0.1):
    approximate = {"alpha": 3, "epsilon": 1, "mechanism": "wasserstein-approx", "delta": delta}
    add(f"wasserstein-approx, delta {delta}", calibrated(MIXTURES["mixtures"], **approximate))
for mechanism in ("closed-form", "closed-form-envelope"):
    steep = {"alpha": 1.05, "epsilon": 0.02, "mechanism": mechanism}
    add(f"{mechanism}: unequal spreads, a low order", calibrated(MIXTURES["unequal spreads"], **steep))
for delta in (0.05, 0.3):
    approximate = {"alpha": 3, "epsilon": 1, "mechanism": "wasserstein-approx", "delta": delta}
    add(f"wasserstein-approx: points, delta {delta}", calibrated(MIXTURES["points"], **approximate))
three, mixtures, equal = MIXTURES["three secrets"], MIXTURES["mixtures"], MIXTURES["two Gaussians"]
add("exact, some pairs", calibrated(three, alpha=3, epsilon=1, pairs=[("x", "z")]))
add("exact, odds", calibrated(equal, odds=3))
add("exact, best guess", calibrated(mixtures, alpha=4, best_guess=0.7))
add("exact, best guess alone", calibrated(mixtures, best_guess=0.7))
add("exact, error", calibrated(mixtures, alpha=2, error=0.5))
add("exact, several beliefs", calibrated([mixtures, {"a": G(0, 1), "b": G(3, 2)}], alpha=3, epsilon=1))
add(
    "exact, what others believe",
    calibrated(mixtures, alpha=3, epsilon=1, adversary=tk.Adversary(beliefs={"last year": equal})),
)
add("exact, alpha 1", calibrated(mixtures, alpha=1, epsilon=1))
add("exact, no budget", calibrated(mixtures, alpha=2))
add("exact, one secret", calibrated({"a": G(0, 1)}, alpha=2, epsilon=1))
add("exact, the same law twice", calibrated({"a": G(0, 1), "b": G(0, 1)}, alpha=2, epsilon=1))
columns = {"mechanism": "optimal", "options": {"solver": "columns"}}
add("columns: a mixture", calibrated(MIXTURES["mixtures"], alpha=3, epsilon=1, **columns))
add("a mechanism of an earlier version", calibrated(mixtures, alpha=2, epsilon=1, mechanism="sparse"))
add("a mechanism that there is not", calibrated(mixtures, alpha=2, epsilon=1, mechanism="exakt"))
add("an option that there is not", calibrated(mixtures, alpha=2, epsilon=1, delta=0.1))

LISTS = {
    "two values": {"a": tk.Finite([0, 1], [3, 1]), "b": tk.Finite([0, 1], [1, 3])},
    "five numbers": {"a": tk.Finite(range(5), [5, 4, 3, 2, 1]), "b": tk.Finite(range(5), [1, 2, 2, 4, 6])},
    "other supports": {"a": tk.Finite([0, 1, 2], [2, 2, 1]), "b": tk.Finite([1, 2, 7], [1, 2, 2])},
    "labels": {
        "yes": tk.Finite(["red", "green", "blue"], [5, 3, 2]),
        "no": tk.Finite(["red", "green", "blue"], [1, 3, 6]),
    },
    "rows": {
        "a": tk.Finite(list(product([0, 1, 2], ["f", "m"])), [6, 5, 4, 3, 2, 1]),
        "b": tk.Finite(list(product([0, 1, 2], ["f", "m"])), [1, 3, 2, 5, 2, 6]),
    },
    "three secrets": {
        "a": tk.Finite(range(6), [6, 5, 4, 3, 2, 1]),
        "b": tk.Finite(range(6), [1, 2, 3, 4, 5, 6]),
        "c": tk.Finite(range(6), [1, 4, 6, 6, 4, 1]),
    },
}
for name, odds in product(LISTS, (1.5, 3)):
    add(f"optimal: {name}, odds {odds}", calibrated(LISTS[name], odds=odds))
for name, laws in LISTS.items():
    add(f"optimal: {name}, alpha 2, epsilon 0.1", calibrated(laws, alpha=2, epsilon=0.1))
    add(f"optimal: {name}, odds 2, nothing kept", calibrated(laws, odds=2, preserve=None))
    add(f"columns: {name}, odds 2", calibrated(laws, odds=2, options={"solver": "columns"}))
numbers, rows, labels = LISTS["five numbers"], LISTS["rows"], LISTS["labels"]
MILD = {"a": tk.Finite(range(5), [1, 1, 1, 1, 1]), "b": tk.Finite(range(5), [1, 3, 1, 3, 1])}
STRONG = {"yes": tk.Finite(["red", "green", "blue"], [1, 8, 1]), "no": tk.Finite(["red", "green", "blue"], [4, 2, 4])}
add("optimal, odds beside a budget", calibrated(numbers, alpha=2, epsilon=0.1, odds=3))
add("optimal, alpha 16", calibrated(numbers, alpha=16, epsilon=0.5))
add("optimal, best guess", calibrated(numbers, best_guess=0.6))
add("optimal, error", calibrated(numbers, error=0.5))
for loss in ("square", "absolute", "change"):
    add(f"optimal, loss {loss}", calibrated(numbers, odds=1.5, utility=tk.Utility(loss=loss)))
    add(
        f"optimal, loss {loss}, nothing kept",
        calibrated(numbers, odds=1.5, preserve=None, utility=tk.Utility(loss=loss)),
    )
add(
    "optimal, loss of one's own",
    calibrated(numbers, odds=1.5, utility=tk.Utility(loss=np.abs(np.subtract.outer(range(5), range(5))) ** 3)),
)
add("optimal, mean kept", calibrated(numbers, odds=1.5, preserve="mean"))
add("optimal, unbiased", calibrated(numbers, odds=3, preserve=None, utility=tk.Utility(unbiased=True)))
add("optimal, forbidden", calibrated(numbers, odds=2, preserve=None, utility=tk.Utility(forbidden=[(0, 1), (4, 3)])))
add("optimal, diagonal", calibrated(numbers, odds=2, preserve=None, utility=tk.Utility(diagonal=0.5)))
add("optimal, diagonal that cannot be", calibrated(numbers, odds=2, preserve=None, utility=tk.Utility(diagonal=0.99)))
add("optimal, radius", calibrated(numbers, odds=3, preserve=None, radius=0.02))
add("optimal, a radius of each", calibrated(numbers, odds=3, preserve=None, radius=[0.01, 0.05]))
add("optimal, some pairs", calibrated(LISTS["three secrets"], odds=2, pairs=[("a", "c")]))
add("optimal, several beliefs", calibrated([numbers, MILD], odds=1.5))
add(
    "optimal, what others believe",
    calibrated(labels, odds=3, adversary=tk.Adversary(beliefs={"others": STRONG})),
)
add("optimal, nothing to hide", calibrated(numbers, odds=1e6))
add("optimal, odds below one", calibrated(numbers, odds=0.5))
for odds in (1.5, 3):
    add(f"columns: labels, odds {odds}", calibrated(labels, odds=odds, options={"solver": "columns"}))
add("columns, weights", calibrated(rows, odds=1.5, utility=tk.Utility(weights=[1, 5]), options={"solver": "columns"}))
add("columns, one round", calibrated(rows, odds=1.5, options={"solver": "columns", "rounds": 1}))
add("columns, alpha 2", calibrated(rows, alpha=2, epsilon=0.1, options={"solver": "columns"}))
add("exact on a list", calibrated(numbers, alpha=2, epsilon=1, mechanism="exact"))
add("shaped on a list", calibrated(numbers, alpha=2, epsilon=1, mechanism="shaped"))

V = tk.VectorMixture
VECTORS = {
    "Gaussians": {"a": V.gaussian([0, 0], [[1, 0.3], [0.3, 2]]), "b": V.gaussian([1, -1], [[1, 0.3], [0.3, 2]])},
    "other covariances": {
        "a": V.gaussian([0, 0], [[1, 0.3], [0.3, 2]]),
        "b": V.gaussian([1, -1], [[2, -0.5], [-0.5, 1]]),
    },
    "mixtures": {
        "a": V([0.6, 0.4], [[0, 0], [2, 1]], [[[1, 0], [0, 1]], [[0.5, 0.2], [0.2, 0.5]]]),
        "b": V([0.5, 0.5], [[1, 0], [2, 2]], [[[1, 0.5], [0.5, 1]], [[0.7, 0], [0, 0.3]]]),
    },
    "three axes": {
        "a": V.gaussian([0, 0, 0], np.diag([1.0, 4.0, 0.01])),
        "b": V.gaussian([1, 2, 0.1], np.diag([1.0, 4.0, 0.01])),
        "c": V.gaussian([0, 2, 0], np.diag([2.0, 3.0, 0.02])),
    },
}
for name, shape in product(VECTORS, ("full", "diagonal", "equal")):
    add(f"shaped, {shape}: {name}", calibrated(VECTORS[name], alpha=3, epsilon=1, options={"shape": shape}))
for name, laws in VECTORS.items():
    add(f"shaped: {name}, alpha 2, epsilon 0.1", calibrated(laws, alpha=2, epsilon=0.1))
add("shaped, weights", calibrated(VECTORS["Gaussians"], alpha=3, epsilon=1, utility=tk.Utility(weights=[1, 10])))
add("shaped, floor", calibrated(VECTORS["Gaussians"], alpha=3, epsilon=1, options={"floor": 0.5}))
add("shaped, error", calibrated(VECTORS["Gaussians"], alpha=3, error=0.8))
add("shaped, odds", calibrated(VECTORS["Gaussians"], odds=3))
add("exact on vectors", calibrated(VECTORS["Gaussians"], alpha=3, epsilon=1, mechanism="exact"))


HEART = {"secret": "slope", "secrets": [1, 3]}
PUPILS = {"secret": "schoolsup"}
PEOPLE = {"secret": "race", "secrets": ["White", "Black", "Asian-Pac-Islander"]}


@cache
def fitted(name: str) -> object:
    """Priors that several cases share."""
    data, query, options = FITS[name]
    return tk.fit_priors(tk.datasets.load(data), query=query, **options)


def priors_of(name: str) -> Seen:
    """The priors as they were fitted."""
    return or_refusal(lambda: fitted(name), of_priors)


def to_each(name: str, **options: object) -> Case:
    """A calibration to priors of a table."""
    return calibrated(lambda: fitted(name), **options)


FITS = {
    "heart, counts": ("heart", tk.Raw("oldpeak"), HEART),
    "heart, mixture": ("heart", tk.Raw("oldpeak", prior="mixture"), HEART),
    "heart, gaussian": ("heart", tk.Raw("oldpeak", prior="gaussian"), HEART),
    "heart, empirical": ("heart", tk.Raw("oldpeak", prior="empirical"), HEART),
    "heart, unrounded": ("heart", tk.Raw("oldpeak", prior="mixture", step=0, max_components=4), HEART),
    "heart, age": ("heart", tk.Raw("age"), {"secret": "slope"}),
    "marks, counts": ("student-por", tk.Raw("G3", bounds=(0, 20), step=1), PUPILS),
    "marks, in twos": ("student-por", tk.Raw("G3", bounds=(0, 20), step=2), PUPILS),
    "marks, known sex": ("student-por", tk.Raw("G3", bounds=(0, 20), step=1), {**PUPILS, "known": ["sex"]}),
    "logarithms": ("adult", tk.Raw("hours-per-week", transform="log", step=0.1, bounds=(1, 99)), PEOPLE),
    "years": ("adult", tk.Raw("education-num", bounds=(1, 16), step=1), PEOPLE),
    "mean": ("student-por", tk.Mean("G3"), PUPILS),
    "mean by school": ("student-por", tk.Mean("G3", by="school"), PUPILS),
    "means": ("student-por", tk.Mean(["G1", "G2", "G3"]), PUPILS),
    "vectors": ("student-por", tk.Raw(["G1", "G3"], max_components=2), PUPILS),
    "vectors, gaussian": ("student-por", tk.Raw(["G1", "G2", "G3"], prior="gaussian"), PUPILS),
    "row": ("student-por", tk.Row("failures"), PUPILS),
    "rows": ("student-por", tk.Row("failures", "studytime"), PUPILS),
    "rows, list given": ("student-por", tk.Row("studytime", domain=[1, 2, 3, 4]), PUPILS),
    "rows, known": ("student-por", tk.Row("studytime"), {**PUPILS, "known": ["sex"]}),
    "rows, no smoothing": ("student-por", tk.Row("studytime", smoothing=0), PUPILS),
    "rows, binned": ("student-por", tk.Row(tk.binned("absences", [1, 5, 10])), PUPILS),
    "rows of a census": ("adult", tk.Row("marital-status"), PEOPLE),
    "rows, several secrets": ("student-por", tk.Row("studytime"), {"secret": ["schoolsup", "sex"], "few": "allow"}),
    "rows, absolute": ("student-por", tk.Row("studytime", loss="absolute"), PUPILS),
}
NOISY = [name for name in FITS if FITS[name][1].__class__ is not tk.Row]
CHANNELS = [name for name in FITS if name not in NOISY]
for name in FITS:
    add(f"priors: {name}", lambda name=name: priors_of(name))
for name in NOISY:
    add(f"fitted: {name}", to_each(name, alpha=3, epsilon=1))
for name in CHANNELS:
    add(f"fitted: {name}, odds 1.2", to_each(name, odds=1.2))
    add(f"fitted: {name}, odds 1.5, nothing kept", to_each(name, odds=1.5, preserve=None))
for mechanism in ("closed-form", "gmm-transport", "wasserstein", "wasserstein-aware"):
    add(f"fitted: marks, {mechanism}", to_each("marks, counts", alpha=3, epsilon=1, mechanism=mechanism))
for name in ("heart, gaussian", "marks, counts", "mean", "means"):
    add(f"confidence: {name}", to_each(name, alpha=3, epsilon=1, confidence=0.8, adversary=tk.Adversary(seed=5)))
for name in ("row", "rows, absolute"):
    add(f"confidence: {name}, odds 2", to_each(name, odds=2, confidence=0.8, adversary=tk.Adversary(seed=5)))
add("confidence: rows, known", to_each("rows, known", odds=2, preserve=None, confidence=0.8))
add("confidence: census", to_each("rows of a census", odds=2, preserve=None, confidence=0.8))
add("confidence: vectors", to_each("vectors, gaussian", alpha=3, epsilon=1, confidence=0.8))
add("confidence: a mixture", to_each("heart, mixture", alpha=3, epsilon=1, confidence=0.8))
add("confidence: columns", to_each("row", odds=2, confidence=0.8, preserve=None, options={"solver": "columns"}))
add("confidence: laws made by hand", calibrated(numbers, odds=2, confidence=0.9))
for name in ("marks, counts", "heart, counts"):
    add(f"band: {name}", to_each(name, alpha=2, epsilon=1, assurance="band"))
add("band: years, confidence 0.8", to_each("years", alpha=2, epsilon=1, assurance="band", confidence=0.8))
for name in ("row", "rows of a census"):
    add(f"band: {name}", to_each(name, odds=3, assurance="band"))
add("fitted: marks, best guess", to_each("marks, counts", alpha=8, best_guess=0.7))
add("fitted: years, error", to_each("years", alpha=8, error=0.5))
add("fitted: row, error", to_each("row", error=0.3))
add(
    "a column that there is not",
    lambda: or_refusal(lambda: tk.fit_priors("adult", secret="rase", query=tk.Row("sex")), of_priors),
)
