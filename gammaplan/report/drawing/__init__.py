"""A picture as a file, drawn by matplotlib: the one place that loads it."""

import io
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

import matplotlib

from gammaplan.report.drawing.page import figure
from gammaplan.report.picture import Picture

STYLE: Any = {  # Any: matplotlib's settings each have a type of their own
    "font.family": ["DejaVu Sans", "Verdana", "sans-serif"],
    "svg.fonttype": "none",
    "svg.hashsalt": "gammaplan",
    "pdf.fonttype": 42,
    "text.parse_math": False,
}
METADATA: Mapping[str, dict[str, str | None]] = {
    "svg": {"Date": None, "Creator": "gammaplan"},
    "pdf": {"CreationDate": None, "Creator": "gammaplan", "Producer": None},
    "png": {"Software": "gammaplan"},
}


def image(picture: Picture, kind: str) -> bytes:
    """The bytes of a file of this kind: svg, png or pdf; the same for the same picture."""
    page = io.BytesIO()
    with our_style():
        drawn = figure(picture)
        drawn.savefig(page, format=kind, dpi=160, facecolor="white", metadata=METADATA[kind])
    return page.getvalue()


@contextmanager
def our_style() -> Iterator[None]:
    """Our style alone, whatever the user's own is."""
    with matplotlib.rc_context(), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # characters that a font lacks
        matplotlib.rcdefaults()
        matplotlib.rcParams.update(STYLE)
        yield
