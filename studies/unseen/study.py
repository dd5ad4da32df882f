"""One table of the study: calibrated with the fixed settings, released, attacked, and measured."""

import math
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from studies.unseen.errors_of_noise import clipped, estimated
from studies.unseen.settings import ALPHA, COARSE, CONFIDENCE, EPSILON, ODDS, SEED, Unseen
from takifugu._validation import Array
from takifugu.audits.auditing import audit
from takifugu.audits.outcome import Audit
from takifugu.calibration import Calibration, calibrate
from takifugu.channels.finite_channel import FiniteChannel
from takifugu.laws.lattice import Lattice
from takifugu.problems.options import Utility
from takifugu.queries.fitting import fit_priors
from takifugu.queries.raw import Raw
from takifugu.queries.row import Row
from takifugu.releases import release

if TYPE_CHECKING:
    import pandas as pd


Tell = Callable[[str], None]


@dataclass(frozen=True)
class Numbers:
    """Mean square errors of the column of numbers, each over its variance.

    `channel` and the three of `noise` keep the same (α, ε) with the same confidence: noise as it is, clipped, and
    replaced by the best estimate. `kept` is the channel that also keeps the shares of all values, as noise does not.
    `odds` is the channel that bounds the odds. `sample_noise` and `sample_channel` keep (α, ε) for the sample alone.
    """

    channel: float
    kept: float
    noise: float
    noise_clipped: float
    noise_estimated: float
    odds: float
    sample_noise: float
    sample_channel: float

    @property
    def times(self) -> float:
        """How many times the square error of noise is that of the channel."""
        return _ratio(self.noise, self.channel)

    @property
    def times_kept(self) -> float:
        """How many times it is that of the channel which keeps the shares."""
        return _ratio(self.noise, self.kept)

    @property
    def times_sample(self) -> float:
        """How many times the error of noise is that of the channel, for the sample alone."""
        return _ratio(self.sample_noise, self.sample_channel)


def _ratio(noise: float, channel: float) -> float:
    return math.inf if channel == 0 else noise / channel


@dataclass(frozen=True)
class Line:
    """What was found on one table.

    `changed` is the share of labels that bounded odds change.
    """

    unseen: Unseen
    rows: int
    secrets: int
    rarest: int
    points: int
    numbers: Numbers
    changed: float
    audits: dict[str, Audit]
    seconds: float

    @property
    def contradicted(self) -> list[str]:
        """The releases whose guarantee an attack contradicts."""
        return [name for name, found in self.audits.items() if found.contradicted]


def study(unseen: Unseen, frame: "pd.DataFrame", tell: Tell = lambda _: None) -> Line:
    """Publish the numbers twice, the labels, and both together; attack all four; measure."""
    begin = time.process_time()
    lattice = Lattice(unseen.low, unseen.high, unseen.step)
    points = lattice.points.tolist()
    labels = sorted(set(frame[unseen.label]))
    raw = Raw(unseen.number, bounds=(unseen.low, unseen.high), step=unseen.step)
    row = Row(unseen.number, domain=points)
    coarse = points[:: -(-len(points) // COARSE)]
    both = Row(unseen.number, unseen.label, domain={unseen.number: coarse, unseen.label: labels})
    budget: dict[str, Any] = {"alpha": ALPHA, "epsilon": EPSILON}
    bounded: dict[str, Any] = {"odds": ODDS}

    def found(
        query: Raw | Row, guarantee: dict[str, Any], what: str, confidence: float | None = CONFIDENCE
    ) -> Calibration:
        tell(f"{unseen.name}: calibrating {what}")
        # What is to be known about the fit is a finding in the calibration; the warnings repeat it.
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            priors = fit_priors(frame, secret=unseen.secret, query=query)
            return calibrate(priors, confidence=confidence, **guarantee)

    noise = found(raw, budget, "noise")
    sample_noise = found(raw, budget, "noise for the sample", None)
    kept = found(row, budget, "the number, its shares kept")
    budget["preserve"] = bounded["preserve"] = None
    sample = found(row, budget, "the number for the sample", None)
    channels = {
        "number": found(row, budget, "the number"),
        "number, odds": found(row, bounded, "the number, odds"),
        "label, odds": found(Row(unseen.label, domain=labels), bounded, "the label, odds"),
        "both, odds": found(both, bounded, "both, odds"),
    }
    tables = {name: cast(FiniteChannel, one.channel) for name, one in channels.items()}
    audits = {}
    shuffled = frame.sample(frac=1, random_state=SEED).reset_index(drop=True)
    for name, calibration in channels.items():
        tell(f"{unseen.name}: attacking {name}")
        published = release(shuffled, calibration, order="keep", utility=Utility(allow_no_noise=True))
        audits[name] = audit(published, shuffled, calibration, seed=SEED)
    places, counts = np.unique(lattice.snap(frame[unseen.number].to_numpy(np.float64)), return_counts=True)
    shares = counts / counts.sum()
    variance = float(shares @ (places - shares @ places) ** 2)
    theta = noise.theta
    sizes = frame[unseen.secret].value_counts()
    return Line(
        unseen=unseen,
        rows=len(frame),
        secrets=len(sizes),
        rarest=int(sizes.min()),
        points=len(points),
        numbers=Numbers(
            channel=square_error(tables["number"], places, shares) / variance,
            kept=square_error(cast(FiniteChannel, kept.channel), places, shares) / variance,
            noise=theta**2 / variance,
            noise_clipped=clipped(places, shares, theta) / variance,
            noise_estimated=estimated(places, shares, theta) / variance,
            odds=square_error(tables["number, odds"], places, shares) / variance,
            sample_noise=sample_noise.theta**2 / variance,
            sample_channel=square_error(cast(FiniteChannel, sample.channel), places, shares) / variance,
        ),
        changed=share_changed(tables["label, odds"], frame[unseen.label].tolist()),
        audits=audits,
        seconds=time.process_time() - begin,
    )


def square_error(channel: FiniteChannel, places: Array, shares: Array) -> float:
    """The mean square error of what a channel publishes, over the values of the table."""
    rows = channel.matrix[channel.positions(places.tolist())]
    outputs = np.array(channel.outputs, dtype=np.float64)
    return float(shares @ (rows * (outputs - places[:, None]) ** 2).sum(axis=1))


def share_changed(channel: FiniteChannel, labels: list[str]) -> float:
    """The share of labels that are published as another."""
    outputs = {label: place for place, label in enumerate(channel.outputs)}
    values, counts = np.unique(labels, return_counts=True)
    rows = channel.matrix[channel.positions(values.tolist())]
    kept = np.array(
        [row[outputs[value]] if value in outputs else 0.0 for row, value in zip(rows, values.tolist(), strict=True)]
    )
    return float(1 - (counts / counts.sum()) @ kept)
