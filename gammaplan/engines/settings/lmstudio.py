"""LM Studio: fields of a prediction's configuration."""

import json

from gammaplan.engines.settings.base import Version, Wanted, Writer


class LMStudio(Writer):
    """LM Studio."""

    name = "lmstudio"

    def methods(self, version: Version) -> list[str]:
        """A draft model."""
        return ["draft-model"]

    def off(self, wanted: Wanted, version: Version) -> str:
        """No field of a draft."""
        return "{}"

    def write(self, wanted: Wanted, version: Version) -> str:
        """The draft and its exact length."""
        fields = {
            "draftModel": wanted.draft,
            "speculativeDecodingNumDraftTokensExact": wanted.gamma,
        }
        return json.dumps(fields)


WRITER = LMStudio()
