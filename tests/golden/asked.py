"""What the net looks at of each public thing: the one place that knows the names of their attributes."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import takifugu as tk

from .harness import Seen, fingerprint, own_weight


def or_refusal(made: Callable[[], Any], told: Callable[[Any], Seen]) -> Seen:
    """What is told of a thing; of a refusal its kind, and its sentence among the words."""
    try:
        thing = made()
    except tk.TakifuguError as error:
        return {"refused": type(error).__name__}, [str(error)]
    return told(thing)


def of_calibration(calibration: tk.Calibration) -> Seen:
    """The promise, the channel, what it costs and loses, and what is remarked."""
    promise = calibration.guarantee
    figures = {
        "guarantee": {
            "alpha": promise.alpha,
            "epsilon": promise.epsilon,
            "odds": getattr(promise, "most_odds", None),
            "delta": getattr(promise, "delta", None),
        },
        "mechanism": calibration.mechanism,
        "channel": of_channel(calibration.channel),
        "error": calibration.error,
        "lower_bound": calibration.lower_bound,
        "loss": calibration.loss,
        "worst_pair": list(map(str, calibration.worst_pair)),
        "beliefs": len(calibration.beliefs),
        "findings": codes(calibration.findings),
        "evidence": of_evidence(calibration.evidence),
    }
    pairs = list(calibration.losses)
    if len(pairs) <= 30:
        figures["losses"] = {f"{a} / {b}": calibration.losses[a, b] for a, b in pairs}
    words = [str(calibration), *map(str, calibration.findings)]
    if calibration.evidence is not None:
        words.append(calibration.evidence.sentence)
    return figures, words


def calibrated(*arguments: Any, **options: Any) -> Callable[[], Seen]:
    """A case: a calibration with these arguments, of which those that can be called are called first."""

    def made() -> tk.Calibration:
        return tk.calibrate(*(one() if callable(one) else one for one in arguments), **options)

    return lambda: or_refusal(made, of_calibration)


def of_channel(channel: Any) -> dict[str, Any]:
    """What a channel does, in figures that do not hang on how it is stored or in which order values stand."""
    if hasattr(channel, "theta"):
        return {"theta": channel.theta}
    if hasattr(channel, "scale"):
        return {"scale": channel.scale}
    if hasattr(channel, "covariance"):
        return {"covariance": np.asarray(channel.covariance).tolist()}
    sources, targets, shares = (np.asarray(part) for part in channel.entries)
    inputs, outputs = channel.inputs, channel.outputs
    shares = shares / sum_of_rows(sources, shares, len(inputs))[sources]
    stays = np.array([inputs[a] == outputs[b] for a, b in zip(sources, targets, strict=True)])
    true, told = np.array(list(map(own_weight, inputs))), np.array(list(map(own_weight, outputs)))
    return {
        "inputs": len(inputs),
        "used": len(set(targets[shares > 0].tolist())),
        "moves": int((shares > 0).sum()),
        "stays": shares[stays].sum() / len(inputs),
        "mixed": (shares * true[sources] * told[targets]).sum(),
    }


def sum_of_rows(sources: Any, shares: Any, rows: int) -> Any:
    """What the probabilities of each input add up to, as they are stored."""
    return np.bincount(sources, weights=shares.astype(float), minlength=rows)


def codes(findings: Any) -> list[str]:
    """The names that findings have for machines, with their levels."""
    return sorted(f"{finding.level}: {finding.code}" for finding in findings)


def of_evidence(evidence: Any) -> dict[str, Any] | None:
    """On what a promise for the population rests."""
    if evidence is None:
        return None
    names = ("level", "confidence", "draws", "seed", "without")
    return {name: getattr(evidence, name) for name in names if hasattr(evidence, name)}


def of_law(law: Any) -> list[float]:
    """A few figures of a prior."""
    if isinstance(law, tk.Finite):
        weights = [law.probability(value) * own_weight(value) for value in law.values]
        return [len(law.values), float(sum(weights))]
    if isinstance(law, tk.VectorMixture):
        return [*fingerprint(law.weights), *fingerprint(law.means), *fingerprint(law.covariances)]
    return [*fingerprint(law.weights), *fingerprint(law.means), *fingerprint(law.stds)]


def of_priors(priors: Any) -> Seen:
    """The priors of each belief, and what is remarked about them."""
    beliefs = priors if isinstance(priors, Sequence) else [priors]
    figures = {
        "beliefs": [{str(secret): of_law(law) for secret, law in belief.items()} for belief in beliefs],
        "findings": codes(priors.findings),
    }
    return figures, list(map(str, priors.findings))
