"""What an adversary may believe: one distribution of the answer per secret, and possibly several such beliefs."""

import math
from collections.abc import Hashable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from takifugu.errors import InputError
from takifugu.laws.mixture import Mixture

_LARGEST = 1e150


class Belief(Mapping[Hashable, Mixture]):
    """One distribution per secret; a dictionary that cannot change."""

    __slots__ = ("_priors",)

    def __init__(self, priors: Mapping[Hashable, Mixture]) -> None:
        """Copy the mapping."""
        self._priors = dict(priors)

    def __getitem__(self, secret: Hashable) -> Mixture:
        """The distribution of the answer given the secret."""
        return self._priors[secret]

    def __iter__(self) -> Iterator[Hashable]:
        """The secrets, in the order given."""
        return iter(self._priors)

    def __len__(self) -> int:
        """The number of secrets."""
        return len(self._priors)

    def __hash__(self) -> int:
        """Consistent with equality, which is that of mappings."""
        return hash(frozenset(self._priors.items()))

    def __repr__(self) -> str:
        """As a dictionary."""
        return repr(self._priors)


def beliefs_from(priors: Any) -> tuple[Belief, ...]:
    """One or several mappings as a tuple of beliefs about the same secrets."""
    given = [priors] if isinstance(priors, Mapping) else priors
    if isinstance(given, str | bytes | Mixture) or not isinstance(given, Iterable):
        raise InputError(
            f"priors must be a mapping from secret to Mixture, or a list of such mappings, got {type(priors).__name__}"
        )
    beliefs = []
    for belief in given:
        if not isinstance(belief, Mapping):
            raise InputError(f"each belief must be a mapping from secret to Mixture, got {type(belief).__name__}")
        for secret, prior in belief.items():
            if isinstance(secret, float) and not math.isfinite(secret):
                raise InputError(f"a secret must be a value that can be named, got {secret!r}: drop or rename it")
            if not isinstance(prior, Mixture):
                raise InputError(
                    f"the prior of {secret!r} must be a Mixture, got {type(prior).__name__}: make one with "
                    f"Mixture.gaussian, Mixture.empirical or Mixture.fit"
                )
        _require_room(belief)
        beliefs.append(Belief(belief))
    if not beliefs or not beliefs[0]:
        raise InputError("priors is empty: give at least two secrets with a Mixture each")
    for belief in beliefs[1:]:
        if set(belief) != set(beliefs[0]):
            odd = set(belief) ^ set(beliefs[0])
            raise InputError(
                f"every belief must be about the same secrets; not in all of them: {sorted(odd, key=repr)}"
            )
    return tuple(beliefs)


def _require_room(belief: Mapping[Any, Mixture]) -> None:
    """No number so large that a variance leaves the range of floats; all priors at once, for there may be a million."""
    numbers = [array for prior in belief.values() for array in (prior.means, prior.stds)]
    if not numbers or float(np.abs(np.concatenate(numbers)).max()) <= _LARGEST:
        return
    for secret, prior in belief.items():
        reach = max(float(abs(prior.means).max()), float(prior.stds.max()))
        if reach > _LARGEST:
            raise InputError(
                f"the prior of {secret!r} reaches {reach:g}, and above {_LARGEST:g} a variance leaves the range of "
                f"numbers here: use a larger unit"
            )
