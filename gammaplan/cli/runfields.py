"""The figures of one run as users name them: names mapped, units understood, nothing guessed."""

import math
import re
from collections.abc import Iterable, Mapping
from typing import NamedTuple

NAMES = {
    "gamma": (
        "g k draft_length draft_len num_speculative_tokens num_spec_tokens spec_tokens "
        "n_draft draft_n draft_max max_draft_len num_assistant_tokens "
        "speculative_num_steps steps num_steps speculative_tokens"
    ),
    "speedup": "measured_speedup speed_up",
    "baseline": "base plain no_spec vanilla target_only autoregressive without",
    "spec": "speculative with_spec speculation with",
    "pooled_rate": (
        "acceptance_rate accept_rate draft_acceptance_rate acceptance accepted_share "
        "spec_decode_acceptance_rate"
    ),
    "mean_length": (
        "mean_length_incl_bonus acceptance_length accept_length acc_length accept_len "
        "mean_acceptance_length avg_acceptance_length avg_spec_accept_length tau "
        "spec_decode_acceptance_length tokens_per_round"
    ),
    "accepted_per_round": "mean_accepted_tokens accepted_per_step",
    "survival": (
        "per_position per_position_acceptance_rate spec_decode_per_position_acceptance_rates"
    ),
    "drafted_per_round": "mean_drafted drafted_per_step",
    "batch": "batch_size concurrency batch_or_concurrency max_concurrency",
    "topk": "top_k speculative_eagle_topk eagle_topk",
}
CANONICAL = {alias: name for name, aliases in NAMES.items() for alias in (name, *aliases.split())}
# Ends of a speed's column, with what they mean; the longest that fits decides.
UNITS: dict[str, tuple[str, float]] = {
    **dict.fromkeys(
        (
            "tps",
            "tokens_per_second",
            "tok_per_s",
            "tok_s",
            "t_s",
            "tokens_s",
            "toks",
            "throughput",
            "output_throughput",
        ),
        ("tps", 1.0),
    ),
    **dict.fromkeys(("ms", "ms_per_token", "tpot_ms", "mean_tpot_ms", "itl_ms"), ("ms", 1.0)),
    **dict.fromkeys(("s", "seconds", "s_per_token"), ("ms", 1e3)),
    **dict.fromkeys(("us", "us_per_token"), ("ms", 1e-3)),
}
VALUE_UNITS = {"tok/s": ("tps", 1.0), "t/s": ("tps", 1.0), "tps": ("tps", 1.0)}
VALUE_UNITS |= {"tokens/s": ("tps", 1.0), "ms": ("ms", 1.0), "s": ("ms", 1e3), "us": ("ms", 1e-3)}
PERCENT = ("_pct", "_percent", "_percentage")
RATES = ("pooled_rate", "survival")
ALWAYS_PERCENT = ("spec_decode_acceptance_rate",)  # as vLLM's benchmark writes it
_NUMBER = re.compile(r"\s*([-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)\s*(.*?)\s*$")


class Field(NamedTuple):
    """What a column holds: our name for it, and what its numbers are to be multiplied by."""

    name: str
    scale: float = 1.0


def field_of(column: str) -> Field | None:
    """What a column of this name holds; None where it is not known."""
    key = re.sub(r"[^a-z0-9]+", "_", column.replace("%", "_pct").lower()).strip("_")
    scale = 0.01 if key in ALWAYS_PERCENT else 1.0
    for ending in PERCENT:
        if key.endswith(ending):
            key, scale = key.removesuffix(ending), 0.01
    if key in CANONICAL and CANONICAL[key] not in ("baseline", "spec"):
        name = CANONICAL[key]
        return Field(name, scale) if name in RATES or scale == 1.0 else None
    for unit in sorted(UNITS, key=len, reverse=True):
        kind, factor = UNITS[unit]
        if key == unit:
            return Field(f"spec_{kind}", factor)
        whose = CANONICAL.get(key.removesuffix("_" + unit)) if key.endswith("_" + unit) else None
        if whose in ("baseline", "spec"):
            return Field(f"{whose}_{kind}", factor)
    return None


class BadRow(ValueError):
    """A row that cannot be a run; the message says why."""


def figures(row: Mapping[str, object], fields: Mapping[str, Field | None]) -> dict[str, object]:
    """The figures of one row in our words; empty cells are left out."""
    found: dict[str, object] = {}
    for column, value in row.items():
        field = fields.get(column)
        if field is None or (not value and value != 0):
            continue
        name, number = _value(column, field, value)
        if name in found and found[name] != number:
            raise BadRow(f"{name} is given twice, {found[name]:g} and {number:g}")
        found[name] = number
    return found


def _value(column: str, field: Field, value: object) -> tuple[str, object]:
    if field.name == "survival":
        items: Iterable[object] = (
            value if isinstance(value, list) else re.split(r"[/;,\s]+", str(value).strip())
        )
        return "survival", tuple(_number(column, item, field)[1] for item in items)
    return _number(column, value, field)


def _number(column: str, value: object, field: Field) -> tuple[str, float]:
    """A number and the name it goes by: a unit in the cell itself beats that of the column."""
    text = str(value)
    try:
        plain = math.nan if isinstance(value, bool) or "_" in text else float(text)
    except ValueError:
        plain = math.nan
    if math.isfinite(plain):
        return field.name, plain * field.scale
    match = _NUMBER.fullmatch(text.replace("−", "-"))
    if match is None or isinstance(value, bool):
        raise BadRow(f"{column} is {value!s:.40}, not a number")
    number, unit, name = float(match[1]), match[2].lower(), field.name
    if not math.isfinite(number):
        raise BadRow(f"{column} is {value!s:.40}, not a finite number")
    if not unit or (unit in ("x", "×") and name == "speedup"):
        return name, number * field.scale
    if unit == "%" and name in RATES:
        return name, number / 100
    if unit in VALUE_UNITS and name.startswith(("baseline_", "spec_")):
        kind, factor = VALUE_UNITS[unit]
        return f"{name.split('_')[0]}_{kind}", number * factor
    raise BadRow(f"{column} is {value!s:.40}, whose unit {match[2]} is not known here")
