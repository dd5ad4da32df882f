"""The study of unseen tables: its measures against other ways to compute them, its words, and its command."""

import hashlib
import zipfile
from dataclasses import replace

import mpmath
import numpy as np
import pandas as pd
import pytest
from made_up import made_up_table
from studies.unseen import __main__ as command
from studies.unseen.errors_of_noise import clipped, estimated
from studies.unseen.settings import ALPHA, CONFIDENCE, EPSILON
from studies.unseen.study import share_changed, square_error, study
from studies.unseen.telling import sources, summary, told

import takifugu as tk

VALUES = np.array([0.0, 1.0, 2.0, 5.0])
SHARES = np.array([0.4, 0.3, 0.2, 0.1])
TABLE = made_up_table(high=5)


def integral(loss, theta, x):
    """The mean of a loss of x + θZ, by mpmath in floats: they agree to a ten-thousandth or not at all."""
    return float(mpmath.fp.quad(lambda z: loss(x + theta * z) * mpmath.fp.npdf(z), [-12, -3, -1, 0, 1, 3, 12]))


@pytest.mark.parametrize("theta", [0.7, 40.0])
def test_clipped_noise_costs_what_an_integral_says(theta):
    expected = sum(
        share * integral(lambda y, x=x: (min(max(y, 0), 5) - x) ** 2, theta, x)
        for x, share in zip(VALUES.tolist(), SHARES.tolist(), strict=True)
    )
    assert clipped(VALUES, SHARES, theta) == pytest.approx(expected, rel=1e-4)
    assert clipped(VALUES, SHARES, 0.0) == 0.0


@pytest.mark.parametrize("theta", [1.0])
def test_the_best_estimate_costs_what_an_integral_says(theta):
    def best(y):
        weights = [s * mpmath.fp.npdf((y - x) / theta) for x, s in zip(VALUES.tolist(), SHARES.tolist(), strict=True)]
        return sum(w * x for w, x in zip(weights, VALUES.tolist(), strict=True)) / sum(weights)

    expected = sum(
        share * integral(lambda y, x=x: (best(y) - x) ** 2, theta, x)
        for x, share in zip(VALUES.tolist(), SHARES.tolist(), strict=True)
    )
    assert estimated(VALUES, SHARES, theta) == pytest.approx(expected, rel=1e-4)
    assert estimated(VALUES, SHARES, 0.0) == 0.0


def test_no_estimate_costs_more_than_the_mean_nor_clipping_more_than_noise():
    variance = float(SHARES @ (VALUES - SHARES @ VALUES) ** 2)
    for theta in np.geomspace(1e-3, 1e3, 25).tolist():
        assert estimated(VALUES, SHARES, theta) <= min(theta**2, variance) * (1 + 1e-9)
        assert estimated(VALUES, SHARES, theta) <= clipped(VALUES, SHARES, theta) * (1 + 1e-6)
        assert clipped(VALUES, SHARES, theta) <= theta**2 * (1 + 1e-9)


@pytest.fixture(scope="module")
def frame():
    rng = np.random.default_rng(3)
    table = pd.DataFrame({"s": np.repeat(["a", "b"], [700, 500])})
    table["x"] = np.clip(np.rint(rng.normal(np.where(table.s == "a", 2.2, 2.8), 1.2)), 0, 6).astype(int)
    table["ward"] = np.where(rng.random(1_200) < np.where(table.s == "a", 0.3, 0.5), "north", "south")
    return table


@pytest.fixture(scope="module")
def line(frame):
    return study(TABLE, frame)


def test_a_table_is_published_attacked_and_measured(line, frame):
    assert set(line.audits) == {"number", "number, odds", "label, odds", "both, odds"}
    assert not line.contradicted
    assert (line.rows, line.secrets, line.rarest, line.points) == (1_200, 2, 500, 6)
    assert 0 < line.numbers.channel <= line.numbers.noise
    assert line.numbers.noise_estimated <= line.numbers.noise_clipped <= line.numbers.noise
    assert line.audits["number"].guarantee.alpha == ALPHA
    assert line.audits["number"].guarantee.epsilon == EPSILON
    clipped_x = frame["x"].clip(0, 5)
    priors = tk.fit_priors(frame, secret="s", query=tk.Raw("x", bounds=(0, 5), step=1))
    noise = tk.calibrate(priors, alpha=ALPHA, epsilon=EPSILON, confidence=CONFIDENCE)
    assert line.numbers.noise == pytest.approx(noise.theta**2 / clipped_x.var(ddof=0))


def test_errors_agree_with_what_is_drawn(frame):
    calibration = tk.calibrate(tk.fit_priors(frame, secret="s", query=tk.Row("x")), odds=1.2)
    values = frame["x"].to_numpy(np.float64)
    places, counts = np.unique(values, return_counts=True)
    drawn = np.concatenate([np.asarray(calibration.channel.publish(values), np.float64) for _ in range(60)])
    seen = float(np.mean((drawn - np.tile(values, 60)) ** 2))
    assert square_error(calibration.channel, places, counts / counts.sum()) == pytest.approx(seen, rel=0.1)
    wards = tk.calibrate(tk.fit_priors(frame, secret="s", query=tk.Row("ward")), odds=1.2)
    labels = frame["ward"].tolist()
    changed = np.mean([np.mean(wards.channel.publish(labels) != np.array(labels)) for _ in range(60)])
    assert share_changed(wards.channel, labels) == pytest.approx(changed, abs=0.02)


def test_the_words_count_what_falls_short(line):
    poor = replace(line, numbers=replace(line.numbers, channel=line.numbers.noise), unseen=replace(TABLE, name="poor"))
    good = replace(line, numbers=replace(line.numbers, channel=line.numbers.noise / 50))
    text = told([good, poor])
    assert text.count("\n") == 3
    assert len({one.count("|") for one in text.splitlines()}) == 1
    assert "**50.0**" in text
    words = summary([good, poor])
    assert "1 of 2 tables (not on poor)" in words
    assert "0 guarantees contradicted" in words
    assert "`made-up==1.0` | MIT | nowhere |" in sources([TABLE])


def test_the_command_prints_one_table_or_says_why_not(line, frame, tmp_path, monkeypatch, capsys):
    def once(table, given, tell):
        tell(f"{table.name}: calibrating noise")
        assert given["x"].tolist() == frame["x"].tolist()
        return line

    monkeypatch.setattr(command, "study", once)
    content = frame.to_csv(index=False).encode()
    with zipfile.ZipFile(tmp_path / "made_up-1.0-py3-none-any.whl", "w") as archive:
        archive.writestr(TABLE.member, content)
    table = replace(TABLE, sha256=hashlib.sha256(content).hexdigest())
    monkeypatch.setattr(command, "TABLES", (table,))
    assert command.main(["--wheels", str(tmp_path), "--only", "made-up"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("| table: secret")
    assert "made-up: calibrating noise" in shown.err
    assert command.main(["--sources"]) == 0
    assert "nowhere" in capsys.readouterr().out
    monkeypatch.setattr(command, "TABLES", (TABLE,))
    assert command.main(["--wheels", str(tmp_path)]) == 2
    assert "digest differs" in capsys.readouterr().err
