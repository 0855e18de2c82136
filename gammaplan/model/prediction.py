"""What a calibration predicts: a speedup at any length, and how far a run may lie from it."""

from statistics import NormalDist

import numpy as np

from gammaplan.errors import DomainError
from gammaplan.model.arrays import ArrayLike, Floats, non_negative
from gammaplan.model.calibration import Calibration, Measured
from gammaplan.model.curve import curve
from gammaplan.model.posterior import Observed, posterior


def predict_speedup(calibration: Calibration, gammas: ArrayLike) -> float | Floats:
    """Predicted speedup of a calibrated set-up.

    Parameters
    ----------
    calibration : Calibration
        What `calibrate` gave.
    gammas : array_like of int, >= 0
        Draft lengths. [tokens]

    Returns
    -------
    float or ndarray of float64, shape of `gammas`
        Tokens per round divided by cost per round; exactly 1 at 0.

    Raises
    ------
    DomainError
        If a length is negative or no whole number.

    Examples
    --------
    >>> from gammaplan import Run, calibrate
    >>> one = calibrate([Run(5, 1.45, pooled_rate=0.55)])
    >>> predict_speedup(one, [0, 2, 5]).round(2)
    array([1.  , 1.47, 1.45])
    """
    lengths = _whole(gammas)
    speed = curve(calibration.acceptance, calibration.cost, lengths).speedup
    return float(speed[0]) if np.asarray(gammas).ndim == 0 else speed


def speedup_interval(
    calibration: Calibration, gammas: ArrayLike, *, level: float = 0.8
) -> tuple[float | Floats, float | Floats]:
    """Interval for the speedup that a run at each length would measure.

    Parameters
    ----------
    calibration : Calibration
        What `calibrate` gave, not a textbook one.
    gammas : array_like of int, >= 0
        Draft lengths. [tokens]
    level : float, in (0, 1)
        The share of runs that the interval should hold.

    Returns
    -------
    low, high : float or ndarray of float64, shape of `gammas`

    Raises
    ------
    DomainError
        If the calibration is a textbook one, or a length no whole number.

    Notes
    -----
    The variance of ln S is linearised at the prior mean, so it depends on
    which lengths were measured and on how far repeats differ, not on what else
    they said: a further run that agrees can only narrow it. Its width is fitted on
    sources left out (docs/validation.md).

    Examples
    --------
    >>> from gammaplan import Run, calibrate
    >>> low, high = speedup_interval(calibrate([Run(5, 1.45, pooled_rate=0.55)]), 5)
    >>> low < 1.45 < high
    True
    """
    if calibration.measured is None:
        raise DomainError("a textbook calibration has no interval")
    lengths = _whole(gammas)
    off = spread(calibration.measured, lengths)
    half = NormalDist().inv_cdf((1 + level) / 2) * np.where(lengths > 0, off, 0.0)
    middle = np.log(np.atleast_1d(predict_speedup(calibration, lengths)))
    low, high = np.exp(middle - half), np.exp(middle + half)
    return (float(low[0]), float(high[0])) if np.asarray(gammas).ndim == 0 else (low, high)


def _whole(gammas: ArrayLike) -> Floats:
    lengths = np.atleast_1d(non_negative("gammas", gammas))
    if (lengths != np.round(lengths)).any():
        raise DomainError("gammas must be whole numbers of at least 0")
    return lengths


def spread(fit: Measured, lengths: Floats) -> Floats:
    """Evaluate the standard deviation of the ln S that a new run at each length would show."""
    n = int(max([lengths.max(initial=1), *(g for g, _ in fit.speed_runs)]))
    zero = np.zeros((1, n))
    seen = Observed(
        zero, zero.copy(), zero, zero.copy(), np.arange(1.0, n + 1)[None], zero * np.nan
    )
    for g, runs in fit.speed_runs:
        seen.speed_weight[0, g - 1] = 1 / fit.prior.speed_variance(runs)
    for g in fit.length_gammas:
        seen.length_weight[0, g - 1] = 1 / fit.prior.length_noise**2
    at = posterior(seen, np.array([fit.prior.mean]), 1 / np.square([fit.prior.sd]), steps=0)
    by_speed = at.tokens_slope[0] - at.cost_slope[0]
    own = fit.prior.own_variance
    gain = own * seen.speed_weight[0]
    left = (1 - gain)[:, None] * by_speed
    variance = np.einsum("gi,ij,gj->g", left, at.covariance[0], left) + own * (1 - gain)
    total = fit.width * np.sqrt(variance + fit.prior.run_noise**2 + fit.shared**2)
    return np.asarray(total[np.maximum(lengths, 1).astype(np.int64) - 1])
