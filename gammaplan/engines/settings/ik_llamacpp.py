"""ik_llama.cpp: the names that llama.cpp had before spring 2026."""

from gammaplan.engines.settings.base import Version, Wanted
from gammaplan.engines.settings.llamacpp import LlamaCpp

LIKE = (2026, 1)  # llama.cpp of that month


class IkLlamaCpp(LlamaCpp):
    """The fork, whatever its version."""

    name = "ik_llama.cpp"
    aliases = ("ik_llama",)

    def methods(self, version: Version) -> list[str]:
        """A draft model."""
        return super().methods(LIKE)

    def write(self, wanted: Wanted, version: Version) -> str:
        """The server with full drafts."""
        return super().write(wanted, LIKE)

    def check(self, wanted: Wanted, version: Version) -> str | None:
        """Acceptance cannot be simulated."""
        return None


WRITER = IkLlamaCpp()
