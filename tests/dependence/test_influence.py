"""What differentially private releases tell of a chain: brute force, certificates, the ledger, and hostile files."""

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import takifugu as tk
from takifugu.cli import main
from takifugu.dependence import Cost, Influence, MarkovQuilt

CHAIN = tk.MarkovChain([[0.8, 0.2], [0.4, 0.6]])
PATHS = np.array(list(itertools.product((0, 1), repeat=6)))


def laws(chain, paths=PATHS):
    """P(path | state at each time), by time and state."""
    rows = np.array([[float(p) for p in row] for row in chain.transition])
    weight = np.array([float(p) for p in chain.start])[paths[:, 0]]
    for a, b in itertools.pairwise(range(paths.shape[1])):
        weight = weight * rows[paths[:, a], paths[:, b]]
    found = []
    for time in range(paths.shape[1]):
        at = [np.where(paths[:, time] == s, weight, 0.0) for s in range(len(rows))]
        found.append([one / one.sum() for one in at if one.sum()])
    return found


# Releases of six records, each as P(output | path), with its ε for replacing one record.


def noisy_number(of, epsilon, sensitivity=1):
    """Geometric noise; what is beyond 60 on either side is left out, where the ratio is what it is at the end."""
    numbers = np.array([of(path) for path in PATHS])
    return np.exp(-epsilon / sensitivity * np.abs(np.arange(-60, 67) - numbers[:, None]))


def flipped(bits, epsilon):
    """Randomised response to each of some bits of a path."""
    keep = math.exp(epsilon) / (1 + math.exp(epsilon))
    found = np.ones((len(PATHS), 1))
    for bit in bits:
        values = np.array([bit(path) for path in PATHS])
        one = np.stack([np.where(values == v, keep, 1 - keep) for v in (0, 1)], axis=1)
        found = (found[:, :, None] * one[:, None, :]).reshape(len(PATHS), -1)
    return found


def exponential(scores, epsilon):
    """The exponential mechanism; every score moves by one at most with a record."""
    weights = np.exp(epsilon / 2 * np.array([scores(path) for path in PATHS], dtype=float))
    return weights / weights.sum(axis=1, keepdims=True)


RELEASES = {
    "count": lambda e: noisy_number(np.sum, e),
    "first half": lambda e: noisy_number(lambda path: path[:3].sum(), e),
    "every second": lambda e: noisy_number(lambda path: path[::2].sum(), e),
    "weighted": lambda e: noisy_number(lambda path: path @ [3, 1, 2, 1, 1, 3], e, 3),
    "turns": lambda e: noisy_number(lambda path: np.abs(np.diff(path)).sum(), e, 2),
    "longest run": lambda e: noisy_number(lambda p: max(len(list(g)) for _, g in itertools.groupby(p)), e, 6),
    "each record": lambda e: flipped([lambda path, t=t: path[t] for t in range(6)], e),
    "one record": lambda e: flipped([lambda path: path[2]], e),
    "parity": lambda e: flipped([lambda path: path.sum() % 2], e),
    "any": lambda e: flipped([lambda path: int(path.any())], e),
    "majority": lambda e: exponential(lambda path: [path.sum(), 6 - path.sum()], e),
    "which time": lambda e: exponential(list, e),
}
NEIGHBOURS = [(a, b) for a in range(len(PATHS)) for b in range(len(PATHS)) if np.abs(PATHS[a] - PATHS[b]).sum() == 1]


def epsilon_of(release):
    """What a release costs: the largest log-ratio of two paths that differ in one record."""
    logs = np.log(release)
    return max(float((logs[a] - logs[b]).max()) for a, b in NEIGHBOURS)


def largest_loss(chain, joint):
    worst = 0.0
    for at in laws(chain):
        told = [law @ joint for law in at]
        worst = max([worst, *(float(np.log(p / q).max()) for p, q in itertools.permutations(told, 2))])
    return worst


def together(first, second):
    return (first[:, :, None] * second[:, None, :]).reshape(len(PATHS), -1)


CHAINS = {
    "both ways": CHAIN,
    "sticky": tk.MarkovChain([[0.95, 0.05], [0.1, 0.9]]),
    "starts": tk.MarkovChain([[0.7, 0.3], [0.5, 0.5]], start=[0.99, 0.01]),
    "turns": tk.MarkovChain([[0.2, 0.8], [0.7, 0.3]]),
    "never twice": tk.MarkovChain([[0.6, 0.4], [1, 0]]),
}


@pytest.mark.parametrize("chain", CHAINS.values(), ids=CHAINS)
def test_no_two_releases_of_six_records_tell_more_than_is_stated(chain):
    made = {name: release(e) for (name, release), e in zip(RELEASES.items(), itertools.cycle((0.1, 0.4, 1.0)))}
    closest = 0.0
    for first, second in itertools.combinations_with_replacement(made.values(), 2):
        spent = [epsilon_of(first), epsilon_of(second)]
        stated = Influence(MarkovQuilt(chain, 6), Cost(epsilons=tuple(spent))).prove().epsilon
        loss = largest_loss(chain, together(first, second))
        assert loss <= stated
        closest = max(closest, loss / stated)
    assert closest > 0.3  # the bound is not empty


def test_a_second_release_that_follows_from_the_first_tells_no_more():
    first, stated = RELEASES["each record"](0.3), Influence(MarkovQuilt(CHAIN, 6), Cost(epsilons=(0.3, 0.3))).epsilon
    columns = []
    for out in range(first.shape[1]):  # ask about the time that the first release makes likeliest
        asked = flipped([lambda path, t=out % 6: path[t]], 0.3)
        columns.append(first[:, [out]] * asked)
    assert largest_loss(CHAIN, np.concatenate(columns, axis=1)) <= stated


rows = st.lists(st.integers(1, 20), min_size=2, max_size=2).map(lambda w: [Fraction(x, sum(w)) for x in w])


@settings(max_examples=25, deadline=None)
@given(st.lists(rows, min_size=2, max_size=2), rows, st.sampled_from(list(RELEASES)), st.floats(0.05, 2))
def test_no_release_tells_more_of_any_chain(transition, start, name, epsilon):
    chain, release = tk.MarkovChain(transition, start=start), RELEASES[name](epsilon)
    assert largest_loss(chain, release) <= tk.depend(chain, 6, dp_epsilon=epsilon_of(release)).epsilon


@settings(max_examples=25, deadline=None)
@given(st.data(), st.sampled_from(list(RELEASES)), st.floats(0.0, 0.15))
def test_a_box_holds_for_every_chain_in_it_and_for_those_that_change(data, name, width):
    """Rows of the box drawn anew at every time; the start anywhere in what is stationary, or given."""
    box = tk.ChainBox.around(tk.MarkovChain([[0.7, 0.3], [0.45, 0.55]], start=[0.6, 0.4]), width)
    stays = data.draw(st.booleans())
    share = st.floats(0, 1)
    steps = []
    for _ in range(5 if not stays else 1):
        a, b = (float(low[1]) + data.draw(share) * float(high[1] - low[1]) for low, high in box.rows)
        steps.append(np.array([[1 - a, a], [1 - b, b]]))
    steps = steps * 5 if stays else steps
    if stays:
        start = np.array([steps[0][1, 0], steps[0][0, 1]])
        start = start / start.sum()
    else:
        start = np.array([0.6, 0.4])
        box = tk.ChainBox([a for a, _ in box.rows], [b for _, b in box.rows], start=(start, start))
    weight = start[PATHS[:, 0]]
    for time, step in enumerate(steps):
        weight = weight * step[PATHS[:, time], PATHS[:, time + 1]]
    release, worst = RELEASES[name](0.5), 0.0
    for time in range(6):
        told = [np.where(PATHS[:, time] == s, weight, 0.0) for s in (0, 1)]
        told = [one / one.sum() @ release for one in told]
        worst = max(worst, *(float(np.log(p / q).max()) for p, q in itertools.permutations(told)))
    assert worst <= tk.depend(box, 6, dp_epsilon=epsilon_of(release)).epsilon + 1e-12


def test_a_box_of_one_chain_is_that_chain_and_a_wider_one_asks_for_more():
    alone = MarkovQuilt(CHAIN, 24)
    bounds = [MarkovQuilt(tk.ChainBox.around(CHAIN, by), 24) for by in (0, 0.01, 0.05)]
    assert bounds[0].scale(1) == pytest.approx(alone.scale(1), rel=1e-9)
    assert bounds[0].renyi(3, 0.05) == pytest.approx(alone.renyi(3, 0.05), rel=1e-9)
    assert bounds[0].scale(1) < bounds[1].scale(1) < bounds[2].scale(1) <= 24 * (1 + 1e-11)
    several = MarkovQuilt([CHAIN, tk.MarkovChain([[0.9, 0.1], [0.3, 0.7]])], 24)
    assert several.epsilon(0.1) == max(MarkovQuilt(one, 24).epsilon(0.1) for one in several.chains)


@pytest.mark.parametrize("length", [1, 2, 3, 40])
@pytest.mark.parametrize(
    "chain",
    [CHAIN, tk.ChainBox.around(CHAIN, 0.01), tk.MarkovChain([[0, 1], [1, 0]], start=[1, 0]), CHAINS["never twice"]],
    ids=["chain", "box", "turns for certain", "zeros"],
)
@pytest.mark.parametrize("asked", [{"dp_epsilon": 0.5}, {"rho": 0.05, "alpha": 3}, {"rho": 0.01, "alpha": 1.001}])
def test_a_certificate_proves_again_and_a_little_less_does_not(chain, length, asked, tmp_path):
    made = tk.depend(chain, length, **asked)
    made.save(tmp_path / "c.json")
    assert tk.verify(tmp_path / "c.json").epsilon == made.epsilon
    content = json.loads((tmp_path / "c.json").read_text())
    content["epsilon"] = made.epsilon * (1 - 1e-6)
    (tmp_path / "less.json").write_text(json.dumps(content))
    with pytest.raises(tk.CertificationError, match="not proved"):
        tk.verify(tmp_path / "less.json")


def test_certain_states_are_said_to_tell_everything():
    told = str(tk.depend(tk.MarkovChain([[0, 1], [1, 0]], start=[0.5, 0.5]), 10, dp_epsilon=0.1))
    assert "what it tells is infinite" in told
    assert tk.depend(tk.MarkovChain([[0, 1], [1, 0]], start=[0.5, 0.5]), 10, dp_epsilon=0.1).epsilon >= 1.0


def test_further_releases_pay_their_own_share_alone(tmp_path):
    ledger = tmp_path / "days.ledger"
    first = tk.depend(CHAIN, 96, dp_epsilon=0.5, ledger=ledger, epsilon=3.5)
    second = tk.depend(CHAIN, 96, dp_epsilon=0.25, ledger=ledger)
    assert second.cost.epsilons == (0.5, 0.25)
    assert first.epsilon == pytest.approx(MarkovQuilt(CHAIN, 96).epsilon(0.5))
    assert second.epsilon == pytest.approx(MarkovQuilt(CHAIN, 96).epsilon(0.75))
    assert second.epsilon < first.epsilon + tk.depend(CHAIN, 96, dp_epsilon=0.25).epsilon
    for wrong, words in (
        ({"dp_epsilon": 5}, "above 3.5"),
        ({"rho": 0.1, "alpha": 3}, "another chain"),
        ({"dp_epsilon": 0.1, "epsilon": 9}, "another chain"),
    ):
        with pytest.raises(tk.LedgerError, match=words):
            tk.depend(CHAIN, 96, ledger=ledger, **wrong)
    with pytest.raises(tk.CompositionError, match="another chain"):
        tk.depend(CHAIN, 95, dp_epsilon=0.1, ledger=ledger)
    third = tk.depend(CHAIN, 96, dp_epsilon=0.01, ledger=ledger)  # what was refused was not written down
    assert third.cost.epsilons == (0.5, 0.25, 0.01)
    rows = tk.calibrate({"a": tk.Mixture.gaussian(0, 1), "b": tk.Mixture.gaussian(1, 1)}, alpha=2, epsilon=1)
    with pytest.raises(tk.CompositionError, match="of another kind"):
        tk.release([0.5], rows, ledger=ledger)
    tk.release([0.5], rows, ledger=tmp_path / "rows.ledger")
    with pytest.raises(tk.CompositionError, match="of another kind"):
        tk.depend(CHAIN, 96, dp_epsilon=0.1, ledger=tmp_path / "rows.ledger")


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"length": 97}, "not proved"),
        ({"releases": {"epsilon": [0.6], "rho": []}}, "not proved"),
        ({"releases": {"epsilon": [], "rho": []}}, "all alike"),
        ({"releases": {"epsilon": [0.5], "rho": [0.1]}}, "all alike"),
        ({"releases": {"epsilon": [-0.5], "rho": []}}, "above 0"),
        ({"alpha": 3}, "alpha with rho"),
        ({"chains": []}, "1 to"),
        ({"chains": [{"transition": [[0.9, 0.2], [0.5, 0.5]]}]}, "add up to 1"),
        ({"chains": [{"transition": [["0.99", "0.01"], ["0.01", "0.99"]]}]}, "not proved"),
        ({"chains": [{"transition": [["9" * 30_000, 0.5], [0.5, 0.5]]}]}, "fractions"),
        ({"chains": [{"transition": [[True, 0], [0, 1]]}]}, "fractions"),
        ({"chains": [{"transition": [["1e999999999", 0], [0, 1]]}]}, "fractions"),
        ({"epsilon": "NaN"}, "a number"),
        ({"version": 2}, "upgrade"),
    ],
)
def test_files_that_were_changed_are_refused(tmp_path, change, words):
    quilt_of_all = tk.depend(tk.MarkovChain([["1/2", "1/2"], ["2/5", "3/5"]]), 4, dp_epsilon=0.5)
    (tmp_path / "c.json").write_text(json.dumps(quilt_of_all.to_dict() | ({"length": 4} | change)))
    if change == {"length": 97}:  # of a longer chain the same may hold: then it is proved, and true
        tk.verify(tmp_path / "c.json")
        return
    with pytest.raises(tk.TakifuguError, match=words):
        tk.verify(tmp_path / "c.json")


def test_costs_beyond_all_floats_are_refused():
    assert "odds" not in str(tk.depend(CHAIN, 96, dp_epsilon=1e6))
    with pytest.raises(tk.CalibrationError, match="no bound to speak of"):
        _ = tk.depend(CHAIN, 96, dp_epsilon=1e6).guarantee
    with pytest.raises(tk.InputError, match="nothing to speak of"):
        Influence(MarkovQuilt(CHAIN, 4), Cost(epsilons=(1e308, 1e308)))
    many = tk.MarkovChain([[Fraction(1, 100)] * 100] * 100)
    with pytest.raises(tk.CertificationError, match="not proved here"):
        Influence(MarkovQuilt(many, 300), Cost(epsilons=(0.1,)), epsilon=1.0).prove()


def run(*arguments):
    return CliRunner().invoke(main, [str(argument) for argument in arguments])


def test_from_the_command_line(tmp_path):
    chain, ledger, certificate = (tmp_path / name for name in ("chain.json", "days.ledger", "certificate.json"))
    chain.write_text('{"transition": [[0.8, 0.2], [0.4, 0.6]]}')
    asked = ("depend", "--chain", chain, "--length", 96, "--dp-epsilon", 0.5)
    made = run(*asked, "--ledger", ledger, "--certificate", certificate)
    assert made.exit_code == 0
    assert "within epsilon = 2.40397" in made.stdout
    assert "For whoever believes anything else" in made.stdout
    proved = run("verify", certificate)
    assert proved.exit_code == 0
    assert proved.stdout.startswith("Proved: a differentially private release")
    assert "2 differentially private releases" in run(*asked, "--ledger", ledger).stdout
    assert json.loads(run(*asked, "--json").stdout)["epsilon"] == pytest.approx(2.40397, abs=1e-5)
    CHAIN.save(chain)
    assert run(*asked).stdout == made.stdout
    box = tk.ChainBox.around(CHAIN, 0.01)
    box.save(chain)
    assert f"within epsilon = {tk.depend(box, 96, dp_epsilon=0.5).epsilon!r}" in run(*asked).stdout
    assert run(*asked, "--epsilon", 2).exit_code == 1
    assert run(*asked, "--rho", 1).exit_code == 2
    assert run("depend", "--chain", tmp_path / "none.json", "--length", 3, "--dp-epsilon", 1).exit_code == 2
    chain.write_text('{"transition": [[0.8, 0.2], [0.4, 0.5]]}')
    refused = run(*asked)
    assert refused.exit_code == 2
    assert "holds no chain" in refused.stderr


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: tk.depend(CHAIN, 5), "one of dp_epsilon and rho"),
        (lambda: tk.depend(CHAIN, 5, dp_epsilon=1, rho=1), "one of"),
        (lambda: tk.depend(CHAIN, 5, rho=1), "needs alpha"),
        (lambda: tk.depend(CHAIN, 5, dp_epsilon=0), "above 0"),
        (lambda: tk.depend(CHAIN, 5, dp_epsilon=math.nan), "finite"),
        (lambda: tk.depend(CHAIN, 5, rho=1, alpha=1), "above 1"),
        (lambda: tk.depend([], 5, dp_epsilon=1), "needs a MarkovChain"),
        (lambda: tk.depend([[0.8, 0.2], [0.4, 0.6]], 5, dp_epsilon=1), "needs a MarkovChain"),
        (lambda: tk.ChainBox([[0.5, 0.6]], [[0.5, 0.6]]), "one probability for each"),
        (lambda: tk.ChainBox([[0.6, 0.5], [0.5, 0.5]], [[0.6, 0.5], [0.5, 0.5]]), "no distribution"),
        (lambda: tk.ChainBox([[0.6, 0.3], [0.5, 0.5]], [[0.5, 0.5], [0.5, 0.5]]), "no distribution"),
        (lambda: tk.ChainBox.around(CHAIN, 1), "below 1"),
    ],
)
def test_what_is_no_question_is_refused(call, words):
    with pytest.raises(tk.InputError, match=words):
        call()
