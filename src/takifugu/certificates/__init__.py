"""Certificates: a calibration proved once, in a file from which anyone can prove it again."""

from takifugu._front import front

__getattr__, __dir__, __all__ = front(__name__, __file__)
