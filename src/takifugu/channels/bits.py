"""Where the random bits of a release come from."""

import os
from typing import Protocol

import numpy as np

from takifugu.errors import InputError, TakifuguError


class BitSource(Protocol):
    """Independent fair bits, as many as are asked for."""

    def read(self, count: int) -> bytes:
        """`count` bytes that nobody has seen and nobody will see again."""
        ...


def read_exactly(source: BitSource, count: int) -> bytes:
    """`count` bytes, or an error: bits that are missing must never be made up."""
    data = source.read(count)
    if len(data) != count:
        raise TakifuguError(f"the source of bits gave {len(data)} bytes where {count} were asked for")
    return data


class OsBits:
    """Bits from the operating system's generator.

    Nothing is kept between two reads: a buffer would be copied by `fork`, and two processes that publish with
    the same noise cancel it.
    """

    def read(self, count: int) -> bytes:
        """`count` bytes from `os.urandom`."""
        return os.urandom(count)

    def __repr__(self) -> str:
        """The name alone: there is no state to show."""
        return "OsBits()"


class InsecureSeededBits:
    """Reproducible bits, for tests alone: whoever knows the seed can remove the noise.

    >>> InsecureSeededBits(7).read(4) == InsecureSeededBits(7).read(4)
    True
    """

    def __init__(self, seed: int) -> None:
        """Start the generator of numpy at `seed`."""
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer) or seed < 0:
            raise InputError(f"an insecure seed must be an integer, 0 or more, got {seed!r}")
        self._generator = np.random.default_rng(int(seed))

    def read(self, count: int) -> bytes:
        """`count` bytes of the reproducible stream."""
        return self._generator.bytes(count)
