"""Channels as plain values for JSON, and back."""

from typing import Any

from takifugu.channels.base import Channel
from takifugu.channels.finite import FiniteChannel
from takifugu.channels.gaussian.noise import GaussianNoise
from takifugu.channels.sparse import SparseChannel
from takifugu.channels.vector import MOST_AXES, GaussianVector
from takifugu.documents import fields as form
from takifugu.documents.laws import matrix_from, value_from, value_to
from takifugu.errors import InputError

_MOST_VALUES = 100_000  # on either side of a channel
_MOST_MOVES = 2_000_000  # of a sparse one


def channel_to(channel: Channel) -> dict[str, Any]:
    """A channel as an object."""
    if isinstance(channel, GaussianNoise):
        return {"kind": channel.kind, "theta": channel.theta}
    if isinstance(channel, FiniteChannel):
        return {
            "kind": channel.kind,
            "inputs": [value_to(value) for value in channel.inputs],
            "outputs": [value_to(value) for value in channel.outputs],
            "counts": channel.counts.tolist(),
        }
    if isinstance(channel, SparseChannel):
        return {
            "kind": channel.kind,
            "inputs": [value_to(value) for value in channel.inputs],
            "outputs": [value_to(value) for value in channel.outputs],
            "starts": channel.starts.tolist(),
            "targets": channel.targets.tolist(),
            "counts": channel.counts.tolist(),
        }
    if isinstance(channel, GaussianVector):
        return {"kind": channel.kind, "covariance": channel.covariance.tolist()}
    raise InputError(f"a channel of the type {type(channel).__name__} has no form in a file")


def channel_from(value: Any) -> Channel:
    """What `channel_to` wrote."""
    kind = form.kind_of(value)
    if kind == GaussianNoise.kind:
        content = form.fields(value, ("kind", "theta"), "'channel'")
        return GaussianNoise(form.number(content["theta"], "channel.theta", least=0))
    if kind == FiniteChannel.kind:
        content = form.fields(value, ("kind", "inputs", "outputs", "counts"), "'channel'")
        inputs, outputs = _values(content, "inputs"), _values(content, "outputs")
        rows = form.exactly(content["counts"], "channel.counts", len(inputs))
        counts = [form.indices(row, "channel.counts", most=len(outputs)) for row in rows]
        return FiniteChannel(tuple(inputs), tuple(outputs), counts)  # type: ignore[arg-type]
    if kind == SparseChannel.kind:
        names = ("starts", "targets", "counts")
        content = form.fields(value, ("kind", "inputs", "outputs", *names), "'channel'")
        tables = [form.indices(content[key], f"channel.{key}", least=1, most=_MOST_MOVES) for key in names]
        return SparseChannel(tuple(_values(content, "inputs")), tuple(_values(content, "outputs")), *tables)  # type: ignore[arg-type]
    if kind == GaussianVector.kind:
        content = form.fields(value, ("kind", "covariance"), "'channel'")
        # Counted before it is read: proving how such a matrix is drawn takes time that grows with its fourth power.
        size = len(form.items(content["covariance"], "channel.covariance", least=1, most=MOST_AXES))
        matrix = matrix_from(content["covariance"], "channel.covariance", form.Room(), columns=size)
        channel = GaussianVector(matrix)
        if channel.covariance.tolist() != matrix:
            raise InputError("channel.covariance must be symmetric to the last digit")
        return channel
    kinds = (GaussianNoise.kind, FiniteChannel.kind, SparseChannel.kind, GaussianVector.kind)
    raise InputError(f"channel.kind must be one of {', '.join(map(repr, kinds))}")


def _values(content: dict[str, Any], key: str) -> list[Any]:
    return [
        value_from(v, f"channel.{key}") for v in form.items(content[key], f"channel.{key}", least=1, most=_MOST_VALUES)
    ]
