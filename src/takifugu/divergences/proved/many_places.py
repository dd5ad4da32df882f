"""Claims about every place of a problem settled, in this process or shared out among several.

Each place is a claim of its own, so nothing is lost by proving them side by side. Processes and not threads: the
precision of the balls is one setting for a whole process. A process loads this file to begin with, and this room is
loaded in a fraction of the time that certificates take.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from takifugu.divergences.proved.balls import Enclosure
from takifugu.divergences.proved.certified import Decision
from takifugu.divergences.proved.effort import Effort
from takifugu.divergences.proved.family import Family
from takifugu.divergences.proved.shared_grid import SharedGrid
from takifugu.errors import InputError
from takifugu.laws.mixture import Mixture

Proof = TypeVar("Proof")
Progress = Callable[[int, int], None]
Index = tuple[int, int, int]  # a belief, and the positions of the two secrets

_SHARES = 16  # that each process gets one after another: places differ in difficulty, and progress is told after each


@dataclass(frozen=True)
class Claims:
    """What is to be proved: at each place, that the loss lies within an enclosure.

    `enclose` asks for a sharp enclosure of what was proved, and not only for the verdict.
    """

    beliefs: tuple[tuple[Mixture, ...], ...]
    alpha: float
    theta: float
    places: Sequence[Index]
    losses: Sequence[Enclosure]
    enclose: bool

    def settled(self, effort: Effort | None, grids: Sequence[SharedGrid | None] | None = None) -> Iterator[Decision]:
        """The decision at each place, in order, within the work that may be spent on all of them."""
        return map(self.settling(effort, grids), self.places, self.losses)

    def settling(
        self, effort: Effort | None, grids: Sequence[SharedGrid | None] | None = None
    ) -> Callable[[Index, Enclosure], Decision]:
        """A function that decides on one place after another: what they have in common is worked out once."""
        families = [
            Family(laws, alpha=self.alpha, theta=self.theta, effort=effort, grid=grid)
            for laws, grid in zip(self.beliefs, grids or [None] * len(self.beliefs), strict=True)
        ]

        def settle(place: Index, loss: Enclosure) -> Decision:
            belief, i, j = place
            return families[belief].settle(i, j, loss, enclose=self.enclose)

        return settle

    def part(self, start: int, end: int) -> "Claims":
        """Some of the places."""
        return Claims(
            self.beliefs, self.alpha, self.theta, self.places[start:end], self.losses[start:end], self.enclose
        )


def settle_all(
    claims: Claims, *, effort: Effort | None = None, workers: int = 1, progress: Progress | None = None
) -> Iterator[Decision]:
    """The decision at each place, in order; `progress` is called with the number of places done and of all."""
    if isinstance(workers, bool) or not isinstance(workers, int) or workers < 1:
        raise InputError(f"workers must be a whole number of processes, 1 or more, got {workers!r}")
    decisions = claims.settled(effort) if workers == 1 else _shared_out(claims, effort, workers)
    return counted(decisions, len(claims.places), progress)


def counted(proofs: Iterator[Proof], count: int, progress: Progress | None) -> Iterator[Proof]:
    """The same proofs, told as they come: one call before each, and one after the last."""
    for done in range(count):
        if progress is not None:
            progress(done, count)
        yield next(proofs)
    if progress is not None:
        progress(count, count)


def _shared_out(claims: Claims, effort: Effort | None, workers: int) -> Iterator[Decision]:
    """The decisions of several processes, each with its share of the limit.

    A share that is harder than others may meet its part. What it leaves open is decided here, within the whole limit:
    what one process proves several prove too, whichever of them a share fell to, and with twice the work at most.
    """
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    count = len(claims.places)
    length = max(1, -(-count // (_SHARES * workers)))
    parts = [claims.part(start, start + length) for start in range(0, count, length)]
    limit = None if effort is None else max(1, effort.limit // len(parts))
    settle = claims.settling(effort)
    # Started afresh, not forked: a copy of a process with threads may hold a lock for ever.
    with ProcessPoolExecutor(workers, mp_context=get_context("spawn")) as pool:
        try:
            for part, decisions in zip(parts, pool.map(_one_share, parts, [limit] * len(parts)), strict=True):
                for place, loss, decision in zip(part.places, part.losses, decisions, strict=True):
                    again = decision.holds is None and effort is not None
                    yield settle(place, loss) if again else decision
        except BaseException:
            pool.shutdown(cancel_futures=True)
            raise


def _one_share(claims: Claims, limit: int | None) -> list[Decision]:
    effort = None if limit is None else Effort(limit)
    return list(claims.settled(effort, _grids(claims.beliefs, claims.alpha, claims.theta)))


@lru_cache(maxsize=1)
def _grids(beliefs: tuple[tuple[Mixture, ...], ...], alpha: float, theta: float) -> list[SharedGrid]:
    """The grids of a process that settles share after share about the same laws."""
    return [SharedGrid(laws, alpha=alpha, theta=theta) for laws in beliefs]
