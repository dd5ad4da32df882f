"""What an adversary may believe: one mixture per secret."""

from takifugu.priors.mixture import Mixture

__all__ = ["Mixture"]
