"""What a model's ``config.json`` says of its shape; the keys are those of transformers."""

from collections.abc import Iterator, Mapping
from itertools import groupby
from typing import Any, BinaryIO, NamedTuple

import msgspec

from gammaplan.errors import InputError
from gammaplan.model.architecture import Attention, Experts, Layers, ModelShape

LARGEST_CONFIG = 16 * 2**20
MOST = 2**53
TIED = ("gemma", "gemma2", "gemma3_text")  # output projection tied where nothing is said
KNOWN = (
    "llama", "mistral", "ministral3", "mixtral", "qwen2", "qwen2_moe", "qwen3", "qwen3_moe",
    "qwen3_vl_text", "qwen3_vl_moe_text", "gemma", "gemma2", "gemma3_text", "phi", "phi3",
    "deepseek_v2", "deepseek_v3", "kimi_k2", "gpt_oss",
)  # fmt: skip
# What transformers fills in where a Gemma 3 configuration says nothing (configuration_gemma3.py).
DEFAULTS: Mapping[str, Mapping[str, object]] = {
    "gemma3_text": {
        "vocab_size": 262208,
        "max_position_embeddings": 131072,
        "num_attention_heads": 8,
        "num_key_value_heads": 4,
        "head_dim": 256,
    }
}


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
    fields = _Fields({**whole, **inner} if isinstance(inner, dict) else whole, source)
    shape = _shape(fields, parameters)
    quantised = fields.at("quantization_config")
    method = quantised.get("quant_method") if isinstance(quantised, dict) else None
    dtype = fields.at("torch_dtype") or fields.at("dtype")
    return Config(
        shape,
        dtype if isinstance(dtype, str) else None,
        method if isinstance(method, str) else None,
    )


class _Fields:
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


def _shape(fields: _Fields, parameters: float | None) -> ModelShape:
    if fields.kind not in KNOWN and parameters is None:
        _plain(fields)
        also = (
            f", and the keys {', '.join(dict.fromkeys(fields.missing))}" if fields.missing else ""
        )
        kind = (
            f"architecture {fields.kind[:40]}" if fields.kind else "an architecture (no model_type)"
        )
        raise InputError(
            f"{fields.source}: {kind} is not known; give --parameters{also}. Known are "
            f"{', '.join(KNOWN)}"
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


def _plain(fields: _Fields) -> tuple[Layers, ...]:
    """Layers of which only the attention is known: the parameters are those given."""
    return (Layers(fields.whole("num_hidden_layers"), _grouped(fields), 0.0),)


def _layers(fields: _Fields) -> Iterator[Layers]:
    """Runs of layers that are alike."""
    depth = fields.whole("num_hidden_layers")
    if depth > 10_000:
        fields.refuse("num_hidden_layers", depth)
    attention = _latent(fields) if fields.at("kv_lora_rank") is not None else _grouped(fields)
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


def _grouped(fields: _Fields) -> Attention:
    """Attention with key and value heads."""
    hidden, heads = fields.whole("hidden_size"), fields.whole("num_attention_heads")
    groups = fields.whole("num_key_value_heads", heads) or heads
    size = fields.whole("head_dim", hidden // heads) or hidden // heads
    parameters = 2 * hidden * size * (heads + groups)
    if fields.flag("attention_bias", fields.kind in ("qwen2", "qwen2_moe", "phi")):
        parameters += size * (heads + 2 * groups)
    return Attention(float(parameters), heads, groups, 2 * groups * size, 4.0 * heads * size)


def _latent(fields: _Fields) -> Attention:
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


def _feed_forward(fields: _Fields) -> tuple[float, float, Experts | None]:
    """Parameters of a dense layer, those of a routed one that every token uses, and its experts."""
    hidden = fields.whole("hidden_size")
    each = (2 if fields.kind == "phi" else 3) * hidden
    count = fields.whole("num_local_experts|n_routed_experts|num_experts", 0)
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
    shared = fields.whole("n_shared_experts", 0) * routed_size
    shared += fields.whole("shared_expert_intermediate_size", 0)
    size = each * routed_size
    if fields.kind == "gpt_oss":
        size += 2 * routed_size + hidden  # biases of the experts
    return (
        float(each * dense_size),
        float(each * shared + hidden * count),
        Experts(count, chosen, size),
    )


def _is_routed(fields: _Fields, layer: int) -> bool:
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


def _window(fields: _Fields, layer: int) -> int | None:
    """The tokens that a layer's cache keeps, where it is a sliding window."""
    size = fields.whole("sliding_window", 0)
    if not size or not fields.flag("use_sliding_window", True):
        return None
    types = fields.at("layer_types")
    if isinstance(types, list) and layer < len(types):
        return size if types[layer] == "sliding_attention" else None
    if fields.kind == "gemma2":
        return size if layer % 2 == 0 else None
    if fields.kind == "gemma3_text":
        return size if (layer + 1) % (fields.whole("sliding_window_pattern", 6) or 6) else None
    if fields.kind.startswith("qwen"):
        return size if layer >= fields.whole("max_window_layers", 0) else None
    return size
