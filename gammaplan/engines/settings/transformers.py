"""transformers: arguments of ``generate``; a fixed length needs three of them."""

from gammaplan.engines.settings.base import OFF, Version, Wanted, Writer

CONFIDENCE_SINCE, MTP_SINCE = (4, 45), (5, 0)


class Transformers(Writer):
    """transformers."""

    name = "transformers"
    oldest, newest = (4, 44), (5, 24)

    def methods(self, version: Version) -> list[str]:
        """Heads of the target itself since 5."""
        return ["draft-model", "ngram", *(["mtp"] if version >= MTP_SINCE else [])]

    def off(self, wanted: Wanted, version: Version) -> str:
        """Plain generation."""
        return f"model.generate(**inputs)  {OFF}"

    def write(self, wanted: Wanted, version: Version) -> str:
        """The call, and the draft before it."""
        if wanted.method == "ngram":
            return f"model.generate(**inputs, prompt_lookup_num_tokens={wanted.gamma})"
        fixed = f'num_assistant_tokens={wanted.gamma}, num_assistant_tokens_schedule="constant"'
        if version >= CONFIDENCE_SINCE:
            fixed += ", assistant_confidence_threshold=0"
        if wanted.method == "mtp":
            return f"model.generate(**inputs, use_mtp=True, {fixed})"
        return (
            f"assistant = AutoModelForCausalLM.from_pretrained({wanted.draft!r})\n"
            f"model.generate(**inputs, assistant_model=assistant, {fixed})"
        )

    def cannot_schedule(self, wanted: Wanted, version: Version) -> str | None:
        """Assisted generation has a batch of 1."""
        return "it drafts for a batch of 1 only"


WRITER = Transformers()
