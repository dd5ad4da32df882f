"""Takifugu: calibrate, certify and release under Rényi Pufferfish Privacy."""

from importlib import import_module
from typing import cast

from takifugu import _display
from takifugu._front import front

__version__ = "0.3.0"

__getattr__, __dir__, __all__ = front(__name__, __file__)

# Laws, channels and calibrations are shown by the reports, which they do not know.
_display.sign_up(lambda: cast(_display.Painters, import_module("takifugu.reports.notebook")))
