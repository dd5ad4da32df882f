"""What every channel is: a way from the true value to the published one, with all that a promise asks of it."""

from typing import Any, ClassVar, Protocol

from takifugu.divergences import Decision, Effort


class Channel(Protocol):
    """P(published | true): what it does to a law, what it loses, and a proof of that."""

    kind: ClassVar[str]

    def apply(self, law: Any) -> Any:
        """The law of what is published, for an answer of this law."""
        ...

    def loss(self, p: Any, q: Any, *, alpha: float) -> float:
        """D_α between what is published for p and for q."""
        ...

    def decide(self, p: Any, q: Any, *, alpha: float, epsilon: float, effort: Effort | None = None) -> Decision:
        """Whether that loss is `epsilon` at most, proved either way."""
        ...
