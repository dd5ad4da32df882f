"""A channel or a law of a kind that nobody knows here is refused by its name, and never taken for Gaussian noise."""

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
import pytest

import takifugu as tk
from takifugu.channels.finite import FiniteChannel
from takifugu.channels.gaussian import GaussianNoise
from takifugu.documents.nouns import law_to
from takifugu.errors import CompositionError, InputError, TakifuguError
from takifugu.releases.accounts import noise_text, terms_of
from takifugu.releases.drawing import drawing_of
from takifugu.releases.drift import Drift


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
UNKNOWN = replace(NOISE, channel=Cauchy(NOISE.theta))
HALF = replace(LIST, channel=Half(LIST.channel.inputs, LIST.channel.outputs, LIST.channel.counts))


@pytest.mark.parametrize(("calibration", "name"), [(UNKNOWN, "Cauchy"), (HALF, "Half")])
def test_nothing_is_drawn_through_it(calibration, name):
    with pytest.raises(InputError, match=f"published through a {name}"):
        drawing_of(calibration, {})


def test_nothing_is_held_against_it_and_nothing_accounted_for_it():
    for work in (
        lambda: Drift.of(UNKNOWN, UNKNOWN.channel),
        lambda: noise_text(UNKNOWN, theta=UNKNOWN.channel.theta),
        lambda: terms_of(UNKNOWN, b"salt"),
        lambda: UNKNOWN.error,
        lambda: tk.release(TABLE, UNKNOWN),
        lambda: tk.certify(UNKNOWN),
        lambda: tk.report(UNKNOWN, None),
    ):
        with pytest.raises(TakifuguError, match="Cauchy"):
            work()


def test_no_attack_is_left_out_without_a_word():
    with pytest.raises(TakifuguError, match="Cauchy"):
        tk.audit(TABLE[["x"]], TABLE, UNKNOWN)


def test_a_ledger_adds_up_releases_of_one_kind(tmp_path):
    book = tk.Ledger(tmp_path / "one.ledger")
    tk.release(TABLE, NOISE, ledger=book, order="shuffle")
    account = book.account()
    assert account.together(None).theta == pytest.approx(NOISE.theta)
    assert account.together(GaussianNoise(2 * NOISE.theta)).theta < NOISE.theta
    for other in (LIST.channel, Cauchy(1.0)):
        with pytest.raises(CompositionError, match="another kind of noise"):
            account.together(other)


def test_a_law_that_is_no_mixture_is_not_written_as_one():
    class Skewed:
        weights, means, stds = np.ones(1), np.zeros(1), np.ones(1)

    with pytest.raises(InputError, match="Skewed has no form"):
        law_to(Skewed())
