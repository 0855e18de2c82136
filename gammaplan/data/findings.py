"""Every finding: its code, its level and the sentence that explains it.

Levels: a note is a fact worth saying; a warning means that the figure may
mislead or that part of the input was lost; a refusal means that the figure
cannot be given. `--strict` fails on warnings and refusals.
"""

from gammaplan.errors import Finding, Level

FINDINGS: dict[str, tuple[Level, str]] = {
    "worked_example": (
        "note",
        "neither acceptance nor cost was given: this is the worked example, {given}",
    ),
    "unbounded": (
        "note",
        "no finite best draft length: the speedup only grows with γ, towards {supremum}",
    ),
    "extrapolated": (
        "note",
        "γ {gamma} lies beyond the {observed_to} positions that were measured; "
        "past them acceptance is taken as {beyond} per position",
    ),
    "looks_inverse": (
        "warning",
        "c {c} is at least one target pass per drafted token, so speculation cannot pay; if it is "
        "target time ÷ draft time, give it as --speed-ratio {c}",
    ),
    "search_limit": (
        "note",
        "the best draft length is the longest that was searched (γ {gamma}); "
        "a longer one may be better",
    ),
    "full_drafts_assumed": (
        "note",
        "every draft is taken to have had {gamma} tokens; where drafts stop early give "
        "--drafted-per-round, and without that only α ≥ {low} is certain",
    ),
    "hazards_vary": (
        "note",
        "acceptance is not constant over the positions ({hazards}): one α describes it only "
        "roughly, and plans use the measured positions",
    ),
    "alpha_from_length_differs": (
        "note",
        "α by the mean length alone would be {other}: positions are not accepted alike, "
        "and {alpha} uses all of them",
    ),
    "alpha_unknown": (
        "refusal",
        "drafts stop early and refusals were not counted, so α is only bounded: {low} to {high}",
    ),
    "nearly_full_drafts": (
        "note",
        "refusals are known within a narrow range; α is the middle of its bounds, {low} to {high}",
    ),
    "zero_accepted": ("warning", "{drafted} tokens were drafted and none was accepted"),
    "zero_drafts": ("note", "{records} without any drafted token: it contributes nothing"),
    "nan_rate": (
        "warning",
        "the engine printed a rate of 0/0 (nan): {records} that drafted nothing",
    ),
    "truncated_line": ("warning", "{lost} cut or damaged, dropped and not counted: {what}"),
    "counter_reset": (
        "warning",
        "counters fell between two scrapes, so their process was restarted: {processes}; the later "
        "values are the increase, and what was counted between the last scrape before and the "
        "restart cannot be seen",
    ),
    "settings_changed": (
        "warning",
        "{name} had several values, {values}: drafts had several lengths, and it was not used",
    ),
    "same_page_twice": (
        "warning",
        "{series} series of one target were scraped by several jobs or servers; each counts once",
    ),
    "unreachable": ("warning", "{reason}; the answer holds without it"),
    "no_answer": ("warning", "{reason}; nothing was read in this interval"),
    "gamma_outside_band": (
        "warning",
        "γ {gamma}{of} is outside the band {band}: {loss} slower than {best}",
    ),
    "server_warning": ("warning", "the server warns that its answer may be partial: {text}"),
    "cumulative_log": (
        "note",
        "the records are running totals: the last one, or differences, were used, never their sum",
    ),
    "snapshot_double_count": (
        "refusal",
        "this exporter adds running totals to its counters at every interval: they are sums of "
        "snapshots and no counts",
    ),
    "length_excludes_bonus": (
        "note",
        "the printed mean length leaves out the bonus token; the true length is one higher",
    ),
    "rate_includes_bonus": ("note", "the printed rate has the bonus token in it"),
    "rate_of_output": (
        "note",
        "the printed rate is accepted per generated token, not per drafted one, and was not used",
    ),
    "gamma_unknown": (
        "refusal",
        "the draft length is neither printed nor implied; give it with --gamma",
    ),
    "gamma_assumed": (
        "note",
        "the draft length is not recorded: γ {gamma} is taken, {why}; --gamma states another",
    ),
    "predicted_outputs": (
        "warning",
        "accepted_prediction_tokens are accepted drafts in tabbyAPI, and predicted outputs, which "
        "are no drafts, in hosted services; nothing else in the response says whose they are",
    ),
    "variable_draft_length": (
        "warning",
        "drafts were shorter than the longest ({mean} of {gamma} on average): α is only bounded "
        "where the outcome of each is not known",
    ),
    "gauge_only": (
        "note",
        "gauges of the last interval are present: they are not totals, and were not used",
    ),
    "interval_average_only": (
        "warning",
        "only averages were printed, no counts: there is no honest interval",
    ),
    "unconditional_positions": (
        "warning",
        "accepted counts every position that was judged acceptable, also after the first refusal: "
        "it is not the accepted prefix",
    ),
    "duplicate_rank": ("note", "several ranks repeat the same counts; one was used"),
    "mixed_gamma": (
        "warning",
        "the groups have different draft lengths ({gammas}): they must not be pooled",
    ),
    "gamma_known": (
        "warning",
        "--gamma states {stated}, and the input has drafts of {gammas} tokens: its own length is "
        "used",
    ),
    "multi_series": ("note", "several {kind} in one input: {names}"),
    "replay_inflation": (
        "refusal",
        "drafts are replayed after a rollback and the corrected token is counted as accepted: "
        "these figures are no acceptance",
    ),
    "ignored_drafts": ("note", "the total contains draft tokens that were never verified"),
    "censored_by_stop": ("note", "the end of a request cut its last round"),
    "rounding_only": ("note", "counts were rebuilt from rounded figures, with a small error"),
    "tree_draft": (
        "refusal",
        "drafts were trees: the length is an accepted depth, and no α of a chain follows from it",
    ),
    "lifetime_vs_request": (
        "note",
        "the same work is reported per request and as a lifetime total; one of them was used",
    ),
    "macro_average": (
        "note",
        "printed averages are unweighted means over requests or iterations; counts were used",
    ),
    "includes_prefill": ("note", "the prefill iteration is counted as a round"),
    "double_family": (
        "note",
        "two families of metrics describe overlapping work; one was used",
    ),
    "few_drafts": (
        "warning",
        "{rounds} rounds are too few for a useful interval",
    ),
    "few_clusters": (
        "warning",
        "the interval is a lower bound on the uncertainty: {clusters} cannot show how acceptance "
        "varies",
    ),
    "not_speculative": (
        "refusal",
        "this looks like speculative decoding output and is not: {what}",
    ),
    "no_spec_data": (
        "refusal",
        "there is no acceptance data in it{hint}",
    ),
    "synthetic_acceptance": (
        "refusal",
        "acceptance was simulated ({setting}): these figures say nothing of the draft",
    ),
    "lossy_acceptance": (
        "warning",
        "acceptance was relaxed ({setting}): α is not that of exact sampling",
    ),
    "bad_sample": (
        "warning",
        "a metrics sample cannot be a count and was left out: {name} {value}",
    ),
    "several_scrapes": (
        "note",
        "the page has the same series several times: the last values were used",
    ),
    "too_many_series": (
        "warning",
        "more than {limit} label sets: the rest of the page was not read",
    ),
    "impossible": ("warning", "the figures contradict each other: {what}"),
    "alpha_not_constant": (
        "note",
        "acceptance {direction} with position (p = {p_value}): plans use {model}",
    ),
    "long_line": ("warning", "{lines} line(s) of more than 16 MiB were skipped"),
    "cut_input": ("warning", "the input ends early ({reason}); what was read before it counts"),
    "full_drafts_asserted": (
        "note",
        "every draft is taken to have been full, as --full-drafts says",
    ),
    "untimed": ("warning", "{records} record(s) carry no time and were left out of the period"),
    "time_in_part": (
        "warning",
        "records carry no {parts}: --since and --until were compared without",
    ),
    "fitted_first": ("note", "{name} is a report of {engine} and was fitted first: α {alpha}"),
    "not_pooled": ("note", "the groups must not be added up; each has its own answer"),
    "many_groups": ("warning", "only the first {limit} groups are listed"),
    "columns_mapped": ("note", "columns of the runs file were read as: {columns}"),
    "columns_ignored": ("note", "columns of the runs file were not used: {columns}"),
    "runs_pooled": (
        "note",
        "lengths measured more than once are pooled (geometric mean of the speedups): {lengths}",
    ),
    "runs_differ": (
        "warning",
        "repeats show a noise of {noise} in the speedup of a run, plain runs and what few repeats "
        "hide included, where published runs show {published}: the intervals of plan allow for it, "
        "and a smaller difference of two lengths means nothing",
    ),
    "round_cheaper_than_pass": (
        "warning",
        "at γ {gamma} the speedup {speedup} exceeds what {tokens} tokens per round allow: a round "
        "would cost {cost} plain passes; is the baseline the engine's own default without "
        "speculation?",
    ),
    "several_batches": (
        "note",
        "the runs have several batches ({batches}), and a batch changes the cost; these are the "
        "figures of batch {batch}, --pick batch=N chooses another",
    ),
    "parts_exceed_round": (
        "warning",
        "the known parts of a round add up to {parts} plain passes, and the whole costs {cost}: "
        "the timings and the speeds are not of one set-up",
    ),
    "batch_left_out": ("warning", "the runs of batch {batch} were left out: {why}"),
    "unknown_method": (
        "warning",
        "{method} is no draft method that has a prior of its own, and the prior of all drafts is "
        "used; known are {known}",
    ),
    "verify_below_target": (
        "warning",
        "the verifying pass ({verify:g} ms) is shorter than the plain one ({target:g} ms): its "
        "slope is taken as 0, and one of the two timings is doubtful",
    ),
    "acceptance_assumed": (
        "note",
        "the runs at γ {lengths} bring no acceptance figure: their tokens per round come from the "
        "prior and the runs that bring one; --mean-length would narrow it most",
    ),
    "line_from_prior": (
        "note",
        "a fixed part and a slope take three measured lengths: with {lengths} the fixed part leans "
        "on public sweeps (1.1 ± 0.1)",
    ),
    "mean_length_from_cost": (
        "note",
        "no acceptance figure was given: {tokens} tokens per round (α {alpha}) is what the "
        "known parts of a round (1 + cγ and what else was timed) make of the speedup",
    ),
    "tree_smaller": (
        "warning",
        "no tree of {budget} nodes exists within the bounds: the largest has {most} nodes",
    ),
    "tree_at_limit": (
        "note",
        "the best tree is the largest that was searched ({nodes} nodes); a larger one may be "
        "faster",
    ),
    "passes_unknown": (
        "warning",
        "the timed passes end at {tokens} tokens: trees of more than {nodes} nodes have no known "
        "cost",
    ),
    "ranks_drawn": (
        "note",
        "there are too many sequences of rejected children to enumerate: one was drawn at each of "
        "{positions} positions (seed {seed})",
    ),
    "heads_as_independent": (
        "note",
        "accuracies of heads are taken as independent of one another; they were logged so, and a "
        "path of several levels may be accepted more or less often",
    ),
    "leave_off": (
        "note",
        "γ 0: leave speculation off; the settings of {engine} are those without it",
    ),
    "method_assumed": (
        "note",
        "{engine} has to be told what drafts: {method} is taken; --method is for {others}",
    ),
    "engine_newer": (
        "note",
        "{engine} {version} is newer than {newest}, the last version whose settings are known",
    ),
    "engine_limit": (
        "warning",
        "{engine} drafts at most {most} tokens, and the plan is γ {planned}: γ {gamma} is written",
    ),
    "mtp_multiple": (
        "warning",
        "with {layers} MTP layers a longer draft must be a multiple of {layers}: γ {gamma} is "
        "written instead of {planned}",
    ),
    "schedule_not_settable": (
        "warning",
        "{engine} cannot be set to the schedule: {why}; γ {gamma} is written for every batch",
    ),
    "setting_unused": (
        "note",
        "{option} changes none of the settings: nothing that drafts here takes it",
    ),
    "no_settings": ("note", "no settings are written: the best draft length is unbounded"),
    "in_use_unknown": (
        "note",
        "γ {gamma}, in use, lies outside the measured round costs: what it loses is not known",
    ),
    "draft_context": (
        "note",
        "the draft's passes were timed at a context of {draft} tokens, the target's at {target}",
    ),
    "passes_pooled": (
        "note",
        "of passes that were timed more than once the median counts: {tokens} token(s)",
    ),
    "passes_fall": (
        "note",
        "a larger pass took less time ({falls}): it is used as measured, and lengths are scanned",
    ),
    "pass_steps": (
        "note",
        "the passes climb in steps (at {tokens} tokens): past one a longer draft costs little "
        "more, so every length is scanned",
    ),
    "drafting_not_timed": (
        "warning",
        "drafting was not timed and counts as nothing; --draft-ms gives it",
    ),
    "curves_apart": (
        "note",
        "of {curves} curves several have one batch and context, so they are of different models or "
        "set-ups; --pick curve=NAME chooses one",
    ),
    "curve_without_cost": (
        "warning",
        "the passes of {curve} make no cost and are shown alone: {why}",
    ),
    "batch_not_measured": (
        "warning",
        "nothing was measured at batch {batches} and nothing beyond what was is assumed; "
        "measured are {measured}",
    ),
    "batch_between": (
        "note",
        "the cost at batch {batches} is taken between those of the batches on both sides",
    ),
    "schedule_ends": (
        "note",
        "outside batch {low} to {high} nothing was planned: the schedule goes on as at its ends",
    ),
    "open_end_loses": (
        "warning",
        "at batch {batch}, the largest that was planned, speculation loses, and within the "
        "tolerance of {tolerance} the schedule drafts γ {gamma} there and beyond, where it will "
        "lose more: plan larger batches, or with a narrower --tolerance",
    ),
    "boundary_buys_little": (
        "warning",
        "the boundary at batch {batch} buys {gain} on average, less than the tolerance of "
        "{tolerance}: measure it, or plan with a wider --tolerance",
    ),
    "range_of_one": (
        "warning",
        "the range(s) {ranges} rest on one batch size each: noise of one point may have made them",
    ),
    "support_mismatch": (
        "warning",
        "the draft puts {mass} of its mass where the target has none{where}: those tokens are "
        "refused with certainty, however confident the draft is, so α is at most {alpha}; give the "
        "draft the same truncation, or a lower temperature",
    ),
    "sequence_matters": (
        "note",
        "rounds on the positions as they follow each other give {real} tokens at γ {gamma}{where}, "
        "one α for all gives {mean}: acceptance comes in stretches, and plans from α alone miss it",
    ),
    "bfloat16_assumed": (
        "note",
        "{name} holds two-byte elements without a type: they are taken as bfloat16",
    ),
    "rows_repeated": (
        "note",
        "the arrays have {rows} rows and a round of γ {gamma} needs {needed}: they are repeated",
    ),
    "too_few_rounds_to_test": (
        "warning",
        "{rounds} rounds are too few to test what is emitted: at least 40 are needed",
    ),
    "trace_in_parts": (
        "note",
        "requests of more than 4,096 tokens were replayed in parts ({parts} cut(s)): a policy "
        "starts anew in each",
    ),
    "one_alpha_assumed": (
        "note",
        "acceptance by position was reduced to one α, {alpha}, around which outcomes are drawn",
    ),
    "outcomes_modelled": (
        "note",
        "up to {share} of a policy's rounds turn on outcomes that no round recorded: they are "
        "drawn from recorded tokens at most 32 positions away",
    ),
    "cost_estimated": (
        "warning",
        "the cost is an estimate of a roofline, nothing was measured: four of five public round "
        "costs were {low} to {high} of such an estimate; cost --verify-curve measures them",
    ),
    "kinds_of_cost_mixed": (
        "warning",
        "some costs are estimates and others are not ({kinds}): a difference between the two may "
        "be no more than the error of the estimate",
    ),
    "does_not_fit": (
        "warning",
        "at batch {batch} and context {context} the models take {weights} GB and their caches "
        "{cache} GB of each device, which has {memory} GB{remedy}",
    ),
    "trees_left_out": ("warning", "{runs} run(s) drafted trees and were left out"),
}


def finding(code: str, **values: object) -> Finding:
    """The finding `code`, its sentence filled in with `values`."""
    level, sentence = FINDINGS[code]
    return Finding(code, level, sentence.format_map(values))
