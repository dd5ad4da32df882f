"""The mechanisms by name."""

from dataclasses import fields
from typing import Any

from takifugu.errors import InputError
from takifugu.mechanisms.additive.closed_form import ClosedForm
from takifugu.mechanisms.additive.closed_form_envelope import ClosedFormEnvelope
from takifugu.mechanisms.additive.exact import Exact
from takifugu.mechanisms.additive.gmm_transport import GmmTransport
from takifugu.mechanisms.additive.wasserstein import Wasserstein
from takifugu.mechanisms.additive.wasserstein_approx import WassersteinApprox
from takifugu.mechanisms.additive.wasserstein_aware import WassersteinAware
from takifugu.mechanisms.base import Mechanism

__all__ = ["Mechanism", "get_mechanism", "list_mechanisms"]

_MECHANISMS: dict[str, type[Mechanism]] = {
    mechanism.name: mechanism
    for mechanism in (
        Exact,
        ClosedForm,
        ClosedFormEnvelope,
        GmmTransport,
        Wasserstein,
        WassersteinApprox,
        WassersteinAware,
    )
}


def list_mechanisms() -> dict[str, str]:
    """The names that `calibrate` takes as `mechanism`, with a sentence on each.

    >>> list(list_mechanisms())[:2]
    ['exact', 'closed-form']
    """
    return {name: mechanism.summary for name, mechanism in _MECHANISMS.items()}


def get_mechanism(name: str, options: dict[str, Any]) -> Mechanism:
    """The mechanism of that name with these options."""
    if not isinstance(name, str) or name not in _MECHANISMS:
        raise InputError(f"there is no mechanism {name!r}; there are {', '.join(map(repr, _MECHANISMS))}")
    mechanism = _MECHANISMS[name]
    accepted = {field.name for field in fields(mechanism)}
    for option in options:
        if option not in accepted:
            takes = f"only {', '.join(sorted(accepted))}" if accepted else "none"
            raise InputError(f"{name!r} has no option {option!r}: it takes {takes}")
    return mechanism(**options)
