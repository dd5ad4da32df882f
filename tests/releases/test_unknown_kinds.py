"""A channel or a law of a kind that nobody knows here is refused by its name, and never taken for Gaussian noise."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import takifugu as tk
from takifugu.channels.finite_channel import FiniteChannel
from takifugu.channels.gaussian import GaussianNoise
from takifugu.errors import CompositionError, InputError


@dataclass(frozen=True)
class Cauchy:
    """As like Gaussian noise as another channel can be: it has a size of the same name, and an infinite loss."""

    theta: float = 1.0
    kind: ClassVar[str] = "gaussian"

    @property
    def variance(self):
        return self.theta**2

    def apply(self, law):
        return law

    def loss(self, p, q, *, alpha):
        return 0.0


class Half(FiniteChannel):
    """A channel between lists of another kind."""


TABLE = pd.DataFrame({"s": [*"ab"] * 200, "x": [1.0, 2.0, 3.0, 5.0] * 100})
NOISE = tk.calibrate(tk.fit_priors(TABLE, secret="s", query=tk.Raw("x")), alpha=2, epsilon=0.5)
LIST = tk.calibrate(tk.fit_priors(TABLE, secret="s", query=tk.Row("x")), odds=2)
HALF = Half(LIST.channel.inputs, LIST.channel.outputs, LIST.channel.counts)


@pytest.mark.parametrize(("calibration", "channel"), [(NOISE, Cauchy(NOISE.theta)), (LIST, HALF)])
def test_no_calibration_holds_it(calibration, channel):
    with pytest.raises(InputError, match=f"{type(channel).__name__} is no channel known here"):
        replace(calibration, channel=channel)


def test_a_ledger_adds_up_releases_of_one_kind(tmp_path):
    book = tk.Ledger(tmp_path / "one.ledger")
    tk.release(TABLE, NOISE, ledger=book, order="shuffle")
    account = book.account()
    assert account.together(None, NOISE.channel).theta == pytest.approx(NOISE.theta)
    assert account.together(GaussianNoise(2 * NOISE.theta), NOISE.channel).theta < NOISE.theta
    with pytest.raises(CompositionError, match="another kind of noise"):
        account.together(LIST.channel, NOISE.channel)
    with pytest.raises(InputError, match="Cauchy is no channel known here"):
        account.together(Cauchy(1.0), NOISE.channel)


def test_a_law_that_is_no_mixture_is_not_taken_for_one():
    class Skewed:
        weights, means, stds = np.ones(1), np.zeros(1), np.ones(1)

    with pytest.raises(InputError, match="Skewed"):
        tk.calibrate({"a": Skewed(), "b": Skewed()}, alpha=2, epsilon=1)
