"""What a model's ``config.json`` says of its shape; the keys are those of transformers."""

from collections.abc import Iterator
from itertools import groupby
from typing import BinaryIO, NamedTuple

import msgspec

from gammaplan.documents.configkeys import Keys
from gammaplan.errors import InputError
from gammaplan.model.architecture import Attention, Experts, Layers, ModelShape

LARGEST_CONFIG = 16 * 2**20
EXPERTS = "num_local_experts|n_routed_experts|num_experts"
TIED = ("gemma", "gemma2", "gemma3_text")  # output projection tied where nothing is said
KNOWN = (
    "llama", "mistral", "ministral3", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe",
    "qwen3_vl_text", "qwen3_vl_moe_text", "gemma", "gemma2", "gemma3_text", "phi", "phi3",
    "deepseek_v2", "deepseek_v3", "kimi_k2", "gpt_oss", "hy_v3",
)  # fmt: skip


class Config(NamedTuple):
    """A model's shape, the number format of its file, and how its weights are quantised there."""

    shape: ModelShape
    dtype: str | None
    quantised: str | None


def read_config(stream: BinaryIO, source: str, *, parameters: float | None = None) -> Config:
    """The shape that a ``config.json`` describes.

    Parameters
    ----------
    stream : binary file
        Its text; no more than 16 MiB are read.
    source : str
        What messages call it.
    parameters : float, optional
        Parameters of the model, which an unknown architecture needs.

    Raises
    ------
    InputError
        If it is no configuration, an architecture is unknown, or something is missing: one
        sentence that names all that is.
    """
    try:
        data = stream.read(LARGEST_CONFIG + 1)
    except OSError as error:
        raise InputError(f"{source}: cannot be read: {error.strerror or error}") from None
    if len(data) > LARGEST_CONFIG:
        raise InputError(f"{source}: is larger than a config.json may be, {LARGEST_CONFIG:,} bytes")
    try:
        whole = msgspec.json.decode(data)
    except (msgspec.DecodeError, RecursionError, UnicodeDecodeError) as error:
        raise InputError(f"{source}: is not JSON: {error}") from None
    if not isinstance(whole, dict):
        got = ", got a list" if isinstance(whole, list) else ""
        raise InputError(f"{source}: must be an object, as a model's config.json is{got}")
    inner = whole.get("text_config")
    fields = Keys({**whole, **inner} if isinstance(inner, dict) else whole, source)
    shape = _shape(fields, parameters)
    dtype = fields.at("torch_dtype", "dtype")
    return Config(shape, dtype if isinstance(dtype, str) else None, _quantised(fields))


def _quantised(fields: Keys) -> str | None:
    """How the weights of the file are quantised: the method, and its bits where they are not 4.

    MLX writes no method, but the size of its groups, which are of 64 weights
    unless it says otherwise.
    """
    said = fields.at("quantization_config", "quantization")
    if said is None:
        return None
    if not isinstance(said, dict):
        return str(said)
    bits, size = said.get("bits"), said.get("group_size")
    method = said.get("quant_method") or ("mlx" if size is not None else "an unnamed method")
    if method == "mlx":
        return "mlx4" if (bits, size) == (4, 64) else f"mlx, {bits} bits in groups of {size}"
    usual = 8 if method in ("fp8", "fbgemm_fp8") else 4
    return str(method) if bits in (None, usual) else f"{method} of {bits} bits"


def _shape(fields: Keys, parameters: float | None) -> ModelShape:
    if fields.kind not in KNOWN:
        _refuse_experts(fields)
    if fields.kind not in KNOWN and parameters is None:
        _plain(fields)
        also = (
            f", and the keys {', '.join(dict.fromkeys(fields.missing))}" if fields.missing else ""
        )
        raise InputError(
            f"{fields.source}: {_architecture(fields)} is not known; give --parameters{also}. "
            f"Known are {', '.join(KNOWN)}"
        )
    hidden, vocabulary = fields.whole("hidden_size"), fields.whole("vocab_size")
    layers = _plain(fields) if fields.kind not in KNOWN else tuple(_layers(fields))
    fields.check()
    head = float(hidden * vocabulary)
    tied = fields.flag("tie_word_embeddings", fields.kind in TIED)
    shape = ModelShape(
        fields.kind or "model",
        hidden,
        0.0 if tied else head,
        head,
        layers,
        fields.whole("max_position_embeddings", 0) or None,
    )
    if parameters is None:
        return shape
    rest = parameters - shape.parameters
    if fields.kind in KNOWN and shape.routed:
        raise InputError(
            f"{fields.source}: has routed experts and is known; leave out --parameters"
        )
    if rest < -shape.linear:
        raise InputError(
            f"{fields.source}: --parameters {parameters:g} is less than the embeddings alone, "
            f"{shape.embedding + shape.head:.3g}"
        )
    return ModelShape(
        shape.name, hidden, shape.embedding, head, shape.layers, shape.context, extra=rest
    )


def _architecture(fields: Keys) -> str:
    """What a message calls an architecture that is not known."""
    return f"architecture {fields.kind[:40]}" if fields.kind else "an architecture (no model_type)"


def _refuse_experts(fields: Keys) -> None:
    """Refuse experts of an unknown architecture: how many parameters a token uses is not known."""
    count = fields.whole(EXPERTS, 0)
    if count > 1:
        raise InputError(
            f"{fields.source}: {_architecture(fields)} is not known and has {count} experts, of "
            f"which --parameters says nothing. Known are {', '.join(KNOWN)}"
        )


def _plain(fields: Keys) -> tuple[Layers, ...]:
    """Layers of which only the attention is known: the parameters are those given."""
    return (Layers(fields.whole("num_hidden_layers"), _attention(fields), 0.0),)


def _attention(fields: Keys) -> Attention:
    """The attention of every layer."""
    return _latent(fields) if fields.at("kv_lora_rank") is not None else _grouped(fields)


def _layers(fields: Keys) -> Iterator[Layers]:
    """Runs of layers that are alike."""
    depth = fields.whole("num_hidden_layers")
    if depth > 10_000:
        fields.refuse("num_hidden_layers", depth)
    attention = _attention(fields)
    dense, routed, experts = _feed_forward(fields)
    kinds = [
        (_window(fields, i), experts is not None and _is_routed(fields, i)) for i in range(depth)
    ]
    for (window, sparse), run in groupby(sorted(kinds, key=lambda k: (k[1], k[0] or 0))):
        count = len(list(run))
        norms = 2.0 * fields.whole("hidden_size")
        yield Layers(
            count,
            attention,
            (routed if sparse else dense) + norms,
            experts if sparse else None,
            window,
        )


def _grouped(fields: Keys) -> Attention:
    """Attention with key and value heads."""
    hidden, heads = fields.whole("hidden_size"), fields.whole("num_attention_heads")
    groups = fields.whole("num_key_value_heads", heads) or heads
    if heads % groups:
        raise InputError(
            f"{fields.source}: num_key_value_heads must divide the {heads} num_attention_heads, "
            f"got {groups}"
        )
    size = fields.whole("head_dim", hidden // heads) or hidden // heads
    if size == 0 and not fields.missing:
        raise InputError(
            f"{fields.source}: without head_dim, num_attention_heads must be at most the "
            f"hidden_size {hidden}, got {heads}"
        )
    parameters = 2 * hidden * size * (heads + groups)
    if fields.flag("attention_bias", fields.kind in ("qwen2", "qwen2_moe", "phi")):
        parameters += size * (heads + 2 * groups)
    return Attention(float(parameters), heads, groups, 2 * groups * size, 4.0 * heads * size)


def _latent(fields: Keys) -> Attention:
    """Multi-head latent attention, DeepSeek-V2 (arXiv:2405.04434), section 2.1."""
    hidden, heads = fields.whole("hidden_size"), fields.whole("num_attention_heads")
    rank, rope = fields.whole("kv_lora_rank"), fields.whole("qk_rope_head_dim")
    nope, value = fields.whole("qk_nope_head_dim"), fields.whole("v_head_dim")
    query = fields.whole("q_lora_rank", 0)
    asked = heads * (nope + rope)
    parameters = (hidden * query + query * asked) if query else hidden * asked
    parameters += hidden * (rank + rope) + rank * heads * (nope + value) + heads * value * hidden
    flops = 2.0 * heads * (2 * rank + rope)
    return Attention(float(parameters), heads, 1, rank + rope, flops, latent=True)


def _feed_forward(fields: Keys) -> tuple[float, float, Experts | None]:
    """Parameters of a dense layer, those of a routed one that every token uses, and its experts."""
    hidden = fields.whole("hidden_size")
    each = (2 if fields.kind == "phi" else 3) * hidden
    count = fields.whole(EXPERTS, 0)
    if count == 0:
        return float(each * fields.whole("intermediate_size")), 0.0, None
    chosen = fields.whole("num_experts_per_tok|experts_per_token")
    if chosen > count:
        raise InputError(
            f"{fields.source}: num_experts_per_tok must be at most the {count} experts, "
            f"got {chosen}"
        )
    routed_size = fields.whole("moe_intermediate_size|intermediate_size")
    dense_size = fields.whole("intermediate_size|moe_intermediate_size")
    shared = fields.whole("n_shared_experts|num_shared_experts", 0) * routed_size
    shared += fields.whole("shared_expert_intermediate_size", 0)
    size = each * routed_size
    if fields.kind == "gpt_oss":
        size += 2 * routed_size + hidden  # biases of the experts
    return (
        float(each * dense_size),
        float(each * shared + hidden * count),
        Experts(count, chosen, size),
    )


def _is_routed(fields: Keys, layer: int) -> bool:
    """Whether a layer of a mixture of experts has them."""
    if layer < fields.whole("first_k_dense_replace", 0):
        return False
    dense = fields.at("mlp_only_layers")
    if isinstance(dense, list) and layer in dense:
        return False
    step = fields.whole("decoder_sparse_step", 1) or 1
    every = fields.at("moe_layer_freq")
    if isinstance(every, list):
        return bool(every[layer]) if layer < len(every) else True
    return (layer + 1) % step == 0 and layer % (fields.whole("moe_layer_freq", 1) or 1) == 0


def _window(fields: Keys, layer: int) -> int | None:
    """The tokens that a layer's cache keeps, where it is a sliding window."""
    size = fields.whole("sliding_window", 0)
    if not size or not fields.flag("use_sliding_window", not fields.kind.startswith("qwen")):
        return None
    types = fields.at("layer_types")
    if isinstance(types, list) and layer < len(types):
        return size if types[layer] == "sliding_attention" else None
    if fields.kind in ("gemma2", "gpt_oss"):
        return size if layer % 2 == 0 else None
    if fields.kind == "gemma3_text":
        return size if (layer + 1) % (fields.whole("sliding_window_pattern", 6) or 6) else None
    if fields.kind.startswith("qwen"):
        return size if layer >= fields.whole("max_window_layers", 0) else None
    return size
