"""Diffusion models, which print lines much like those of speculative decoding."""

from collections.abc import Iterator

from gammaplan.data.findings import finding
from gammaplan.engines.base import Item
from gammaplan.engines.lines import Block

MARKS = (b"DiffusionDecoding metrics: ",)


def read(blocks: Iterator[Block]) -> Iterator[Item]:
    """Nothing to count: tokens are committed without a draft."""
    for _ in blocks:
        pass
    yield finding("not_speculative", what="DiffusionDecoding commits tokens without a draft")
