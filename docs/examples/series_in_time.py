from pathlib import Path

import pandas as pd

import takifugu as tk

work = pd.read_csv(Path(__file__).with_name("data") / "union.csv.gz")
columns = {"value": "lwage", "time": "year", "by": "man"}

# Wages of one year that differ by less than a tenth, whoever knows all other years.
series = tk.Series(8, within=0.1, memory=tk.AR(up_to=0.9))
calibration = tk.calibrate(series, alpha=3, epsilon=1)
print(calibration)
published = tk.release(work, calibration, **columns)
print(
    f"{len(published)} wages: noise {calibration.variance**0.5:.2f}, "
    f"spread {work['lwage'].std():.2f}"
)

mean = tk.Series(8, within=0.1, memory=tk.AR(up_to=0.9), answer="mean")
calibration = tk.calibrate(mean, alpha=3, epsilon=1)
published = tk.release(work, calibration, **columns)
spread = work.groupby("man")["lwage"].mean().std()
print(
    f"{len(published)} means: noise {calibration.variance**0.5:.2f}, "
    f"spread {spread:.2f}"
)
