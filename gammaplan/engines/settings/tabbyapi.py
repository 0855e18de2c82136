"""tabbyAPI: ``draft_model`` of its YAML."""

import json

from gammaplan.engines.settings.base import OFF, Version, Wanted, Writer, flow

WORDS = {"draft-model": "model", "mtp": "mtp", "ngram": "ngram"}


class TabbyAPI(Writer):
    """tabbyAPI."""

    name = "tabbyapi"

    def methods(self, version: Version) -> list[str]:
        """What the modes are called here."""
        return list(WORDS)

    def off(self, wanted: Wanted, version: Version) -> str:
        """Drafts disabled."""
        return f"draft_model: {flow({'draft_mode': 'disabled'})}  {OFF}"

    def write(self, wanted: Wanted, version: Version) -> str:
        """Drafts of a fixed length."""
        fields: dict[str, object] = {"draft_mode": WORDS[wanted.method]}
        if wanted.method == "draft-model":
            fields["draft_model_name"] = json.dumps(wanted.draft)
        fields |= {"draft_num_tokens": wanted.gamma, "dynamic_draft": "false"}
        return f"draft_model: {flow(fields)}"


WRITER = TabbyAPI()
