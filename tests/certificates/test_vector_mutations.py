"""Certificates of noise on vectors with numbers changed and the digest made anew: a sentence, or a true claim."""

import copy
import hashlib
import json
import random

import numpy as np

import takifugu as tk
from takifugu import strict_json
from takifugu.certificates.channel import ChannelCertificate
from vector_problems import gaussian_loss, random_laws

TRIES = 250


def leaves(content, path=()):
    if isinstance(content, dict | list):
        for key, value in content.items() if isinstance(content, dict) else enumerate(content):
            yield from leaves(value, (*path, key))
    else:
        yield path


def mutated(base, chance):
    data = copy.deepcopy(base)
    places = [path for path in leaves(base) if path[0] in ("calibration", "losses")]
    for path in chance.choices(places, k=chance.choice([1, 1, 2, 3])):
        at = data
        for key in path[:-1]:
            at = at[key]
        value = at[path[-1]]
        if isinstance(value, int | float) and not isinstance(value, bool):
            nearby = value * (1 + chance.choice([-1, 1]) * 10 ** chance.uniform(-15, 0))
            at[path[-1]] = chance.choice([nearby, nearby, -value, 0, 1e300, 1e-300, value + 1, None, 0.999999 * value])
        else:
            at[path[-1]] = chance.choice([None, 1.0, "x", [], {}])
    matrices = [data["calibration"]["channel"]]
    if chance.random() < 0.7 and isinstance(matrices[0].get("covariance"), list):
        matrices[0]["covariance"][1][0] = matrices[0]["covariance"][0][1]  # what is not symmetric is refused at once
    del data["sha256"]
    data["sha256"] = hashlib.sha256(strict_json.canonical(data)).hexdigest()
    return data


def test_no_changed_file_is_accepted_with_a_false_claim():
    honest = tk.certify(tk.calibrate(random_laws(np.random.default_rng(3), 3, 2), alpha=2.5, epsilon=0.7))
    base, chance, accepted = json.loads(json.dumps(honest.to_dict())), random.Random(0), 0
    for _ in range(TRIES):
        try:
            found = tk.verify(ChannelCertificate.from_dict(mutated(base, chance))).calibration
        except (tk.InputError, tk.CertificationError):
            continue
        accepted += 1
        for belief in found.beliefs:
            for a, b in found.losses:
                loss = gaussian_loss(belief[a], belief[b], found.channel.covariance, alpha=found.alpha)
                assert loss <= found.epsilon
    assert 0 < accepted < TRIES
