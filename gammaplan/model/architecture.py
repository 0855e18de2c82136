"""What a model is made of, as far as the time of a pass depends on it."""

from dataclasses import dataclass, replace

import numpy as np

from gammaplan.errors import DomainError
from gammaplan.model.arrays import ArrayLike, Floats, non_negative


@dataclass(frozen=True)
class Attention:
    """One attention block.

    Parameters
    ----------
    parameters : float
        Its projections.
    heads, kv_heads : int
        Query heads, and heads that the cache keeps.
    kv_elements : int
        Numbers that the cache keeps of a token: 2 * kv_heads * head_dim, or
        the latent and its rotary part where that is all (`latent`).
    flops : float
        Operations of one query token on one cached token.
    latent : bool
        Multi-head latent attention: the cache is not split between devices.
    """

    parameters: float
    heads: int
    kv_heads: int
    kv_elements: int
    flops: float
    latent: bool = False


@dataclass(frozen=True)
class Experts:
    """Routed experts of a layer: how many, how many a token takes, parameters of one."""

    count: int
    chosen: int
    parameters: float

    def read(self, tokens: ArrayLike) -> Floats:
        """Distinct experts that so many tokens take, each its own at random.

        ``M (1 - (1 - K/M) ** n)``, MoESD (arXiv:2505.19645). Neighbouring
        tokens agree more often than that: an upper estimate.

        Examples
        --------
        >>> Experts(128, 8, 1e6).read([1, 16]).round(1)
        array([ 8. , 82.4])
        """
        n = non_negative("tokens", tokens)
        return np.asarray(self.count * (1 - (1 - self.chosen / self.count) ** n))


@dataclass(frozen=True)
class Layers:
    """Layers that are alike: `dense` are the parameters outside attention that every token uses."""

    count: int
    attention: Attention
    dense: float
    experts: Experts | None = None
    window: int | None = None


@dataclass(frozen=True)
class ModelShape:
    """A model, or a draft head of one.

    Parameters
    ----------
    name : str
        What it is called.
    hidden : int
        Width of the residual stream.
    embedding, head : float
        Parameters of the token embedding and of the output projection. Tied
        ones count once, as the head: a pass reads all of the head, and of the
        embedding a row a token.
    layers : tuple of Layers
        All layers.
    context : int, optional
        The longest context it was made for. [tokens]
    extra : float
        Other parameters that every token uses.
    borrowed : bool
        Whether the output projection is that of another model: read, but not stored again.
    """

    name: str
    hidden: int
    embedding: float
    head: float
    layers: tuple[Layers, ...]
    context: int | None = None
    extra: float = 0.0
    borrowed: bool = False

    @property
    def depth(self) -> int:
        """Layers in all."""
        return sum(group.count for group in self.layers)

    @property
    def linear(self) -> float:
        """Parameters of the layers that every token uses, routed experts left out."""
        layers = sum(g.count * (g.attention.parameters + g.dense) for g in self.layers)
        return layers + self.extra

    @property
    def routed(self) -> float:
        """Parameters of all routed experts."""
        groups = ((g.count, g.experts) for g in self.layers)
        return sum(n * e.count * e.parameters for n, e in groups if e)

    @property
    def parameters(self) -> float:
        """All parameters."""
        return self.embedding + self.head + self.linear + self.routed

    @property
    def active(self) -> float:
        """Parameters that one token uses, the embedding left out."""
        groups = ((g.count, g.experts) for g in self.layers)
        return self.head + self.linear + sum(n * e.chosen * e.parameters for n, e in groups if e)

    @property
    def kv_elements(self) -> int:
        """Numbers that the cache keeps of a token, in all layers."""
        return sum(g.count * g.attention.kv_elements for g in self.layers)

    def splits(self, devices: int) -> bool:
        """Whether tensor parallelism can split it: its heads, and its key and value heads."""
        return all(
            g.attention.heads % devices == 0
            and (
                g.attention.latent
                or g.attention.kv_heads % devices == 0
                or devices % g.attention.kv_heads == 0
            )
            for g in self.layers
        )


def eagle_head(target: ModelShape, *, inputs: int, vocabulary: int | None = None) -> ModelShape:
    """An EAGLE head: one dense layer, the projection of its inputs, and an output projection.

    Parameters
    ----------
    target : ModelShape
        The model that it drafts for.
    inputs : int
        Hidden states that are joined: 2 for EAGLE (state and embedding), 3 for EAGLE-3.
    vocabulary : int, optional
        Tokens that the head can draft; all of the target's without it.
    """
    group = next((g for g in target.layers if g.experts is None), target.layers[0])
    head = target.head if vocabulary is None else min(target.head, vocabulary * target.hidden)
    dense = group.dense
    if group.experts:
        dense += group.experts.chosen * group.experts.parameters
    layer = replace(group, count=1, dense=dense, experts=None, window=None)
    extra = float(inputs * target.hidden**2)
    return ModelShape("eagle head", target.hidden, 0.0, head, (layer,), target.context, extra)


def mtp_head(target: ModelShape) -> ModelShape:
    """A multi-token-prediction module: the target's last kind of layer, and its output projection.

    DeepSeek-V3 report (arXiv:2412.19437), section 2.2: a projection of two
    states, one layer, embedding and output shared with the target.
    """
    layer = replace(target.layers[-1], count=1, window=None)
    extra = 2.0 * target.hidden**2
    return ModelShape(
        "mtp module",
        target.hidden,
        0.0,
        target.head,
        (layer,),
        target.context,
        extra,
        borrowed=True,
    )


def medusa_heads(target: ModelShape, count: int) -> ModelShape:
    """Medusa's heads (arXiv:2401.10774): each a square layer and an output projection."""
    if count < 1:
        raise DomainError(f"heads must be at least 1, got {count}")
    size = count * (target.hidden**2 + target.head)
    return ModelShape("medusa heads", target.hidden, 0.0, 0.0, (), target.context, float(size))
