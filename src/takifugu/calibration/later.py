"""Calibrating columns that follow others of the same people, under one promise for all (proofs/later.md)."""

import math

from takifugu.calibration.checking import checked
from takifugu.calibration.kinds import expected_loss
from takifugu.calibration.result import Calibration
from takifugu.channels.counts import BITS, MOST_BITS
from takifugu.channels.finite import FiniteChannel
from takifugu.channels.product import entries
from takifugu.mechanisms.base import Found
from takifugu.mechanisms.confident_channel import Wish, confident_channel
from takifugu.mechanisms.draws import draws_needed
from takifugu.mechanisms.evidence import Confidence
from takifugu.mechanisms.later import Later
from takifugu.mechanisms.margins import Margin, solves
from takifugu.mechanisms.optimal.table import table_of
from takifugu.mechanisms.worst import worst
from takifugu.problems.guarantee import Renyi
from takifugu.problems.problem import Problem


def calibrate_later(
    problem: Problem,
    past: FiniteChannel | None,
    *,
    epsilon: float,
    steps: int,
    confidence: float | None = None,
    seed: int = 0,
    keep: str | None = None,
) -> Calibration:
    """The channel of everything published so far and now: `past` for the first columns, the best one for the others.

    `problem` is about all these columns, and so is the promise: no published row changes the odds of any pair by more
    than e^ε. `steps` is how often columns may yet be published, this time included: exact probabilities of all of them
    share the bits that there are.
    """
    asked = Renyi(math.inf, epsilon)
    bits = 0 if past is None else past.denominator.bit_length() - 1
    rule = Later(past=past, keep=keep, bits=min(BITS, (MOST_BITS - bits) // steps))

    def at(margin: float) -> Found:
        wider = Later(past=past, keep=keep, bits=rule.bits, margin=margin)
        return checked(wider, wider.find(problem, asked), problem, asked)._replace(options=wider.options)

    found = at(0.0)
    evidence: Confidence | None = None
    if confidence is not None:
        draws_needed(confidence)  # before the work, whether it is a level at all
        width = 0 if past is None else len(entries(past.inputs[0]))
        without = expected_loss(rule, problem, found.channel)
        size = len({entries(value)[width:] for value in table_of(problem).values})
        wish = Wish(found, [Margin(at=at, most=solves(size))], lambda one: expected_loss(rule, problem, one.channel))
        found, draws, apart = confident_channel(problem, asked, [lambda: wish], level=float(confidence), seed=seed)
        evidence = Confidence(float(confidence), draws, apart, without)
    return Calibration(
        problem=problem,
        guarantee=asked,
        channel=found.channel,
        mechanism=rule.name,
        place=worst(problem, found.channel, alpha=math.inf).place,
        options=tuple(sorted((found.options or rule.options).items())),
        evidence=evidence,
    )
