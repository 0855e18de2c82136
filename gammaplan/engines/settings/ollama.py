"""Ollama: a parameter of the Modelfile; 0 is off."""

from gammaplan.engines.settings.base import Version, Wanted, Writer


class Ollama(Writer):
    """Ollama."""

    name = "ollama"
    infers = True

    def methods(self, version: Version) -> list[str]:
        """What the model brings: the parameter is the same."""
        return ["draft-model", "mtp"]

    def off(self, wanted: Wanted, version: Version) -> str:
        """A length of 0."""
        return "PARAMETER draft_num_predict 0"

    def write(self, wanted: Wanted, version: Version) -> str:
        """The length."""
        return f"PARAMETER draft_num_predict {wanted.gamma}"


WRITER = Ollama()
