"""Every finding: its code, its level and the sentence that explains it.

Levels: a note is a fact worth saying; a warning means that the figure may
mislead or that part of the input was lost; a refusal means that the figure
cannot be given. `--strict` fails on warnings and refusals.
"""

from gammaplan.errors import Finding, Level

FINDINGS: dict[str, tuple[Level, str]] = {
    "worked_example": (
        "note",
        "neither acceptance nor cost was given: this is the worked example, α {alpha} and c {c}",
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
}


def finding(code: str, **values: object) -> Finding:
    """The finding `code`, its sentence filled in with `values`."""
    level, sentence = FINDINGS[code]
    return Finding(code, level, sentence.format_map(values))
