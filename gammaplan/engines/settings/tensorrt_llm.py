"""TensorRT-LLM: ``speculative_config`` of the YAML options."""

import json

from gammaplan.engines.settings.base import OFF, Version, Wanted, Writer, ends, flow

WORDS = {
    "eagle3": "Eagle3",
    "eagle": "Eagle",
    "mtp": "MTP",
    "draft-model": "DraftTarget",
    "ngram": "NGram",
    "medusa": "Medusa",
    "dflash": "DFlash",
}
OWN = ("mtp", "ngram")


class TensorRTLLM(Writer):
    """TensorRT-LLM."""

    name = "tensorrt-llm"
    aliases = ("trt-llm", "trtllm")
    oldest, newest = (1, 0), (1, 3)

    def methods(self, version: Version) -> list[str]:
        """What the decoding types are called here."""
        return list(WORDS)

    def off(self, wanted: Wanted, version: Version) -> str:
        """No configuration of drafts."""
        return f"{OFF}: no speculative_config"

    def write(self, wanted: Wanted, version: Version) -> str:
        """The configuration of drafts."""
        older = wanted.method == "mtp" and version < self.newest
        fields: dict[str, object] = {"decoding_type": WORDS[wanted.method]}
        fields["num_nextn_predict_layers" if older else "max_draft_len"] = wanted.gamma
        if wanted.method not in OWN:
            fields["speculative_model"] = json.dumps(wanted.draft)
        if wanted.method == "medusa":  # a chain; without choices it drafts a tree
            fields["medusa_choices"] = [[0] * depth for depth in range(1, wanted.gamma + 1)]
        if wanted.schedule:
            fields["draft_len_schedule"] = flow(
                {str(high): gamma for _, high, gamma in _without_tail(wanted)}
            )
        return f"speculative_config: {flow(fields)}"

    def cannot_schedule(self, wanted: Wanted, version: Version) -> str | None:
        """Keys are the last batch of a range, in 1.3; before they were the first."""
        if version < self.newest:
            return "its draft_len_schedule means something else before 1.3"
        if wanted.schedule[0].gamma != max(part.gamma for part in wanted.schedule):
            return "its draft_len_schedule must draft longest at the smallest batch"
        return None

    def check(self, wanted: Wanted, version: Version) -> str | None:
        """The drafted tokens to accept in each round, whatever its length; no bonus token."""
        if version < self.newest or wanted.schedule:
            return None
        accepted = f"{sum(wanted.survival):.4f}"
        return f"export TLLM_SPEC_DECODE_FORCE_NUM_ACCEPTED_TOKENS={accepted}"


def _without_tail(wanted: Wanted) -> list[tuple[int, int, int]]:
    """Each range by its last batch; past the last key speculation is off by itself."""
    parts = ends(wanted.schedule)
    return parts[:-1] if parts[-1][2] == 0 else parts


WRITER = TensorRTLLM()
