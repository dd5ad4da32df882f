import atexit
import gc
import os
import signal
import sys
from pathlib import Path

import pytest
from hypothesis import __version_info__ as hypothesis_version
from hypothesis import settings

# Before NumPy is loaded: the tests' matrices are small, and with a process for each core more threads than that only
# wait for one another. The programs that tests start take it over.
for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")
# Hundreds of Pythons are started here. Where a machine says to keep nothing that was compiled, each would compile the
# whole package again, and every worker all of these files.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False
# POT would load all of JAX, in every worker, to learn which arrays it might be given.
os.environ.setdefault("POT_BACKEND_DISABLE_JAX", "1")
# A network's training compiles for ten seconds, in every process that trains one: the next find it done.
os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path(__file__).parents[1] / ".pytest_cache" / "jax"))
os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
# Spark's Java lives for seconds: compiling its code twice, and collecting garbage on every core, would never pay.
os.environ.setdefault("JDK_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
# What a shell starts in the background ignores Ctrl-C, and so would all that it starts: tests of Ctrl-C would wait.
signal.signal(signal.SIGINT, signal.default_int_handler)

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))  # oracles and random_priors are shared by all tests

from how_many import some_of  # noqa: E402  (found there)

# Machines differ, verdicts must not.
settings.register_profile("steady", deadline=None, derandomize=True, max_examples=some_of(100))
settings.load_profile("steady")

# What `make quick` leaves out: folders, files and single tests that start engines, browsers or other programs, or
# compare with slow oracles on thousands of cases. Everything else together takes less than a minute of processor time.
SLOW = (
    "audits",
    "certificates/test_certificates.py::TestCertify::test_empirical_priors",
    "certificates/test_certificates.py::TestCertify::test_what_exact_calibrates_is_proved_and_proved_again_from_the_file",
    "certificates/test_certificates.py::TestFamilies",
    "certificates/test_certified_datasets.py",
    "certificates/test_channel_certificates.py::test_a_bound_of_the_best_channel_is_not_lent_to_another_mechanism",
    "certificates/test_channel_certificates.py::test_a_changed_file_is_refused",
    "certificates/test_channel_certificates.py::test_damaged_files_are_refused_in_a_sentence_or_true",
    "certificates/test_many_places.py",
    "certificates/test_mutations.py",
    "certificates/test_population_certificates.py::test_the_evidence_is_in_the_file_and_is_looked_at_again",
    "certificates/test_vector_mutations.py",
    "channels/test_composition.py::test_a_share_is_never_too_small_and_hardly_too_large",
    "channels/test_finite_draws.py",
    "channels/test_laplace_noise.py::test_both_paths_give_the_same_values_bit_for_bit",
    "divergences/test_hockey_stick.py::test_after_laplace_noise_too",
    "divergences/test_laplace.py::test_verdicts_agree_with_a_supremum_found_by_mpmath",
    "mechanisms/test_laplace_mechanism.py::test_every_belief_and_every_pair_is_within_the_factor",
    "mechanisms/test_laplace_mechanism.py::test_known_answers",
    "channels/test_normal_table.py",
    "channels/test_sampler.py",
    "channels/test_sparse_channel.py",
    "channels/test_vector.py::test_every_value_is_the_one_its_bits_say",
    "commands/test_audit_command.py",
    "commands/test_calibrate_command.py",
    "commands/test_certify_verify.py::test_hostile_files_end_in_a_sentence_within_a_gigabyte",
    "commands/test_demo_command.py",
    "commands/test_explore_command.py",
    "commands/test_flags.py",
    "commands/test_inspect_command.py",
    "commands/test_options.py",
    "commands/test_progress.py::test_the_long_step_says_what_it_tries",
    "commands/test_publish_command.py::test_a_dry_run_tells_and_leaves_nothing",
    "commands/test_publish_command.py::test_a_group_of_one_row_is_left_out_as_the_refusal_says",
    "commands/test_publish_command.py::test_a_promise_can_be_asked_for_backwards",
    "commands/test_publish_command.py::test_a_rare_secret_can_be_left_out_with_its_rows",
    "commands/test_publish_command.py::test_a_refusal_leaves_nothing_behind",
    "commands/test_publish_command.py::test_all_files_appear_and_agree",
    "commands/test_publish_command.py::test_an_account_that_a_refused_try_opened_is_gone_on_with",
    "commands/test_publish_command.py::test_findings_speak_in_flags",
    "commands/test_publish_command.py::test_records_are_published_once",
    "commands/test_publish_command.py::test_rows_outside_the_pairs_are_refused_before_the_work_and_nothing_stays",
    "commands/test_publish_command.py::test_values_leave_as_they_are_only_when_asked",
    "commands/test_publish_command.py::test_warnings_known_before_the_search_are_told_before_it",
    "commands/test_publish_command.py::test_what_others_believe_and_cells_of_kept_columns",
    "commands/test_sweep_command.py::test_confidence_and_bounds_are_options_too",
    "commands/test_words.py",
    "divergences/test_any_law.py",
    "divergences/test_band_bound.py",
    "divergences/test_certified.py",
    "divergences/test_family.py",
    "divergences/test_finite_divergence.py::test_odds_are_compared_in_integers",
    "divergences/test_gaussian.py::test_keeps_its_digits_when_variances_almost_agree",
    "divergences/test_gaussian.py::test_no_valid_input_gives_nan_or_a_warning",
    "problems/test_guessing.py",
    "divergences/test_lattices.py",
    "divergences/test_many_mixtures.py",
    "divergences/test_mixture_divergence.py",
    "divergences/test_narrow.py",
    "divergences/test_one_lattice.py",
    "divergences/test_reach.py",
    "divergences/test_rounding.py",
    "divergences/test_shared_grid.py",
    "divergences/test_stored_answers.py",
    "divergences/test_tails.py",
    "divergences/test_vector_coupling.py",
    "divergences/test_vector_gaussian.py",
    "docs/test_examples.py",
    "docs/test_notebooks.py",
    "docs/test_site.py",
    "documents/test_problems_documents.py::test_damaged_calibrations_are_refused_in_a_sentence_or_usable",
    "documents/test_problems_documents.py::test_every_calibration_comes_back",
    "engines",
    "estimates/test_estimates.py",
    "estimates/test_sparse_estimates.py",
    "golden/test_golden.py",
    "laws/test_bands.py",
    "laws/test_bounds_on_laws.py",
    "laws/test_counts.py::test_a_rounded_normal_against_many_digits",
    "laws/test_em.py",
    "laws/test_finite.py::test_equality_hash_and_pickle_agree",
    "laws/test_fitting.py",
    "laws/test_grouped.py",
    "laws/test_lattice.py",
    "laws/test_mixture.py::TestIdentity::test_survives_pickle_and_copy",
    "laws/test_mixture.py::TestMoments::test_mean_and_variance_match_exact_arithmetic",
    "laws/test_quantiles.py",
    "mechanisms/optimal/test_every_law.py",
    "mechanisms/optimal/test_lower_bound.py",
    "mechanisms/optimal/test_solving.py::test_a_hair_over_the_promise_is_mended_where_moves_are_forbidden",
    "mechanisms/optimal/test_solving.py::test_an_output_that_nobody_may_use_leaves_the_rest_a_radius",
    "mechanisms/optimal/test_solving.py::test_it_agrees_with_clarabel",
    "mechanisms/optimal/test_solving.py::test_it_agrees_with_libqif",
    "mechanisms/optimal/test_solving.py::test_large_programs_with_a_radius_are_for_the_interior_point_and_cost_what_highs_finds",
    "mechanisms/optimal/test_solving.py::test_next_to_order_one_the_bound_still_says_what_the_best_costs",
    "mechanisms/optimal/test_solving.py::test_outputs_that_the_interior_point_gives_up_are_published_no_more",
    "mechanisms/optimal/test_solving.py::test_random_programs_are_solved_inside_the_promise",
    "mechanisms/optimal/test_solving.py::test_the_linear_solvers_agree",
    "mechanisms/optimal/test_solving.py::test_values_that_one_in_fifty_thousand_has_do_not_end_the_search_at_its_start",
    "mechanisms/optimal/test_solving.py::test_where_the_solver_stops_early_a_stricter_promise_is_at_hand",
    "mechanisms/test_band_noise.py",
    "mechanisms/test_baselines.py::test_mixtures_with_equal_widest_components_have_a_finite_supremum",
    "mechanisms/test_binding_place.py",
    "mechanisms/test_closed_forms.py",
    "mechanisms/test_confidence",
    "mechanisms/test_drawn_loss.py",
    "mechanisms/test_evidence.py",
    "mechanisms/test_exact.py::test_beside_a_wide_component_a_point_gets_no_more_than_it_needs",
    "mechanisms/test_exact.py::test_gaussians_agree_with_forty_digits",
    "mechanisms/test_exact.py::test_high_orders_are_found_from_above_and_come_near_their_limit",
    "mechanisms/test_exact.py::test_many_pairs_need_what_the_worst_of_them_needs",
    "mechanisms/test_exact.py::test_mixtures_agree_with_ball_arithmetic",
    "mechanisms/test_exact.py::test_points_agree_with_ball_arithmetic",
    "mechanisms/test_extreme_laws.py",
    "mechanisms/test_extremes.py::test_far_from_zero_a_slightly_larger_gap_is_not_overlooked",
    "mechanisms/test_lists_read.py::test_a_list_that_was_read_is_told_of_beside_the_proof",
    "mechanisms/test_margins.py",
    "mechanisms/test_optimal_mechanism.py",
    "mechanisms/test_promise.py",
    "mechanisms/test_repair.py::test_of_many_random_problems_none_is_over_budget",
    "mechanisms/test_runs.py",
    "mechanisms/test_shaped",
    "mechanisms/test_sparse_bound.py",
    "mechanisms/test_sparse_mechanism.py",
    "paper/test_algorithm_1.py",
    "paper/test_propositions.py",
    "problems/test_guarantee.py::test_numbers_are_kept_as_they_are",
    "problems/test_problem.py::test_nothing_that_a_promise_rests_on_can_be_changed_afterwards",
    "queries/test_betrayal.py",
    "queries/test_cells.py",
    "queries/test_inspecting.py",
    "queries/test_lattice_priors.py",
    "queries/test_models.py",
    "queries/test_models.py::test_a_process_does_not_hang_on_the_unit",
    "queries/test_odd_rows.py",
    "queries/test_others.py",
    "queries/test_row.py::test_a_hundred_thousand_numbers_are_bins_and_labels_are_refused",
    "queries/test_row.py::test_every_engine_counts_the_same",
    "queries/test_several_doors.py",
    "queries/test_several_rows.py::test_bundled_tables_have_a_row_for_each_person",
    "queries/test_several_rows.py::test_publishing_and_inspecting_say_it",
    "queries/test_smoothing.py::test_other_assumptions_and_the_price_are_told",
    "queries/test_smoothing.py::test_the_population_is_within_the_promise_where_rows_were_added",
    "queries/test_vector_queries.py",
    "queries/test_what_was_read.py",
    "releases/test_binding.py::test_an_index_does_not_leave",
    "releases/test_binding.py::test_bare_values_are_told_in_python_and_refused_on_the_command_line",
    "releases/test_binding.py::test_integers_stay_integers",
    "releases/test_binding.py::test_nothing_of_dropped_rows_or_of_the_source_goes_along",
    "releases/test_drift.py",
    "releases/test_files.py",
    "releases/test_ledger.py",
    "releases/test_recognition.py::test_last_years_rows_with_january_appended_are_refused_and_january_can_leave",
    "releases/test_rows_release.py",
    "releases/test_saving.py::test_a_publication_is_saved_and_called_by_its_columns",
    "releases/test_secret_rows.py::test_rows_are_kept_as_python_compares_them",
    "releases/test_shuffling.py::test_a_file_is_shuffled_however_long_it_is",
    "releases/test_spark_connect.py",
    "releases/test_spark_release.py",
    "releases/test_spelling.py::test_a_table_in_memory_means_by_a_sentinel_what_it_meant_before",
    "releases/test_spelling.py::test_rows_without_a_value_meet_one_rule",
    "releases/test_transformer.py",
    "releases/test_vector_release.py",
    "reports/test_adversary.py",
    "reports/test_channel_adversary.py",
    "reports/test_channel_facts.py::test_facts_agree_with_the_calibration",
    "reports/test_channel_facts.py::test_of_thirty_secrets_those_that_lose_most_are_shown",
    "reports/test_channel_facts.py::test_what_is_for_these_rows_alone_says_so_beside_a_promise_for_the_population",
    "reports/test_channel_page.py",
    "reports/test_charts.py",
    "reports/test_facts.py",
    "reports/test_notebook.py",
    "reports/test_priors_compared.py",
    "reports/test_vector_page.py",
    "reports/test_writing.py::test_only_its_own_certificate_makes_it_certified",
    "studies",
    "tables/test_binned.py::test_a_secret_and_a_published_column_may_be_cut",
    "tables/test_binned.py::test_the_command_line_cuts_where_a_column_is_named",
    "tables/test_count.py::test_few_values_on_a_grid_come_out_exact",
    "tables/test_dialects.py",
    "tables/test_inspect.py::test_every_engine_tells_the_same",
    "tables/test_open.py",
    "tables/test_sample.py",
    "tables/test_suspects.py::test_whoever_is_named_is_usual_or_many",
    "tables/test_table.py::test_files_are_read_by_their_ending",
    "tables/test_table.py::test_the_whole_file_decides_the_type",
    "test_backwards.py",
    "test_calibration.py::test_a_sweep_with_confidence_is_its_calibrations_one_by_one",
    "test_calibration.py::test_what_is_calibrated_can_be_certified",
    "test_count_house.py::test_the_table_is_printed",
    "test_publishing.py::test_pupils_are_published_within_odds_of_three",
    "test_publishing.py::test_rows_of_other_secrets_are_the_callers_to_decide",
    "test_publishing.py::test_tables_come_back_in_their_own_library",
    "test_publishing.py::test_the_same_seed_gives_the_same_channel_and_fresh_draws",
    "test_publishing.py::test_what_kept_columns_tell_by_themselves_is_said",
    "test_publishing.py::test_what_may_be_asked_for",
    "test_publishing.py::test_where_it_fails_nothing_is_left_behind",
    "web",
)


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """Tidy up memory once when all is collected, and look no more at half a million things that stay until the end."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.collect()
        if hypothesis_version >= (6, 155):  # an old one asks the collector who holds its generator: not the frozen
            gc.freeze()
            atexit.register(gc.unfreeze)  # or DuckDB would list all of it as lost
        # Hypothesis times the collector by a callback that outlives every module, with all that can be reached from it:
        # DuckDB's binding would find itself alive at the very end, and list its types as lost.
        atexit.register(gc.callbacks.clear)
        gc.set_threshold(20_000, 20, 20)  # what tests leave behind in circles is little: looking for it cost 2 %
        gc.enable()


def pytest_collection_modifyitems(items):
    """Mark the tests that take long, by where they stand."""
    for item in items:
        if item.path.is_relative_to(HERE):
            where = item.nodeid.split("::", 1)
            name = "::".join([item.path.relative_to(HERE).as_posix(), *where[1:]])
            if name.startswith(SLOW):
                item.add_marker(pytest.mark.slow)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config, log):
    """With `--dist loadfile` a file stays in one process, and so do all that share the explorer and a browser."""
    if config.getvalue("dist") != "loadfile":
        return None
    from xdist.scheduler import LoadFileScheduling

    class OneBrowser(LoadFileScheduling):
        def _split_scope(self, nodeid):
            return "tests/web" if nodeid.startswith("tests/web/") else super()._split_scope(nodeid)

    return OneBrowser(config, log)
