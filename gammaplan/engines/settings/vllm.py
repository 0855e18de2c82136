"""vLLM: ``--speculative-config`` JSON since 0.8, flags of the V0 engine before."""

import json

from gammaplan.engines.settings.base import OFF, Version, Wanted, Writer, ends, rates, shell

JSON_SINCE, LONG_SINCE, SCHEDULE_SINCE, SYNTHETIC_SINCE = (0, 8), (0, 11), (0, 24), (0, 28)
MEDUSA_BEFORE = (0, 33)
WORDS = {
    "draft-model": "draft_model",
    "eagle": "eagle",
    "eagle3": "eagle3",
    "mtp": "mtp",
    "ngram": "ngram",
    "suffix": "suffix",
    "dflash": "dflash",
    "dspark": "dspark",
}
OWN = ("mtp", "ngram", "suffix")  # methods without a draft of their own


class Vllm(Writer):
    """vLLM."""

    name = "vllm"
    oldest, newest = (0, 5), (0, 33)
    infers = True

    def methods(self, version: Version) -> list[str]:
        """Medusa heads went with the older versions."""
        if version < JSON_SINCE:
            return ["draft-model", "eagle", "medusa", "ngram"]
        return [*WORDS, *(["medusa"] if version < MEDUSA_BEFORE else [])]

    def longest(self, version: Version) -> int | None:
        """The hard cap of tokens in a step."""
        return 32 if version < LONG_SINCE else 128

    def takes(self, gamma: int, wanted: Wanted) -> bool:
        """Beyond the layers of an MTP head, multiples of them alone."""
        layers = wanted.layers
        if wanted.method != "mtp" or not layers:
            return True
        return gamma <= layers or gamma % layers == 0

    def off(self, wanted: Wanted, version: Version) -> str:
        """The server without a configuration of drafts."""
        return f"{shell('vllm', 'serve', wanted.target)}  {OFF}"

    def write(self, wanted: Wanted, version: Version) -> str:
        """The server with its configuration of drafts."""
        if version < JSON_SINCE:
            return _flags(wanted)
        return _serve(wanted, _config(wanted))

    def cannot_schedule(self, wanted: Wanted, version: Version) -> str | None:
        """A list of ranges since 0.24; the first starts at 1."""
        return None if version >= SCHEDULE_SINCE else "it takes lengths by batch size from 0.24 on"

    def check(self, wanted: Wanted, version: Version) -> str | None:
        """The same with synthetic acceptance, position by position."""
        if version < SYNTHETIC_SINCE:
            return None
        synthetic = {
            "rejection_sample_method": "synthetic",
            "synthetic_acceptance_rates": rates(wanted.survival),
        }
        return _serve(wanted, _config(wanted) | synthetic)


def _serve(wanted: Wanted, config: dict[str, object]) -> str:
    text = json.dumps(config, separators=(",", ":"))
    return shell("vllm", "serve", wanted.target, "--speculative-config", text)


def _config(wanted: Wanted) -> dict[str, object]:
    config: dict[str, object] = {}
    if wanted.method:
        config["method"] = WORDS.get(wanted.method, wanted.method)
    if wanted.method not in OWN:
        config["model"] = wanted.draft
    config["num_speculative_tokens"] = wanted.gamma
    if wanted.schedule:
        config["num_speculative_tokens_per_batch_size"] = [list(r) for r in ends(wanted.schedule)]
    return config


def _flags(wanted: Wanted) -> str:
    words: list[object] = ["vllm", "serve", wanted.target, "--speculative-model"]
    words += ["[ngram]" if wanted.method == "ngram" else wanted.draft]
    words += ["--num-speculative-tokens", wanted.gamma]
    if wanted.method == "ngram":
        words += ["--ngram-prompt-lookup-max", 5, "--ngram-prompt-lookup-min", 1]
    return shell(*words)


WRITER = Vllm()
