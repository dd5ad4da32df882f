"""What the public functions say of themselves to a type checker."""

import inspect
from typing import Any

import pytest

import takifugu as tk

FUNCTIONS = [name for name in tk.__all__ if inspect.isfunction(getattr(tk, name))]
AS_IT_CAME = {"release"}  # what comes back is of the kind that was given: an array, a column, or a table of any library


def test_there_are_doors():
    assert {"publish", "fit_priors", "calibrate", "release", "audit", "renyi_divergence"} <= set(FUNCTIONS)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_door_takes_or_gives_anything_whatever(name: str):
    signature = inspect.signature(getattr(tk, name))
    for parameter in signature.parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD:  # those are the options of another door
            assert parameter.annotation is not Any, f"{name}({parameter.name})"
    assert signature.return_annotation is not inspect.Signature.empty
    assert name in AS_IT_CAME or signature.return_annotation is not Any
