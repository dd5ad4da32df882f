"""The mechanisms by name: ours, and those that other packages install."""

from dataclasses import fields
from typing import Any

from takifugu.errors import InputError, suggestion
from takifugu.mechanisms.base import Mechanism, require_mechanism
from takifugu.mechanisms.closed_form import ClosedForm, ClosedFormEnvelope
from takifugu.mechanisms.laplace import Laplace
from takifugu.mechanisms.least_noise import Exact
from takifugu.mechanisms.optimal.mechanism import Optimal
from takifugu.mechanisms.shaped import Shaped
from takifugu.mechanisms.transport import GmmTransport
from takifugu.mechanisms.wasserstein import Wasserstein, WassersteinApprox, WassersteinAware

GROUP = "takifugu.mechanisms"  # the entry-point group of mechanisms that other packages install

_OURS: dict[str, type[Mechanism]] = {
    mechanism.name: mechanism
    for mechanism in (
        Exact,
        Laplace,
        ClosedForm,
        ClosedFormEnvelope,
        GmmTransport,
        Wasserstein,
        WassersteinApprox,
        WassersteinAware,
        Optimal,
        Shaped,
    )
}


# Names of earlier versions, with what there is instead.
_FORMER = {"sparse": "mechanism='optimal' with solver='columns', which it takes by itself beyond 2,000 values"}


def refuse_former(name: str) -> None:
    """Refuse a name that a mechanism of Takifugu's had."""
    if name in _FORMER:
        raise InputError(f"there is no mechanism {name!r} any more: use {_FORMER[name]}")


def list_mechanisms() -> dict[str, str]:
    """The names that `calibrate` takes as `mechanism`, with a sentence on each.

    >>> list(list_mechanisms())[:2]
    ['exact', 'laplace']
    """
    return {name: mechanism.summary for name, mechanism in (_OURS | _installed()).items()}


def is_ours(name: str) -> bool:
    """Whether a mechanism of that name comes with Takifugu."""
    return name in _OURS


def label_of(name: str) -> str:
    """The name of a mechanism for readers; its own where it is not installed here."""
    known = _OURS if name in _OURS else _installed()
    return known[name].label if name in known else name


def get_mechanism(name: Any, options: dict[str, Any]) -> Mechanism:
    """The mechanism of that name with these options; an object with its interface is taken as it is."""
    if not isinstance(name, str):
        if options:
            raise InputError(f"give the options to the mechanism itself, not to calibrate: {', '.join(options)}")
        rule = require_mechanism(name)
        if rule.name in _OURS and type(rule) is not _OURS[rule.name]:
            raise InputError(f"{rule.name!r} is the name of a mechanism of Takifugu's: give yours another")
        return rule
    refuse_former(name)
    known = _OURS if name in _OURS else _OURS | _installed()
    if name not in known:
        raise InputError(
            f"there is no mechanism {name!r}; there are {', '.join(map(repr, known))}.{suggestion(name, known)}"
        )
    mechanism = known[name]
    accepted = {field.name for field in fields(mechanism)}
    for option in options:
        if option not in accepted:
            takes = f"only {', '.join(sorted(accepted))}" if accepted else "none"
            raise InputError(f"{name!r} has no option {option!r}: it takes {takes}")
    return require_mechanism(mechanism(**options))


def _installed() -> dict[str, type[Mechanism]]:
    """What other packages offer; none takes a name of ours."""
    from importlib.metadata import entry_points

    found = {}
    for entry in entry_points(group=GROUP):
        mechanism = entry.load()
        if entry.name != getattr(mechanism, "name", None) or entry.name in _OURS:
            raise InputError(
                f"the entry point {entry.name!r} of the group {GROUP!r} must have the name of its mechanism, and none "
                f"of Takifugu's: mend or remove the package that installs it"
            )
        found[entry.name] = mechanism
    return found
