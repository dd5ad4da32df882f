"""A law of one's own: counts with a Poisson law, published up to a highest one."""

import math

import takifugu as tk


def poisson(mean, *, most):
    """The law of min(X, most): what lies beyond falls on the last value."""
    weights = [
        math.exp(-mean + k * math.log(mean) - math.lgamma(k + 1)) for k in range(most)
    ]
    return tk.Finite(range(most + 1), [*weights, max(0.0, 1 - math.fsum(weights))])


if __name__ == "__main__":
    visits = {"healthy": poisson(2, most=8), "ill": poisson(3, most=8)}
    calibration = tk.calibrate(visits, odds=3)
    print(calibration)
    truth = [0, 2, 3, 11]
    published = tk.release([min(count, 8) for count in truth], calibration)
    print(f"{len(published)} counts published, none above 8")
