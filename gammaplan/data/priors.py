"""Priors of the calibration: written by ``benchmarks/fit_priors.py``, not by hand.

Fitted on 123 public sweeps of draft lengths (``tests/data/sweeps/length_sweeps.csv``) and 84
EAGLE-3 chains of SpecBundle: 27 sources, one vote a source. Each row is ``(mean, sd, speed_noise,
length_noise, run_noise)``; mean and sd are of (a, d, k, p) in ``model/posterior.py``.
"""

from typing import TypeAlias

Four: TypeAlias = tuple[float, float, float, float]
Row: TypeAlias = tuple[Four, Four, float, float, float]

WIDTH = 1.072  # stretches the spread of a prediction; fitted on lengths of sources left out
UNKNOWN: Row = (
    (1.4441, 0.5945, -0.9486, 0.8406),
    (0.8486, 0.3553, 0.6436, 0.1285),
    0.0448,
    0.0295,
    0.02,
)
METHODS: dict[str, Row] = {
    "mtp": (
        (1.6392, 0.6106, -0.9802, 0.8767),
        (0.6883, 0.2965, 0.5656, 0.1215),
        0.0447,
        0.0296,
        0.02,
    ),
    "eagle": (
        (0.6043, 0.4467, -1.3315, 0.7781),
        (0.6883, 0.2965, 0.5656, 0.1215),
        0.0447,
        0.0296,
        0.02,
    ),
    "block": (
        (1.4097, 0.6814, -0.7728, 0.8015),
        (0.6883, 0.2965, 0.5656, 0.1215),
        0.0447,
        0.0296,
        0.02,
    ),
    "draft-model": (
        (1.5555, 0.2721, -0.4948, 0.812),
        (0.6883, 0.2965, 0.5656, 0.1215),
        0.0447,
        0.0296,
        0.02,
    ),
}
