"""Sweeps, and certificates with what they enclose."""

import json
import re
import tempfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import takifugu as tk

from .asked import or_refusal
from .golden_calibrations import LISTS, MIXTURES, VECTORS, fitted
from .harness import Family, Seen

SWEEPS = Family("sweeps")
CERTIFICATES = Family("certificates")

# How much less noise, or budget, is tried. "exact" stays 1e-10 below its budget so that the proof goes through, and one
# unit in the last place less is therefore still proved.
LEVELS = (1e-8, 1e-6, 1e-4, 1e-2)


def of_frame(frame: Any) -> Seen:
    """A table of a sweep, row by row."""
    return {"columns": list(frame.columns), "rows": frame.astype(object).to_numpy().tolist()}, []


def swept(priors: Any, **options: Any) -> Callable[[], Seen]:
    """A case: a sweep with these arguments."""
    return lambda: or_refusal(lambda: tk.sweep(priors() if callable(priors) else priors, **options), of_frame)


SWEEPS.add("orders and budgets", swept(MIXTURES["mixtures"], alpha=[1.5, 2, 8], epsilon=[0.1, 1]))
SWEEPS.add(
    "mechanisms",
    swept(
        MIXTURES["unequal spreads"],
        alpha=[2, 8],
        epsilon=[0.1, 1],
        mechanism=["exact", "closed-form", "closed-form-envelope", "gmm-transport", "wasserstein-aware"],
    ),
)
SWEEPS.add("no answer", swept(MIXTURES["mixtures"], alpha=[2], epsilon=[1], mechanism=["exact", "wasserstein"]))
SWEEPS.add("three secrets, a pair", swept(MIXTURES["three secrets"], alpha=[2], epsilon=[1, 2], pairs=[("x", "z")]))
SWEEPS.add("points", swept(MIXTURES["points"], alpha=[3], epsilon=[0.1, 0.3, 1]))
SWEEPS.add("odds", swept(LISTS["five numbers"], odds=[1.5, 2, 3]))
SWEEPS.add("odds of labels", swept(LISTS["labels"], odds=[1.5, 3], mechanism=["optimal"]))
SWEEPS.add("lists, orders and budgets", swept(LISTS["rows"], alpha=[2, 8], epsilon=[0.1, 0.5]))
SWEEPS.add("vectors", swept(VECTORS["Gaussians"], alpha=[2], epsilon=[0.5, 1]))
SWEEPS.add("marks", swept(lambda: fitted("marks, counts"), alpha=[2, 8], epsilon=[0.5, 1]))
SWEEPS.add("marks, confidence", swept(lambda: fitted("marks, counts"), alpha=[2], epsilon=[0.5, 1], confidence=0.8))
SWEEPS.add("marks, band", swept(lambda: fitted("marks, counts"), alpha=[2], epsilon=[1], assurance="band"))
SWEEPS.add("rows", swept(lambda: fitted("rows"), odds=[2, 3]))
SWEEPS.add("nothing to sweep", swept(MIXTURES["mixtures"]))


def less(calibration: tk.Calibration, share: float) -> tk.Calibration:
    """The same with a little less noise, or where there is no noise with a little less of a budget."""
    channel, by = calibration.channel, 1 - share
    if hasattr(channel, "theta"):
        return replace(calibration, channel=replace(channel, theta=channel.theta * by))
    if hasattr(channel, "covariance"):
        return replace(calibration, channel=type(channel)(np.asarray(channel.covariance) * by))
    promise = calibration.guarantee
    return replace(calibration, guarantee=tk.Renyi(promise.alpha, promise.epsilon * by))


def needed(calibration: tk.Calibration) -> str:
    """The first level at which less is no longer certified."""
    for level in LEVELS:
        try:
            tk.certify(less(calibration, level))
        except tk.TakifuguError as error:
            return f"{level}: {type(error).__name__}"
    return "nothing less was refused"


def of_certificate(calibration: tk.Calibration) -> Seen:
    """What is enclosed; that the file proves it again, and that a file with another figure does not."""
    certificate = tk.certify(calibration)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.json"
        certificate.save(path)
        proved = tk.verify(path)
        path.write_text(changed(path.read_text()))
        figures = {
            "losses": [[one.lower, one.upper] for one in certificate.losses],
            "lower_bound": getattr(certificate, "lower_bound", None),
            "verified": proved == certificate,
            "changed": refused(lambda: tk.verify(path)),
            "less": needed(calibration),
            "keys": sorted(certificate.to_dict()),
            "public": sorted(certificate.redacted().to_dict()),
            "again": tk.Calibration.from_dict(json.loads(json.dumps(calibration.to_dict()))) == calibration,
        }
    return figures, [certificate.claim]


def changed(text: str) -> str:
    """A file in which the fifth digit of the first long number is another one."""
    found = re.search(r"\d\.\d{8,}", text)
    if found is None:
        raise ValueError("there is no long number in this file")
    place = found.start() + 5
    return text[:place] + ("1" if text[place] != "1" else "2") + text[place + 1 :]


def refused(made: Callable[[], Any]) -> str | None:
    """The kind of a refusal; None where there was none."""
    try:
        made()
    except tk.TakifuguError as error:
        return type(error).__name__
    return None


def certified(priors: Any, **options: Any) -> Callable[[], Seen]:
    """A case: the certificate of a calibration with these arguments."""
    return lambda: or_refusal(
        lambda: of_certificate(tk.calibrate(priors() if callable(priors) else priors, **options)), lambda seen: seen
    )


for name in ("two Gaussians", "unequal spreads", "far from zero", "points", "mixtures", "three secrets"):
    CERTIFICATES.add(f"exact: {name}", certified(MIXTURES[name], alpha=3, epsilon=1))
CERTIFICATES.add("exact: mixtures, alpha 32, epsilon 0.01", certified(MIXTURES["mixtures"], alpha=32, epsilon=0.01))
for name in ("closed-form-envelope", "gmm-transport", "wasserstein", "wasserstein-aware", "wasserstein-approx"):
    CERTIFICATES.add(name, certified(MIXTURES["two Gaussians"], alpha=3, epsilon=1, mechanism=name))
for name in ("two values", "five numbers", "labels", "three secrets"):
    CERTIFICATES.add(f"optimal: {name}, odds 1.5", certified(LISTS[name], odds=1.5))
    CERTIFICATES.add(f"optimal: {name}, nothing kept", certified(LISTS[name], alpha=2, epsilon=0.1, preserve=None))
CERTIFICATES.add("optimal: radius", certified(LISTS["five numbers"], odds=3, preserve=None, radius=0.02))
CERTIFICATES.add("columns: rows", certified(LISTS["rows"], odds=1.5, options={"solver": "columns"}))
for name in ("Gaussians", "other covariances", "mixtures"):
    CERTIFICATES.add(f"shaped: {name}", certified(VECTORS[name], alpha=3, epsilon=1))
for name in ("heart, counts", "marks, counts", "marks, known sex", "mean"):
    CERTIFICATES.add(f"fitted: {name}", certified(lambda name=name: fitted(name), alpha=3, epsilon=1))
CERTIFICATES.add(
    "fitted: marks, confidence", certified(lambda: fitted("marks, counts"), alpha=3, epsilon=1, confidence=0.8)
)
CERTIFICATES.add(
    "fitted: marks, band", certified(lambda: fitted("marks, counts"), alpha=2, epsilon=1, assurance="band")
)
CERTIFICATES.add("fitted: row, confidence", certified(lambda: fitted("row"), odds=2, preserve=None, confidence=0.8))
CERTIFICATES.add("fitted: row, band", certified(lambda: fitted("row"), odds=3, assurance="band"))
