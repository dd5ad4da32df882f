"""Three public datasets of people, bundled: Adult, Heart Disease (Cleveland) and Student Performance.

The copies are made by `scripts/build_datasets.py` from the raw files of the UCI Machine Learning Repository
and keep every row and column. `ATTRIBUTION.md`, beside them, gives authors and licence (CC BY 4.0).
"""

from takifugu.datasets.catalogue import Dataset, about, load, names, path

__all__ = ["Dataset", "about", "load", "names", "path"]
