"""The release as a scikit-learn transformer: fit learns the priors and calibrates, transform publishes."""

import logging
from collections.abc import Iterable
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, column_or_1d, validate_data

from takifugu._validation import Array
from takifugu.calibration import Calibration, calibrate
from takifugu.errors import InputError
from takifugu.queries import Raw, fit_priors
from takifugu.releases.releasing import release
from takifugu.tables import plain

_log = logging.getLogger("takifugu")


class ReleaseTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Adds to one column the least noise that hides each record's secret.

    `fit(X, secret=...)` takes the values and the secret of each record, fits one prior per secret as
    `takifugu.fit_priors` does, and calibrates; `transform(X)` publishes, as a table of one column. The target `y` is
    never taken for the secret. In a pipeline, ask for the secret by scikit-learn's metadata routing:
    `ReleaseTransformer().set_fit_request(secret=True)`.

    The records keep their order, since whoever transforms them holds them beside it; the log says so once. Where that
    order goes with the secret or the values, it tells the secret: shuffle the records first.

    Fitted without a secret it knows of nothing that may leave, says so in the log, and publishes a constant.

    Several columns about the same records would need a joint prior: where X has more than one, `column` chooses which
    is the answer, and the others do not leave.

    Args:
        alpha: the Rényi order.
        epsilon: the budget.
        prior: the kind of prior fitted to each secret, as in `takifugu.Raw` and with the same default.
        mechanism: see `takifugu.list_mechanisms`.
        pairs: the pairs of secrets to hide from one another; every pair by default.
        column: the position of the answer in X; it may be left out where X has one column.
        granularity: see `takifugu.release`, as for the rest.
        clip: the lowest and highest value of the column's domain.
        round_to: the step of the column's domain.
        ledger: a `Ledger` or the path of one, charged by every `transform`.
        insecure_seed: for tests alone.

    >>> X, secrets = np.arange(20.0).reshape(-1, 1), np.repeat(["a", "b"], 10)
    >>> ReleaseTransformer(prior="gaussian").fit(X, secret=secrets).transform(X).shape
    (20, 1)
    """

    def __init__(
        self,
        *,
        alpha: float = 2.0,
        epsilon: float = 1.0,
        prior: str | None = None,
        mechanism: str = "exact",
        pairs: Iterable[tuple[Any, Any]] | None = None,
        column: int | None = None,
        granularity: float | None = None,
        clip: tuple[float, float] | None = None,
        round_to: float | None = None,
        ledger: Any = None,
        insecure_seed: int | None = None,
    ) -> None:
        """Store the options; they are checked by `fit` and `transform`."""
        self.alpha = alpha
        self.epsilon = epsilon
        self.prior = prior
        self.mechanism = mechanism
        self.pairs = pairs
        self.column = column
        self.granularity = granularity
        self.clip = clip
        self.round_to = round_to
        self.ledger = ledger
        self.insecure_seed = insecure_seed

    def fit(self, X: Any, y: Any = None, *, secret: Any = None) -> Self:
        """Fit a prior to the values of each secret, and calibrate the noise; `y` is not looked at."""
        values = self._column(X, reset=True)
        self.calibration_: Calibration | None = None
        if secret is None:
            _log.warning("ReleaseTransformer was fitted without secret=: it knows of nothing to publish but a constant")
            return self
        secrets = column_or_1d(secret)
        if len(secrets) != len(values):
            raise InputError(f"secret must have one entry per record, got {len(secrets)} for {len(values)} records")
        if missing := sum(plain(one) is None for one in secrets.tolist()):
            raise InputError(
                f"{missing:,} records have no secret, so nothing hides them: leave them out of X and secret, or give "
                f"them a secret of their own"
            )
        if len(set(map(plain, secrets.tolist()))) < 2:
            raise InputError("secret is the same in every record: it is hidden among others, so two or more are needed")
        table = {"secret": secrets, "value": values}
        priors = fit_priors(_frame(table), secret="secret", query=Raw("value", prior=self.prior))
        self.calibration_ = calibrate(
            priors, alpha=self.alpha, epsilon=self.epsilon, mechanism=self.mechanism, pairs=self.pairs
        )
        alone = set(priors).difference(*self.calibration_.pairs)
        if alone:
            raise InputError(
                f"records of {sorted(map(str, alone))} stand in none of the pairs, so nothing hides them: add pairs, "
                f"or leave those records out"
            )
        return self

    def transform(self, X: Any) -> Array:
        """Publish the values: every call is a release of its own."""
        check_is_fitted(self, "calibration_")
        self._refuse_index(X)
        values = self._column(X, reset=False)
        if self.calibration_ is None:
            return np.zeros((len(values), 1))
        published = release(
            values,
            self.calibration_,
            others="release",  # `fit` made sure that every secret is hidden; what is transformed comes without
            ledger=self.ledger,
            granularity=self.granularity,
            clip=self.clip,
            round_to=self.round_to,
            insecure_seed=self.insecure_seed,
        )
        return np.asarray(published, dtype=np.float64).reshape(-1, 1)

    def _refuse_index(self, X: Any) -> None:
        """Scikit-learn gives pandas' output the index of the records, and joins by it what stands side by side."""
        index: Any = getattr(X, "index", None)
        if _get_output_config("transform", self)["dense"] != "pandas" or not hasattr(index, "equals"):
            return
        if type(index).__name__ != "RangeIndex" or index.start != 0 or index.step != 1 or index.name is not None:
            raise InputError(
                "the index of the records would be published with them, and was not calibrated: reset_index(drop=True) "
                "first"
            )

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[np.object_]:
        """The name of the column that leaves."""
        check_is_fitted(self)
        names = np.asarray(_check_feature_names_in(self, input_features), dtype=object)
        return names[[0 if self.column is None else self.column]]

    def _column(self, X: Any, *, reset: bool) -> Array:
        try:
            matrix = validate_data(self, X, reset=reset, dtype=np.float64)
        except ValueError as error:
            if "could not convert" not in str(error):
                raise
            matrix = None  # what cannot be converted is quoted there
        if matrix is None:
            raise InputError("X holds something that is no number: give it columns of numbers alone")
        features = matrix.shape[1]
        if self.column is None and features != 1:
            raise InputError(
                f"X has {features} features, and one is released: several answers about the same records do not "
                f"compose without a joint prior. Give column, the position of the answer"
            )
        place = 0 if self.column is None else self.column
        if isinstance(place, bool) or not isinstance(place, int | np.integer) or not 0 <= place < features:
            raise InputError(f"column must be a position from 0 to {features - 1}, got {place!r}")
        values: Array = matrix[:, place]
        return values

    def __sklearn_tags__(self) -> Any:
        """What scikit-learn may assume: noise is never the same twice."""
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


def _frame(columns: dict[str, Any]) -> Any:
    import pandas as pd

    return pd.DataFrame(columns)
