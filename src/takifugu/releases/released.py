"""What a release hands back for an array: the values, with what may be said about them."""

from typing import Any, Self

import numpy as np

from takifugu._validation import Array


class Released(np.ndarray[Any, np.dtype[np.float64]]):
    """An array of published values that states its noise and granularity.

    `theta` and `granularity` (None where nothing was rounded) may be published with the values. Of vectors `covariance`
    is that of the noise, and `theta` no number. `unchecked` says in sentences what could not be checked. `insecure` is
    True where a seed was used: such values are for tests. Slices keep the statement; what is computed from the values
    is a plain array.
    """

    theta: float
    granularity: float | None
    insecure: bool
    unchecked: tuple[str, ...]
    covariance: Array | None

    def __new__(
        cls,
        values: Array,
        *,
        theta: float = np.nan,
        granularity: float | None,
        insecure: bool,
        unchecked: tuple[str, ...] = (),
        covariance: Array | None = None,
    ) -> Self:
        """Wrap the values, without a copy."""
        self = np.asarray(values, dtype=np.float64).view(cls)
        self.theta, self.granularity, self.insecure, self.unchecked = theta, granularity, insecure, unchecked
        self.covariance = covariance
        return self

    def __array_finalize__(self, obj: Any) -> None:
        """Carry the statement over to views."""
        self.theta = getattr(obj, "theta", np.nan)
        self.granularity = getattr(obj, "granularity", None)
        self.insecure = getattr(obj, "insecure", False)
        self.unchecked = getattr(obj, "unchecked", ())
        self.covariance = getattr(obj, "covariance", None)

    def __array_wrap__(self, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
        """Results of arithmetic are not releases."""
        plain = np.asarray(array)
        return plain[()] if return_scalar or plain.ndim == 0 else plain  # NumPy 1 does not say which it wants

    def __reduce__(self) -> Any:
        """Pickle the statement with the values."""
        told = (self.theta, self.granularity, self.insecure, self.unchecked, self.covariance)
        return _rebuilt, (np.asarray(self), *told)

    def __repr__(self) -> str:
        """The values and the statement; a seed is not left unsaid."""
        seeded = ", insecure=True" if self.insecure else ""
        noise = f"theta={self.theta:.6g}, granularity={self.granularity}"
        if self.covariance is not None:
            noise = f"covariance={self.covariance.tolist()}"
        return f"Released({np.asarray(self)!r}, {noise}{seeded})"


def _rebuilt(
    values: Array,
    theta: float,
    granularity: float | None,
    insecure: bool,
    unchecked: tuple[str, ...],
    covariance: Array | None = None,
) -> Released:
    return Released(
        values,
        theta=theta,
        granularity=granularity,
        insecure=insecure,
        unchecked=unchecked,
        covariance=covariance,
    )
