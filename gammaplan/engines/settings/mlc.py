"""MLC-LLM: a mode and overrides; a length of 0 would be adaptive, so off is a mode."""

from gammaplan.engines.settings.base import OFF, Version, Wanted, Writer, shell

WORDS = {"draft-model": "small_draft", "eagle": "eagle", "medusa": "medusa"}


class MLC(Writer):
    """MLC-LLM."""

    name = "mlc-llm"

    def methods(self, version: Version) -> list[str]:
        """What the modes are called here."""
        return list(WORDS)

    def off(self, wanted: Wanted, version: Version) -> str:
        """The mode that drafts nothing."""
        return f"{_serve(wanted)} --speculative-mode disable  {OFF}"

    def write(self, wanted: Wanted, version: Version) -> str:
        """A chain of the length."""
        words = ["--speculative-mode", WORDS[wanted.method], "--additional-models", wanted.draft]
        shape = f"spec_draft_length={wanted.gamma};spec_tree_width=1"
        return f"{_serve(wanted)} {shell(*words, '--overrides', shape)}"


def _serve(wanted: Wanted) -> str:
    return shell("mlc_llm", "serve", wanted.target)


WRITER = MLC()
