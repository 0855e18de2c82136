"""exllamav2 and exllamav3 (versions 0 and 1): arguments of the generator."""

from gammaplan.engines.settings.base import OFF, Version, Wanted, Writer

THIRD = (1,)  # versions of exllamav3


class ExLlama(Writer):
    """exllamav2 and exllamav3."""

    name = "exllama"
    aliases = ("exllamav3",)
    oldest, newest = (0, 3), (1, 6, 5)

    def methods(self, version: Version) -> list[str]:
        """A draft model; other drafters have a length of their own."""
        return ["draft-model"]

    def off(self, wanted: Wanted, version: Version) -> str:
        """The generator without a draft."""
        return f"{_generator(version)}(model=model, cache=cache, tokenizer=tokenizer)  {OFF}"

    def write(self, wanted: Wanted, version: Version) -> str:
        """The generator with a draft of fixed length."""
        fixed = ", dynamic_draft_tokens=False" if version >= THIRD else ""
        return (
            f"{_generator(version)}(model=model, cache=cache, tokenizer=tokenizer, "
            f"draft_model=draft, draft_cache=draft_cache, num_draft_tokens={wanted.gamma}{fixed})"
        )


def _generator(version: Version) -> str:
    return "Generator" if version >= THIRD else "ExLlamaV2DynamicGenerator"


WRITER = ExLlama()
