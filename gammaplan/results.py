"""What every result can do besides holding figures: be plain data, rows, a table in a notebook.

This stands below the mathematics and knows none of it: any named tuple or
dataclass becomes a result by inheriting from `Result`.
"""

import math
from collections.abc import Mapping
from typing import Any, NamedTuple

Plain = dict[str, Any]  # Any: numbers, text, truth, None, and lists and dicts of them


class Ends(NamedTuple):
    """The two ends of a stretch of numbers."""

    low: float
    high: float


class Result:
    """A result: figures that can be read by name, and taken elsewhere.

    Examples
    --------
    >>> from gammaplan import Geometric, LinearCost, curve
    >>> curve(Geometric(0.8), LinearCost(0.1), [0, 1]).rows[1]
    {'gamma': 1, 'expected_tokens': 1.8, 'round_cost': 1.1, 'speedup': 1.6363636363636362}
    """

    __slots__ = ()

    def to_dict(self) -> Plain:
        """The figures under their JSON keys; lists for arrays, None for NaN and infinity."""
        return figures(self)

    @property
    def rows(self) -> list[Plain]:
        """Flat dictionaries with the same keys: ``pandas.DataFrame(result.rows)``."""
        from gammaplan.flat import rows_of

        return rows_of(self.to_dict())

    def _repr_html_(self) -> str:
        from gammaplan.notebook import html_of

        return html_of(type(self).__name__, self.to_dict())


def figures(value: object) -> Plain:
    """What can be read off a named tuple or a dataclass by name: its fields, then its properties.

    A property that gives another result is a view of the same figures, and left out.
    """
    kind = type(value)
    fields = getattr(kind, "_fields", None) or kind.__dict__["__dataclass_fields__"]
    found = {name: getattr(value, name) for name in fields}
    for name, member in (pair for base in kind.__mro__ for pair in vars(base).items()):
        if isinstance(member, property) and name not in ("rows", *found):
            part = getattr(value, name)
            found |= {} if isinstance(part, Result) else {name: part}
    return {name: plain(part) for name, part in found.items() if not name.startswith("_")}


def plain(value: Any) -> Any:  # Any: what a result holds, and what is plain
    """`value` in what JSON knows: arrays are lists, named things are dicts, NaN is None."""
    if isinstance(value, float):  # NumPy's double is one
        return float(value) if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    if hasattr(value, "to_dict"):
        return value.to_dict()
    if hasattr(value, "_fields") or hasattr(value, "__dataclass_fields__"):
        return figures(value)
    if isinstance(value, Mapping):
        return {str(name): plain(part) for name, part in value.items()}
    return plain(value.tolist()) if hasattr(value, "tolist") else [plain(part) for part in value]
