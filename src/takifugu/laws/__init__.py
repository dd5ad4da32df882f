"""Distributions of an answer, and how they are fitted to counts."""

from typing import Any

from takifugu.laws.finite import Finite
from takifugu.laws.mixture import Mixture
from takifugu.laws.vector import VectorMixture

__all__ = ["LAWS", "Finite", "Law", "Mixture", "VectorMixture"]

# The laws of one problem are all of one kind, which `problems.beliefs` sees to and no type can say: whoever takes a law
# knows which kind it works on.
Law = Any
LAWS = (Mixture, Finite, VectorMixture)
