"""Where the random bits of a release come from."""

import os
from fractions import Fraction
from typing import Protocol

import numpy as np
import numpy.typing as npt

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


# Exact draws from rows of integers: one word of random bits and two look-ups a value, whatever the row's length.
#
# This is Walker's alias method in integers. A row of counts that sums to 2^k is laid out in 2^s slots of 2^(k-s)
# units, each shared by at most two outputs. The first s bits of a draw choose the slot and the other k-s bits the
# unit, so each output is drawn with probability count/2^k exactly (proofs/finite-channels.md, "Draws").

Integers = npt.NDArray[np.int64]

_CHUNK = 16_384  # values at a time, so that the working arrays stay in the processor's cache


class AliasTables:
    """The slots of every row of a matrix of counts whose rows sum to `1 << bits`."""

    def __init__(self, counts: Integers, bits: int) -> None:
        """Lay out the rows, and check that not a unit was lost or moved."""
        self.bits = bits
        self.slot_bits = int((counts > 0).sum(axis=1).max() - 1).bit_length()
        slots = 1 << self.slot_bits
        capacity = 1 << (bits - self.slot_bits)
        outputs, masses = _longest_first(counts, slots)
        own, threshold, alias = _fill(masses, capacity)
        ids = np.stack([np.take_along_axis(outputs, own, axis=1), np.take_along_axis(outputs, alias, axis=1)], axis=2)
        size = next(size for size in (1, 2, 4, 8) if bits <= 8 * size)
        self._word: np.dtype[np.unsignedinteger] = np.dtype(f"<u{size}")
        # A slot that one output fills has that output twice, so its threshold may stop one unit early: the
        # capacity itself may not fit the word.
        self._threshold = np.minimum(threshold, capacity - 1).astype(self._word).reshape(-1)
        self._ids = ids.astype(np.min_scalar_type(counts.shape[1])).reshape(-1)
        self._check(counts)

    def draw(self, rows: Integers, source: BitSource) -> Integers:
        """An output for each row number, from `bits` fresh bits each."""
        drawn = np.empty(len(rows), dtype=np.int64)
        for start in range(0, len(rows), _CHUNK):
            part = slice(start, start + _CHUNK)
            drawn[part] = self._draw(rows[part], source)
        return drawn

    def _draw(self, rows: Integers, source: BitSource) -> npt.NDArray[np.integer]:
        words = np.frombuffer(read_exactly(source, self._word.itemsize * len(rows)), dtype=self._word)
        unit_bits = self.bits - self.slot_bits
        place = rows << self.slot_bits
        if self.slot_bits:
            place |= ((words >> unit_bits) & ((1 << self.slot_bits) - 1)).astype(np.int64)
        units = words & ((1 << unit_bits) - 1)
        beyond = units >= np.take(self._threshold, place)
        place <<= 1
        place |= beyond
        return np.take(self._ids, place)

    def _check(self, counts: Integers) -> None:
        """Add up what is stored: a table that is off by one unit must never draw."""
        capacity = 1 << (self.bits - self.slot_bits)
        ids = self._ids.astype(np.int64).reshape(len(counts), -1, 2)
        first = self._threshold.astype(np.int64).reshape(len(counts), -1)
        found, row = np.zeros_like(counts), np.arange(len(counts))[:, None]
        np.add.at(found, (row, ids[:, :, 0]), first)
        np.add.at(found, (row, ids[:, :, 1]), capacity - first)
        if not (np.array_equal(found, counts) and first.min() >= 0 and first.max() <= capacity):
            raise TakifuguError("the table for drawing does not hold the channel's counts; please report the channel")


def _longest_first(counts: Integers, slots: int) -> tuple[Integers, Integers]:
    """The `slots` largest counts of each row in ascending order, with their outputs; short rows are padded."""
    pad = max(0, slots - counts.shape[1])
    wide = np.pad(counts, ((0, 0), (0, pad)))
    order = np.argsort(wide, axis=1, kind="stable")[:, wide.shape[1] - slots :]
    masses = np.take_along_axis(wide, order, axis=1)
    return np.where(order < counts.shape[1], order, 0), masses  # padding has no mass and is never drawn


def _fill(masses: Integers, capacity: int) -> tuple[Integers, Integers, Integers]:
    """For each slot of each row its own item, how many units that has, and the item that has the rest.

    All rows are swept at once, one slot a step. A light item (at most the capacity) gets a slot of its own that the
    current heavy item fills up; a heavy item that has given away enough takes a slot that the next one fills up.
    """
    n, slots = masses.shape
    row = np.arange(n)
    lights = (masses <= capacity).sum(axis=1)  # the rows are sorted: the light items stand first
    light, heavy = np.zeros(n, dtype=np.int64), lights.copy()
    left = masses[row, np.minimum(heavy, slots - 1)]  # what the current heavy item has still to place
    own, threshold, alias = (np.empty((n, slots), dtype=np.int64) for _ in range(3))
    for slot in range(slots):
        # With no heavy item left every light one fills its slot exactly, and no slot needs filling up.
        over = heavy >= slots
        give = (light < lights) & (over | (left > capacity))
        item = np.where(give, light, np.minimum(heavy, slots - 1))
        following = np.minimum(heavy + 1, slots - 1)
        units = np.where(give, masses[row, np.minimum(light, slots - 1)], left)
        own[:, slot], threshold[:, slot] = item, units
        alias[:, slot] = np.where(units == capacity, item, np.where(give, np.minimum(heavy, slots - 1), following))
        missing = capacity - units
        left = np.where(give, left, masses[row, following]) - np.where(over, 0, missing)
        light, heavy = light + give, heavy + ~give
    return own, threshold, alias


# Exact draws from the discrete Laplace law, in whole numbers alone: the sampler of Canonne, Kamath and Steinke, "The
# discrete Gaussian for differential privacy" (2020), algorithms 1 and 2 (proofs/private-counts.md, "Draws").


def discrete_laplace(rate: Fraction, count: int, source: BitSource) -> list[int]:
    """Independent whole numbers z, each with probability proportional to e^(−|z|·rate), exactly.

    >>> discrete_laplace(Fraction(1, 10), 3, InsecureSeededBits(1))
    [2, 13, 2]
    """
    if rate <= 0:
        raise InputError(f"the rate of discrete Laplace noise must be above 0, got {rate}")
    return [_laplace(rate.numerator, rate.denominator, source) for _ in range(count)]


def _laplace(s: int, t: int, source: BitSource) -> int:
    """One such number for the rate s/t."""
    while True:
        part = _below(t, source)
        if not _exponential_coin(part, t, source):
            continue
        whole = 0
        while _exponential_coin(1, 1, source):
            whole += 1
        size = (part + t * whole) // s
        is_negative = bool(_below(2, source))
        if size or not is_negative:  # zero has one sign
            return -size if is_negative else size


def _exponential_coin(up: int, down: int, source: BitSource) -> bool:
    """True with probability e^(−up/down), for 0 ≤ up ≤ down: von Neumann's way."""
    k = 1
    while _below(down * k, source) < up:
        k += 1
    return k % 2 == 1


def _below(bound: int, source: BitSource) -> int:
    """A whole number from 0 to below a bound, each as likely."""
    bits = (bound - 1).bit_length()
    size = (bits + 7) // 8
    while True:
        found = int.from_bytes(read_exactly(source, size), "little") >> (8 * size - bits) if bits else 0
        if found < bound:
            return found
