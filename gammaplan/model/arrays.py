"""Arrays at the edge of the mathematics: checked going in, scalars for scalars coming out."""

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np

from gammaplan.errors import DomainError

Floats: TypeAlias = np.ndarray[Any, np.dtype[np.float64]]
Booleans: TypeAlias = np.ndarray[Any, np.dtype[np.bool_]]
ArrayLike: TypeAlias = float | np.ndarray[Any, Any] | np.generic | Sequence["ArrayLike"]
Number: TypeAlias = float | Floats


def numbers(name: str, value: ArrayLike) -> Floats:
    """`value` as float64, if it holds real numbers; text and objects are refused, not parsed."""
    array = np.asarray(value)
    if array.dtype.kind not in "biuf":
        raise DomainError(f"{name} must be a real number or an array of them, got {value!r:.60}")
    return array.astype(np.float64, copy=False)


def fraction(name: str, value: ArrayLike) -> Floats:
    """`value` as float64, every element in [0, 1]."""
    array = numbers(name, value)
    if array.size and not (array.min() >= 0 and array.max() <= 1):  # NaN fails too
        raise DomainError(f"{name} must be in [0, 1], got {_span(array)}")
    return array


def share(name: str, value: ArrayLike) -> Floats:
    """`value` as float64, every element in [0, 1)."""
    array = numbers(name, value)
    if array.size and not (array.min() >= 0 and array.max() < 1):
        raise DomainError(f"{name} must be a fraction in [0, 1), got {_span(array)}")
    return array


def non_negative(name: str, value: ArrayLike, *, finite: bool = True) -> Floats:
    """`value` as float64, every element at least 0 and, unless allowed, not infinite."""
    array = numbers(name, value)
    if array.size and not (array.min() >= 0 and (array.max() < np.inf or not finite)):
        raise DomainError(f"{name} must be at least 0{' and finite' * finite}, got {_span(array)}")
    return array


def as_given(result: Floats) -> Number:
    """A Python float where every input was a scalar, the array itself otherwise."""
    return result if result.ndim else float(result)


def whole_as_given(result: Floats) -> int | Number:
    """Like `as_given`, with a Python int for a finite scalar (infinity has no int)."""
    if result.ndim:
        return result
    return int(result) if np.isfinite(result) else float(result)


def _span(array: Floats) -> str:
    low, high = array.min(), array.max()
    return f"{low:g}" if low == high or np.isnan(low) else f"{low:g} to {high:g}"
