"""What was found: a channel, the promise it keeps, and the problem it keeps it for."""

import os
from dataclasses import dataclass, field, replace
from typing import Any

from takifugu._display import Plotted
from takifugu.calibration import form
from takifugu.calibration.checking import noise_is_enough
from takifugu.calibration.kinds import expected_loss
from takifugu.calibration.words import told
from takifugu.channels.base import Channel
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.channels.listed import ListChannel
from takifugu.channels.vector import GaussianVector
from takifugu.documents import strict_json
from takifugu.errors import InputError
from takifugu.mechanisms.assurance import Band
from takifugu.mechanisms.base import Mechanism
from takifugu.mechanisms.evidence import Confidence
from takifugu.mechanisms.losses import Losses
from takifugu.mechanisms.optimal.mechanism import Optimal, rule_of
from takifugu.mechanisms.shaped.mechanism import Shaped, is_proved
from takifugu.mechanisms.sparse.mechanism import Sparse
from takifugu.problems.answer import Answer
from takifugu.problems.beliefs import Belief
from takifugu.problems.findings import Finding
from takifugu.problems.guarantee import Guarantee, Renyi
from takifugu.problems.pairs import Pair, Pairs
from takifugu.problems.problem import Place, Problem


@dataclass(frozen=True)
class Calibration(Plotted):
    """A channel that keeps a promise for a problem, and how it was found.

    `place` is the belief and pair closest to the limit. `theta` is the standard deviation of the noise, where the
    channel is Gaussian noise. `error` is what a published value is expected to lose; where `lower_bound` is a number,
    no channel between these values that keeps the promise loses less, and `optimality` holds what proves it.
    """

    problem: Problem = field(repr=False)
    guarantee: Guarantee
    channel: Channel
    mechanism: str
    place: Place
    options: tuple[tuple[str, Any], ...] = ()
    lower_bound: float | None = None
    optimality: Any = field(default=None, repr=False, compare=False)
    evidence: Confidence | Band | None = None

    @property
    def answer(self) -> Answer | None:
        """What may be published through it; None for priors made by hand, which name no answer."""
        return self.problem.answer

    @property
    def findings(self) -> tuple[Finding, ...]:
        """What there is to know about the data behind the priors."""
        return self.problem.findings

    def with_finding(self, finding: Finding) -> "Calibration":
        """The same calibration with one more remark."""
        return replace(self, problem=replace(self.problem, findings=(*self.problem.findings, finding)))

    @property
    def theta(self) -> float:
        """The standard deviation of the Gaussian noise; an `AttributeError` for a channel that adds none."""
        if not isinstance(self.channel, GaussianNoise):
            raise AttributeError(f"a {type(self.channel).__name__} has no theta: see .channel and .error")
        return self.channel.theta

    @property
    def variance(self) -> float:
        """θ², the mean square error that the noise costs a published value."""
        return self.theta * self.theta

    @property
    def error(self) -> float:
        """The expected loss of a published value: for Gaussian noise its square error."""
        return expected_loss(self._price, self.problem, self.channel)

    @property
    def _rule(self) -> Optimal:
        """The options of a finite channel: what was to be lost least, and for which priors."""
        return rule_of(self.mechanism, dict(self.options))

    @property
    def _price(self) -> Mechanism:
        """The rule that knows what a published value loses."""
        kind = {Shaped.name: Shaped, Sparse.name: Sparse}.get(self.mechanism)
        return self._rule if kind is None else kind(**dict(self.options))

    @property
    def alpha(self) -> float:
        """The Rényi order of the promise."""
        return self.guarantee.alpha

    @property
    def epsilon(self) -> float:
        """The budget of the promise."""
        return self.guarantee.epsilon

    @property
    def pairs(self) -> Pairs:
        """The pairs of secrets that are hidden from one another."""
        return self.problem.pairs

    @property
    def beliefs(self) -> tuple[Belief, ...]:
        """What the adversary may believe."""
        return self.problem.beliefs

    @property
    def priors(self) -> Belief | tuple[Belief, ...]:
        """The priors as they were given: one mapping, or several beliefs."""
        return self.beliefs[0] if len(self.beliefs) == 1 else self.beliefs

    @property
    def worst_pair(self) -> Pair:
        """The pair closest to the limit, in its worse direction."""
        return self.problem.names(self.place)

    @property
    def losses(self) -> Losses:
        """The exact privacy loss of each directed pair through the channel, computed when asked for."""
        return Losses(self.problem, self.channel, self.alpha)

    @property
    def loss(self) -> float:
        """The loss at the place closest to the limit."""
        return self.channel.loss(*self.problem.ends(self.place), alpha=self.alpha)

    def __str__(self) -> str:
        """What was found, in sentences."""
        return told(self)

    def meets_budget(self) -> bool:
        """Whether the channel is seen, once more, to keep the promise for every pair and belief.

        A release asks this, since a calibration may come from a file that somebody has changed. Places that a bound
        does not clear are decided in ball arithmetic; for a proof of all see `takifugu.certify`.
        """
        if self.evidence is not None and not (
            isinstance(self.guarantee, Renyi) and self.evidence.holds(self.problem, self.channel, self.guarantee)
        ):
            return False
        if isinstance(self.channel, ListChannel):
            return isinstance(self.guarantee, Renyi) and self._rule.is_kept(self.problem, self.guarantee, self.channel)
        if isinstance(self.channel, GaussianVector):
            return is_proved(self.problem, self.guarantee, self.channel)
        if not isinstance(self.channel, GaussianNoise):
            raise InputError(f"a {type(self.channel).__name__} is no channel known here")
        return noise_is_enough(
            self.problem, self.channel, self.guarantee, mechanism=self.mechanism, options=dict(self.options)
        )

    def to_dict(self) -> dict[str, Any]:
        """Everything, as plain values for JSON; no float loses a bit. It holds the priors: keep it private.

        Losses are listed up to 10,000 directed pairs; beyond that only the worst is.
        """
        return form.whole(self)

    def essentials(self) -> dict[str, Any]:
        """What everything else follows from: nothing computed anew, so the same on every machine, to the last bit."""
        return form.essentials(self)

    @classmethod
    def from_dict(cls, data: Any) -> "Calibration":
        """What `to_dict` wrote, validated again. Nothing is proved by it: see `certify`."""
        found = cls.from_essentials(form.essential_part(data))
        form.require_own_figures(data, found)
        return found

    @classmethod
    def from_essentials(cls, data: Any) -> "Calibration":
        """What `essentials` gave, validated again."""
        return cls(**form.parts(data))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the file that `load`, `takifugu certify` and `takifugu release` take. It holds the priors."""
        strict_json.write(self.to_dict(), path, private=True)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "Calibration":
        """Read what `save` wrote."""
        data = strict_json.read(path, most_bytes=1 << 28)
        try:
            return cls.from_dict(data)
        except InputError as error:
            raise InputError(f"{os.fspath(path)!r} cannot be used: {error}") from None
