"""Draws the README's figure: the noise that each budget costs, for the paper's priors of the census.

`python scripts/draw_noise.py` writes docs/images/noise.svg; a test computes the figures of its description again.
"""

import sys
from pathlib import Path

import numpy as np

import takifugu as tk
from takifugu.reports import Panel, Picture, Scale, legend

TARGET = Path(__file__).parents[1] / "docs/images/noise.svg"
RULES = {
    "exact": "exact, certified",
    "gmm-transport": "the paper's bound (Theorem 4.1)",
    "wasserstein-aware": "Wasserstein (DAGWM)",
}
TOLD = (0.1, 0.5, 1.0, 5.0)  # the budgets whose figures the description names
WIDTH, HEIGHT = 440, 300  # beside text


def noise(budgets: list[float]) -> dict[str, list[float]]:
    """θ by each rule at each budget: education-num of the census, race White or Other, mixtures chosen by BIC."""
    asked = {"secret": "race", "secrets": ["White", "Other"], "query": tk.Raw("education-num", step=0)}
    frame = tk.sweep(tk.fit_priors("adult", **asked), alpha=3, epsilon=budgets, mechanism=list(RULES))
    return {rule: frame[frame["mechanism"] == rule].sort_values("epsilon")["theta"].tolist() for rule in RULES}


def description(found: dict[str, list[float]]) -> str:
    """The figures in words, for those who do not see them."""
    lines = [
        f"At ε = {budget:g}: " + ", ".join(f"{RULES[rule]} {found[rule][place]:.2f}" for rule in RULES)
        for place, budget in enumerate(TOLD)
    ]
    return "Standard deviation of Gaussian noise at α = 3. " + "; ".join(lines) + "."


def picture() -> Picture:
    """The figure."""
    budgets = np.geomspace(0.1, 5.0, 33).tolist()
    curves = noise(budgets)
    marks, used = legend(list(enumerate(RULES.values())), 8, 18, WIDTH - 16)
    panel = Panel(
        Scale(0.1, 5.0, 50, WIDTH - 24, is_log=True),
        Scale(0.0, 1.05 * max(map(max, curves.values())), HEIGHT - 48, used + 32),
    )
    panel.axes(x_label="budget ε (smaller is more private)", y_label="noise θ, in years of education")
    for place, theta in enumerate(curves.values()):
        panel.curve(np.array(budgets), np.array(theta), place, width=2.8 if place == 0 else 2.0)
    told = description(noise(list(TOLD)))
    return Picture("tk-hero", "Noise against budget, α = 3", told, WIDTH, HEIGHT, [*marks, *panel.parts])


def main() -> None:
    """Write the figure."""
    TARGET.unlink(missing_ok=True)
    picture().save(TARGET)
    TARGET.chmod(0o644)


if __name__ == "__main__":
    sys.exit(main())
