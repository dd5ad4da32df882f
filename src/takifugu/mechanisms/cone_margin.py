"""The margin by cones: what the rows leave open of every published probability, as its own deviation.

To first order what is published under two laws is off by a normal variable, whose deviation hangs on the channel
itself. A channel that keeps so many of these deviations in hand, at every output, is the answer to a second-order cone
program. How many are needed draws say, and fresh ones judge (proofs/population.md).
"""

import math

import numpy as np

from takifugu._validation import Array
from takifugu.channels import FiniteChannel, ListChannel
from takifugu.errors import CalibrationError
from takifugu.laws import key, with_unseen
from takifugu.mechanisms.base import Found
from takifugu.mechanisms.draws import APART, drawn_laws, is_private, is_smoothed, posterior
from takifugu.mechanisms.optimal.column_generation import Moves
from takifugu.mechanisms.optimal.finite_problem import table_of
from takifugu.mechanisms.optimal.mechanism import Optimal
from takifugu.mechanisms.optimal.program import Indices, Mask
from takifugu.mechanisms.optimal.second_order import Margined, with_margin
from takifugu.problems import Guarantee, Problem

_MOST_ENTRIES = 4_000_000  # pairs × values², which a search has time and memory for
_MOST_WORK = 4e9  # of one step
_MOST_STEP = 4e9  # the same through few outputs: values × directions²
_OF_LAWS = 200  # draws that say how far a law is off where no formula does
_LEAST_REST = 1e-6  # of a law beside one value: of what all have no draw says how much it varies
_RARE = 0.01  # of all that is published
_TRACES = 1e-3  # of it: the rarest outputs that hold no more are mostly what an interior point leaves everywhere
_TRACE = 1e-5  # of all that is published, below which an output is given up
_LEAST_BENT, _MOST_BENT = {True: 0.6, False: 1.0}, 2.5  # of up to so many values, and of more
_FEW_VALUES = 64
_LEAST_EVEN, _MOST_EVEN = 0.7, 1.5  # of the factor that all have in common
_LEAST_WORTH = 1e-6  # of the dearest deviation
_LOOK, _COARSE, _FINE = 0.03, 0.01, 1e-3  # of the cost: which outputs are used, and channels of thousands and others
_LEAST_MOVE = 1e-4  # of an input: less is what an interior point leaves everywhere
_LEAST_OUTPUTS, _MOST_OUTPUTS = 120, 150  # of thousands of values: through fewer a linear margin costs no more,
_LEAST_OF_MANY = 8  # but of more than two laws, which leave that hardly any outputs
_MOST_GROUPS = 2_500  # of values that lie close together and tell alike: through so few outputs they may do the same
_POOR = 0.05  # of the cost: a channel so much dearer than the best is no answer
_NONE = "no channel was found that keeps what the rows leave open in hand: guarantee less, or give a coarser domain"


def has_cones(rule: Optimal, problem: Problem, asked: Guarantee) -> bool:
    """Whether the program by cones knows these wishes and is of a size that it is solved for in time."""
    if rule.solver == "columns":
        is_plain = rule.keep is None and rule.caution == 0 and math.isinf(asked.alpha) and asked.odds_beside is None
        table = table_of(problem)
        least = _LEAST_OUTPUTS if len(table.laws) <= 2 else _LEAST_OF_MANY
        return is_plain and _outputs_of(problem) >= min(least, len(table.values))
    wishes = rule.unbiased or rule.forbidden or rule.diagonal is not None or rule.local_price is not None
    if wishes or np.any(rule.reach(problem)) or math.isfinite(asked.alpha) or asked.odds_beside is not None:
        return False
    table = table_of(problem)
    values, directions = len(table.values), len(table.pairs) + 2 * len(table.laws)
    return (
        len(table.pairs) * values**2 <= _MOST_ENTRIES and values * directions**2 * (values + directions) <= _MOST_WORK
    )


def _outputs_of(problem: Problem) -> int:
    """Through how many outputs thousands of values are published, that a step takes a second or two."""
    table = table_of(problem)
    values, rank = min(len(table.values), _MOST_GROUPS), len(table.pairs) + 2 * len(table.laws)
    by_rows = int((_MOST_STEP / values) ** 0.5) // rank
    most = int(_MOST_OUTPUTS * max(1.0, len(table.values) / _MOST_GROUPS) ** 0.5)
    return max(1, min(most, values, by_rows, _MOST_ENTRIES // (values * len(table.pairs))))


class Cones:
    """The channels of a problem, by how many deviations they keep in hand; of wishes that `has_cones` knows."""

    def __init__(self, rule: Optimal, problem: Problem, asked: Guarantee) -> None:
        """All outputs are looked at, the first time."""
        self.rule, self.problem, self.asked, self._spread = rule, problem, asked, spreads(problem)
        self._places: Indices | None = None
        if rule.solver == "columns":
            self._places = rule.covering(problem, _outputs_of(problem))
            self._group = rule.alike(problem, asked, _MOST_GROUPS)
            program = rule.program_to(problem, asked, self._places, self._group)
            together = np.stack([np.bincount(self._group, weights=law) for law in self._spread])
            self._margined = Margined(program, together.astype(np.float64))
        else:
            self._margined = Margined(rule.program(problem, asked), self._spread[:, rule.support(problem)])
        program = self._margined.program
        self._is_free = program.keep != "marginal"
        self._outputs: Mask = np.ones(program.size[1], dtype=np.bool_)
        if self._places is None and self._is_free and not isinstance(rule.loss, tuple):
            self._outputs[:] = False
            self._outputs[rule.covering(problem, max(_MOST_OUTPUTS, program.size[1] // 2))] = True
        self._is_first = True
        self._least_bent = _LEAST_BENT[program.size[0] <= _FEW_VALUES]
        self._skew = np.zeros((len(program.constraints), program.size[1]))
        self._saved, self._kept = np.zeros_like(self._skew), np.zeros_like(self._skew)
        self._had, self._bends = np.zeros_like(self._skew), np.ones_like(self._skew)
        values = table_of(problem).values
        places = rule.support(problem) if self._places is None else self._places
        self._names = {key(values[place]): where for where, place in enumerate(places.tolist())}

    def at(self, factor: float) -> Found:
        """The best channel with so many deviations in hand: repaired, and proved for the laws themselves.

        Args:
            factor: how many deviations of what its own posterior says each constraint keeps in hand.

        Returns:
            A channel with its proof.
        """
        if self._places is not None:
            return self._by_columns(factor, self._places)
        coarse = self._is_free and self._is_first
        matrix, used = self._solved(factor, self._outputs, goal=_LOOK if coarse else _FINE)
        if not self._is_free:
            self._skew = self._skewness(matrix)
        elif self._is_first:
            self._outputs = self._common(matrix, _RARE)
            matrix, used = self._solved(factor, self._outputs, goal=_FINE)
        self._is_first = False
        if self._is_free and not used[self._outputs].all():
            # An interior point leaves a trace of every input in outputs that it gives up: odds of traces are any odds.
            if self.rule.keep is not None:
                matrix, used = self._solved(factor, used, goal=_FINE)
            matrix = np.where(used, matrix, 0.0)
            matrix /= matrix.sum(axis=1, keepdims=True)
        counts = self.rule.proved_counts(self.problem, self.asked, matrix)
        values = table_of(self.problem).values
        return Found(FiniteChannel(values, values, counts), options=self.rule.options)

    def _by_columns(self, factor: float, places: Indices) -> Found:
        """The same through few outputs, as moves."""
        matrix, _ = self._solved(factor, self._outputs, goal=_COARSE)
        self._outputs = self._common(matrix, _RARE)
        matrix = np.where(self._common(matrix, _TRACES) & (matrix > _LEAST_MOVE), matrix, 0.0)[self._group]
        sources, targets = np.nonzero(matrix)
        shares = matrix[sources, targets] / matrix.sum(axis=1)[sources]
        channel = self.rule.proved_moves(self.problem, self.asked, Moves(sources, places[targets], shares))
        if channel is None:
            raise CalibrationError(_NONE)
        return Found(channel, options=self.rule.options)

    def _common(self, matrix: Array, rare: float) -> Mask:
        """The outputs without the rarest, which together hold next to nothing of what is published.

        They save as little, and ask for more deviations than all others: a few rows make no normal variable.
        """
        published = self._margined.program.pooled @ matrix
        order = np.argsort(published, kind="stable")
        common = np.ones(len(published), dtype=np.bool_)
        common[order[np.cumsum(published[order]) <= rare]] = False
        return common

    def _solved(self, factor: float, outputs: Mask, *, goal: float) -> tuple[Array, Mask]:
        """The channel between the program's values through some outputs, and which it uses more than in traces."""
        program = self._margined.program
        even = uneven(self._saved, factor)
        self._kept, self._bends = self._saved, bent(self._skew, even, least=self._least_bent)
        self._had = even * self._bends
        found = with_margin(self._margined.narrowed(outputs), self._had[:, outputs], goal=goal)
        if found is None or not found.gap <= _POOR:
            raise CalibrationError(_NONE)
        matrix = np.zeros(program.size)
        matrix[:, outputs] = found.matrix
        self._saved = np.zeros_like(self._skew)
        self._saved[:, outputs] = savings(found.worth / even[:, outputs])
        return matrix, np.asarray(program.pooled @ matrix > _TRACE)

    def _skewness(self, matrix: Array) -> Array:
        """Of p_i(y) − ρ p_j(y) in the posterior, constraints × outputs."""
        program, spread, totals = self._margined.program, self._margined.spread, self._margined.spread.sum(axis=1)
        shares = spread / totals[:, None]
        mean, square, cube = (shares @ matrix**power for power in (1, 2, 3))
        variance = (square - mean**2) * totals[:, None]
        third = 2 * (cube - 3 * mean * square + 2 * mean**3) * totals[:, None] ** 2
        odds = program.factor
        top = third[program.left] - odds**3 * third[program.right]
        below = np.maximum(variance[program.left] + odds**2 * variance[program.right], 0.0) ** 1.5
        return np.asarray(np.divide(top, below, out=np.zeros_like(top), where=below > 0))

    def needed(self, channel: ListChannel, laws: Array) -> Array:
        """For each of some laws the factor, about, at which the channel last made would be within the odds for them.

        `laws` are by (belief, draw, secret, value).

        Args:
            channel: that a factor led to.
            laws: draws of the posterior.

        Returns:
            A number of deviations.
        """
        odds, found = math.exp(self.asked.epsilon), np.zeros(laws.shape[1])
        published, secrets = channel.through(laws), len(self.problem.pairs.secrets)
        variances = self._variances(channel)
        where = [self._names.get(key(value), 0) for value in channel.outputs]
        constraints = {pair: place for place, pair in enumerate(self._margined.program.constraints)}
        for belief, drawn in enumerate(published):
            for a, b in zip(*self.problem.pairs.directed_places(), strict=True):
                left, right = belief * secrets + int(a), belief * secrets + int(b)
                at = constraints[left, right], where
                off = np.sqrt(variances[left] + odds**2 * variances[right])
                over = drawn[:, a] - odds * drawn[:, b]
                beyond = np.divide(over, off, out=np.full_like(over, -math.inf), where=off > 0)
                had = np.maximum(self._had[at] + beyond, 0.0) / self._bends[at]
                found = np.maximum(found, even_of(had, self._kept[at]).max(axis=1))
        return found

    def _variances(self, channel: ListChannel) -> Array:
        """Of what is published under each law, output by output."""
        sources, targets, shares = channel.entries
        squares = [
            np.bincount(targets, weights=law[sources] * shares**2, minlength=len(channel.outputs))
            for law in self._spread
        ]
        totals = self._spread.sum(axis=1, keepdims=True)
        mean = channel.through(self._spread)
        off = np.divide(mean**2, totals, out=np.zeros_like(mean), where=totals > 0)
        return np.asarray(np.maximum(np.array(squares) - off, 0.0))


def bent(skew: Array, factor: float | Array, *, least: float) -> Array:
    """What a factor is multiplied by for what is skewed, by Cornish's and Fisher's expansion, within bounds.

    A quantile of what is skewed lies further out than that of a normal; the first term of the expansion says by how
    much.

    Args:
        skew: the third moment of each constraint, in deviations.
        factor: how many deviations are kept in hand.
        least: the least multiplier. Of many values one below 1 makes an output fail that is skewed otherwise in the
            next channel, and each channel asks for more deviations than the one before.

    Returns:
        A multiplier for each. It steers a search; what is found is judged by draws.
    """
    return np.clip(1 + skew * (factor**2 - 1) / (6 * factor), least, _MOST_BENT)


def savings(worth: Array) -> Array:
    """By how much the square of a factor is best lowered where a deviation costs so much.

    Of normal deviations z, each broken with a probability that falls as e^(-z²/2), those cost least together that are
    broken as rarely as they are dear: e^(-z²/2) is worth times a constant. It is chosen so that what is dear stays.
    """
    known = np.maximum(worth, _LEAST_WORTH * max(float(worth.max(initial=0.0)), 1e-300))
    logs = np.log(known)
    return np.asarray(2 * (logs - (known * logs).sum() / known.sum()))


def uneven(saved: Array, factor: float) -> Array:
    """The factor of every output, within bounds."""
    squares = np.clip(factor**2 - saved, (_LEAST_EVEN * factor) ** 2, (_MOST_EVEN * factor) ** 2)
    return np.asarray(np.sqrt(squares))


def even_of(factors: Array, saved: Array) -> Array:
    """The least factor at which `uneven` is so large."""
    found = np.sqrt(np.maximum(factors**2 + saved, 0.0))
    return np.asarray(np.clip(found, factors / _MOST_EVEN, factors / _LEAST_EVEN))


def spreads(problem: Problem) -> Array:
    """For each law d with Var Σ k(x) p(x) = Σ d k² − (Σ d k)²/Σ d in its posterior, about where that is no Dirichlet.

    Of counts c, with pseudo-counts, it is c/(n(n + 1)); values that nobody has count as much as they may in a draw, or
    the channel would lead through them as if it were known that nobody has them. Where rows were added to others, or
    noise to counts, it follows from the variances of draws.

    Args:
        problem: priors that were counted.

    Returns:
        A matrix of laws by values.
    """
    behind = posterior(problem)
    laws = [belief[secret] for belief in behind for secret in problem.pairs.secrets]
    if not is_private(problem) and not any(is_smoothed(pseudo) for _, pseudo in laws):
        counts = np.array([seen + with_unseen(seen, pseudo) for seen, pseudo in laws])
        rows = counts.sum(axis=1, keepdims=True)
        return np.asarray(counts / rows / (rows + 1))
    drawn = drawn_laws(problem, _OF_LAWS, APART - 1)[:, 1:].swapaxes(1, 2).reshape(len(laws), -1, laws[0].counts.size)
    return np.asarray(drawn.var(axis=1) / np.maximum(1 - drawn.mean(axis=1), _LEAST_REST))
