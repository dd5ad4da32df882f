"""Releases as scikit-learn transformers: fit learns the priors and calibrates, transform publishes."""

import logging
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils._set_output import _get_output_config
from sklearn.utils.validation import _check_feature_names_in, check_is_fitted, column_or_1d, validate_data

from takifugu._validation import Array
from takifugu.calibration import Calibration, calibrate
from takifugu.errors import InputError
from takifugu.problems import Guarantee, Odds, Pair, Secret, Utility
from takifugu.queries import Raw, Row, fit_priors
from takifugu.releases.ledger import Ledger
from takifugu.releases.plan import HELD, Plan, warn_of_order
from takifugu.releases.releasing import release, released
from takifugu.tables import plain

if TYPE_CHECKING:
    import pandas as pd

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
        granularity: the power of two that what is published is rounded to; by default about θ/1024.
        clip: the lowest and highest value of the column's domain.
        round_to: the step of the column's domain.
        ledger: a `Ledger` or the path of one, charged by every `transform`.
        insecure_seed: for tests alone.

    Raises:
        InputError: by `fit` and `transform`, for what is no column of numbers, and options that `calibrate` or
            `release` refuses.
        BudgetError: by `transform`, where the ledger has no room for these records.

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
        pairs: Iterable[Pair] | None = None,
        column: int | None = None,
        granularity: float | None = None,
        clip: tuple[float, float] | None = None,
        round_to: float | None = None,
        ledger: Ledger | str | os.PathLike[str] | None = None,
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

    def fit(self, X: npt.ArrayLike, y: object = None, *, secret: npt.ArrayLike | None = None) -> Self:
        """Fit a prior to the values of each secret, and calibrate the noise; `y` is not looked at.

        Args:
            X: the values, an array or a table of one column or more.
            y: ignored, for pipelines.
            secret: the secret of each row; without it nothing is calibrated, and `transform` refuses.

        Returns:
            Itself, with `calibration_` set.

        Raises:
            InputError: for options that are none, and values that no prior can be fitted to.
            CalibrationError: where no noise keeps the guarantee.
        """
        values = self._column(X, reset=True)
        self.calibration_: Calibration | None = None
        if secret is None:
            _log.warning("ReleaseTransformer was fitted without secret=: it knows of nothing to publish but a constant")
            return self
        secrets = _checked(secret, len(values))
        table = {"secret": secrets, "value": values}
        priors = fit_priors(_frame(table), secret="secret", query=Raw("value", prior=self.prior))
        self.calibration_ = calibrate(
            priors, alpha=self.alpha, epsilon=self.epsilon, mechanism=self.mechanism, pairs=self.pairs
        )
        _refuse_alone(priors, self.calibration_)
        return self

    def transform(self, X: npt.ArrayLike) -> Array:
        """Publish the values: every call is a release of its own.

        Args:
            X: rows with the same columns as those that were fitted.

        Returns:
            The published column, with fresh noise from the operating system's random bits.

        Raises:
            InputError: for values that are missing, or cannot be those that the priors are about.
        """
        check_is_fitted(self, "calibration_")
        _refuse_index(self, X)
        values = self._column(X, reset=False)
        if self.calibration_ is None:
            return np.zeros((len(values), 1))
        published = release(
            values,
            self.calibration_,
            others="release",  # `fit` made sure that every secret is hidden; what is transformed comes without
            ledger=self.ledger,
            clip=self.clip,
            round_to=self.round_to,
            insecure_seed=self.insecure_seed,
            utility=Utility(granularity=self.granularity),
        )
        return np.asarray(published, dtype=np.float64).reshape(-1, 1)

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:
        """The name of the column that leaves.

        Args:
            input_features: names where the data had none.

        Returns:
            An array of one name.
        """
        check_is_fitted(self)
        names = np.asarray(_check_feature_names_in(self, input_features), dtype=object)
        return names[[0 if self.column is None else self.column]]

    def _column(self, X: npt.ArrayLike, *, reset: bool) -> Array:
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

    def __sklearn_tags__(self) -> "pd.DataFrame":
        """What scikit-learn may assume: noise is never the same twice."""
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        return tags


class PublishTransformer(TransformerMixin, BaseEstimator):  # type: ignore[misc]
    """Publishes several columns together through the channel of least distortion, so that they keep a secret.

    `fit(X, secret=...)` counts what goes with each secret, as `takifugu.Row` does, and calibrates; `transform(X)`
    publishes every row once. What it returns may be handed on, stored or trained on: nothing computed from it tells
    more. In a pipeline, ask for the secret by scikit-learn's metadata routing:
    `PublishTransformer().set_fit_request(secret=True)`.

    The records keep their order, since whoever transforms them holds them beside it; the log says so once. Where that
    order goes with the secret or the values, it tells the secret: shuffle the records first. The same record through
    two calls is published twice, and that is not covered: give a `ledger`, which refuses it.

    Args:
        guarantee: what is guaranteed, such as `Odds(3)`, the default.
        domain: the list of values of each column, as for `takifugu.Row`; what is not given is read from X, and numbers
            with many values become bins.
        confidence: see `takifugu.calibrate`: the guarantee is for the population behind the rows. None is for the
            sample.
        pairs: the pairs of secrets to hide from one another; every pair by default.
        ledger: a `Ledger` or the path of one, charged by every `transform`.
        insecure_seed: for tests alone.

    Raises:
        InputError: by `fit` and `transform`, for what is no table of these columns, and options that `calibrate`
            refuses.
        BudgetError: by `transform`, where the ledger knows some of these records.

    >>> import pandas as pd
    >>> X = pd.DataFrame({"ward": ["A", "B"] * 100, "shift": ["day"] * 150 + ["night"] * 50})
    >>> made = PublishTransformer(guarantee=Odds(2)).fit(X, secret=["ill"] * 100 + ["well"] * 100)
    >>> made.transform(X).shape
    (200, 2)
    """

    def __init__(
        self,
        *,
        guarantee: Guarantee | None = None,
        domain: Mapping[str, Sequence[object]] | Sequence[object] | None = None,
        confidence: float | None = 0.95,
        pairs: Iterable[Pair] | None = None,
        ledger: Ledger | str | os.PathLike[str] | None = None,
        insecure_seed: int | None = None,
    ) -> None:
        """Store the options; they are checked by `fit` and `transform`."""
        self.guarantee = guarantee
        self.domain = domain
        self.confidence = confidence
        self.pairs = pairs
        self.ledger = ledger
        self.insecure_seed = insecure_seed

    def fit(self, X: npt.ArrayLike, y: object = None, *, secret: npt.ArrayLike | None = None) -> Self:
        """Count what goes with each secret, and find the channel; `y` is not looked at.

        Args:
            X: a dataframe; of an array the columns are x0, x1, ….
            y: the target, which is never taken for the secret.
            secret: the secret of each record.

        Returns:
            The transformer, with `calibration_`.

        Raises:
            InputError: there is no secret, or one has no record, or X has a column that cannot be published so.
        """
        if secret is None:
            raise InputError(
                "PublishTransformer was fitted without secret=, and does not know what to hide: give the secret of "
                "each record; in a pipeline with set_fit_request(secret=True)"
            )
        rows = _rows(X)
        secrets = _checked(secret, len(rows))
        names = [str(name) for name in rows.columns]
        hidden = next(name for name in ("secret", *(f"secret {k}" for k in range(len(names)))) if name not in names)
        priors = fit_priors(rows.assign(**{hidden: secrets}), secret=hidden, query=Row(*names, domain=self.domain))
        asked = Odds(3) if self.guarantee is None else self.guarantee
        self.calibration_: Calibration = calibrate(priors, asked, confidence=self.confidence, pairs=self.pairs)
        self.n_features_in_, self.feature_names_in_ = len(names), np.array(names, dtype=object)
        _refuse_alone(priors, self.calibration_)
        return self

    def transform(self, X: npt.ArrayLike) -> "pd.DataFrame":
        """Publish the rows: every call is a release of its own.

        Args:
            X: records with the columns that were fitted.

        Returns:
            A dataframe of pandas; an array where X is one.
        """
        check_is_fitted(self, "calibration_")
        _refuse_index(self, X)
        rows = _rows(X)
        if list(map(str, rows.columns)) != list(self.feature_names_in_):
            raise InputError(
                f"X must have the columns that were fitted, {', '.join(self.feature_names_in_)}, in this order"
            )
        if len(rows) > 1:
            warn_of_order()
        plan = Plan.of(self.calibration_, ledger=self.ledger, insecure_seed=self.insecure_seed)
        # `fit` made sure that every secret is hidden; what is transformed comes without.
        published, _ = released(rows, replace(plan, order=HELD), others="release")
        return published if hasattr(X, "columns") else published.to_numpy()

    def get_feature_names_out(self, input_features: object = None) -> npt.NDArray[np.object_]:
        """The names of the columns that leave: those that came.

        Args:
            input_features: names where the data had none.

        Returns:
            An array of names.
        """
        check_is_fitted(self)
        return np.asarray(_check_feature_names_in(self, input_features), dtype=object)

    def __sklearn_tags__(self) -> "pd.DataFrame":
        """What scikit-learn may assume: the same rows are never published the same way twice."""
        tags = super().__sklearn_tags__()
        tags.non_deterministic = True
        tags.input_tags.string = tags.input_tags.categorical = True
        return tags


def _rows(X: npt.ArrayLike) -> "pd.DataFrame":
    """The records as a dataframe of pandas with a plain index."""
    import pandas as pd

    if hasattr(X, "to_pandas"):
        return X.to_pandas()
    if isinstance(X, pd.DataFrame):
        return X.reset_index(drop=True)
    matrix = np.asarray(X)
    if matrix.ndim != 2:
        raise InputError(f"X must be a table of records and columns, got {matrix.ndim} dimensions")
    return pd.DataFrame(matrix, columns=[f"x{place}" for place in range(matrix.shape[1])])


def _checked(secret: npt.ArrayLike, records: int) -> npt.NDArray[np.generic]:
    """The secret of each record: there is one, and there are two different ones at least."""
    secrets: npt.NDArray[np.generic] = column_or_1d(secret)
    if len(secrets) != records:
        raise InputError(f"secret must have one entry per record, got {len(secrets)} for {records} records")
    if missing := sum(plain(one) is None for one in secrets.tolist()):
        raise InputError(
            f"{missing:,} records have no secret, so nothing hides them: leave them out of X and secret, or give "
            f"them a secret of their own"
        )
    if len(set(map(plain, secrets.tolist()))) < 2:
        raise InputError("secret is the same in every record: it is hidden among others, so two or more are needed")
    return secrets


def _refuse_alone(priors: Iterable[Secret], calibration: Calibration) -> None:
    if alone := set(priors).difference(*calibration.pairs):
        raise InputError(
            f"records of {sorted(map(str, alone))} stand in none of the pairs, so nothing hides them: add pairs, "
            f"or leave those records out"
        )


def _refuse_index(transformer: BaseEstimator, X: npt.ArrayLike) -> None:
    """Scikit-learn gives pandas' output the index of the records, and joins by it what stands side by side."""
    index: Any = getattr(X, "index", None)
    if _get_output_config("transform", transformer)["dense"] != "pandas" or not hasattr(index, "equals"):
        return
    if type(index).__name__ != "RangeIndex" or index.start != 0 or index.step != 1 or index.name is not None:
        raise InputError(
            "the index of the records would be published with them, and was not calibrated: reset_index(drop=True) "
            "first"
        )


def _frame(columns: Mapping[str, object]) -> "pd.DataFrame":
    import pandas as pd

    return pd.DataFrame(columns)
