"""The families of noise on numbers by name: ours, and those that other packages install."""

from importlib import import_module
from importlib.metadata import entry_points

from takifugu.channels.noise import Noise
from takifugu.errors import InputError

GROUP = "takifugu.noises"  # the entry-point group of families that other packages install
_OURS = {"gaussian": "gaussian.GaussianNoise", "laplace": "laplace.LaplaceNoise"}


def noise_family(kind: str) -> type[Noise]:
    """The family of that name; an error where there is none.

    >>> noise_family("laplace").parameter
    'scale'
    """
    if kind in _OURS:
        module, _, name = _OURS[kind].rpartition(".")
        found: type[Noise] = getattr(import_module(f"takifugu.channels.{module}"), name)
        return found
    for entry in entry_points(group=GROUP):
        if entry.name == kind:
            family: type[Noise] = entry.load()
            if family.kind != kind:
                raise InputError(f"the entry point {kind!r} of {GROUP!r} must have the name of its family")
            return family
    raise InputError(f"there is no noise of the kind {kind!r}; there are {', '.join(map(repr, noise_kinds()))}")


def noise_kinds() -> list[str]:
    """The names of all families.

    >>> noise_kinds()[:2]
    ['gaussian', 'laplace']
    """
    return [*_OURS, *(entry.name for entry in entry_points(group=GROUP))]
