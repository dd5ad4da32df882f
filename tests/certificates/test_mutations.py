"""Thousands of damaged certificates: each is refused with a sentence, or what it says is true."""

import copy
import dataclasses
import hashlib
import json
import math
import random
import re
import string
from functools import cache

import jsonschema
import mpmath as mp
import pytest

from how_many import some_of
from takifugu import CertificationError, InputError, Mixture, calibrate, certify, verify

MUTATIONS = some_of(10_000)
HUGE = "a number that the writer of this test spells"  # stands for 1e400 until the text is written
JUNK = [None, True, False, 0, 1, -1, 2, -0.0, 1e-320, 1e308, 10**30, 10**500, "", "x", "1", "NaN", "\ud800", [], {}]
JUNK += [[[]], {"a": 1}, math.nan, math.inf, -math.inf, HUGE, 0.5, 3.0, [1.0], [1.0, 2.0], ["0.5"]]


@cache
def bases():
    """As made once: they are damaged in copies."""
    return tuple(_bases())


def _bases():
    gaussians = {"yes": Mixture.gaussian(0.0, 1.0), "no": Mixture.gaussian(1.5, 1.25)}
    points = {1: Mixture.empirical([0, 1, 3]), 2: Mixture.empirical([0, 2])}
    mixture = {"a": Mixture([0.25, 0.75], [0.0, 2.0], [0.5, 1.0]), "b": Mixture.gaussian(1.0, 0.9)}
    wider = {secret: prior.with_noise(1) for secret, prior in gaussians.items()}
    for calibration in (
        calibrate(gaussians, alpha=2, epsilon=0.5),
        calibrate([gaussians, wider], alpha=3.5, epsilon=2),
        calibrate(points, alpha=1.5, epsilon=1),
        calibrate(mixture, alpha=2, epsilon=1),
    ):
        yield dataclasses.replace(certify(calibration), nonce="0" * 64).to_dict()  # the same in every run


def places(value, path=()):
    """Every place in the content, as a path of keys."""
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def parent(content, path):
    for key in path[:-1]:
        content = content[key]
    return content


def mutate(rng: random.Random, content: dict) -> dict:
    path = rng.choice([path for path in places(content) if path])
    holder, key = parent(content, path), path[-1]
    value = holder[key]
    kind = rng.randrange(9)
    if kind == 0:
        del holder[key]
    elif kind in (1, 2):
        holder[key] = copy.deepcopy(rng.choice(JUNK))
    elif kind in (3, 4, 5) and type(value) in (int, float) and abs(value) < 1e300:
        factors = [1 + 1e-15, 1 - 1e-9, 1 + 1e-6, 1.1, 0.5, -1.0, 1e200, 1e-200, 1e3]
        holder[key] = value * rng.choice(factors) if kind < 5 else value + rng.choice([1, -1, 1e-7, -1e-7, 0.25])
    elif kind == 6 and isinstance(value, list):
        holder[key] = value * rng.choice([0, 2, 50]) if rng.random() < 0.5 else list(reversed(value))
    elif kind == 7:
        for _ in range(rng.choice([1, 5, 60])):
            holder[key] = [holder[key]] if rng.random() < 0.7 else {"x": holder[key]}
    elif isinstance(holder, dict):
        holder["".join(rng.choices(string.ascii_lowercase, k=5))] = copy.deepcopy(rng.choice(JUNK))
    else:
        holder.insert(key, copy.deepcopy(rng.choice(JUNK)))
    return content


def sealed(content: dict) -> dict:
    kept = {key: value for key, value in content.items() if key != "sha256"}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return kept | {"sha256": hashlib.sha256(text.encode()).hexdigest()}


def spoil(rng: random.Random, data: bytes) -> bytes:
    """Damage to the text and not to the content."""
    kind = rng.randrange(5)
    at = rng.randrange(len(data))
    if kind == 0:
        return data[:at]
    if kind == 1:
        return data[:at] + bytes([rng.randrange(256)]) + data[at + 1 :]
    if kind == 2:
        return data[:at] + bytes(rng.randrange(256) for _ in range(8)) + data[at:]
    if kind == 3:
        opening = rng.choice([b"[", b'{"a":', b"[[0],"])
        return opening * rng.choice([3, 3000, 100_000]) + data
    digits = [match.span() for match in re.finditer(rb"\d+", data)]
    start, end = rng.choice(digits)
    return data[:start] + rng.choice([b"NaN", b"1e400", b"-Infinity", b"9" * 5000, b"0x1", b"1.5"]) + data[end:]


def damaged(rng: random.Random, base: dict) -> bytes:
    content = copy.deepcopy(base)
    for _ in range(rng.choice([1, 1, 1, 2, 4])):
        content = mutate(rng, content)
    if rng.random() < 0.75:
        content = sealed(content)  # a careful liar
    data = json.dumps(content).replace(f'"{HUGE}"', "1e400").encode()
    return spoil(rng, data) if rng.random() < 0.15 else data


def loss(p: dict, q: dict, alpha: float, theta: float):
    """The divergence of what these mutations leave: one normal each, points without noise, or by quadrature."""
    with mp.workdps(30):
        v, s = ([mp.mpf(x) ** 2 + mp.mpf(theta) ** 2 for x in side["stds"]] for side in (p, q))
        a = mp.mpf(alpha)

        def density(side, variances):
            total = mp.fsum(side["weights"])
            heights = [w / (total * mp.sqrt(2 * mp.pi * x)) for w, x in zip(side["weights"], variances, strict=True)]
            bells = [(h, mp.mpf(m), -1 / (2 * x)) for h, m, x in zip(heights, side["means"], variances, strict=True)]
            return lambda y: mp.fsum(h * mp.exp((y - m) ** 2 * c) for h, m, c in bells)

        top, low = density(p, v), density(q, s)

        def f(y):
            return top(y) ** a * low(y) ** (1 - a)

        means = p["means"] + q["means"]
        far = mp.sqrt(max(v + s)) * 14
        cuts = sorted({*means, min(means) - far, max(means) + far, min(means) - 4 * far, max(means) + 4 * far})
        return mp.log(mp.quad(f, cuts)) / (a - 1)


@pytest.mark.parametrize("which", range(4))
def test_damaged_certificates_are_refused_in_a_sentence_or_true(tmp_path, which):
    schema = jsonschema.Draft202012Validator(_schema())
    base = bases()[which]
    rng = random.Random(which)
    count = MUTATIONS // 4
    path = tmp_path / "certificate.json"
    refused = proved = checked = 0
    looser = json.dumps(sealed({**copy.deepcopy(base), "epsilon": 2 * base["epsilon"]})).encode()
    for k in range(count):
        data = damaged(rng, base) if k else looser  # few changes are true by chance: one that is, is made
        path.unlink(missing_ok=True)  # writing over a file makes the disk wait
        path.write_bytes(data)
        try:
            verify(path)
        except (InputError, CertificationError) as error:
            sentence = str(error)
            assert sentence
            assert "\n" not in sentence
            assert len(sentence) < 1500
            refused += 1
            continue
        proved += 1
        content = json.loads(data)
        assert schema.is_valid(content)
        changed = {key for key in base if content[key] != base[key]}
        if changed & {"alpha", "epsilon", "theta", "beliefs", "pairs"}:
            checked += 1
            for belief in content["beliefs"] if checked <= 6 else ():
                for i, j in content["pairs"]:
                    for p, q in ((belief[i], belief[j]), (belief[j], belief[i])):
                        truth = loss(p, q, content["alpha"], content["theta"])
                        assert truth <= content["epsilon"] * (1 + 1e-9)
    assert refused + proved == count
    assert refused > count * 0.8
    assert checked


def _schema():
    from importlib.resources import files

    return json.loads(files("takifugu").joinpath("schemas/certificate-1.json").read_text(encoding="utf-8"))
