"""Which rows a calibration protects."""

from typing import Any

import numpy as np
import numpy.typing as npt

from takifugu.calibration import Calibration
from takifugu.errors import InputError

OTHERS = ("error", "drop", "release")


def check_others(others: str) -> None:
    """Refuse what is not a way to treat rows of other secrets."""
    if others not in OTHERS:
        raise InputError(f"others must be one of {', '.join(map(repr, OTHERS))}, got {others!r}")


def protected_secrets(calibration: Calibration) -> frozenset[Any]:
    """The secrets that stand in at least one of the pairs."""
    pairs = calibration.pairs
    if pairs.is_every:
        return frozenset(pairs.secrets)
    return frozenset(secret for pair in pairs for secret in pair)


def protected_rows(secrets: list[Any], calibration: Calibration, others: str) -> npt.NDArray[np.bool_] | None:
    """The rows to keep, None for all; an error where a row is of another secret and `others` is "error"."""
    if others == "release":
        return None
    known = protected_secrets(calibration)
    kept = np.fromiter((secret in known for secret in secrets), dtype=np.bool_, count=len(secrets))
    if kept.all():
        return None
    if others == "drop":
        return kept
    raise InputError(
        f"{int((~kept).sum())} of {len(secrets)} rows have a secret outside the calibrated pairs: "
        f"nothing bounds what their values would tell. Calibrate with those secrets, give others='drop' to leave "
        f"the rows out, or others='release' to publish them without a guarantee. Calibrated are {_listed(known)}"
    )


def _listed(secrets: frozenset[Any]) -> str:
    names = sorted(map(repr, secrets))
    return ", ".join(names[:12]) + (f" and {len(names) - 12} more" if len(names) > 12 else "")
