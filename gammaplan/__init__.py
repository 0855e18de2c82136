"""gammaplan: how many tokens a speculative-decoding draft should propose.

Every answer is read off two curves over the draft length gamma: tokens per
round (an acceptance model) divided by cost per round (a cost model). The names
below load on first use, so that importing the package loads nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOME = {
    "acceptance": (
        "Geometric",
        "ceiling",
        "censored_alpha",
        "expected_tokens",
    ),
    "adaptive": ("compare_policies",),
    "band": ("flat_band",),
    "calibration": ("Calibration", "calibrate"),
    "convert": (
        "alpha_from_mean_length",
        "alpha_from_pooled_rate",
        "break_even_alpha",
        "break_even_c",
        "break_even_gamma",
        "pooled_rate",
    ),
    "cost": ("LinearCost",),
    "cost_tables": ("BlockCost", "PowerCost", "TableCost"),
    "curve": ("Curve", "curve", "speedup"),
    "decision": ("Band", "Decision", "decide"),
    "distributions": ("alpha_from_distributions", "residual", "transform"),
    "estimate": ("Counts",),
    "estimation": ("Estimate", "estimate"),
    "hindsight": ("clairvoyant", "perfect_confidence"),
    "mixture": ("BetaGeometric",),
    "policies": ("Discounted", "Heuristic", "Past"),
    "positions": ("PerPosition",),
    "prediction": ("predict_speedup", "speedup_interval"),
    "processes": ("Regimes", "Requests", "Tokens", "drawn"),
    "repeats": ("Repeats", "repeats"),
    "runs": ("Run",),
    "optimum": ("optimal_gamma", "stationary_gamma"),
    "tree": ("Tree", "optimal_tree"),
    "rounds": ("Verified",),
    "verification": ("verify_block", "verify_chain", "verify_match", "verify_typical"),
}
_ERRORS = ("DomainError", "Finding", "GammaplanError", "InputError", "MissingExtra")
_MODULE = {name: f"gammaplan.model.{home}" for home, names in _HOME.items() for name in names}
_MODULE |= dict.fromkeys(_ERRORS, "gammaplan.errors")
_MODULE |= dict.fromkeys(("Report", "read_reports"), "gammaplan.engines.reports")

if TYPE_CHECKING:
    from gammaplan.engines.reports import Report as Report
    from gammaplan.engines.reports import read_reports as read_reports
    from gammaplan.errors import DomainError as DomainError
    from gammaplan.errors import Finding as Finding
    from gammaplan.errors import GammaplanError as GammaplanError
    from gammaplan.errors import InputError as InputError
    from gammaplan.errors import MissingExtra as MissingExtra
    from gammaplan.model.acceptance import Geometric as Geometric
    from gammaplan.model.acceptance import ceiling as ceiling
    from gammaplan.model.acceptance import censored_alpha as censored_alpha
    from gammaplan.model.acceptance import expected_tokens as expected_tokens
    from gammaplan.model.adaptive import compare_policies as compare_policies
    from gammaplan.model.band import flat_band as flat_band
    from gammaplan.model.calibration import Calibration as Calibration
    from gammaplan.model.calibration import calibrate as calibrate
    from gammaplan.model.convert import alpha_from_mean_length as alpha_from_mean_length
    from gammaplan.model.convert import alpha_from_pooled_rate as alpha_from_pooled_rate
    from gammaplan.model.convert import break_even_alpha as break_even_alpha
    from gammaplan.model.convert import break_even_c as break_even_c
    from gammaplan.model.convert import break_even_gamma as break_even_gamma
    from gammaplan.model.convert import pooled_rate as pooled_rate
    from gammaplan.model.cost import LinearCost as LinearCost
    from gammaplan.model.cost_tables import BlockCost as BlockCost
    from gammaplan.model.cost_tables import PowerCost as PowerCost
    from gammaplan.model.cost_tables import TableCost as TableCost
    from gammaplan.model.curve import Curve as Curve
    from gammaplan.model.curve import curve as curve
    from gammaplan.model.curve import speedup as speedup
    from gammaplan.model.decision import Band as Band
    from gammaplan.model.decision import Decision as Decision
    from gammaplan.model.decision import decide as decide
    from gammaplan.model.distributions import alpha_from_distributions as alpha_from_distributions
    from gammaplan.model.distributions import residual as residual
    from gammaplan.model.distributions import transform as transform
    from gammaplan.model.estimate import Counts as Counts
    from gammaplan.model.estimation import Estimate as Estimate
    from gammaplan.model.estimation import estimate as estimate
    from gammaplan.model.hindsight import clairvoyant as clairvoyant
    from gammaplan.model.hindsight import perfect_confidence as perfect_confidence
    from gammaplan.model.mixture import BetaGeometric as BetaGeometric
    from gammaplan.model.optimum import optimal_gamma as optimal_gamma
    from gammaplan.model.optimum import stationary_gamma as stationary_gamma
    from gammaplan.model.policies import Discounted as Discounted
    from gammaplan.model.policies import Heuristic as Heuristic
    from gammaplan.model.policies import Past as Past
    from gammaplan.model.positions import PerPosition as PerPosition
    from gammaplan.model.prediction import predict_speedup as predict_speedup
    from gammaplan.model.prediction import speedup_interval as speedup_interval
    from gammaplan.model.processes import Regimes as Regimes
    from gammaplan.model.processes import Requests as Requests
    from gammaplan.model.processes import Tokens as Tokens
    from gammaplan.model.processes import drawn as drawn
    from gammaplan.model.repeats import Repeats as Repeats
    from gammaplan.model.repeats import repeats as repeats
    from gammaplan.model.rounds import Verified as Verified
    from gammaplan.model.runs import Run as Run
    from gammaplan.model.tree import Tree as Tree
    from gammaplan.model.tree import optimal_tree as optimal_tree
    from gammaplan.model.verification import verify_block as verify_block
    from gammaplan.model.verification import verify_chain as verify_chain
    from gammaplan.model.verification import verify_match as verify_match
    from gammaplan.model.verification import verify_typical as verify_typical

__all__ = list(_MODULE)


def __getattr__(name: str) -> Any:  # Any: each name has its own type, stated above
    if name not in _MODULE:
        raise AttributeError(f"module 'gammaplan' has no attribute {name!r}")
    value = getattr(import_module(_MODULE[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
