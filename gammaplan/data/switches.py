"""How an engine is told to use a policy of draft length, where it has a switch for it."""

SWITCHES: dict[str, dict[str, str]] = {
    "heuristic": {"transformers": 'num_assistant_tokens_schedule="heuristic"'},
    "confidence_stop": {"transformers": "assistant_confidence_threshold={threshold:g}"},
    "p_min": {"llama.cpp": "--spec-draft-p-min {threshold:g}"},
    "ema_tiers": {"sglang": "--speculative-adaptive"},
}
"""By policy and engine; the policy's parameters are filled in. Sources: docs/engines.md."""


def switches(policy: str, parameters: dict[str, float]) -> dict[str, str]:
    """The switches of a policy, its parameters filled in."""
    return {
        engine: text.format_map(parameters) for engine, text in SWITCHES.get(policy, {}).items()
    }
