"""`python -m studies.chains`: noise on counts of a chain by four rules, as Markdown, and their picture.

`python -m studies.chains people FOLDER` leaves each of five people of real actigraphy out, and looks at what they lose.
The recordings are not ours to hand on: they are test files of pyActigraphy (GPL-3.0), `pip download --no-deps
pyActigraphy==1.2.2` and unpack it; FOLDER is its pyActigraphy/tests/data.
"""

import math
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np

import takifugu as tk
from takifugu.calibration.of_people import beyond, kept_for_people
from takifugu.dependence.people import FittedChain, PeoplePriors
from takifugu.problems import Guarantee
from takifugu.reports.svg import PICTURE_WIDTH, Panel, Picture, Scale, legend

LENGTH = 100
TURNS = ("0.4", "0.3", "0.2", "0.1")  # P(1 | 0), and P(0 | 1)
FINER = ("0.45", "0.35", "0.25", "0.15", "0.07", "0.05")


class Rules(NamedTuple):
    """What hides the state at every time in a count of 100 times, with odds within e."""

    turns: float
    quilt: float  # scale of Laplace noise by the Markov Quilt Mechanism
    wasserstein: float  # W∞: the scale by the Wasserstein Mechanism
    laplace: float  # the least scale
    channel: float  # root mean square error of the best channel
    seconds: float


def rules(turns: str) -> Rules:
    """All four, for one chain."""
    start, stays = time.process_time(), 1 - Fraction(turns)
    chain = tk.MarkovChain([[stays, turns], [turns, stays]])
    beliefs = chain.priors(LENGTH, tk.Count(1))
    asked = tk.Odds(math.e)
    wasserstein = tk.calibrate(beliefs, asked, mechanism="wasserstein-laplace").channel.as_noise().size
    laplace = tk.calibrate(beliefs, asked, mechanism="laplace").channel.as_noise().size
    best = math.sqrt(tk.calibrate(beliefs, asked).error)
    quilt = tk.MarkovQuilt(chain, LENGTH).scale(1.0)
    return Rules(float(turns), quilt, wasserstein, laplace, best, time.process_time() - start)


def table(found: list[Rules]) -> str:
    """Markdown: scales of Laplace noise, and root mean square errors."""
    head = (
        "P(1 after 0), P(1 after 1)",
        "Markov Quilt",
        "W∞",
        "exact Laplace",
        "RMSE of it",
        "RMSE of the best channel",
    )
    rows = [head, ("---", *["--:"] * 5)]
    for one in found:
        scales = (f"{one.quilt:.3f}", f"{one.wasserstein:.0f}", f"{one.laplace:.3f}")
        errors = (f"{math.sqrt(2) * one.laplace:.2f}", f"{one.channel:.3g}")
        rows.append((f"{one.turns:g}, {1 - one.turns:g}", *scales, *errors))
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def picture(found: list[Rules]) -> Picture:
    """Root mean square errors over how often the state turns."""
    found = sorted(found)
    width, height = PICTURE_WIDTH, 330
    panel = Panel(Scale(0.05, 0.45, 54, width - 16), Scale(0.02, 200, height - 70, 34, is_log=True))
    panel.axes(x_label="probability of turning at each time", y_label="root mean square error of the count")
    x = np.array([one.turns for one in found])
    lines = {
        "Markov Quilt": [math.sqrt(2) * one.quilt for one in found],
        "W∞": [math.sqrt(2) * one.wasserstein for one in found],
        "exact Laplace": [math.sqrt(2) * one.laplace for one in found],
        "best channel": [one.channel for one in found],
    }
    for index, values in enumerate(lines.values()):
        panel.curve(x, np.array(values), index)
    names, _ = legend(list(enumerate(lines)), 20, height - 12, width - 40)
    said = "; ".join(f"{name} {values[0]:.3g} to {values[-1]:.3g}" for name, values in lines.items())
    return Picture(
        "tk-chains",
        "Noise on a count of 100 times",
        f"From turning rarely to often: {said}.",
        width,
        height,
        [*panel.parts, *names],
    )


# People held out: five wrists, at rest or active in each quarter of an hour.


def recordings(folder: Path) -> Iterator[np.ndarray]:
    """Of each of five people: 1 where a quarter of an hour has more activity than the median one that has any."""
    for path in sorted(folder.glob("example_0?.AWD")):
        lines = path.read_text(encoding="utf-8", errors="replace").splitlines()[7:]
        counts = np.array([float(line.split(",")[0].strip().split(" ")[0] or 0) for line in lines if line.strip()])
        minutes = int(15 * 60 / 30)
        quarters = counts[: len(counts) // minutes * minutes].reshape(-1, minutes).sum(axis=1)
        worn = quarters[: np.flatnonzero(quarters)[-1] + 1]
        yield (worn > np.median(worn[worn > 0])).astype(int)


def matrix(states: np.ndarray) -> np.ndarray:
    """How often each state followed each."""
    found = np.zeros((2, 2))
    np.add.at(found, (states[:-1], states[1:]), 1)
    return found


def held_out(folder: Path, *, length: int = 96) -> Iterator[str]:
    """What each loses whose chain was not among the other four, with and without confidence."""
    counts = np.array([matrix(one) for one in recordings(folder)])
    for person, own in enumerate(counts):
        others = FittedChain(np.delete(counts, person, axis=0), (0, 1))  # ten are asked for; here it is the question
        priors = PeoplePriors(others, length, tk.Count(1))
        chain = (own + 0.5) / (own + 0.5).sum(axis=1, keepdims=True)
        asked = tk.Odds(math.e)

        def find(held: Sequence[Mapping[object, tk.Finite]], aim: Guarantee) -> tk.Calibration:
            return tk.calibrate(held, aim, mechanism="laplace")

        plain = find(list(priors), asked)
        sure = kept_for_people(priors, find, asked, level=0.95, seed=0)
        losses = [most_lost(priors, made, chain) for made in (plain, sure)]
        quilts = [tk.MarkovQuilt(one, length).epsilon(0.1) for one in (tk.MarkovChain(others.transition), others)]
        truth = tk.MarkovQuilt(tk.MarkovChain(chain.tolist()), length).epsilon(0.1)
        scales = [made.channel.as_noise().size for made in (plain, sure)]
        yield (
            f"| {person + 1} | {chain[0, 1]:.3f}, {chain[1, 1]:.3f} | {scales[0]:.2f} | {losses[0]:.3f} | "
            f"{scales[1]:.2f} | {losses[1]:.3f} | {quilts[0]:.2f} | {quilts[1]:.2f} | {truth:.2f} |"
        )


def most_lost(priors: PeoplePriors, made: tk.Calibration, chain: np.ndarray) -> float:
    """The largest loss of a person of this chain, in ε."""
    lost = beyond(priors, made, [chain], room=-1.0)
    return lost[0].share


def main(arguments: list[str]) -> None:
    """Print what was found."""
    if arguments[:1] == ["people"]:
        head = ("left out", "P(1 after 0), P(1 after 1)", *["scale", "loss"] * 2, *["quilts"] * 2, "of their own")
        print(f"| {' | '.join(head)} |\n| {' | '.join(['--:'] * len(head))} |")
        for line in held_out(Path(arguments[1])):
            print(line, flush=True)
        return
    found = [rules(turns) for turns in TURNS]
    print(table(found))
    print(f"\nAll of a line in {max(one.seconds for one in found):.0f} seconds of processor time or less.")
    for folder in arguments:
        picture([*found, *map(rules, FINER)]).save(Path(folder) / "chains.svg")


if __name__ == "__main__":
    main(sys.argv[1:])
