"""Certificates: what is proved, what is refused and in which words, and what may be published."""

import dataclasses
import hashlib
import json
import math
from importlib.resources import files

import jsonschema
import mpmath as mp
import numpy as np
import pytest

from takifugu import (
    Calibration,
    Certificate,
    CertificationError,
    InputError,
    Mixture,
    calibrate,
    certify,
    list_mechanisms,
    verify,
)
from takifugu.certificates import RedactedCertificate
from takifugu.channels.gaussian import GaussianNoise
from takifugu.problems.problem import Belief

GAUSSIANS = {"yes": Mixture.gaussian(0.0, 1.0), "no": Mixture.gaussian(1.5, 1.25)}
MIXTURES = {
    "a": Mixture([0.3, 0.7], [0.0, 2.0], [0.5, 1.0]),
    "b": Mixture([0.5, 0.5], [0.5, 3.0], [1.0, 0.7]),
    "c": Mixture.gaussian(1.0, 0.9),
}
UNDER_ODDS = {"laplace", "wasserstein-laplace", "kantorovich", "kantorovich-relaxed"}
FULL = sorted(set(list_mechanisms()) - {"wasserstein-approx", "wasserstein", "optimal", "shaped"} - UNDER_ODDS)
SCHEMA = json.loads(files("takifugu").joinpath("schemas/certificate-1.json").read_text(encoding="utf-8"))


def digest(content) -> str:
    """The digest as the schema describes it, worked out here once more."""
    kept = {key: value for key, value in content.items() if key != "sha256"}
    text = json.dumps(kept, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


def resealed(certificate: Certificate, **changes) -> dict:
    content = certificate.to_dict() | changes
    return content | {"sha256": digest(content)}


def written(path, content):
    path.write_text(json.dumps(content), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def certificate():
    return certify(calibrate(GAUSSIANS, alpha=2, epsilon=0.5))


class TestCertify:
    @pytest.mark.parametrize("alpha", [1.1, 2.0, 2.5, 8.0, 64.0])
    @pytest.mark.parametrize("priors", [GAUSSIANS, MIXTURES])
    def test_what_exact_calibrates_is_proved_and_proved_again_from_the_file(self, tmp_path, alpha, priors):
        calibration = calibrate(priors, alpha=alpha, epsilon=0.7)
        certificate = certify(calibration)
        certificate.save(tmp_path / "certificate.json")
        again = verify(tmp_path / "certificate.json")
        assert again == certificate == Certificate.load(tmp_path / "certificate.json")
        assert (again.theta, again.alpha, again.epsilon) == (calibration.theta, alpha, 0.7)
        assert len(again.losses) == len(priors) * (len(priors) - 1)
        assert all(0 <= loss.lower <= loss.upper <= 0.7 for loss in again.losses)

    @pytest.mark.parametrize("name", FULL)
    def test_every_mechanism_with_the_full_promise_is_proved(self, name):
        verify(certify(calibrate(GAUSSIANS, alpha=2, epsilon=1, mechanism=name)))

    @pytest.mark.parametrize("atoms", [15, 40])
    @pytest.mark.parametrize("alpha", [1.1, 2.5, 64.0])
    def test_empirical_priors(self, atoms, alpha):
        rng = np.random.default_rng(atoms)
        priors = {k: Mixture.empirical(np.arange(atoms), rng.integers(1, 400, atoms)) for k in range(2)}
        certify(calibrate(priors, alpha=alpha, epsilon=1.0))

    def test_losses_are_those_of_the_formula(self):
        certificate = certify(calibrate(GAUSSIANS, alpha=3, epsilon=0.4))
        v, s = (mp.mpf(prior.stds[0]) ** 2 + mp.mpf(certificate.theta) ** 2 for prior in GAUSSIANS.values())
        gap = mp.mpf(1.5) ** 2
        for loss, mine, other in zip(certificate.losses, (v, s), (s, v), strict=True):
            mix = 3 * other - 2 * mine
            truth = 3 * gap / (2 * mix) + (mp.log(mix) + 2 * mp.log(mine) - 3 * mp.log(other)) / -4
            assert loss.lower <= truth <= loss.upper
            assert loss.upper - loss.lower < 1e-9

    @pytest.mark.parametrize("priors", [GAUSSIANS, MIXTURES])
    @pytest.mark.parametrize("alpha", [1.1, 2.0, 17.5])
    def test_too_little_noise_is_refused(self, priors, alpha):
        calibration = calibrate(priors, alpha=alpha, epsilon=0.5)
        total = calibration.variance + max(prior.variance for prior in priors.values())
        short = dataclasses.replace(calibration, channel=GaussianNoise(math.sqrt(calibration.variance - 1e-6 * total)))
        with pytest.raises(CertificationError, match=r"not proved to be within epsilon = 0\.5: refuted"):
            certify(short)

    def test_a_weaker_promise_is_refused_in_words(self):
        with pytest.raises(CertificationError, match="weaker guarantee"):
            certify(calibrate(GAUSSIANS, alpha=2, epsilon=1, mechanism="wasserstein-approx"))

    def test_only_a_calibration_is_taken(self):
        with pytest.raises(InputError, match="calibrate"):
            certify(GAUSSIANS)

    def test_beliefs_pairs_and_secrets_of_many_kinds(self, tmp_path):
        first = {np.int64(1): Mixture.gaussian(0, 1), "two": Mixture.gaussian(1, 1), 3.5: Mixture.empirical([0, 1])}
        second = {secret: prior.with_noise(0.5) for secret, prior in first.items()}
        calibration = calibrate([first, second], alpha=2, epsilon=1, pairs=[(np.int64(1), 3.5), ("two", 3.5)])
        certify(calibration).save(tmp_path / "certificate.json")
        certificate = verify(tmp_path / "certificate.json")
        assert certificate.secrets == (1, "two", 3.5)
        assert certificate.pairs == ((0, 2), (1, 2))
        assert len(certificate.beliefs) == 2
        assert len(certificate.losses) == 8

    def test_a_secret_that_json_has_no_word_for_is_refused(self):
        priors = {("a", 1): Mixture.gaussian(0, 1), ("b", 1): Mixture.gaussian(1, 1)}
        with pytest.raises(InputError, match="a text or a number"):
            certify(calibrate(priors, alpha=2, epsilon=1))

    def test_a_belief_without_one_of_the_secrets_is_refused(self):
        calibration = calibrate([GAUSSIANS, GAUSSIANS], alpha=2, epsilon=1)
        data = calibration.to_dict()
        data["problem"]["beliefs"][1]["laws"].pop()
        with pytest.raises(InputError, match=r"beliefs\[1\]\.laws must have 2 to 2 entries"):
            Calibration.from_dict(data)
        lacking = Belief({s: m for s, m in GAUSSIANS.items() if s != "no"})
        with pytest.raises(InputError, match="none to 'no'"):
            certify(
                dataclasses.replace(
                    calibration,
                    problem=dataclasses.replace(calibration.problem, beliefs=(calibration.beliefs[0], lacking)),
                )
            )

    def test_no_noise_where_none_is_needed(self):
        points = {"a": Mixture.empirical([0, 1]), "b": Mixture.empirical([0, 1, 1])}
        calibration = calibrate(points, alpha=2, epsilon=1)
        assert calibration.theta == 0
        verify(certify(calibration))


class TestVerify:
    def test_the_file_follows_the_schema(self, certificate):
        jsonschema.Draft202012Validator.check_schema(SCHEMA)
        jsonschema.validate(certificate.to_dict(), SCHEMA, cls=jsonschema.Draft202012Validator)

    def test_the_digest_is_the_documented_one(self, certificate):
        assert certificate.sha256 == digest(certificate.to_dict())

    def test_no_recorded_figure_is_trusted(self, tmp_path, certificate):
        losses = certificate.to_dict()["losses"]
        for change in ({"upper": 0.1}, {"lower": losses[0]["upper"]}):
            lies = [losses[0] | change, losses[1]]
            if lies[0]["lower"] > lies[0]["upper"]:
                lies[0]["lower"] = 0.0
            with pytest.raises(CertificationError, match="refuted"):
                verify(written(tmp_path / "lies.json", resealed(certificate, losses=lies)))

    @pytest.mark.parametrize(
        "change",
        [{"theta": 0.0}, {"alpha": 40.0}, {"alpha": 2.001}],
    )
    def test_a_false_claim_is_refuted_even_with_a_good_digest(self, tmp_path, certificate, change):
        with pytest.raises(CertificationError, match="refuted"):
            verify(written(tmp_path / "false.json", resealed(certificate, **change)))

    def test_a_loss_above_the_claimed_budget_is_a_contradiction(self, tmp_path, certificate):
        with pytest.raises(InputError, match="above the epsilon"):
            verify(written(tmp_path / "less.json", resealed(certificate, epsilon=0.4)))

    def test_other_priors_do_not_pass(self, tmp_path, certificate):
        beliefs = certificate.to_dict()["beliefs"]
        beliefs[0][0]["means"] = [-0.001]
        with pytest.raises(CertificationError, match="refuted"):
            verify(written(tmp_path / "other.json", resealed(certificate, beliefs=beliefs)))

    def test_a_change_without_a_new_digest_is_noticed(self, tmp_path, certificate):
        with pytest.raises(InputError, match="changed after it was made"):
            verify(written(tmp_path / "changed.json", certificate.to_dict() | {"epsilon": 0.6}))

    def test_a_change_of_spelling_does_no_harm(self, tmp_path, certificate):
        content = dict(reversed(certificate.to_dict().items()))
        assert content["alpha"] == 2.0
        content["alpha"] = 2
        assert verify(written(tmp_path / "spelling.json", content)) == certificate

    @pytest.mark.parametrize("change", [{"guarantee": "approximate"}, {"mechanism": "wasserstein-approx"}])
    def test_a_weaker_promise_is_refused(self, tmp_path, certificate, change):
        with pytest.raises(CertificationError, match="weaker guarantee"):
            verify(written(tmp_path / "weaker.json", resealed(certificate, **change)))

    def test_a_limit_on_work_is_not_a_proof(self):
        certificate = certify(calibrate(MIXTURES, alpha=2.5, epsilon=0.5))
        with pytest.raises(CertificationError, match="undecided: the limit of 5,000"):
            verify(certificate, limit=5_000)

    def test_an_object_is_held_to_the_form_of_a_file(self, certificate):
        assert verify(certificate) == certificate
        for few in (certificate.losses[:1], ()):
            with pytest.raises(InputError, match="'losses'"):
                verify(dataclasses.replace(certificate, losses=few))
        with pytest.raises(InputError, match="path"):
            verify(3)
        with pytest.raises(InputError, match="cannot be read"):
            verify("a\0b")

    def test_weights_that_would_be_rescaled_are_refused(self, tmp_path, certificate):
        beliefs = certificate.to_dict()["beliefs"]
        beliefs[0][0]["weights"] = [1 - 2**-40]
        with pytest.raises(InputError, match="sum to 1"):
            verify(written(tmp_path / "weights.json", resealed(certificate, beliefs=beliefs)))


class TestRedacted:
    def test_it_holds_the_claim_and_no_prior(self, tmp_path):
        calibration = calibrate(MIXTURES, alpha=2.5, epsilon=0.75)
        certificate = certify(calibration)
        certificate.redacted().save(tmp_path / "public.json")
        text = (tmp_path / "public.json").read_text()
        numbers = {value for value in json.loads(text).values() if isinstance(value, float)}
        assert numbers == {2.5, 0.75, calibration.theta}
        assert set(json.loads(text)) == {
            *("format", "version", "alpha", "epsilon", "theta", "mechanism", "guarantee"),
            *("secrets", "pairs", "beliefs", "software", "certificate_sha256"),
        }
        assert certificate.nonce not in text
        assert RedactedCertificate.load(tmp_path / "public.json") == certificate.redacted()

    def test_the_digest_cannot_be_guessed_from_the_priors(self):
        calibration = calibrate(GAUSSIANS, alpha=2, epsilon=1)
        one, two = certify(calibration), certify(calibration)
        assert one.nonce != two.nonce
        assert one.sha256 != two.sha256

    def test_an_auditor_can_match_the_two(self):
        calibration = calibrate(GAUSSIANS, alpha=2, epsilon=1)
        certificate = certify(calibration)
        certificate.require_match(certificate.redacted())
        with pytest.raises(CertificationError, match="not that of this certificate"):
            certify(calibration).require_match(certificate.redacted())
        boast = dataclasses.replace(certificate.redacted(), epsilon=0.5)
        with pytest.raises(CertificationError, match="not that of this certificate"):
            certificate.require_match(boast)

    def test_it_cannot_be_verified_and_says_so(self, tmp_path):
        certify(calibrate(GAUSSIANS, alpha=2, epsilon=1)).redacted().save(tmp_path / "public.json")
        with pytest.raises(CertificationError, match="since the priors are private"):
            verify(tmp_path / "public.json")

    @pytest.mark.parametrize("change", [{"version": 2}, {"format": "x"}, {"alpha": "2"}, {"extra": 1}, {"pairs": -1}])
    def test_a_bad_one_is_refused(self, tmp_path, change):
        content = certify(calibrate(GAUSSIANS, alpha=2, epsilon=1)).redacted().to_dict()
        with pytest.raises(InputError):
            RedactedCertificate.load(written(tmp_path / "public.json", content | change))


@pytest.fixture(scope="module")
def family():
    rng = np.random.default_rng(0)
    priors = {i: Mixture.gaussian(*x) for i, x in enumerate(rng.uniform(0.5, 1.5, (200, 2)).tolist())}
    return certify(calibrate(priors, alpha=3, epsilon=1))


class TestFamilies:
    def test_two_hundred_secrets_are_verified(self, tmp_path, family):
        family.save(tmp_path / "family.json")
        assert verify(tmp_path / "family.json") == family

    def test_one_false_loss_among_forty_thousand_is_found(self, tmp_path, family):
        losses = family.to_dict()["losses"]
        loss = losses[31_234]
        loss["upper"] = loss["lower"] = loss["lower"] * (1 - 1e-9)
        with pytest.raises(CertificationError, match="refuted"):
            verify(written(tmp_path / "false.json", resealed(family, losses=losses)))

    def test_effort_is_a_factor_on_the_limit(self):
        few = certify(calibrate(MIXTURES, alpha=2.5, epsilon=0.5))
        with pytest.raises(CertificationError, match="undecided: the limit of 15 evaluations"):
            verify(few, effort=1e-6)
        with pytest.raises(InputError, match="effort must be a number above 0"):
            verify(few, effort=0)
        assert verify(few, effort=2.0) == few
