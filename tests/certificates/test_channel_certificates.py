"""Certificates of finite channels: proved again from the file alone, and refused where anything in it was changed."""

import copy
import dataclasses
import hashlib
import json
import math
import random

import mpmath as mp
import numpy as np
import pandas as pd
import pytest

import takifugu as tk
from how_many import some_of
from takifugu.certificates import RedactedChannel, load_redacted
from takifugu.channels.finite_channel import FiniteChannel
from takifugu.errors import CertificationError, InputError, TakifuguError
from takifugu.mechanisms.optimal.lower_bound import lower_bound
from takifugu.mechanisms.optimal.mechanism import Optimal
from when_asked import WhenAsked

NUMBERS = {"a": tk.Finite([1, 2, 3, 4], [9, 6, 3, 2]), "b": tk.Finite([1, 2, 3, 4], [2, 3, 6, 9])}
LABELS = {"a": tk.Finite(["x", "y"], [5, 3]), "b": tk.Finite(["x", "y"], [1, 4]), "c": tk.Finite(["x", "y"], [2, 2])}
ROWS = {"a": tk.Finite([("A", 1), ("B", 2), ("B", 1)], [3, 1, 4]), "b": tk.Finite([("A", 1), ("B", 2)], [1, 3])}
CALIBRATIONS = WhenAsked(
    {
        "odds": lambda: tk.calibrate(NUMBERS, odds=1.5),
        "order": lambda: tk.calibrate(LABELS, alpha=2, epsilon=0.1, preserve=None, pairs=[("a", "b"), ("b", "c")]),
        "both": lambda: tk.calibrate([NUMBERS, {"a": NUMBERS["a"], "b": NUMBERS["a"]}], alpha=2, epsilon=0.2, odds=1.9),
        "free": lambda: tk.calibrate(NUMBERS, odds=1.5, preserve=None),
        "radius": lambda: tk.calibrate(NUMBERS, odds=2, radius=[0.01, 0.05], preserve="mean"),
        "rows": lambda: tk.calibrate(
            ROWS, odds=2, preserve=None, utility=tk.Utility(loss="change", forbidden=[(("A", 1), ("B", 2))])
        ),
        "confident": lambda: tk.calibrate(NUMBERS, odds=4, confidence=0.8, adversary=tk.Adversary(seed=3)),
    }
)


@pytest.fixture(scope="module", params=list(CALIBRATIONS))
def certificate(request):
    return tk.certify(CALIBRATIONS[request.param])


def sealed(content):
    """The content with the digest that a careful liar would give it."""
    kept = {key: value for key, value in content.items() if key != "sha256"}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return kept | {"sha256": hashlib.sha256(text.encode()).hexdigest()}


def refused(path, content, *, kind=TakifuguError):
    path.write_text(json.dumps(content))
    with pytest.raises(kind) as caught:
        tk.verify(path)
    assert "\n" not in str(caught.value)


def test_a_file_is_proved_again(certificate, tmp_path):
    path = tmp_path / "c.json"
    certificate.save(path)
    again = tk.verify(path)
    assert again == certificate
    assert again.sha256 == certificate.sha256
    assert path.stat().st_mode & 0o077 == 0  # it holds the priors
    content = json.loads(path.read_text())
    assert sealed(content) == content
    assert certificate.lower_bound <= certificate.error
    assert "keeps" in certificate.claim
    assert tk.verify(certificate) == certificate


def test_the_losses_enclose_the_truth(certificate):
    calibration = certificate.calibration
    for place, stated in zip(calibration.problem.places(), certificate.losses, strict=True):
        p, q = (
            [mp.mpf(x) for x in calibration.channel.apply(law).probabilities] for law in calibration.problem.ends(place)
        )
        if math.isinf(calibration.alpha):
            truth = mp.log(max(x / y for x, y in zip(p, q, strict=True) if x > 0))
        else:
            a = mp.mpf(calibration.alpha)
            truth = mp.log(mp.fsum(x**a * y ** (1 - a) for x, y in zip(p, q, strict=True) if x > 0)) / (a - 1)
        assert truth <= stated.upper * (1 + 1e-12) + 1e-15
        if not np.any(calibration._rule.reach(calibration.problem)):
            assert truth >= stated.lower * (1 - 1e-9) - 1e-12
        assert stated.upper <= calibration.epsilon * (1 + 1e-9)


def test_what_is_published_has_no_priors(certificate, tmp_path):
    public = certificate.redacted()
    path = tmp_path / "public.json"
    public.save(path)
    text = path.read_text()
    for word in ("problem", "weights", "beliefs", "laws", "losses", "secrets", "counted"):
        assert f'"{word}"' not in text
    found = load_redacted(path)
    assert isinstance(found, RedactedChannel)
    assert found == public
    certificate.require_match(found)
    other = dataclasses.replace(certificate, nonce="0" * 64)
    with pytest.raises(CertificationError, match="is not that of this certificate"):
        other.require_match(found)
    for change in ({"format": "x"}, {"version": 3}, {"unheard": 1}, {"mechanism": "?"}, {"channel": None}):
        path.write_text(json.dumps(public.to_dict() | change))
        with pytest.raises(InputError):
            load_redacted(path)


def wards(seed):
    """60 rows of two public columns, one value of which hardly anybody has."""
    table = pd.DataFrame(
        {"s": ["ill", "well"] * 30, "ward": list("ABC") * 20, "rare": (["usual"] * 29 + ["strange"]) * 2}
    )
    return table.sample(frac=1, random_state=seed)


LISTS = {"ward": ["A", "B", "C"], "rare": ["usual", "strange"]}


@pytest.mark.parametrize(
    "query",
    [tk.Row("ward", "rare", domain=LISTS), tk.Row("rare"), tk.Row("ward", domain=LISTS["ward"])],
    ids=["rows", "read", "given"],
)
def test_probabilities_fitted_to_the_rows_stay_private(query, tmp_path):
    """Whoever knows all other rows could fit again, and see by which last row these probabilities come out."""
    made = tk.calibrate(tk.fit_priors(wards(0), secret="s", query=query), odds=2)
    tk.certify(made).redacted().save(tmp_path / "public.json")
    told = load_redacted(tmp_path / "public.json")
    assert told.content["channel"] == {"kind": "finite"}
    assert "strange" not in (tmp_path / "public.json").read_text()
    bad = json.loads((tmp_path / "public.json").read_text())
    for change in ({"kind": "other"}, {"inputs": 4}, {"more": 1}):
        (tmp_path / "bad.json").write_text(json.dumps(bad | {"channel": bad["channel"] | change}))
        with pytest.raises(InputError):
            load_redacted(tmp_path / "bad.json")


@pytest.mark.parametrize(("column", "domain"), [("ward", LISTS["ward"]), ("rare", None)], ids=["given", "read"])
def test_probabilities_of_another_table_are_public_where_the_list_is(column, domain):
    asked = {"secret": "s", "columns": [column], "domain": domain, "odds": 2, "confidence": None}
    asked["utility"] = tk.Utility(allow_no_noise=True)
    beside = tk.publish(wards(0), **asked, adversary=tk.Adversary(beliefs={"last year": wards(1)}))  # fitted to both
    assert beside.certificate.redacted().content["channel"] == {"kind": "finite"}
    alone = tk.publish(wards(0), **asked, adversary=tk.Adversary(beliefs={"last year": wards(1)}, own=False))
    told = alone.certificate.redacted().content["channel"]
    assert ("counts" in told) is (domain is not None)
    if domain is not None:
        assert told["counts"] == alone.calibration.channel.counts.tolist()


def test_probabilities_of_priors_made_by_hand_stay_private(certificate):
    if certificate.redacted().content["channel"]["kind"] in ("finite", "sparse"):
        assert certificate.redacted().content["channel"].keys() == {"kind"}


def test_the_nonce_keeps_two_certificates_apart():
    first, second = (tk.certify(CALIBRATIONS["odds"]) for _ in range(2))
    assert first.sha256 != second.sha256


def test_a_changed_file_is_refused(certificate, tmp_path):
    """Without a new digest any change is noticed; with one, what it says is proved again."""
    path, honest = tmp_path / "c.json", certificate.to_dict()

    def changed(change):
        content = copy.deepcopy(honest)
        change(content)
        return content

    def more_precise(content):
        promise = content["calibration"]["guarantee"]
        for part in promise.get("of", [promise]):
            part |= {"epsilon": part["epsilon"] * 0.5} if "epsilon" in part else {"factor": math.sqrt(part["factor"])}

    def another_law(content):
        law = content["calibration"]["problem"]["beliefs"][0]["laws"][0]
        law["weights"] = [w * (50 if k == 0 else 1) for k, w in enumerate(law["weights"])]

    def bare(content):
        channel = content["calibration"]["channel"]
        size = len(channel["inputs"])
        channel["outputs"] = channel["inputs"]
        channel["counts"] = [[2**32 * (i == j) for j in range(size)] for i in range(size)]

    def better(content):
        content["calibration"]["lower_bound"] = certificate.error * 1.01 + 1e-3

    def no_duals(content):
        content["calibration"]["optimality"] = None

    def smaller_loss(content):
        for loss in content["losses"]:
            loss["upper"] = loss["lower"]

    for change in (more_precise, another_law, bare, better, no_duals, smaller_loss):
        content = changed(change)
        if content == honest:
            continue
        refused(path, content)
        refused(path, sealed(content))

    def duals_of_nothing(content):
        for name, value in content["calibration"]["optimality"].items():
            content["calibration"]["optimality"][name] = np.zeros_like(value, dtype=float).tolist()

    refused(path, changed(duals_of_nothing), kind=InputError)
    if certificate.lower_bound > 1e-6:
        refused(path, sealed(changed(duals_of_nothing)))
    for key, value in (("format", "x"), ("version", 2.0), ("version", True), ("nonce", "0"), ("unheard", 1)):
        refused(path, sealed(honest | {key: value}), kind=InputError)


def test_figures_for_readers_are_those_of_the_channel(certificate):
    honest = json.loads(json.dumps(certificate.calibration.to_dict()))
    for key, value in (("error", honest["error"] + 0.01), ("epsilon", 9.0), ("pairs", [["a", "a"]])):
        with pytest.raises(InputError, match="was changed"):
            tk.Calibration.from_dict(honest | {key: value})
    near = honest | {"error": honest["error"] * (1 + 1e-13)}  # another machine adds up in another order
    assert tk.Calibration.from_dict(near) == certificate.calibration


def test_evidence_is_drawn_again(tmp_path):
    certificate = tk.certify(CALIBRATIONS["confident"])
    calibration = certificate.calibration
    assert calibration.evidence.draws >= 8
    naked = tk.calibrate(NUMBERS, odds=4, preserve=calibration._rule.keep)
    told = dataclasses.replace(calibration.evidence, level=0.99, draws=500)
    with pytest.raises(InputError, match="must say how many rows"):
        tk.certify(dataclasses.replace(naked, evidence=told))
    lie = dataclasses.replace(naked, problem=calibration.problem, evidence=told)
    with pytest.raises(CertificationError, match="looked at again"):
        tk.certify(lie)
    content = certificate.to_dict()
    content["calibration"]["evidence"]["draws"] = 3
    refused(tmp_path / "c.json", sealed(content), kind=InputError)


def test_a_channel_that_is_not_proved_is_not_certified():
    honest = CALIBRATIONS["odds"]
    bare = dataclasses.replace(honest, channel=FiniteChannel.identity(honest.channel.inputs))
    with pytest.raises(CertificationError, match="not proved to keep"):
        tk.certify(bare)
    with pytest.raises(CertificationError, match="nothing proves it"):
        tk.certify(dataclasses.replace(honest, optimality=None))
    with pytest.raises(CertificationError, match="is not proved: the bound is"):
        tk.certify(dataclasses.replace(honest, lower_bound=honest.error * 1.5))


JUNK = [None, True, 0, -1, 0.5, 1e308, 10**30, "", "x", [], {}, [[]], {"a": 1}, [1.0], math.pi]


def places(value, path=()):
    yield path
    children = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, child in children:
        yield from places(child, (*path, key))


def mutated(rng, content):
    path = rng.choice([path for path in places(content) if path])
    holder = content
    for key in path[:-1]:
        holder = holder[key]
    key, kind = path[-1], rng.randrange(4)
    if kind == 0:
        del holder[key]
    elif kind == 1 and type(holder[key]) in (int, float):
        holder[key] = holder[key] * rng.choice([0.5, 1 + 1e-9, 2, -1]) + rng.choice([0, 0, 1])
    elif kind == 2 and isinstance(holder[key], list):
        holder[key] = holder[key] * rng.choice([0, 2]) if rng.random() < 0.5 else list(reversed(holder[key]))
    else:
        holder[key] = copy.deepcopy(rng.choice(JUNK))
    return content


DAMAGED = some_of(150)


@pytest.mark.parametrize("which", list(CALIBRATIONS))
def test_damaged_files_are_refused_in_a_sentence_or_true(tmp_path, which):
    rng, honest = random.Random(which), tk.certify(CALIBRATIONS[which]).to_dict()
    path, told = tmp_path / "c.json", []
    for _ in range(DAMAGED):
        content = mutated(rng, copy.deepcopy(honest))
        try:
            data = json.dumps(sealed(content) if rng.random() < 0.7 else content)
        except (KeyError, AttributeError, TypeError):
            data = json.dumps(content)
        path.unlink(missing_ok=True)  # writing over a file makes the disk wait
        path.write_text(data)
        try:
            tk.verify(path)
        except (InputError, CertificationError) as error:
            told.append(str(error))
    assert len(told) > DAMAGED / 2
    assert all(sentence and "\n" not in sentence for sentence in told)


@pytest.mark.parametrize("name", ["weights", "ratios", "odds", "kept", "mean", "diagonal", "spread"])
@pytest.mark.parametrize("junk", [None, "x", [1.0], [[1.0, 2.0]], [[1.0], [1.0, 2.0]], {}, True])
def test_multipliers_of_another_shape_are_refused(tmp_path, name, junk):
    content = tk.certify(CALIBRATIONS["odds"]).to_dict()
    content["calibration"]["optimality"][name] = junk
    refused(tmp_path / "c.json", sealed(content))


@pytest.mark.parametrize("mechanism", ["optimal", "shaped", "of-somebody-else"])
def test_a_bound_of_the_best_channel_is_not_lent_to_another_mechanism(mechanism):
    """What it was asked to lose least may be another loss: its error beside that bound would be a false claim."""
    rows = [(i, j) for i in range(4) for j in range(3)]
    laws = {"a": tk.Finite(rows, range(1, 13)), "b": tk.Finite(rows, range(12, 0, -1))}
    best = tk.calibrate(laws, odds=1.2, preserve=None)
    cheap = tk.calibrate(laws, odds=1.2, utility=tk.Utility(weights=(0.01, 0.01)), options={"solver": "columns"})
    assert cheap.error < best.lower_bound / 10
    options = cheap.options if mechanism == "optimal" else (("keep", None),)
    borrowed = dataclasses.replace(cheap, mechanism=mechanism, options=options, optimality=best.optimality)
    with pytest.raises((CertificationError, InputError), match=r"for 'optimal' alone|not from solver='columns'"):
        tk.certify(dataclasses.replace(borrowed, lower_bound=best.lower_bound))
    assert tk.certify(dataclasses.replace(borrowed, optimality=None, lower_bound=None)).lower_bound is None


def test_all_of_a_stated_bound_is_asked_for_and_its_digits_are_rounded_down():
    honest = CALIBRATIONS["odds"]
    program = Optimal(**dict(honest.options)).program(honest.problem, honest.guarantee)
    proved = lower_bound(program, honest.optimality)
    assert 0 < honest.lower_bound < proved
    assert tk.verify(tk.certify(dataclasses.replace(honest, lower_bound=proved))).lower_bound == proved
    with pytest.raises(CertificationError, match="is not proved"):
        tk.certify(dataclasses.replace(honest, lower_bound=math.nextafter(proved, math.inf)))
    told = float(tk.certify(honest).claim.rsplit(" ", 1)[1])
    assert honest.lower_bound * (1 - 1e-5) < told <= honest.lower_bound


def test_a_bound_without_the_margin_of_the_population_is_said_to_be_for_these_rows():
    certificate = tk.certify(CALIBRATIONS["confident"])
    made = certificate.calibration

    def claim(radius):  # which of its margins a search ends with is not the point
        options = dict(made.options) | {"radius": radius}
        calibration = dataclasses.replace(made, options=tuple(options.items()))
        return dataclasses.replace(certificate, calibration=calibration).claim

    assert "and margin for other priors less than" in claim(0.01)
    assert "these rows alone" not in claim(0.01)
    assert " a value for the population; for these rows alone, which takes less, none between these" in claim(0.0)
    assert "for these rows" not in tk.certify(CALIBRATIONS["odds"]).claim
