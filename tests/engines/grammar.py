"""What each engine accepts, from the notes on the engines and not from the writers.

Field names, types, ranges and combinations by engine and version. `meaning` parses settings by
the engine's own grammar and says what they make it do; what it does not know is an error.
"""

import ast
import json
import re
import shlex
from itertools import pairwise
from typing import NamedTuple


class Wrong(AssertionError):
    """The text is not what the engine accepts."""


class Meaning(NamedTuple):
    """What the settings make the engine do; gamma 0 is no speculation."""

    gamma: int
    target: str | None = None
    draft: str | None = None
    ranges: tuple[tuple[int, int, int], ...] = ()
    simulated: tuple[str, object] | None = None


def need(true, what):
    if not true:
        raise Wrong(what)


def whole(low, high=10**9):
    def parse(value):
        need(re.fullmatch(r"\d+", str(value)) is not None and not isinstance(value, bool),
             f"{value!r} is no whole number")  # fmt: skip
        need(low <= int(value) <= high, f"{value} is outside {low}..{high}")
        return int(value)

    return parse


def real(low, high):
    def parse(value):
        need(low <= float(value) <= high, f"{value} is outside {low}..{high}")
        return float(value)

    return parse


def one_of(*words):
    def parse(value):
        need(value in words, f"{value!r} is none of {words}")
        return value

    return parse


def text(value):
    need(isinstance(value, str) and value != "", f"{value!r} is no text")
    return value


def flag(value):
    need(value is True, "a flag has no value")
    return True


# Options of each program: the parser of the value, or `flag`.
OPTIONS = {
    "sglang": {
        "--model-path": text,
        "--speculative-algorithm": one_of(
            "EAGLE", "EAGLE3", "NEXTN", "STANDALONE", "NGRAM", "DFLASH", "DSPARK"
        ),
        "--speculative-draft-model-path": text,
        "--speculative-num-steps": whole(1),
        "--speculative-eagle-topk": whole(1),
        "--speculative-num-draft-tokens": whole(2),
        "--speculative-ngram-max-bfs-breadth": whole(1),
        "--speculative-dflash-block-size": whole(2),
        "--speculative-dspark-block-size": whole(1),
        "--speculative-adaptive": flag,
        "--speculative-adaptive-config": text,
    },
    "llama.cpp new": {
        "-m": text,
        "-md": text,
        "--spec-type": one_of(
            "draft-simple", "draft-eagle3", "draft-mtp", "draft-dflash", "draft-dspark",
            "ngram-simple", "ngram-mod",
        ),
        "--spec-draft-n-max": whole(1),
        "--spec-draft-n-min": whole(0),
        "--spec-draft-p-min": real(0, 1),
        "--spec-ngram-simple-size-m": whole(1, 1024),
        "--spec-ngram-simple-size-n": whole(1, 1024),
        "--spec-ngram-mod-n-max": whole(1, 1024),
        "--spec-ngram-mod-n-min": whole(0, 1024),
        "--spec-synth-rates": text,
    },
    "llama.cpp old": {
        "-m": text,
        "-md": text,
        "--draft-max": whole(1),
        "--draft-min": whole(0),
        "--draft-p-min": real(0, 1),
    },
    "vllm v0": {
        "--speculative-model": text,
        "--num-speculative-tokens": whole(1, 32),
        "--ngram-prompt-lookup-max": whole(1),
        "--ngram-prompt-lookup-min": whole(1),
    },
    "mlx": {"--model": text, "--draft-model": text, "--num-draft-tokens": whole(1)},
    "mlx-vlm": {
        "--model": text,
        "--draft-model": text,
        "--draft-kind": one_of("dflash", "eagle3", "mtp"),
        "--draft-block-size": whole(2),
    },
    "tgi": {"--model-id": text, "--speculate": whole(1)},
    "lmdeploy": {
        "--speculative-algorithm": one_of("eagle", "eagle3", "deepseek_mtp"),
        "--speculative-draft-model": text,
        "--speculative-num-draft-tokens": whole(1),
    },
    "mlc": {
        "--speculative-mode": one_of("disable", "small_draft", "eagle", "medusa"),
        "--additional-models": text,
        "--overrides": text,
    },
}  # fmt: skip

VLLM_FIELDS = {
    "method": one_of("ngram", "ngram_gpu", "draft_model", "eagle", "eagle3", "mtp", "medusa",
                     "suffix", "dflash", "dspark"),
    "model": text,
    "num_speculative_tokens": whole(1, 128),
    "num_speculative_tokens_per_batch_size": lambda value: value,
    "rejection_sample_method": one_of("synthetic"),
    "synthetic_acceptance_rates": lambda value: value,
}  # fmt: skip
TRT_FIELDS = {
    "decoding_type": one_of("MTP", "Eagle3", "Eagle", "DraftTarget", "NGram", "DFlash", "Medusa"),
    "max_draft_len": whole(0),
    "num_nextn_predict_layers": whole(1),
    "speculative_model": text,
    "draft_len_schedule": lambda value: value,
    "medusa_choices": lambda value: value,
}
TABBY_FIELDS = {
    "draft_mode": one_of("model", "mtp", "ngram", "disabled"),
    "draft_model_name": text,
    "draft_num_tokens": whole(1),
    "dynamic_draft": lambda value: value,
}
GENERATE = {
    "assistant_model", "num_assistant_tokens", "num_assistant_tokens_schedule",
    "assistant_confidence_threshold", "prompt_lookup_num_tokens", "use_mtp",
}  # fmt: skip


def fields(value, table, engine):
    need(isinstance(value, dict), f"{engine} wants an object")
    for name in value:
        need(name in table, f"{engine} has no field {name}")
    return {name: table[name](found) for name, found in value.items()}


def options(line, program, table, positional=0):
    """Positional words and checked options of one line of a shell; comments are left out."""
    words = shlex.split(line, comments=True)
    need(words[: len(program)] == program, f"not {program}: {words}")
    rest, found, bare = words[len(program) :], {}, []
    while rest:
        word = rest.pop(0)
        if not word.startswith("-"):
            bare.append(word)
            continue
        need(word in table, f"there is no option {word}")
        need(word not in found, f"{word} is given twice")
        if table[word] is flag:
            found[word] = True
            continue
        need(bool(rest), f"{word} has no value")
        found[word] = table[word](rest.pop(0))
    need(len(bare) == positional, f"{len(bare)} words besides options: {bare}")
    return bare, found


def yaml(line):
    """One key and a flow mapping; words and numbers bare, names double-quoted."""
    plain = re.sub(r'("(?:[^"\\]|\\.)*")|(\s#.*$)|([A-Za-z_][\w.-]*|\d+(?=:))',
                   lambda m: m[1] or ("" if m[2] else m[3] if m[3] in ("true", "false")
                                      else f'"{m[3]}"'), line)  # fmt: skip
    try:
        return json.loads("{" + plain + "}")
    except ValueError as error:
        raise Wrong(f"not YAML: {line}: {error}") from None


def calls(text):
    """Name and keyword arguments of each call of Python text, constants evaluated."""
    found = []
    for node in ast.parse(text).body:
        call = node.value
        need(isinstance(call, ast.Call), "no call")
        values = {}
        for key in call.keywords:
            if key.arg:
                constant = isinstance(key.value, ast.Constant)
                values[key.arg] = key.value.value if constant else ast.unparse(key.value)
        args = [a.value for a in call.args if isinstance(a, ast.Constant)]
        found.append((ast.unparse(call.func), args, values))
    return found


def covered(ranges):
    """Ranges from 1 on, in order, without overlap and without gap."""
    need(ranges[0][0] == 1, "the first range starts at 1")
    for (_, high, _), (low, _, _) in pairwise(ranges):
        need(low == high + 1, f"a gap or an overlap between {high} and {low}")
    for low, high, gamma in ranges:
        need(low <= high and gamma >= 0, f"[{low}, {high}, {gamma}] is no range")
    return tuple(tuple(r) for r in ranges)


def vllm(text_, version):
    if version < (0, 8):
        bare, found = options(text_, ["vllm", "serve"], OPTIONS["vllm v0"], 1)
        draft = found.get("--speculative-model")
        need((draft is None) == ("--num-speculative-tokens" not in found), "half a draft")
        return Meaning(found.get("--num-speculative-tokens", 0), bare[0], draft)
    bare, found = options(text_, ["vllm", "serve"], {"--speculative-config": text}, 1)
    if not found:
        return Meaning(0, bare[0])
    config = fields(json.loads(found["--speculative-config"]), VLLM_FIELDS, "vllm")
    gamma, method = config["num_speculative_tokens"], config.get("method")
    need(version >= (0, 11) or gamma <= 32, "32 at most before 0.11")
    own = method in ("mtp", "ngram", "suffix")
    need(own != ("model" in config), f"{method} with or without a model")
    need(method != "medusa" or version < (0, 33), "medusa is of older versions")
    ranges = config.get("num_speculative_tokens_per_batch_size", [])
    if ranges:
        need(version >= (0, 24), "schedules are of 0.24 and later")
        need(max(r[2] for r in ranges) <= gamma, "a range drafts more than the maximum")
        ranges = covered(ranges)
    simulated = None
    need(("rejection_sample_method" in config) == ("synthetic_acceptance_rates" in config),
         "half a simulation")  # fmt: skip
    if "synthetic_acceptance_rates" in config:
        rates = config["synthetic_acceptance_rates"]
        need(len(rates) == gamma, "a rate for each position")
        need(all(0 <= r <= 1 for r in rates) and sorted(rates, reverse=True) == rates,
             "rates fall")  # fmt: skip
        simulated = ("rates", tuple(rates))
    return Meaning(gamma, bare[0], config.get("model"), tuple(ranges), simulated)


def sglang(text_, version):
    tiers, simulated = None, None
    *before, line = text_.split("\n")
    if before:
        words = shlex.split(before[0])
        need(words[0] == "echo" and words[2] == ">", "a file comes first")
        tiers = json.loads(words[1])
    names = {"SGLANG_SIMULATE_ACC_LEN": real(1, 1e9), "SGLANG_SIMULATE_ACC_METHOD":
             one_of("match-expected"), "SGLANG_SIMULATE_ACC_TOKEN_MODE":
             one_of("real-draft-token")}  # fmt: skip
    given = {}
    while (match := re.match(r"([A-Z_]+)=(\S+) ", line)) is not None:
        need(match[1] in names, f"there is no variable {match[1]}")
        given[match[1]] = names[match[1]](match[2])
        line = line[match.end() :]
    if given:
        simulated = ("length", given["SGLANG_SIMULATE_ACC_LEN"])
    program = ["python3", "-m", "sglang.launch_server"]
    _, found = options(line, program, OPTIONS["sglang"])
    target, kind = found["--model-path"], found.get("--speculative-algorithm")
    draft = found.get("--speculative-draft-model-path")
    if kind is None:
        need(len(found) == 1, "drafts without an algorithm")
        return Meaning(0, target)
    need((kind in ("NEXTN", "NGRAM")) == (draft is None), f"{kind} with or without a model")
    if kind == "DFLASH":
        return Meaning(found["--speculative-dflash-block-size"] - 1, target, draft, (), simulated)
    if kind == "DSPARK":
        return Meaning(found["--speculative-dspark-block-size"], target, draft, (), simulated)
    tokens = found["--speculative-num-draft-tokens"]
    if kind == "NGRAM":
        need(found["--speculative-ngram-max-bfs-breadth"] == 1, "a tree is no chain")
        return Meaning(tokens - 1, target, None, (), simulated)
    steps = found["--speculative-num-steps"]
    need(found["--speculative-eagle-topk"] == 1, "a tree is no chain")
    need(tokens == steps + 1, "a chain verifies one token more than its steps")
    need(("--speculative-adaptive" in found) == (tiers is not None), "tiers without their file")
    ranges = ()
    if tiers is not None:
        need(kind in ("EAGLE", "EAGLE3"), "adaptive is for EAGLE")
        lows = [int(key) for key in tiers]
        need(lows == sorted(lows) and lows[0] == 1, "tiers rise from 1")
        need(all(set(t) == {"candidate_steps"} for t in tiers.values()), "a tier's fields")
        steps_of = [whole(0)(*t["candidate_steps"]) for t in tiers.values()]
        need(max(steps_of) == steps, "the longest tier is the server's")
        highs = [low - 1 for low in lows[1:]] + [10**9]
        ranges = covered(list(zip(lows, highs, steps_of, strict=True)))
    return Meaning(steps, target, draft, ranges, simulated)


def llamacpp(text_, version, old=False):
    old = old or (2000,) <= version < (2026, 4)
    table = OPTIONS["llama.cpp old" if old else "llama.cpp new"]
    _, found = options(text_, ["llama-server"], table)
    target, draft, kind = found["-m"], found.get("-md"), found.get("--spec-type")
    if old:
        gamma = found.get("--draft-max", 0)
        need((gamma > 0) == (draft is not None), "a length without a draft")
        need(not gamma or found["--draft-p-min"] == 0, "confidence cuts drafts short")
        return Meaning(gamma, target, draft)
    if kind is None:
        need(len(found) == 1, "drafts without a type")
        return Meaning(0, target)
    own = {"ngram-simple": "--spec-ngram-simple-size-m", "ngram-mod": "--spec-ngram-mod-n-max"}.get(
        kind, "--spec-draft-n-max"
    )
    need((kind in ("draft-mtp", "ngram-simple", "ngram-mod")) == (draft is None), "a draft or none")
    if kind == "ngram-simple":
        key = found.get("--spec-ngram-simple-size-n", 12)
        need(key <= found[own], "a draft shorter than its key, which is dropped")
    need(kind != "ngram-mod" or found["--spec-ngram-mod-n-min"] <= found[own], "48 unless told")
    simulated = None
    if "--spec-synth-rates" in found:
        rates = tuple(float(x) for x in found["--spec-synth-rates"].split(","))
        simulated = ("rates", rates)
    return Meaning(found[own], target, draft, (), simulated)


def tensorrt(text_, version):
    if text_.startswith("export "):
        match = re.fullmatch(r"export TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS=([\d.]+)", text_)
        need(match is not None, "no such variable")
        return Meaning(-1, simulated=("accepted", float(match[1])))
    if text_.startswith("#"):
        return Meaning(0)
    whole_ = yaml(text_)
    need(set(whole_) == {"speculative_config"}, "one key")
    config = fields(whole_["speculative_config"], TRT_FIELDS, "tensorrt-llm")
    kind = config["decoding_type"]
    need((kind in ("MTP", "NGram")) == ("speculative_model" not in config), "a model or none")
    need(("num_nextn_predict_layers" in config) == (kind == "MTP" and version < (1, 3)), "older")
    gamma = config.get("max_draft_len", config.get("num_nextn_predict_layers"))
    chain = [[0] * depth for depth in range(1, gamma + 1)] if kind == "Medusa" else None
    need(config.get("medusa_choices") == chain, "a tree is no chain")
    ranges = ()
    if "draft_len_schedule" in config:
        need(version >= (1, 3), "schedules are of 1.3")
        pairs = [(whole(1)(k), whole(0)(v)) for k, v in config["draft_len_schedule"].items()]
        need(pairs == sorted(pairs), "keys rise")
        need(pairs[0][1] == gamma, "the smallest batch drafts max_draft_len")
        lows = [1, *(k + 1 for k, _ in pairs)]
        ranges = [(low, k, v) for low, (k, v) in zip(lows, pairs, strict=False)]
        ranges = covered([*ranges, (lows[-1], 10**9, 0)])
    return Meaning(gamma, None, config.get("speculative_model"), ranges)


def transformers(text_, version):
    found = calls(text_)
    name, _, given = found[-1]
    need(name == "model.generate", "a call of generate")
    need(set(given) <= GENERATE, f"generate has no {set(given) - GENERATE}")
    draft = found[0][1][0] if len(found) > 1 else None
    if "prompt_lookup_num_tokens" in given:
        need(len(given) == 1, "n-grams alone")
        return Meaning(given["prompt_lookup_num_tokens"])
    if not given:
        return Meaning(0)
    need(given["num_assistant_tokens_schedule"] == "constant", "a fixed length")
    need(("assistant_confidence_threshold" in given) == (version >= (4, 45)), "since 4.45")
    need(given.get("assistant_confidence_threshold", 0) == 0, "confidence cuts drafts short")
    need((draft is None) == (given.get("use_mtp") is True), "a draft or heads")
    return Meaning(given["num_assistant_tokens"], None, draft)


def exllama(text_, version):
    ((name, _, given),) = calls(text_)
    need(name == ("Generator" if version >= (1,) else "ExLlamaV2DynamicGenerator"), name)
    extra = set(given) - {"model", "cache", "tokenizer"}
    if not extra:
        return Meaning(0)
    known = {"draft_model", "draft_cache", "num_draft_tokens"}
    need(extra == (known | {"dynamic_draft_tokens"} if version >= (1,) else known), str(extra))
    need(given.get("dynamic_draft_tokens", False) is False, "a fixed length")
    return Meaning(whole(1)(given["num_draft_tokens"]))


def tabbyapi(text_, version):
    config = fields(yaml(text_)["draft_model"], TABBY_FIELDS, "tabbyapi")
    if config["draft_mode"] == "disabled":
        need(len(config) == 1, "disabled with a length")
        return Meaning(0)
    need((config["draft_mode"] == "model") == ("draft_model_name" in config), "a name or none")
    need(config["dynamic_draft"] is False, "a fixed length")
    return Meaning(config["draft_num_tokens"], None, config.get("draft_model_name"))


def mlx(text_, version):
    _, found = options(text_, ["mlx_lm.server"], OPTIONS["mlx"])
    need(("--draft-model" in found) == ("--num-draft-tokens" in found), "half a draft")
    gamma = found.get("--num-draft-tokens", 0)
    return Meaning(gamma, found["--model"], found.get("--draft-model"))


def mlx_vlm(text_, version):
    _, found = options(text_, ["mlx_vlm.server"], OPTIONS["mlx-vlm"])
    if set(found) == {"--model"}:
        return Meaning(0, found["--model"])
    need(set(found) == set(OPTIONS["mlx-vlm"]), "half a draft")
    return Meaning(found["--draft-block-size"] - 1, found["--model"], found["--draft-model"])


def lmstudio(text_, version):
    known = {"draftModel": text, "speculativeDecodingNumDraftTokensExact": whole(1)}
    found = fields(json.loads(text_), known, "lmstudio")
    gamma = found.get("speculativeDecodingNumDraftTokensExact", 0)
    need(("draftModel" in found) == bool(gamma), "half a draft")
    return Meaning(gamma, None, found.get("draftModel"))


def ollama(text_, version):
    match = re.fullmatch(r"PARAMETER draft_num_predict (\d+)", text_)
    need(match is not None, "a parameter of a Modelfile")
    return Meaning(int(match[1]))


def tgi(text_, version):
    _, found = options(text_, ["text-generation-launcher"], OPTIONS["tgi"])
    return Meaning(found.get("--speculate", 0), found["--model-id"])


def lmdeploy(text_, version):
    bare, found = options(text_, ["lmdeploy", "serve", "api_server"], OPTIONS["lmdeploy"], 1)
    kind, draft = found.get("--speculative-algorithm"), found.get("--speculative-draft-model")
    gamma = found.get("--speculative-num-draft-tokens", 0)
    need((kind is None) == (gamma == 0), "half a draft")
    need(kind is None or (kind == "deepseek_mtp") == (draft is None), "with or without a draft")
    return Meaning(gamma, bare[0], draft)


def mlc(text_, version):
    bare, found = options(text_, ["mlc_llm", "serve"], OPTIONS["mlc"], 1)
    if found["--speculative-mode"] == "disable":
        need(len(found) == 1, "disabled with a length")
        return Meaning(0, bare[0])
    pairs = dict(pair.split("=") for pair in found["--overrides"].split(";"))
    need(set(pairs) == {"spec_draft_length", "spec_tree_width"}, "overrides")
    need(pairs["spec_tree_width"] == "1", "a tree is no chain")
    gamma = whole(1)(pairs["spec_draft_length"])  # 0 would be adaptive
    return Meaning(gamma, bare[0], found["--additional-models"])


def openvino(text_, version):
    name, _, given = calls(text_)[0]
    need(name == "openvino_genai.LLMPipeline", name)
    if "draft_model" not in given:
        return Meaning(0)
    _, _, last = calls(text_)[-1]
    need(set(last) == {"num_assistant_tokens"}, "one length, no confidence beside it")
    return Meaning(whole(1)(last["num_assistant_tokens"]))


ENGINES = {
    "vllm": vllm,
    "sglang": sglang,
    "llama.cpp": llamacpp,
    "ik_llama.cpp": lambda text_, version: llamacpp(text_, version, old=True),
    "tensorrt-llm": tensorrt,
    "transformers": transformers,
    "exllama": exllama,
    "exllamav2": exllama,
    "tabbyapi": tabbyapi,
    "mlx-lm": mlx,
    "mlx-vlm": mlx_vlm,
    "lmstudio": lmstudio,
    "ollama": ollama,
    "tgi": tgi,
    "lmdeploy": lmdeploy,
    "mlc-llm": mlc,
    "openvino": openvino,
}
# Versions at which what is accepted changed, and the newest read.
VERSIONS = {
    "vllm": [(0, 5, 5), (0, 7, 3), (0, 8, 3), (0, 10, 2), (0, 11), (0, 23), (0, 24), (0, 28),
             (0, 33)],
    "sglang": [(0, 4, 3), (0, 5, 10), (0, 5, 16), (0, 5, 23)],
    "llama.cpp": [(2025, 6), (2026, 3), (2026, 7)],
    "tensorrt-llm": [(1, 1), (1, 3)],
    "transformers": [(4, 44), (4, 46), (5, 24)],
    "exllama": [(0, 3, 2), (1, 6, 5)],
    "exllamav2": [(0, 3, 2)],
}  # fmt: skip


def meaning(engine, text_, version=(0,)):
    """What settings make an engine do; `Wrong` where it would not take them."""
    try:
        return ENGINES[engine](text_, version)
    except (KeyError, ValueError, SyntaxError, IndexError, TypeError) as error:
        raise Wrong(f"{engine}: {text_}: {error!r}") from None
