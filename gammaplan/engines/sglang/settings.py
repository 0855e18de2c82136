"""What SGLang's arguments say of its drafts: their length, their shape, what acceptance means."""

import re
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from gammaplan.data.findings import finding
from gammaplan.errors import Finding

LOG_INTERVAL = 40  # decode iterations a line, where the arguments do not say
MOST_TOKENS = 4_096  # a longer draft is a mistake in the arguments

_FIELD = re.compile(
    r"(?<![\w-])(?:--)?(speculative[_-][a-z_-]+|decode[_-]log[_-]interval|model[_-]path)['\"]?"
    r"(?:(?:\s*[=:]\s*|\s+)['\"]?((?!--)[^\s'\",)}]+))?"
)
_SIMULATED = re.compile(r"((?:SGLANG_)?SIMULATE_ACC_LEN)['\"]?\s*[=:]\s*['\"]?(\d+(?:\.\d+)?)")
_NOTHING = {None, "", "None", "null", "auto"}


class Settings(NamedTuple):
    """The arguments of one server, as far as they were printed."""

    gamma: int | None = None
    tree: bool = False
    adaptive: bool = False
    interval: int = LOG_INTERVAL
    model: str | None = None
    algorithm: str | None = None
    lossy: str | None = None


def from_text(text: str) -> Settings | None:
    """The settings in a line of arguments; None where it says nothing of drafts."""
    found = {key.replace("-", "_"): value for key, value in _FIELD.findall(text)}
    if not any(key.startswith("speculative_") for key in found):
        return None
    return from_fields(found)


def from_fields(fields: Mapping[str, Any]) -> Settings:
    """The settings in arguments by name, as text or as JSON."""
    algorithm = _text(fields.get("speculative_algorithm") or fields.get("speculative_algo"))
    steps = _number(fields.get("speculative_num_steps"))
    topk = _number(fields.get("speculative_eagle_topk"))
    tokens = _number(fields.get("speculative_num_draft_tokens"))
    kind = (algorithm or "").upper()
    if kind in {"DFLASH", "DSPARK"}:
        gamma, tree = _block_length(kind, fields, tokens), False
    else:
        gamma, tree = _chain_or_tree(kind, fields, (steps, topk, tokens))
    interval = _number(fields.get("decode_log_interval")) or LOG_INTERVAL
    adaptive = fields.get("speculative_adaptive", False)
    return Settings(
        gamma if gamma and gamma <= MOST_TOKENS else None,
        tree,
        adaptive is True or str(adaptive).lower() in {"", "true", "1"},
        interval,
        _text(fields.get("model_path")),
        algorithm,
        _lossy(fields),
    )


def _block_length(kind: str, fields: Mapping[str, Any], tokens: int | None) -> int | None:
    """DFLASH names the window, DSPARK the draft; a window is one token longer than its draft."""
    if kind == "DSPARK" and (size := _number(fields.get("speculative_dspark_block_size"))):
        return size
    window = _number(fields.get("speculative_dflash_block_size")) if kind == "DFLASH" else None
    window = window or tokens
    return window - 1 if window else None


def _chain_or_tree(
    kind: str, fields: Mapping[str, Any], sizes: tuple[int | None, int | None, int | None]
) -> tuple[int | None, bool]:
    steps, topk, tokens = sizes
    if topk is None and kind == "NGRAM":
        topk = _number(fields.get("speculative_ngram_max_bfs_breadth"))
    if topk is not None and topk > 1:
        return (steps if kind != "NGRAM" else None), True
    if topk == 1:
        return steps or (tokens - 1 if tokens else None), False
    if steps and tokens:
        return steps, tokens > steps + 1
    return None, False


def _lossy(fields: Mapping[str, Any]) -> str | None:
    for key in ("speculative_accept_threshold_single", "speculative_accept_threshold_acc"):
        try:
            threshold = float(fields.get(key, 1.0))
        except (TypeError, ValueError):
            continue
        if 0 <= threshold < 1:
            return f"{key} {threshold:g}"
    return None


def simulated(text: str) -> str | None:
    """The setting that fakes acceptance, where it is on."""
    for name, value in _SIMULATED.findall(text):
        if float(value) > 0:
            return f"{name}={value}"
    return None


def remarks(settings: Settings) -> Iterator[Finding]:
    """What the settings mean for every figure that follows."""
    if settings.tree:
        yield finding("tree_draft")
    if settings.lossy:
        yield finding("lossy_acceptance", setting=settings.lossy)


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value not in _NOTHING else None


def _number(value: Any) -> int | None:
    """A positive whole number, printed or parsed."""
    if isinstance(value, str) and re.fullmatch(r"\d{1,9}", value):
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
        return None
    return value
