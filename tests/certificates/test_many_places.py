"""Proofs shared out among processes are the same proofs, and refuse the same claims."""

from dataclasses import replace

import numpy as np
import pytest

import takifugu as tk
from takifugu.divergences.numerics.balls import Enclosure


@pytest.fixture(scope="module")
def calibration() -> tk.Calibration:
    rng = np.random.default_rng(3)
    priors = {
        i: tk.Mixture(rng.dirichlet(np.full(2, 3.0)), rng.normal(0, 1, 2), rng.uniform(0.5, 1, 2)) for i in range(4)
    }
    return tk.calibrate(priors, alpha=2, epsilon=0.5)


@pytest.fixture(scope="module")
def certificate(calibration: tk.Calibration) -> tk.Certificate:
    return tk.certify(calibration)


def test_two_processes_prove_what_one_proves(calibration, certificate):
    told = []
    shared = tk.certify(calibration, workers=2, progress=lambda done, of: told.append((done, of)))
    assert shared.losses == certificate.losses
    assert told == [(done, 12) for done in range(13)]
    assert tk.verify(certificate, workers=2) == certificate


def test_two_processes_refuse_what_one_refuses(certificate):
    first = certificate.losses[0]
    false = replace(certificate, losses=(Enclosure(0.0, first.lower * 0.9), *certificate.losses[1:]))
    for workers in (1, 2):
        with pytest.raises(tk.CertificationError, match="is not proved"):
            tk.verify(false, workers=workers)


def test_a_share_that_is_too_small_takes_from_the_whole(certificate):
    # 12 shares of the least limit that serves one process: a place needs more than a twelfth of it.
    needed = next(limit for limit in (2**k for k in range(10, 40)) if verified(certificate, limit, 1))
    assert verified(certificate, needed, 2)
    assert not verified(certificate, 100, 2)


def verified(certificate, limit: int, workers: int) -> bool:
    try:
        tk.verify(certificate, limit=limit, workers=workers)
    except tk.CertificationError:
        return False
    return True


@pytest.mark.parametrize("workers", [0, -1, 1.5, True, "2"])
def test_workers_are_a_number_of_processes(calibration, certificate, workers):
    for call in (lambda: tk.certify(calibration, workers=workers), lambda: tk.verify(certificate, workers=workers)):
        with pytest.raises(tk.InputError, match="workers must be a whole number"):
            call()


def test_a_finite_channel_tells_how_far_its_proof_is():
    priors = {"a": tk.Finite([1, 2, 3], [5, 3, 2]), "b": tk.Finite([1, 2, 3], [2, 3, 5])}
    told = []
    certificate = tk.certify(tk.calibrate(priors, odds=2), progress=lambda done, of: told.append((done, of)))
    assert told == [(0, 2), (1, 2), (2, 2)]
    tk.verify(certificate, progress=lambda done, of: told.append((done, of)))
    assert told[3:] == told[:3]
