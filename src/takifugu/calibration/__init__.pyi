from takifugu.calibration.calibrating import Priors as Priors
from takifugu.calibration.calibrating import calibrate as calibrate
from takifugu.calibration.calibrating import sweep as sweep
from takifugu.calibration.result import Calibration as Calibration
from takifugu.calibration.targets import values_published as values_published
