"""What each figure shows, in words."""

from takifugu.datasets.catalogue import about
from takifugu.studies.settings import TITLES, Plan

BASELINES_STATED = (
    "The baseline needs W∞, which is infinite for two Gaussians of unequal variance, and the paper does not say how "
    "its finite curves were made. Drawn here, in grey: for RAW, GWM on the empirical support, where W∞ is finite; for "
    "every other query GAWM with δ = 10⁻³, which ignores a share δ of the coupling and promises less. DAGWM, in green, "
    "is finite for both and promises the same as ours. GAWM with δ = 10⁻⁶ and GWM on the fitted priors are in the "
    "tables and in results.csv. Every θ of the paper’s mechanism and of exact comes with a proof."
)

_CAPTIONS = {
    "1": (
        "θ against ε at α = 3, Gaussian priors, RAW and MEAN. The paper does not name the dataset: all three are drawn."
    ),
    "2": (
        "Two pairs of Gaussians, compared one way. (a–c) N(0, 1) against N(0.5, 9), the “α-decreasing case”: only the "
        "closed form falls as α grows. The least noise (b) never does, and is zero for each of these α from ε = 1 on: "
        "the decrease is slack. (d–f) N(0, 1) against N(3, 1.44), the increasing case."
    ),
    "3": (
        "Fitted mixtures (lines) over the data (bars), K chosen by BIC. Whole numbers are narrow spikes to a "
        "likelihood, so BIC asks for many components; standard deviations are floored at the rounding of the data."
    ),
    "4": (
        "θ against ε at α = 3, mixture priors, RAW and MEAN. The paper models MEAN as one Gaussian, so for MEAN "
        "Theorem 4.1 is Theorem 3.5."
    ),
    "8": (
        "θ against ε for α = 1.5, 2, 3, 5: the BNN queries by the closed form (top), the exact least noise (middle) "
        "and the baseline (bottom), on one scale for each dataset."
    ),
}


def caption(figure: str, plan: Plan) -> str:
    """The caption of a figure."""
    if figure in _CAPTIONS:
        return _CAPTIONS[figure]
    dataset = about(plan.datasets[int(figure) - 5])
    first, second = dataset.pair
    return (
        f"{TITLES[dataset.name]}: θ against ε at α = 3, hiding {dataset.secret} = {first} and {dataset.secret} = "
        f"{second} from one another. RAW and MEAN by Theorem 4.1, BNN and GP by Theorem 3.5, beside the exact least "
        f"noise. Released: {dataset.answer}, its mean, or a model’s prediction of it."
    )
