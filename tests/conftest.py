import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import settings

# Before NumPy is loaded: the tests' matrices are small, and with a process for each core more threads than that only
# wait for one another. The programs that tests start take it over.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
# What a shell starts in the background ignores Ctrl-C, and so would all that it starts: tests of Ctrl-C would wait.
signal.signal(signal.SIGINT, signal.default_int_handler)

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # oracles and random_priors are shared by all tests

settings.register_profile("steady", deadline=None, derandomize=True)  # machines differ, verdicts must not
settings.load_profile("steady")

# What `make quick` leaves out: folders, files and single tests that start engines, browsers or other programs, or
# compare with slow oracles on thousands of cases. Everything else together takes less than a minute of processor time.
SLOW = (
    "studies/test_becoming.py::test_each_promise",
    "studies/test_population_channels.py::test_each_promise",
    "mechanisms/test_evidence.py::test_a_search_among_large_channels",
    "audits",
    "certificates/test_certificates.py::TestCertify::test_empirical_priors",
    "certificates/test_certificates.py::TestFamilies",
    "certificates/test_certified_datasets.py",
    "certificates/test_channel_certificates.py::test_damaged_files_are_refused_in_a_sentence_or_true",
    "certificates/test_mutations.py",
    "channels/test_finite_draws.py::test_every_word_counted_gives_the_counts_exactly",
    "channels/test_normal_table.py",
    "channels/test_sampler.py",
    "commands/test_calibrate_command.py",
    "commands/test_certify_verify.py::test_hostile_files_end_in_a_sentence_within_a_gigabyte",
    "commands/test_demo_command.py",
    "commands/test_explore_command.py",
    "commands/test_inspect_command.py",
    "commands/test_options.py",
    "divergences/test_any_law.py",
    "divergences/test_band_bound.py",
    "divergences/test_certified.py",
    "divergences/test_family.py",
    "divergences/test_guessing.py::test_calibrated_pairs_obey_the_claims",
    "divergences/test_gaussian.py::test_no_valid_input_gives_nan_or_a_warning",
    "divergences/test_many_mixtures.py",
    "divergences/test_mixture_divergence.py",
    "divergences/test_narrow.py",
    "divergences/test_one_lattice.py",
    "divergences/test_reach.py",
    "divergences/test_rounding.py",
    "divergences/test_tails.py",
    "divergences/test_vector_coupling.py",
    "docs/test_examples.py",
    "docs/test_notebooks.py",
    "docs/test_site.py",
    "engines",
    "laws/test_counts.py::test_a_rounded_normal_against_many_digits",
    "laws/test_em.py",
    "laws/test_fitting.py",
    "laws/test_grouped.py",
    "laws/test_lattice.py",
    "laws/test_quantiles.py",
    "mechanisms/optimal/test_every_real.py",
    "mechanisms/optimal/test_lower_bound.py",
    "mechanisms/optimal/test_real_line.py",
    "mechanisms/optimal/test_solving.py::test_it_agrees_with_clarabel",
    "mechanisms/optimal/test_solving.py::test_it_agrees_with_libqif",
    "mechanisms/optimal/test_solving.py::test_random_programs_are_solved_inside_the_promise",
    "mechanisms/test_band_noise.py",
    "mechanisms/test_binding_place.py",
    "mechanisms/test_closed_forms.py::test_envelope_is_the_least_closed_form_over_larger_orders",
    "mechanisms/test_confidence",
    "mechanisms/test_evidence.py",
    "mechanisms/test_exact.py::test_gaussians_agree_with_forty_digits",
    "mechanisms/test_exact.py::test_many_pairs_need_what_the_worst_of_them_needs",
    "mechanisms/test_exact.py::test_mixtures_agree_with_ball_arithmetic",
    "mechanisms/test_exact.py::test_points_agree_with_ball_arithmetic",
    "mechanisms/test_extreme_laws.py",
    "mechanisms/test_promise.py",
    "mechanisms/test_repair.py::test_of_many_random_problems_none_is_over_budget",
    "mechanisms/test_shaped",
    "mechanisms/test_sparse_mechanism.py::test_it_comes_close_to_the_best_of_all",
    "mechanisms/test_sparse_mechanism.py::test_the_promise_is_kept",
    "paper/test_algorithm_1.py",
    "paper/test_propositions.py",
    "queries/test_cells.py",
    "queries/test_inspecting.py",
    "queries/test_models.py",
    "queries/test_odd_rows.py",
    "queries/test_several_doors.py",
    "queries/test_vector_queries.py",
    "releases/test_files.py",
    "releases/test_joint_account.py",
    "releases/test_ledger.py",
    "releases/test_rows_release.py",
    "releases/test_secret_rows.py::test_rows_are_kept_as_python_compares_them",
    "releases/test_spark_connect.py",
    "releases/test_spark_release.py",
    "releases/test_transformer.py",
    "releases/test_vector_release.py",
    "reports/test_adversary.py",
    "reports/test_channel_page.py",
    "reports/test_charts.py",
    "reports/test_facts.py",
    "reports/test_notebook.py",
    "reports/test_vector_page.py",
    "studies",
    "tables/test_count.py::test_few_values_on_a_grid_come_out_exact",
    "tables/test_dialects.py",
    "tables/test_open.py",
    "tables/test_sample.py",
    "tables/test_table.py::test_the_whole_file_decides_the_type",
    "test_calibration.py::test_what_is_calibrated_can_be_certified",
    "test_publishing_in_turn.py",
    "web",
)


def pytest_collection_modifyitems(items):
    """Mark the tests that take long, by where they stand."""
    for item in items:
        if item.path.is_relative_to(HERE):
            where = item.nodeid.split("::", 1)
            name = "::".join([item.path.relative_to(HERE).as_posix(), *where[1:]])
            if name.startswith(SLOW):
                item.add_marker(pytest.mark.slow)
