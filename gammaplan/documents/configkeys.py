"""The keys of a ``config.json``, with what transformers fills in; each failure is one sentence."""

from collections.abc import Mapping
from typing import Any

from gammaplan.errors import InputError

MOST = 2**53
# What transformers fills in where a configuration says nothing (configuration_*.py), as far as
# public configurations leave it out.
DEFAULTS: Mapping[str, Mapping[str, object]] = {
    "gemma": {"max_position_embeddings": 8192, "head_dim": 256},
    "gemma2": {"max_position_embeddings": 8192, "head_dim": 256},
    "gemma3_text": {
        "vocab_size": 262208,
        "max_position_embeddings": 131072,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 256,
    },
    "gpt_oss": {"head_dim": 64},
}


class Keys:
    """The keys of a configuration; what is missing is collected and said at once."""

    def __init__(self, values: Mapping[str, Any], source: str) -> None:  # Any: parsed JSON
        self.source = source
        self.kind = str(values.get("model_type") or "")
        self.values = {**DEFAULTS.get(self.kind, {}), **values}
        self.missing: list[str] = []

    def at(self, *names: str) -> Any:  # Any: parsed JSON
        """The first of these keys that is there and not null."""
        return next((self.values[n] for n in names if self.values.get(n) is not None), None)

    def whole(self, names: str, default: int | None = None) -> int:
        """A whole number of at least 1, by any of these keys (`a|b`); `default` where none is."""
        value = self.at(*names.split("|"))
        if value is None:
            if default is None:
                self.missing.append(names.replace("|", " or "))
            return 1 if default is None else default
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= MOST:
            self.refuse(names, value)
        if value == 0 and default is None:
            self.refuse(names, value)
        return int(value)

    def refuse(self, names: str, value: object) -> None:
        """Say that a value is no whole number."""
        name, _, _ = names.partition("|")
        raise InputError(
            f"{self.source}: {name} must be a whole number of at least 1, got {str(value)[:40]}"
        )

    def flag(self, name: str, default: bool = False) -> bool:
        """A truth value."""
        value = self.at(name)
        return value if isinstance(value, bool) else default

    def check(self) -> None:
        """Refuse where anything was missing."""
        if self.missing:
            names = list(dict.fromkeys(self.missing))
            raise InputError(f"{self.source}: a config.json needs {', '.join(names)}")
