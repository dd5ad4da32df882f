"""The mechanisms by name: ours, and those that other packages install."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from importlib import import_module

from takifugu.errors import InputError, suggestion
from takifugu.mechanisms.base import Mechanism, require_mechanism

GROUP = "takifugu.mechanisms"  # the entry-point group of mechanisms that other packages install

# Each is loaded when it is first asked for: two Gaussians need no programs.
_OURS = {
    "exact": "least_noise.Exact",
    "laplace": "laplace.Laplace",
    "closed-form": "closed_form.ClosedForm",
    "closed-form-envelope": "closed_form.ClosedFormEnvelope",
    "gmm-transport": "transport.GmmTransport",
    "wasserstein": "wasserstein.Wasserstein",
    "wasserstein-approx": "wasserstein.WassersteinApprox",
    "wasserstein-aware": "wasserstein.WassersteinAware",
    "optimal": "optimal.mechanism.Optimal",
    "shaped": "shaped.Shaped",
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
    return {name: mechanism.summary for name, mechanism in (_ours() | _installed()).items()}


def is_ours(name: str) -> bool:
    """Whether a mechanism of that name comes with Takifugu."""
    return name in _OURS


def is_trusted(rule: Mechanism) -> bool:
    """Whether a rule is one of Takifugu's own that prove what they return; a subclass may have changed that."""
    return is_ours(rule.name) and type(rule) is _own(rule.name) and rule.proves


def label_of(name: str) -> str:
    """The name of a mechanism for readers; its own where it is not installed here."""
    if is_ours(name):
        return _own(name).label
    known = _installed()
    return known[name].label if name in known else name


def get_mechanism(name: object, options: Mapping[str, object]) -> Mechanism:
    """The mechanism of that name with these options; an object with its interface is taken as it is."""
    if not isinstance(name, str):
        if options:
            raise InputError(f"give the options to the mechanism itself, not to calibrate: {', '.join(options)}")
        rule = require_mechanism(name)
        if is_ours(rule.name) and type(rule) is not _own(rule.name):
            raise InputError(f"{rule.name!r} is the name of a mechanism of Takifugu's: give yours another")
        return rule
    refuse_former(name)
    if not is_ours(name) and name not in (installed := _installed()):
        known = [*_OURS, *installed]
        raise InputError(
            f"there is no mechanism {name!r}; there are {', '.join(map(repr, known))}.{suggestion(name, known)}"
        )
    mechanism = _own(name) if is_ours(name) else installed[name]
    accepted = {field.name for field in fields(mechanism)}
    for option in options:
        if option not in accepted:
            takes = f"only {', '.join(sorted(accepted))}" if accepted else "none"
            raise InputError(f"{name!r} has no option {option!r}: it takes {takes}")
    made: Callable[..., Mechanism] = mechanism
    return require_mechanism(made(**options))


def _own(name: str) -> type[Mechanism]:
    module, _, inside = _OURS[name].rpartition(".")
    found: type[Mechanism] = getattr(import_module(f"takifugu.mechanisms.{module}"), inside)
    return found


def _ours() -> dict[str, type[Mechanism]]:
    return {name: _own(name) for name in _OURS}


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
