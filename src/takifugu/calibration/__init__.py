"""From beliefs and a promise to the channel that keeps it, and the noun that remembers all three."""

from takifugu.calibration.calibrating import Priors, calibrate
from takifugu.calibration.result import Calibration
from takifugu.calibration.sweeping import sweep

__all__ = ["Calibration", "Priors", "calibrate", "sweep"]
